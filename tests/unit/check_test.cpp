// Faults are named by their field, each alone.
#include "tokenroof/deployment/check.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tokenroof/catalogue/devices.hpp"
#include "tokenroof/catalogue/engines.hpp"
#include "tokenroof/catalogue/networks.hpp"
#include "tokenroof/units/literals.hpp"

namespace {

using namespace tokenroof;
using namespace tokenroof::literals;

Deployment eight_gpus(const char* network, const Parallelism& parallelism) {
  return {.network = catalogue::network(network),
          .cluster = {.device = catalogue::device("h100_sxm"), .devices = 8},
          .parallelism = parallelism};
}

std::vector<std::string> fields(const std::vector<Issue>& issues) {
  std::vector<std::string> found;
  for (const Issue& issue : issues) {
    found.push_back(issue.field);
  }
  return found;
}

using Fields = std::vector<std::string>;

TEST(Check, AGoodDeploymentHasNoFault) {
  EXPECT_EQ(fields(check(eight_gpus("llama-3.1-70b", {.tensor = 8}))), Fields());
  EXPECT_EQ(fields(check(eight_gpus("llama-3.1-70b", {.tensor = 4, .pipeline = 2}))), Fields());
  EXPECT_EQ(fields(check(eight_gpus("deepseek-v3", {.tensor = 8, .expert = 8}))), Fields());
  EXPECT_EQ(fields(check(eight_gpus("deepseek-v3", {.data = 8, .expert = 8}))), Fields());
}

TEST(Check, DevicesMustBeTensorTimesPipelineTimesData) {
  EXPECT_EQ(fields(check(eight_gpus("llama-3.1-70b", {.tensor = 4}))), Fields{"devices"});
}

TEST(Check, HeadsMustBeShareable) {
  Deployment three = eight_gpus("llama-3.1-8b", {.tensor = 3}); // 32 query heads, 8 key/value heads
  three.cluster.devices = 3;
  const Fields both = {"tensor_parallel", "tensor_parallel"};
  EXPECT_EQ(fields(check(three)), both);
}

TEST(Check, ExpertsMustExistAndBeShareable) {
  EXPECT_EQ(fields(check(eight_gpus("llama-3.1-70b", {.tensor = 8, .expert = 8}))), Fields{"expert_parallel"});
  EXPECT_EQ(fields(check(eight_gpus("mixtral-8x7b", {.tensor = 8, .expert = 3}))), Fields{"expert_parallel"});
}

TEST(Check, StagesNeedLayers) {
  Deployment d = eight_gpus("gpt2", {.pipeline = 13}); // of 12 layers
  d.cluster.devices = 13;
  EXPECT_EQ(fields(check(d)), Fields{"pipeline_parallel"});
}

TEST(Check, AnUnknownLinkIsAFault) {
  Deployment d = eight_gpus("llama-3.1-8b", {.tensor = 8});
  d.cluster.device = catalogue::device("apple_m3_max_40c");
  EXPECT_EQ(fields(check(d)), Fields{"cluster.link"});
  d.cluster.intra_node = Link{.name = "Thunderbolt 5", .bandwidth = 10_GBps, .devices = 8};
  EXPECT_EQ(fields(check(d)), Fields());
}

TEST(Check, ABoardHasTheUnitsItLists) {
  Deployment d = eight_gpus("llama-3.1-8b", {.tensor = 8});
  d.engine = catalogue::engine("llama.cpp-cpu");
  EXPECT_EQ(fields(check(d)), Fields{"engine"});
}

TEST(Check, AnEmptyDeploymentNamesWhatItNeeds) {
  EXPECT_EQ(fields(check(Deployment{})), Fields{"network"});
  EXPECT_EQ(fields(check(Deployment{.network = catalogue::network("gpt2"), .engine = {}})), Fields{"engine"});
}

TEST(Check, ALayerlessNetworkIsAFault) {
  EXPECT_EQ(fields(check(Deployment{.network = Network{.hidden = 8, .vocabulary = 8}})), Fields{"network.layers"});
}

} // namespace
