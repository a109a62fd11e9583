// What the library says when it refuses something.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"

namespace paceline {

// The action throws an InputError, one line that has all of these parts.
inline ::testing::AssertionResult refused(const std::function<void()>& action,
                                          const std::vector<std::string>& parts) {
  try {
    action();
  } catch (const InputError& error) {
    const std::string message = error.what();
    for (const std::string& part : parts)
      if (message.find(part) == std::string::npos)
        return ::testing::AssertionFailure() << "\"" << message << "\" should name \"" << part << "\"";
    if (message.size() > 1000)
      return ::testing::AssertionFailure() << "a message of " << message.size() << " bytes";
    return ::testing::AssertionSuccess();
  } catch (const std::exception& error) {
    return ::testing::AssertionFailure() << "not an InputError: " << error.what();
  }
  return ::testing::AssertionFailure() << "nothing was refused";
}

}  // namespace paceline
