// What may lie where, and what paging costs.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "tokenroof/catalogue/devices.hpp"
#include "tokenroof/catalogue/engines.hpp"
#include "tokenroof/catalogue/networks.hpp"
#include "tokenroof/deployment/check.hpp"
#include "tokenroof/hardware/memory_choice.hpp"
#include "tokenroof/roofline/paging.hpp"
#include "tokenroof/units/literals.hpp"
#include "tokenroof/units/parse.hpp"

namespace tokenroof {
namespace {

using namespace literals;

Deployment on(const char* device, const char* engine, const char* network = "llama-3.1-8b") {
  return {.network = catalogue::network(network),
          .cluster = {.device = catalogue::device(device), .host = Host{.bandwidth = 80_GBps}},
          .engine = catalogue::engine(engine)};
}

void expect_issue(const Deployment& deployment, std::string_view field, std::string_view reason) {
  const std::vector<Issue> issues = check(deployment);
  const bool found = std::any_of(issues.begin(), issues.end(), [&](const Issue& issue) {
    return issue.field == field && issue.reason.find(reason) != std::string::npos;
  });
  EXPECT_TRUE(found) << field << ": " << (issues.empty() ? "no issue" : issues.front().field + issues.front().reason);
}

TEST(OffloadCheck, SensibleOffloadsPass) {
  Deployment d = on("rtx_4090", "llama.cpp-cuda");
  d.offload = {.host_layers = 32, .host_cache = true};
  EXPECT_TRUE(check(d).empty());
  d = on("h100_sxm", "vllm");
  d.offload = {.host_layers = 10};
  EXPECT_TRUE(check(d).empty());
}

TEST(OffloadCheck, LayersMustExist) {
  Deployment d = on("rtx_4090", "llama.cpp-cuda");
  d.offload.host_layers = 33;
  expect_issue(d, "offload.host_layers", "0..32");
  d.offload.host_layers = -1;
  expect_issue(d, "offload.host_layers", "0..32");
  d.offload = {.host_expert_layers = 1};
  expect_issue(d, "offload.host_expert_layers", "no experts");
}

TEST(OffloadCheck, OneMemoryHasNoHost) {
  Deployment d = on("apple_m3_max_40c", "llama.cpp-metal");
  d.offload.host_layers = 4;
  expect_issue(d, "offload", "no host");
}

TEST(OffloadCheck, EnginesThatKeepAllOnTheDevice) {
  Deployment d = on("h100_sxm", "tensorrt-llm");
  d.offload.host_layers = 4;
  expect_issue(d, "offload", "keeps nothing in host memory");
}

TEST(OffloadCheck, OneHostComputesForOneReplica) {
  Deployment d = on("rtx_4090", "llama.cpp-cuda");
  d.cluster.devices = 2;
  d.parallelism.tensor = 2;
  d.offload.host_layers = 4;
  expect_issue(d, "offload", "one replica");
  d.parallelism = {.pipeline = 2};
  EXPECT_TRUE(check(d).empty());
  d.offload.host_layers = 31;
  expect_issue(d, "offload.host_layers", "fewer layers than pipeline stages");
}

TEST(OffloadCheck, MappingNeedsAMemoryOfKnownSize) {
  Deployment d = on("rtx_4090", "llama.cpp-cuda");
  d.offload.mapped = true;
  expect_issue(d, "offload.mapped", "copies all weights");
  d.offload.host_layers = 4;
  expect_issue(d, "host.memory", "state it");
  d = on("apple_m3_max_40c", "llama.cpp-metal");
  d.offload.mapped = true;
  expect_issue(d, "device.memory", "state it");
}

TEST(Host, IsMadeOfAProcessor) {
  const Host host = host_of(with_memory(catalogue::device("epyc_9654"), 256_GiB));
  EXPECT_EQ(host.id, Id("epyc_9654"));
  EXPECT_EQ(*host.memory, 256_GiB);
  EXPECT_NEAR(host.bandwidth->value(), 460.8e9, 1);
  EXPECT_TRUE(host.unit);
  EXPECT_FALSE(host.storage_read);
  EXPECT_FALSE(host_of(catalogue::device("epyc_9654")).memory);
}

TEST(Paging, NothingIsReadWhenAllFits) {
  EXPECT_EQ(paged_bytes({.dense = 10_GB}, 10_GB), 0_GB);
  EXPECT_EQ(paged_bytes({.dense = 2_GB, .experts = 8_GB, .touched = 1_GB}, 10_GB), 0_GB);
}

TEST(Paging, ADenseNetworkIsReadWholeHoweverLittleIsMissing) {
  EXPECT_EQ(paged_bytes({.dense = 10_GB}, 9.99_GB), 10_GB);
  EXPECT_EQ(paged_bytes({.dense = 10_GB}, 1_GB), 10_GB);
}

TEST(Paging, OfExpertsTheMissingShareIsRead) {
  const MappedPass pass{.dense = 8_GB, .experts = 100_GB, .touched = 4_GB};
  EXPECT_DOUBLE_EQ(paged_bytes(pass, 58_GB).value(), 2e9);
  EXPECT_DOUBLE_EQ(paged_bytes(pass, 12_GB).value(), 4e9 * 0.96);
  EXPECT_DOUBLE_EQ(paged_bytes(pass, 11.9_GB).value(), 12e9);
}

TEST(ParseBandwidth, AsPeopleWriteIt) {
  EXPECT_NEAR(parse_bandwidth("83GB/s")->value(), 83e9, 1);
  EXPECT_NEAR(parse_bandwidth("1.2 TBps")->value(), 1.2e12, 1);
  EXPECT_NEAR(parse_bandwidth("50")->value(), 50e9, 1);
  EXPECT_NEAR(parse_bandwidth("50 gb/s")->value(), 50e9, 1);
  EXPECT_NEAR(parse_bandwidth("900 MiB/s")->value(), 900 * 1048576.0, 1);
  for (const char* wrong :
       {"", "GB/s", "83GB", "83GB/m", "83/s", "s", "/s", "-3GB/s", "83 s", "83Gb/s", "83Gbps", "1.2 Tb/s"}) {
    EXPECT_FALSE(parse_bandwidth(wrong)) << wrong;
  }
}

} // namespace
} // namespace tokenroof
