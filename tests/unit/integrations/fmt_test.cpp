#include "tokenroof/integrations/fmt.hpp"

#include <gtest/gtest.h>

#include "tokenroof/units/literals.hpp"

namespace {

using namespace tokenroof;
using namespace tokenroof::literals;

TEST(Fmt, ChoosesAPrefix) {
  EXPECT_EQ(fmt::format("{}", 39.59_GiB), "39.59 GiB");
  EXPECT_EQ(fmt::format("{}", 2048_tok), "2048 tok");
  EXPECT_EQ(fmt::format("{}", 3.35_TBps), "3.35 TB/s");
}

TEST(Fmt, TakesDecimalsAndUnit) {
  EXPECT_EQ(fmt::format("{:.1GiB}", 80_GB), "74.5 GiB");
  EXPECT_EQ(fmt::format("{:.2ms}", 1_s), "1000.00 ms");
  EXPECT_EQ(fmt::format("{:.0TFLOPS}", 989.4_TFLOPS), "989 TFLOPS");
  EXPECT_EQ(fmt::format("{:GB/s}", 1.008_TBps), "1008 GB/s");
  EXPECT_EQ(fmt::format("{:.1}", 230_ms), "230.0 ms");
}

TEST(Fmt, Aligns) {
  EXPECT_EQ(fmt::format("{:>8}|", 1_s), "     1 s|");
  EXPECT_EQ(fmt::format("{:<8}|", 1_s), "1 s     |");
  EXPECT_EQ(fmt::format("{:^8}|", 1_s), "  1 s   |");
  EXPECT_EQ(fmt::format("{:8}|", 1_s), "     1 s|");
  EXPECT_EQ(fmt::format("{:2}|", 1_s), "1 s|");
}

TEST(Fmt, FormatsEstimates) {
  const Estimate<Seconds> ttft{.value = 230_ms, .low = 190_ms, .high = 280_ms};
  EXPECT_EQ(fmt::format("{}", ttft), "230 ms [190, 280]");
  EXPECT_EQ(fmt::format("{:.2s}", ttft), "0.23 s [0.19, 0.28]");
  EXPECT_EQ(fmt::format("{}", Estimate<Seconds>{.value = 230_ms}), "230 ms");
  EXPECT_EQ(fmt::format("{:.2s}", Estimate<Seconds>{}), "absent");
}

TEST(Fmt, RefusesWhatOnlyTheRunKnows) {
  EXPECT_THROW((void)fmt::format(fmt::runtime("{:.1ms}"), 80_GB), fmt::format_error);
  EXPECT_THROW((void)fmt::format(fmt::runtime("{:.}"), 80_GB), fmt::format_error);
  EXPECT_THROW((void)fmt::format(fmt::runtime("{:99999999999}"), 80_GB), fmt::format_error);
}

} // namespace
