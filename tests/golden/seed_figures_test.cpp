// Public rules of thumb about sizes and speeds, as the model finds them. docs/claims.md tells the same as a table.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>

#include "tokenroof/catalogue/devices.hpp"
#include "tokenroof/catalogue/networks.hpp"
#include "tokenroof/network/named_schemes.hpp"
#include "tokenroof/predict.hpp"
#include "tokenroof/units/literals.hpp"

namespace {

using namespace tokenroof;
using namespace tokenroof::literals;

Format format(const char* name) { return find_format(name).value(); }

double weights(const char* network, const char* name) {
  return weight_bytes(*catalogue::network(network), scheme(name)).value();
}

double cache(const char* network, const char* kv, double tokens) {
  return kv_cache(*catalogue::network(network), format(kv), Tokens::from_value(tokens)).value();
}

TEST(SeedFigures, WeightsOf70BAre140GBAt16BitAndAbout40In4) {
  EXPECT_EQ(weights("llama-3.1-70b", "bf16"), 141'107'412'992);  // 131.4 GiB
  EXPECT_EQ(weights("llama-2-70b", "fp16"), 137'953'296'384);    // 128.5 GiB
  EXPECT_EQ(weights("llama-3.1-70b", "Q4_K_M"), 42'512'531'456); // 42.5 GB, 39.59 GiB
}

TEST(SeedFigures, WeightsOf8BAre16GBAt16BitAnd4Point9In4) {
  EXPECT_EQ(weights("llama-3.1-8b", "bf16"), 16'060'522'496);
  EXPECT_EQ(weights("llama-3.1-8b", "Q4_K_M"), 4'912'898'048);
}

TEST(SeedFigures, WeightsOfLlama2At16Bit) { EXPECT_EQ(weights("llama-2-7b", "fp16"), 13'476'831'232); }

/// Bytes of weights that one decode step of one sequence reads.
double weights_read(const char* network, const char* name) {
  const Deployment d{.network = catalogue::network(network), .weights = scheme(name)};
  double bytes = 0;
  for (const Operator& op : lower(d, LatentForm::absorbed).operators) {
    bytes += work(op, {.sequences = 1, .new_tokens = 1}).weights.value() * op.repeats;
  }
  return bytes;
}

TEST(SeedFigures, Fp8HalvesAndInt4QuartersTheWeightsReadLessScalesAndHead) {
  const double at16 = weights_read("llama-3.1-70b", "bf16");
  EXPECT_NEAR(at16 / weights_read("llama-3.1-70b", "fp8"), 2, 0.06);
  EXPECT_NEAR(at16 / weights_read("llama-3.1-70b", "awq"), 4, 0.4);
  EXPECT_GT(at16 / weights_read("llama-3.1-70b", "awq"), 3.5);
}

// dgx-spark-playbooks issue 79: 38.50 GB in NVFP4 with scales and 2.10 GB of bf16 head at 273 GB/s.
TEST(SeedFigures, Nvfp4Of70BReads40Point61GBAndCannotPass6Point72TokensASecondOnAGb10) {
  EXPECT_NEAR(weights_read("llama-3.3-70b", "nvfp4") / 1e9, 40.61, 0.005);
  const double bandwidth = catalogue::device("gb10_dgx_spark").bandwidth->value();
  EXPECT_NEAR(bandwidth / weights_read("llama-3.3-70b", "nvfp4"), 6.72, 0.005);
}

TEST(SeedFigures, LowPrecisionWindowsAndLatentsCutContextMemoryByHalfToNineTenths) {
  const double full = cache("llama-3.1-8b", "bf16", 131072);
  EXPECT_DOUBLE_EQ(cache("llama-3.1-8b", "fp8", 131072) / full, 0.5);
  EXPECT_NEAR(cache("llama-3.1-8b", "Q4_0", 131072) / full, 1 - 0.72, 0.01);
  // Gemma 3 27B at 128k: 52 of 62 layers keep 1024 tokens instead of all.
  EXPECT_NEAR(cache("gemma-3-27b", "bf16", 131072) / (62.0 * 2 * 16 * 128 * 2 * 131072), 1 - 0.83, 0.01);
  // gpt-oss-120b at 128k: half of the layers keep 128 tokens.
  EXPECT_NEAR(cache("gpt-oss-120b", "bf16", 131072) / (36.0 * 2 * 8 * 64 * 2 * 131072), 0.5, 0.01);
  // DeepSeek V3 caches 576 elements a layer; 8 key/value heads of 128 would be 2048, full heads 128 x (192 + 128).
  EXPECT_NEAR(576.0 / 2048, 1 - 0.72, 0.01);
  EXPECT_EQ(cache("deepseek-v3", "bf16", 1), 61 * 576 * 2);
}

TEST(SeedFigures, Llama2OnA100IsALowerBoundOfTheMeasured120Milliseconds) {
  const Deployment d{.network = catalogue::network("llama-2-7b"),
                     .cluster = {.device = catalogue::device("a100_sxm_80gb")},
                     .weights = scheme("fp16"),
                     .kv = format("fp16"),
                     .activations = format("fp16")};
  const StepCost prefill = cost_of(step_models(d).prefill().at(1, 2048_tok), 0_tok);
  double gemms_and_attention = 0;
  double head = 0;
  for (const OperatorCost& op : prefill.operators) {
    if (op.name == OperatorName::lm_head) {
      head = op.time.value();
    } else if (op.roof == Roof::compute) {
      gemms_and_attention += op.time.value();
    }
  }
  EXPECT_NEAR(gemms_and_attention * 1e3, 88.5, 0.05);
  EXPECT_NEAR((gemms_and_attention + head) * 1e3, 88.7, 0.05);
  const Prediction p = predict(d, {.batch = 1, .prompt = 2048_tok, .output = 2_tok});
  EXPECT_GT(p.ttft, 88.7_ms);
  EXPECT_LT(p.ttft, 120.5_ms); // measured
}

struct OfClass {
  const char* device;
  const char* network;
  const char* weights;
};

void PrintTo(const OfClass& c, std::ostream* out) { *out << c.network << " on " << c.device; }

class PhasesByClass : public ::testing::TestWithParam<OfClass> {};

TEST_P(PhasesByClass, PrefillIsBoundByComputeAndDecodeByMemory) {
  const OfClass& c = GetParam();
  const Deployment d{.network = catalogue::network(c.network),
                     .cluster = {.device = catalogue::device(c.device)},
                     .weights = scheme(c.weights)};
  const StepModels models = step_models(d);
  EXPECT_EQ(binding_roof(cost_of(models.prefill().at(1, 512_tok), 0_tok)), Roof::compute);
  EXPECT_EQ(binding_roof(cost_of(models.decode.at(1, 1_tok), 512_tok)), Roof::memory);
}

INSTANTIATE_TEST_SUITE_P(Classes, PhasesByClass,
                         ::testing::Values(OfClass{"h100_sxm", "llama-3.1-70b", "bf16"},
                                           OfClass{"rtx_4090", "llama-3.1-8b", "bf16"},
                                           OfClass{"apple_m3_max_40c", "llama-3.1-8b", "bf16"}),
                         [](const auto& instance) { return std::string(instance.param.device); });

struct Range {
  Bytes least_capacity{};
  Bytes most_capacity{};
  Bandwidth least_bandwidth{};
  Bandwidth most_bandwidth{};
};

/// Capacities and bandwidths of the devices for which `chosen` holds.
template <class Chosen>
Range range_of(Chosen chosen) {
  Range range{.least_capacity = 1e9_GiB, .least_bandwidth = 1e9_GBps};
  for (const Device& device : catalogue::devices()) {
    if (!chosen(device) || !device.bandwidth) {
      continue;
    }
    range.least_bandwidth = smaller(range.least_bandwidth, *device.bandwidth);
    range.most_bandwidth = larger(range.most_bandwidth, *device.bandwidth);
    for (std::size_t i = 0; i < device.memory_variant_count; ++i) {
      range.least_capacity = smaller(range.least_capacity, device.memory_variants[i].capacity);
      range.most_capacity = larger(range.most_capacity, device.memory_variants[i].capacity);
    }
  }
  return range;
}

TEST(SeedFigures, DatacenterFromHopperOn) {
  const Range range = range_of([](const Device& d) {
    const std::string_view family = d.family;
    return d.device_class == DeviceClass::datacenter_gpu && d.vendor == "NVIDIA" &&
           (family == "hopper" || family.starts_with("blackwell") || family == "rubin") && *d.bandwidth >= 3.35_TBps;
  });
  EXPECT_EQ(range.least_capacity, 80_GiB);
  EXPECT_EQ(range.most_capacity, 288_GiB);
  EXPECT_EQ(range.most_bandwidth, 22_TBps);
}

TEST(SeedFigures, LargestConsumerCards) {
  EXPECT_EQ(memory(catalogue::device("rtx_4090"))->capacity, 24_GiB);
  EXPECT_EQ(memory(catalogue::device("rtx_5090"))->capacity, 32_GiB);
  EXPECT_EQ(catalogue::device("rtx_4090").bandwidth, 1008_GBps);
  EXPECT_EQ(catalogue::device("rtx_5090").bandwidth, 1792_GBps);
}

TEST(SeedFigures, AppleMaxAndUltra) {
  const Range range = range_of([](const Device& d) {
    const std::string_view id = d.id;
    return d.device_class == DeviceClass::apple_mac &&
           (id.find("_max_") != std::string_view::npos || id.find("_ultra_") != std::string_view::npos);
  });
  EXPECT_EQ(range.most_capacity, 512_GiB);
  EXPECT_GE(range.least_bandwidth, 300_GBps);
  EXPECT_GE(range.most_bandwidth, 800_GBps);
}

TEST(SeedFigures, Phones) {
  const Range range = range_of([](const Device& d) { return d.device_class == DeviceClass::mobile; });
  EXPECT_GE(range.least_capacity, 6_GiB);
  EXPECT_LE(range.most_capacity, 24_GiB);
  EXPECT_GE(range.least_bandwidth, 34_GBps);
  EXPECT_LE(range.most_bandwidth, 86_GBps);
}

} // namespace
