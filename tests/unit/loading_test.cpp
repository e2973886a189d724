// What memory holds while weights are loaded, and how long that takes.
#include <gtest/gtest.h>

#include <cmath>

#include "tokenroof/catalogue/devices.hpp"
#include "tokenroof/catalogue/engines.hpp"
#include "tokenroof/catalogue/networks.hpp"
#include "tokenroof/hardware/memory_choice.hpp"
#include "tokenroof/network/named_schemes.hpp"
#include "tokenroof/predict.hpp"
#include "tokenroof/units/literals.hpp"

namespace tokenroof {
namespace {

using namespace literals;

Engine loading(LoadHabits habits) {
  Engine engine = *roofline_engine();
  engine.load = habits;
  return engine;
}

Deployment on_a_board(LoadHabits habits) {
  return {.network = catalogue::network("llama-3.1-8b"),
          .cluster = {.device = catalogue::device("h100_sxm"), .host = Host{.storage_read = 7_GBps}},
          .engine = loading(habits),
          .weights = scheme("bf16")};
}

Deployment on_a_mac(LoadHabits habits) {
  Deployment d = on_a_board(habits);
  d.cluster.device = with_memory(catalogue::device("apple_m3_max_40c"), 64_GiB);
  return d;
}

LoadPhase load_of(const Deployment& deployment) { return predict(deployment, {}).load; }

Bytes weights_of(const Deployment& deployment) { return weight_bytes(*deployment.network, deployment.weights); }

TEST(Loading, MappedFilesLeaveNothingDirtyOnTheHost) {
  const Deployment d = on_a_board({.style = LoadStyle::mapped});
  const LoadPhase load = load_of(d);
  EXPECT_EQ(load.host.value(), 0);
  EXPECT_EQ(load.host_clean, weights_of(d));
  EXPECT_EQ(load.device, weights_of(d));
}

TEST(Loading, AShardAtATimeOrTheWholeCheckpointIsHeld) {
  const Deployment d = on_a_board({.style = LoadStyle::by_shard, .shard = 5_GB});
  EXPECT_EQ(load_of(d).host, 5_GB);
  EXPECT_EQ(load_of(on_a_board({.style = LoadStyle::by_shard, .shard = 500_GB})).host, weights_of(d));
  EXPECT_EQ(load_of(on_a_board({.style = LoadStyle::whole, .copies = 2})).host, weights_of(d) * 2.0);
}

TEST(Loading, OneMemoryHoldsWhatTheLoaderHoldsToo) {
  const Bytes weights = weights_of(on_a_mac({}));
  const LoadPhase in_place = load_of(on_a_mac({.style = LoadStyle::in_place}));
  EXPECT_EQ(in_place.device, weights);
  EXPECT_EQ(in_place.device_clean, weights);
  EXPECT_EQ(load_of(on_a_mac({.style = LoadStyle::mapped})).device, weights * 2.0);
  EXPECT_EQ(load_of(on_a_mac({.style = LoadStyle::mapped})).device_clean, weights);
  EXPECT_EQ(load_of(on_a_mac({.style = LoadStyle::read})).device, weights);
  EXPECT_EQ(load_of(on_a_mac({.style = LoadStyle::read})).device_clean.value(), 0);
  EXPECT_EQ(load_of(on_a_mac({.style = LoadStyle::whole})).device, weights * 2.0) << "a loader that doubles memory";
  EXPECT_EQ(load_of(on_a_mac({.style = LoadStyle::whole})).host.value(), 0);
}

TEST(Loading, ColdStartsReadTheFileAndThenCopyIt) {
  const Deployment d = on_a_board({.style = LoadStyle::mapped, .storage_efficiency = 0.5});
  const Bytes weights = weights_of(d);
  const Seconds expected = weights / 3.5_GBps + weights / d.cluster.device.pcie->bandwidth;
  EXPECT_NEAR(load_of(d).cold_start / expected, 1, 1e-12);
  EXPECT_NEAR(load_of(on_a_mac({})).cold_start / (weights / 7_GBps), 1, 1e-12) << "nothing to copy over";
}

TEST(Loading, WithoutADriveThereIsNoTime) {
  Deployment d = on_a_board({});
  d.cluster.host.reset();
  EXPECT_FALSE(is_present(load_of(d).cold_start));
  EXPECT_EQ(cold_start_absence(d), Absence::no_storage_bandwidth);
}

TEST(Loading, WeightsThatStayOnTheHostAreLoadedThere) {
  Deployment d = on_a_board({.style = LoadStyle::mapped});
  d.offload.host_layers = 16;
  const Prediction p = predict(d, {});
  EXPECT_EQ(p.load.host, p.host.weights);
  EXPECT_NEAR((p.load.host + p.load.host_clean) / weights_of(d), 1, 1e-12);
}

TEST(Loading, RanksOfANodeReadOneFile) {
  Deployment d = on_a_board({.style = LoadStyle::mapped});
  const Seconds alone = load_of(d).cold_start;
  d.cluster.devices = d.parallelism.tensor = 4;
  EXPECT_LT(load_of(d).cold_start, alone) << "each copies its part only";
  EXPECT_GT(load_of(d).cold_start, weights_of(d) / 7_GBps);
}

TEST(Loading, EnginesSayHowTheyLoad) {
  EXPECT_EQ(catalogue::engine("llama.cpp-metal")->load.style, LoadStyle::in_place);
  EXPECT_EQ(catalogue::engine("vllm")->load.style, LoadStyle::mapped);
  EXPECT_EQ(catalogue::engine("tensorrt-llm")->load.style, LoadStyle::whole);
}

} // namespace
} // namespace tokenroof
