#include "tokenroof/integrations/gtest.hpp"

#include <array>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "tokenroof/units/literals.hpp"

namespace {

using namespace tokenroof;
using namespace tokenroof::literals;

TEST(GoogleTest, PrintsQuantities) {
  EXPECT_EQ(testing::PrintToString(230_ms), "230 ms");
  EXPECT_EQ(testing::PrintToString(80_GiB), "80 GiB");
  EXPECT_EQ(testing::PrintToString(absent<Bytes>()), "absent");
  EXPECT_EQ(testing::PrintToString(2_GiB * 3_s), "6442450944 (base units)") << "a quantity without a name of its own";
}

TEST(GoogleTest, PrintsEstimates) {
  EXPECT_EQ(testing::PrintToString(Estimate<Seconds>{.value = 230_ms, .low = 190_ms, .high = 280_ms}),
            "230 ms [190, 280]");
}

TEST(GoogleTest, PrintsThemWithinContainers) {
  EXPECT_EQ(testing::PrintToString(std::vector{1_s, 2_ms}), "{ 1 s, 2 ms }");
  EXPECT_EQ(testing::PrintToString(std::optional{1_GiB}), "(1 GiB)");
}

TEST(GoogleTest, ShowsBothSidesOfAFailedComparison) {
  const Estimate<Seconds> ttft{.value = 230_ms};
  const testing::AssertionResult result = testing::internal::CmpHelperLT("p.ttft", "100_ms", ttft, 100_ms);
  EXPECT_FALSE(result);
  EXPECT_STREQ(result.message(), "Expected: (p.ttft) < (100_ms), actual: 230 ms vs 100 ms");
}

} // namespace
