#pragma once
#include <torch/torch.h>

#include "pch.h"
