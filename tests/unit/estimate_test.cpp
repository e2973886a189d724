#include "tokenroof/estimate.hpp"

#include <gtest/gtest.h>

#include "tokenroof/units/literals.hpp"

namespace {

using namespace tokenroof;
using namespace tokenroof::literals;

TEST(Estimate, ComparesByValue) {
  const Estimate<Seconds> ttft{.value = 230_ms, .low = 190_ms, .high = 600_ms};
  EXPECT_TRUE(ttft < 500_ms);
  EXPECT_TRUE(500_ms > ttft);
  EXPECT_FALSE(ttft.high < 500_ms);
}

TEST(Estimate, IsFalseAgainstEveryLimitWhenAbsent) {
  const Estimate<Seconds> ttft;
  EXPECT_FALSE(ttft.has_value());
  EXPECT_FALSE(ttft < 500_ms);
  EXPECT_FALSE(ttft > 500_ms);
  EXPECT_FALSE(ttft <= 500_ms);
  EXPECT_FALSE(ttft >= 500_ms);
}

TEST(Estimate, HasAnIntervalOnlyWithBothEnds) {
  EXPECT_FALSE((Estimate<Seconds>{.value = 1_s}.has_interval()));
  EXPECT_FALSE((Estimate<Seconds>{.value = 1_s, .low = 0.5_s}.has_interval()));
  EXPECT_TRUE((Estimate<Seconds>{.value = 1_s, .low = 0.5_s, .high = 2_s}.has_interval()));
}

} // namespace
