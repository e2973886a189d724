#include "tokenroof/text.hpp"

#include <gtest/gtest.h>

#include "tokenroof/units/literals.hpp"

namespace {

using namespace tokenroof;
using namespace tokenroof::literals;

TEST(Text, ChoosesTheLargestPrefixThatKeepsTheNumberAboveOne) {
  EXPECT_EQ(to_text(80_GiB), "80 GiB");
  EXPECT_EQ(to_text(39.59_GiB), "39.59 GiB");
  EXPECT_EQ(to_text(1023_B), "1023 B");
  EXPECT_EQ(to_text(230_ms), "230 ms");
  EXPECT_EQ(to_text(0.4_us), "400 ns");
  EXPECT_EQ(to_text(3.35_TBps), "3.35 TB/s");
  EXPECT_EQ(to_text(989.4_TFLOPS), "989.4 TFLOPS");
  EXPECT_EQ(to_text(40_tokps), "40 tok/s");
}

TEST(Text, RoundsUpIntoTheNextPrefix) {
  EXPECT_EQ(to_text(999.97_ms), "1 s");
  EXPECT_EQ(to_text(999.8_ms), "999.8 ms");
}

TEST(Text, KeepsEveryDigitBeforeThePoint) { EXPECT_EQ(to_text(131072_tok), "131072 tok"); }

TEST(Text, HandlesZeroNegativesAndExtremes) {
  EXPECT_EQ(to_text(0_s), "0 s");
  EXPECT_EQ(to_text(0_B), "0 B");
  EXPECT_EQ(to_text(-2.5_GiB), "-2.5 GiB");
  EXPECT_EQ(to_text(Seconds::from_value(1e-20)), "1e-11 ns");
  EXPECT_EQ(to_text(TokenRate::from_value(0.01234)), "0.01234 tok/s");
  EXPECT_EQ(to_text(Seconds::from_value(std::numeric_limits<double>::infinity())), "inf s");
  EXPECT_EQ(to_text(Seconds::from_value(1e308), {.decimals = 1000}).size(), 309 + 1 + 60 + 2U);
}

TEST(Text, ObeysAStyle) {
  EXPECT_EQ(to_text(80_GB, {.symbol = find_symbol<Bytes>("GiB"), .decimals = 1}), "74.5 GiB");
  EXPECT_EQ(to_text(1.5_s, {.symbol = find_symbol<Seconds>("ms"), .decimals = 0}), "1500 ms");
}

TEST(Text, SaysAbsent) {
  EXPECT_EQ(to_text(absent<Seconds>()), "absent");
  EXPECT_EQ(to_text(Estimate<Seconds>{}), "absent");
}

TEST(Text, PutsAnIntervalInTheUnitOfTheValue) {
  EXPECT_EQ(to_text(Estimate<Seconds>{.value = 230_ms, .low = 190_ms, .high = 1.28_s}), "230 ms [190, 1280]");
  EXPECT_EQ(to_text(Estimate<Seconds>{.value = 230_ms}), "230 ms");
  EXPECT_EQ(to_text(Estimate<Seconds>{.low = 230_ms, .high = 1_s}), "absent");
}

template <typename Quantity>
void expect_ascending_symbols() {
  const auto& symbols = symbols_of<Quantity>;
  for (std::size_t i = 1; i < symbols.size(); ++i) {
    EXPECT_LE(symbols[i - 1].factor, symbols[i].factor) << symbols[i].text;
  }
}

TEST(Text, SymbolsAscend) {
  expect_ascending_symbols<Bytes>();
  expect_ascending_symbols<Flops>();
  expect_ascending_symbols<Seconds>();
  expect_ascending_symbols<Joules>();
  expect_ascending_symbols<Bandwidth>();
  expect_ascending_symbols<ComputeRate>();
  expect_ascending_symbols<Watts>();
  expect_ascending_symbols<Price>();
  expect_ascending_symbols<BytesPerToken>();
  expect_ascending_symbols<FlopsPerToken>();
}

} // namespace
