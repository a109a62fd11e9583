// What tests share on top of pch.h.
#pragma once
#include <gtest/gtest.h>

#include "pch.h"
