// Changes that make a workload fit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tokenroof/catalogue/devices.hpp"
#include "tokenroof/catalogue/engines.hpp"
#include "tokenroof/catalogue/networks.hpp"
#include "tokenroof/hardware/memory_choice.hpp"
#include "tokenroof/network/named_schemes.hpp"
#include "tokenroof/planning/remedies.hpp"
#include "tokenroof/units/literals.hpp"

namespace tokenroof::planning {
namespace {

using namespace literals;

Candidates candidates() {
  return {
      .weights = {scheme("fp8"), scheme("int4-g128"), scheme("bf16")}, .kv = {*find_format("fp8")}, .most_devices = 8};
}

Deployment too_large() {
  return {.network = catalogue::network("llama-3.1-70b"),
          .cluster = {.device = catalogue::device("h100_sxm"), .host = Host{.memory = 512_GiB, .bandwidth = 300_GBps}},
          .engine = catalogue::engine("vllm"),
          .weights = scheme("bf16")};
}

const Remedy* find(const std::vector<Remedy>& remedies, RemedyKind kind) {
  const auto found = std::find_if(remedies.begin(), remedies.end(), [&](const Remedy& r) { return r.kind == kind; });
  return found != remedies.end() ? &*found : nullptr;
}

constexpr Workload workload{.batch = 4, .prompt = 1024_tok, .output = 128_tok};

TEST(Remedies, NoneAreNeededForWhatFits) {
  Deployment d = too_large();
  d.network = catalogue::network("llama-3.1-8b");
  EXPECT_TRUE(remedies(d, workload, candidates()).empty());
}

TEST(Remedies, EachFitsAndIsThePredictionOfItsChange) {
  const std::vector<Remedy> found = remedies(too_large(), workload, candidates());
  ASSERT_FALSE(found.empty());
  for (const Remedy& remedy : found) {
    SCOPED_TRACE(name(remedy.kind));
    EXPECT_TRUE(remedy.prediction.fits);
    EXPECT_GE(remedy.margin.value(), 0);
    const Prediction same = predict(remedy.deployment, remedy.workload);
    EXPECT_EQ(same.tpot.value.value(), remedy.prediction.tpot.value.value());
    EXPECT_EQ(same.peak_memory.value.value(), remedy.prediction.peak_memory.value.value());
  }
}

TEST(Remedies, TheLeastDamagingComesFirst) {
  const std::vector<Remedy> found = remedies(too_large(), workload, candidates());
  EXPECT_TRUE(
      std::is_sorted(found.begin(), found.end(), [](const Remedy& a, const Remedy& b) { return a.damage < b.damage; }));
  for (const Remedy& remedy : found) {
    EXPECT_GE(remedy.damage, 0) << name(remedy.kind);
  }
}

TEST(Remedies, TheLargestFormatThatFitsIsTaken) {
  const std::vector<Remedy> found = remedies(too_large(), workload, candidates());
  const Remedy* format = find(found, RemedyKind::weight_format);
  ASSERT_NE(format, nullptr);
  EXPECT_EQ(format->deployment.weights.name.view(), "int4-g128") << "70 GB of fp8 leave no room on 80 GB";
  EXPECT_EQ(find(found, RemedyKind::kv_format), nullptr) << "the weights alone are too large";
  EXPECT_EQ(find(found, RemedyKind::sequences), nullptr);
}

TEST(Remedies, TheFewestDevicesThatSufficeAreTaken) {
  const std::vector<Remedy> found = remedies(too_large(), workload, candidates());
  const Remedy* tensor = find(found, RemedyKind::tensor_parallel);
  ASSERT_NE(tensor, nullptr);
  Deployment fewer = tensor->deployment;
  EXPECT_EQ(fewer.cluster.devices, device_count(fewer.parallelism));
  EXPECT_LT(tensor->tpot_ratio, 1) << "more devices decode faster";
  fewer.parallelism.tensor /= 2;
  fewer.cluster.devices /= 2;
  EXPECT_FALSE(predict(fewer, workload).fits);
}

TEST(Remedies, TheFewestLayersMoveToTheHost) {
  const std::vector<Remedy> found = remedies(too_large(), workload, candidates());
  const Remedy* host = find(found, RemedyKind::host_layers);
  ASSERT_NE(host, nullptr);
  EXPECT_GT(host->tpot_ratio, 1);
  Deployment fewer = host->deployment;
  --fewer.offload.host_layers;
  EXPECT_FALSE(predict(fewer, workload).fits);
  EXPECT_EQ(find(found, RemedyKind::host_experts), nullptr) << "the network has none";
}

TEST(Remedies, WhatAHostOfUnknownSpeedWouldDoComesLast) {
  Deployment d = too_large();
  d.cluster.host.reset();
  const std::vector<Remedy> found = remedies(d, workload, candidates());
  const Remedy* host = find(found, RemedyKind::host_layers);
  ASSERT_NE(host, nullptr);
  EXPECT_FALSE(host->prediction.tpot.has_value());
  EXPECT_EQ(host, &found.back());
}

TEST(Remedies, FewerTokensOrSequencesWhereTheCacheIsTooLarge) {
  Deployment d = too_large();
  d.network = catalogue::network("llama-3.1-8b");
  const Workload long_context{.batch = 64, .prompt = 512_tok, .output = 64_tok, .context_depth = 32000_tok};
  const std::vector<Remedy> found = remedies(d, long_context, candidates());
  const Remedy* context = find(found, RemedyKind::context);
  ASSERT_NE(context, nullptr);
  Workload more = context->workload;
  more.context_depth += 1_tok;
  EXPECT_EQ(more.prompt, long_context.prompt);
  EXPECT_FALSE(predict(d, more).fits) << "one token more is too many";
  const Remedy* sequences = find(found, RemedyKind::sequences);
  ASSERT_NE(sequences, nullptr);
  Workload another = sequences->workload;
  ++another.batch;
  EXPECT_FALSE(predict(d, another).fits);
}

TEST(Remedies, AnotherSizeOfTheDevice) {
  Deployment d{.network = catalogue::network("llama-3.1-70b"),
               .cluster = {.device = with_memory(catalogue::device("apple_m3_max_40c"), 48_GiB)},
               .engine = catalogue::engine("llama.cpp-metal"),
               .weights = scheme("Q4_K_M")};
  const std::vector<Remedy> found = remedies(d, {.batch = 1}, {});
  const Remedy* larger_memory = find(found, RemedyKind::memory_size);
  ASSERT_NE(larger_memory, nullptr);
  EXPECT_EQ(memory(larger_memory->deployment.cluster.device)->capacity, 64_GiB);
  EXPECT_EQ(find(found, RemedyKind::host_layers), nullptr) << "one memory has no host";
}

TEST(Remedies, SometimesNothingHelps) {
  Deployment d = too_large();
  d.network = catalogue::network("deepseek-v3");
  d.cluster.device = catalogue::device("rtx_4060_ti");
  d.cluster.device.chosen_memory = 0;
  d.engine = catalogue::engine("llama.cpp-cuda");
  d.cluster.host->memory = 1_GiB;
  EXPECT_TRUE(remedies(d, workload, {.most_devices = 1}).empty());
}

} // namespace
} // namespace tokenroof::planning
