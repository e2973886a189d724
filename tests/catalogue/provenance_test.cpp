#include "tokenroof/catalogue/provenance.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tokenroof/catalogue/devices.hpp"

namespace tokenroof::catalogue {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

TEST(Provenance, SaysWhereAFigureComesFrom) {
  const Provenance figure = provenance("h100_sxm", "memory.bandwidth_GBps");
  EXPECT_EQ(figure.value, 3350);
  EXPECT_EQ(figure.unit, "GBps");
  EXPECT_EQ(figure.confidence, "high");
  EXPECT_THAT(figure.source, HasSubstr("stas00/ml-engineering"));
}

TEST(Provenance, OwnOriginReplacesTheDevices) {
  const Provenance figure = provenance("apple_m3_max_40c", "memory.variants.64.usable_GiB");
  EXPECT_EQ(figure.value, 48);
  EXPECT_EQ(figure.unit, "GiB");
  EXPECT_THAT(figure.derivation, HasSubstr("recommendedMaxWorkingSetSize"));
  EXPECT_THAT(figure.source, HasSubstr("llama.cpp logs"));
}

TEST(Provenance, FittedFiguresNameTheirRows) {
  const Provenance figure = provenance("snapdragon_8_elite", "compute_units.npu.matrix_TFLOPS.fp16");
  EXPECT_EQ(figure.unit, "TFLOPS");
  EXPECT_THAT(figure.derivation, HasSubstr("n = 21: QC-00002"));
}

TEST(Provenance, AbsentFiguresSayWhy) {
  const Provenance figure = provenance("exynos_2500", "memory.bandwidth_GBps");
  EXPECT_FALSE(figure.value);
  EXPECT_EQ(figure.derivation, "not found in any source");
}

TEST(Provenance, KnowsAliasesAndQuotes) {
  const Provenance quote = provenance("A100 SXM4 40GB", "price.cloud_USD_per_hour.Lambda.USD_per_hour");
  EXPECT_EQ(quote.value, 1.99);
  EXPECT_EQ(quote.unit, "USD_per_hour");
  EXPECT_THAT(quote.source, HasSubstr("data-receipts"));
}

TEST(Provenance, UnknownNamesAreErrorsWithTheNearest) {
  EXPECT_THROW((void)provenance("h100_sxmm", "power_W"), UnknownDevice);
  try {
    (void)provenance("h100_sxm", "memory.bandwith_GBps");
    FAIL();
  } catch (const InvalidSpec& error) {
    EXPECT_THAT(error.reason(), HasSubstr("memory.bandwidth_GBps"));
  }
}

TEST(Provenance, EveryFigureHasAnOrigin) {
  for (const Device& device : devices()) {
    for (const Provenance& figure : provenance(device.id)) {
      SCOPED_TRACE(std::string(device.id.view()) + " " + figure.field);
      EXPECT_FALSE(figure.source.empty() && figure.derivation.empty());
      EXPECT_FALSE(figure.date.empty());
      EXPECT_THAT(figure.confidence, AnyOf("high", "medium", "low"));
    }
  }
}

TEST(Provenance, ConflictsAreKept) {
  EXPECT_FALSE(conflicts("h100_sxm").empty());
  EXPECT_THROW((void)conflicts("h100_sxmm"), UnknownDevice);
}

} // namespace
} // namespace tokenroof::catalogue
