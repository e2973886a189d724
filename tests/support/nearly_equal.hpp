/// @file
/// Equality but for the rounding of sums taken in another order.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tokenroof::test {

inline ::testing::AssertionResult nearly_equal(double a, double b, double tolerance = 1e-12) {
  if (std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b))) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << a << " differs from " << b;
}

} // namespace tokenroof::test
