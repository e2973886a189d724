// Laws of what an engine adds to physics: each constant costs time, only where it should, and as much as it says.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "readers/engine_constants.hpp"
#include "support/catalogue_grid.hpp"
#include "support/nearly_equal.hpp"
#include "tokenroof/network/named_schemes.hpp"

namespace tokenroof {
namespace {

using namespace literals;
using test::all_networks;
using test::nearly_equal;

const Workload workload{.batch = 3, .prompt = 700_tok, .output = 20_tok};

Deployment with(const Shared<Network>& network, const EngineConstants& constants, const char* format = "Q4_K_M") {
  Deployment deployment = test::deployment(network, test::roomy(catalogue::device("rtx_4090")), scheme(format));
  deployment.engine = Engine{.id = "mine",
                             .profiles = {EngineProfile{.constants = constants}},
                             .memory = {.attention_scores = true}};
  return deployment;
}

struct Times {
  double ttft = 0;
  double tpot = 0;
};

Times times(const Shared<Network>& network, const EngineConstants& constants, const char* format = "Q4_K_M") {
  const Prediction prediction = predict(with(network, constants, format), workload);
  return {prediction.ttft.value.value(), prediction.tpot.value.value()};
}

/// A value that lies further from physics than the default does.
double worse(const readers::ConstantField& field) {
  const bool efficiency = field.range == readers::Range::efficiency;
  return efficiency ? 0.5 : field.key == "core_bytes_per_clock" ? 1 : 40;
}

TEST(EngineConstantLaws, NoConstantMakesAnythingFaster) {
  for (const Shared<Network>& network : all_networks()) {
    const Times least = times(network, {});
    for (const readers::ConstantField& field : readers::constant_fields()) {
      SCOPED_TRACE(network->name + ": " + std::string(field.key));
      EngineConstants constants;
      readers::set_value(constants, field, worse(field));
      ASSERT_NEAR(readers::value_of(constants, field), worse(field), 1e-9);
      const Times more = times(network, constants);
      ASSERT_GE(more.ttft, least.ttft * (1 - 1e-12));
      ASSERT_GE(more.tpot, least.tpot * (1 - 1e-12));
    }
  }
}

TEST(EngineConstantLaws, EachConstantCostsTimeSomewhere) {
  for (const readers::ConstantField& field : readers::constant_fields()) {
    if (field.key == "link_efficiency" || field.key == "collective_latency_us" || field.key == "vector_rows" ||
        field.key == "decode_layer_per_tensor_doubling_us" || field.key == "attention_half_length_tokens") {
      continue; // of several devices, or of other constants
    }
    EngineConstants before;
    before.vector_rows = 8;
    EngineConstants after = before;
    readers::set_value(after, field, worse(field));
    bool slower = false;
    for (const Shared<Network>& network : all_networks()) {
      const Times a = times(network, before);
      const Times b = times(network, after);
      slower = slower || b.ttft > a.ttft * 1.0001 || b.tpot > a.tpot * 1.0001;
    }
    EXPECT_TRUE(slower) << field.key;
  }
}

TEST(EngineConstantLaws, UnpackingCostsWhatTheOrdinaryUnitsNeed) {
  for (const Shared<Network>& network : all_networks()) {
    SCOPED_TRACE(network->name);
    EngineConstants once{.vector_rows = 8, .unpack_operations = 2};
    EngineConstants by_row{.vector_rows = 8, .unpack_operations_per_row = 2};
    const EngineConstants not_reached{.vector_rows = 2, .unpack_operations = 2, .unpack_operations_per_row = 2};
    const double least = times(network, {}).tpot;
    ASSERT_DOUBLE_EQ(times(network, not_reached).tpot, least); // three sequences decode
    ASSERT_GE(times(network, by_row).tpot, times(network, once).tpot);
    ASSERT_DOUBLE_EQ(times(network, by_row, "bf16").tpot, times(network, {}, "bf16").tpot); // nothing to unpack
    const double added = times(network, once).tpot - least;
    once.unpack_operations = 6;
    ASSERT_TRUE(nearly_equal(times(network, once).tpot - least, 3 * added, 1e-9));
  }
}

TEST(EngineConstantLaws, PowerLimitsNoMoreThanEnergySays) {
  const Shared<Network> network = catalogue::network("llama-2-7b");
  Deployment deployment = with(network, {.gemm_picojoules_per_flop = 10}, "bf16");
  deployment.cluster.device.power = 100_W;
  const double limited = predict(deployment, workload).ttft.value.value();
  const double flops = 2 * 6.6e9 * 2100; // of the matrices alone, about
  EXPECT_NEAR(limited, flops * 10e-12 / 100, 0.05 * limited);
  deployment.cluster.device.power = 50_W;
  EXPECT_NEAR(predict(deployment, workload).ttft.value.value(), 2 * limited, 0.05 * limited);
  deployment.cluster.device.power = std::nullopt;
  EXPECT_DOUBLE_EQ(predict(deployment, workload).ttft.value.value(), times(network, {}, "bf16").ttft);
}

TEST(EngineConstantLaws, CoresLimitOnlyWhatTheyCannotStream) {
  const Shared<Network> network = catalogue::network("llama-2-7b");
  const Device device = catalogue::device("rtx_4090");
  const double cores = *device.compute_units[0].cores * *device.compute_units[0].clock_hertz;
  const double enough = memory_bandwidth(device)->value() / cores;
  const double least = times(network, {}, "bf16").tpot;
  EXPECT_DOUBLE_EQ(times(network, {.core_bytes_per_clock = enough * 1.01}, "bf16").tpot, least);
  const double half = times(network, {.core_bytes_per_clock = enough / 2}, "bf16").tpot;
  EXPECT_GT(half, 1.8 * least);
  EXPECT_LE(half, 2 * least);
}

TEST(EngineConstantLaws, ScoresThroughMemoryGrowWithHeadsAndContext) {
  const Shared<Network> network = catalogue::network("llama-2-7b");
  const EngineConstants passes{.attention_score_passes = 3};
  const auto added = [&](Tokens depth) {
    const Workload deep{.batch = 1, .prompt = 1_tok, .output = 2_tok, .context_depth = depth};
    return (predict(with(network, passes), deep).tpot.value - predict(with(network, {}), deep).tpot.value).value();
  };
  const double bytes = 3 * 4 * 32 * 32 * 1000.0; // passes, bytes, heads, layers, tokens
  EXPECT_NEAR(added(2000_tok) - added(1000_tok), bytes / 1008e9, 0.01 * bytes / 1008e9);
}

} // namespace
} // namespace tokenroof
