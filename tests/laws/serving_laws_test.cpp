// Laws of clients that send one request after another.
#include <gtest/gtest.h>

#include "support/catalogue_grid.hpp"
#include "support/nearly_equal.hpp"
#include "tokenroof/catalogue/engines.hpp"
#include "tokenroof/network/named_schemes.hpp"

namespace tokenroof {
namespace {

using namespace literals;
using test::all_networks;
using test::nearly_equal;

Workload loop(std::int64_t clients) {
  return {.batch = clients, .prompt = 1000_tok, .output = 200_tok, .arrival = Arrival::closed_loop};
}

Deployment served(const Shared<Network>& network) {
  Deployment deployment = test::deployment(network, test::reference_device());
  deployment.engine = catalogue::engine("vllm");
  return deployment;
}

TEST(ServingLaws, OneClientIsASingleStreamAndWhatTheServerAdds) {
  for (const Shared<Network>& network : all_networks()) {
    SCOPED_TRACE(network->name);
    const Deployment deployment = served(network);
    Workload alone = loop(1);
    const Prediction closed = predict(deployment, alone);
    alone.arrival = Arrival::together;
    const Prediction single = predict(deployment, alone);
    const Seconds overhead = deployment.engine->serving.request_overhead;
    ASSERT_TRUE(nearly_equal(closed.ttft.value.value(), (single.ttft.value + overhead).value()));
    ASSERT_TRUE(nearly_equal(closed.tpot.value.value(), single.tpot.value.value()));
    ASSERT_EQ(closed.ledger, single.ledger);
  }
}

TEST(ServingLaws, ThroughputIsClientsOverTheTimeOfARequest) {
  for (const Shared<Network>& network : all_networks()) {
    const Prediction p = predict(served(network), loop(24));
    const Seconds request = p.ttft.value + p.tpot.value * 199.0;
    ASSERT_TRUE(nearly_equal(p.tokens_per_second.value.value(), 24 * 200 / request.value())) << network->name;
    ASSERT_TRUE(nearly_equal(p.end_to_end.value.value(), request.value())) << network->name;
  }
}

TEST(ServingLaws, MoreClientsWaitLonger) {
  for (const Shared<Network>& network : all_networks()) {
    Prediction before = predict(served(network), loop(1));
    for (const std::int64_t clients : {2, 7, 32, 150}) {
      const Prediction p = predict(served(network), loop(clients));
      ASSERT_GE(p.ttft.value, before.ttft.value) << network->name << ' ' << clients;
      ASSERT_GE(p.tpot.value, before.tpot.value) << network->name << ' ' << clients;
      before = p;
    }
  }
}

TEST(ServingLaws, StartingTogetherCostsTheFirstToken) {
  const Deployment deployment = served(catalogue::network("llama-3.1-8b"));
  Workload benchmark = loop(64);
  const Prediction steady = predict(deployment, benchmark);
  benchmark.requests_per_client = 10;
  const Prediction long_one = predict(deployment, benchmark);
  benchmark.requests_per_client = 2;
  const Prediction short_one = predict(deployment, benchmark);
  EXPECT_GT(long_one.ttft.value, steady.ttft.value);
  EXPECT_GT(short_one.ttft.value, long_one.ttft.value);
  EXPECT_EQ(short_one.tpot.value, steady.tpot.value);
}

TEST(ServingLaws, WhoFindsNoRoomInTheCacheWaits) {
  Deployment deployment = served(catalogue::network("llama-3.1-8b"));
  deployment.cluster.device = catalogue::device("h100_sxm");
  deployment.settings.most_sequences = 1'024;
  const Workload crowd = loop(3'000);
  const double room = capacity(deployment, loop(1), *memory(deployment.cluster.device)).sequences;
  const Prediction p = predict(deployment, crowd);
  ASSERT_LT(room, 3'000);
  EXPECT_TRUE(p.fits) << "clients queue; they do not overflow the memory";
  EXPECT_EQ(running_sequences(deployment, crowd), static_cast<std::int64_t>(room));
  EXPECT_GT(p.ttft.value, p.tpot.value * (199 * (3'000 / room - 1) * 0.99));

  deployment.settings.most_sequences = 16;
  EXPECT_EQ(running_sequences(deployment, crowd), 16);
  EXPECT_EQ(running_sequences(deployment, loop(3)), 3);
}

TEST(ServingLaws, FixedCostsOfStagesThatOverlapAreNoWorkOfAPrompt) {
  Deployment deployment = test::deployment(catalogue::network("llama-3.1-70b"), test::reference_device());
  deployment.parallelism.pipeline = deployment.cluster.devices = 4;
  deployment.settings.batched_tokens = 512_tok;
  const auto work_time = [&](Seconds layer) {
    deployment.engine = Engine{.id = "mine", .profiles = {EngineProfile{.constants = {.prefill_layer = layer}}}};
    return bind_phases(step_models(deployment), deployment, loop(1)).prefill.work_time(Tokens()).value();
  };
  EXPECT_NEAR(work_time(Seconds::from_value(1e-3)), work_time(Seconds()), 1e-9);
}

TEST(ServingLaws, AFaultyBenchmarkIsNamed) {
  Workload workload = loop(4);
  workload.requests_per_client = 0.5;
  ASSERT_EQ(check(workload).size(), 1U);
  EXPECT_EQ(check(workload)[0].field, "requests_per_client");
}

} // namespace
} // namespace tokenroof
