// Laws of what lies outside a device's memory.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/catalogue_grid.hpp"
#include "support/nearly_equal.hpp"
#include "tokenroof/catalogue/engines.hpp"
#include "tokenroof/explain.hpp"
#include "tokenroof/hardware/memory_choice.hpp"
#include "tokenroof/sweep/sweep.hpp"

namespace tokenroof {
namespace {

using namespace literals;
using test::nearly_equal;

Host desktop_host() {
  Host host = host_of(catalogue::device("epyc_9654"));
  host.bandwidth = 80_GBps;
  host.storage_read = 7_GBps;
  return host;
}

Deployment offloaded(const char* network, const char* engine, const char* weights = "Q4_K_M") {
  const Engine neutral = *roofline_engine();
  return {.network = catalogue::network(network),
          .cluster = {.device = test::roomy(catalogue::device("rtx_4090")), .host = desktop_host()},
          .engine = std::string(engine) == "roofline" ? Shared<Engine>(neutral) : catalogue::engine(engine),
          .weights = scheme(weights)};
}

const std::vector<const char*>& engines_that_offload() {
  static const std::vector<const char*> engines = {"roofline", "llama.cpp-cuda", "vllm", "sglang"};
  return engines;
}

const std::vector<const char*>& some_networks() {
  static const std::vector<const char*> networks = {"llama-3.1-8b", "qwen3-30b-a3b", "deepseek-v2-lite",
                                                    "gpt-oss-20b",  "gemma-3-27b",   "mixtral-8x7b"};
  return networks;
}

template <class Visit>
void for_each_offloading(Visit visit) {
  for (const char* network : some_networks()) {
    for (const char* engine : engines_that_offload()) {
      SCOPED_TRACE(std::string(network) + " by " + engine);
      visit(offloaded(network, engine));
    }
  }
}

constexpr Workload workload{.batch = 2, .prompt = 700_tok, .output = 64_tok};

TEST(OffloadLaws, AHostThatHoldsNothingChangesNothing) {
  for_each_offloading([](Deployment with) {
    Deployment without = with;
    without.cluster.host.reset();
    const Prediction a = predict(with, workload);
    const Prediction b = predict(without, workload);
    EXPECT_EQ(a.ttft.value.value(), b.ttft.value.value());
    EXPECT_EQ(a.tpot.value.value(), b.tpot.value.value());
    EXPECT_EQ(a.ledger, b.ledger);
    EXPECT_EQ(a.host, HostLedger{});
  });
}

/// Predictions with more and more layers on the host, or more and more experts.
std::vector<Prediction> ever_more(Deployment d, Count Offload::*field) {
  std::vector<Prediction> predictions;
  const Count layers = layer_count(*d.network);
  for (Count count = 0; count <= layers; ++count) {
    d.offload.*field = count;
    predictions.push_back(predict(d, workload));
  }
  return predictions;
}

void expect_more_costs_more(const std::vector<Prediction>& predictions) {
  for (std::size_t i = 1; i < predictions.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_GE(predictions[i].tpot.value, predictions[i - 1].tpot.value);
    EXPECT_GE(predictions[i].ttft.value, predictions[i - 1].ttft.value);
    EXPECT_LE(predictions[i].ledger[LedgerItem::weights], predictions[i - 1].ledger[LedgerItem::weights]);
    EXPECT_LE(predictions[i].ledger[LedgerItem::kv_cache], predictions[i - 1].ledger[LedgerItem::kv_cache]);
    EXPECT_GE(peak(predictions[i].host), peak(predictions[i - 1].host));
  }
  EXPECT_LE(predictions.back().peak_memory.value, predictions.front().peak_memory.value);
  EXPECT_GT(predictions.back().tpot.value, predictions.front().tpot.value);
}

TEST(OffloadLaws, MoreLayersOnTheHostAreNeverFasterNorTakeMoreOfTheDevice) {
  for_each_offloading([](const Deployment& d) { expect_more_costs_more(ever_more(d, &Offload::host_layers)); });
}

TEST(OffloadLaws, MoreExpertsOnTheHostAreNeverFasterNorTakeMoreOfTheDevice) {
  for_each_offloading([](const Deployment& d) {
    if (detail::has_experts(*d.network)) {
      expect_more_costs_more(ever_more(d, &Offload::host_expert_layers));
    }
  });
}

TEST(OffloadLaws, NoWeightIsLostOrDoubled) {
  for_each_offloading([](Deployment d) {
    const double all = predict(d, workload).ledger[LedgerItem::weights].value();
    const Count layers = layer_count(*d.network);
    for (const Offload offload : {Offload{.host_layers = 1}, Offload{.host_layers = layers / 2},
                                  Offload{.host_layers = layers - 1}, Offload{.host_layers = layers}}) {
      d.offload = offload;
      if (detail::has_experts(*d.network)) {
        d.offload.host_expert_layers = std::min(layers, offload.host_layers + 2);
      }
      const Prediction p = predict(d, workload);
      EXPECT_TRUE(nearly_equal((p.ledger[LedgerItem::weights] + p.host.weights).value(), all));
    }
    EXPECT_EQ(predict(d, workload).ledger[LedgerItem::weights].value(), 0) << "all layers are on the host";
  });
}

TEST(OffloadLaws, WhereTheHostComputesTheCacheFollowsItsLayers) {
  Deployment d = offloaded("llama-3.1-8b", "llama.cpp-cuda");
  const double all = predict(d, workload).ledger[LedgerItem::kv_cache].value();
  d.offload.host_layers = 8;
  EXPECT_TRUE(nearly_equal(predict(d, workload).ledger[LedgerItem::kv_cache].value(), all * 24 / 32));
  d = offloaded("llama-3.1-8b", "vllm");
  d.offload.host_layers = 8;
  EXPECT_TRUE(nearly_equal(predict(d, workload).ledger[LedgerItem::kv_cache].value(), all));
  EXPECT_EQ(predict(d, workload).host.kv_cache.value(), 0);
}

TEST(OffloadLaws, AllLayersOnTheHostDecodeAsTheHostAloneWould) {
  for (const char* network : some_networks()) {
    SCOPED_TRACE(network);
    Deployment d = offloaded(network, "roofline", "bf16");
    Engine engine = *d.engine;
    engine.offload.style = OffloadStyle::host_computes;
    d.engine = engine;
    d.offload.host_layers = layer_count(*d.network);
    Deployment alone = d;
    alone.offload = {};
    alone.cluster = {.device = test::roomy(catalogue::device("epyc_9654"))};
    alone.cluster.device.memory_variants[0].bandwidth = desktop_host().bandwidth;
    const Workload single{.batch = 1, .prompt = 64_tok, .output = 32_tok};
    EXPECT_TRUE(nearly_equal(predict(d, single).tpot.value.value(), predict(alone, single).tpot.value.value(), 1e-9));
  }
}

TEST(OffloadLaws, StreamedDecodeIsWeightsOverTheLink) {
  Deployment d = offloaded("llama-3.1-8b", "roofline", "bf16");
  d.cluster.host->unit.reset(); // what cannot compute is streamed from
  d.cluster.host->bandwidth = 400_GBps;
  Engine engine = *d.engine;
  engine.offload.style = OffloadStyle::streamed;
  d.engine = engine;
  const Workload single{.batch = 1, .prompt = 64_tok, .output = 2_tok};
  const Seconds before = predict(d, single).tpot.value;
  d.offload.host_layers = 10;
  const Prediction p = predict(d, single);
  const Seconds over_link = p.host.weights / d.cluster.device.pcie->bandwidth;
  EXPECT_GT(p.tpot.value, over_link);
  EXPECT_LT(p.tpot.value, over_link + before);
}

TEST(OffloadLaws, ExpertsOnTheHostAreReadAsTheyAreTouched) {
  Deployment d = offloaded("qwen3-30b-a3b", "roofline", "bf16");
  d.cluster.device.pcie->bandwidth = 0.001_GBps;
  d.offload.host_expert_layers = 48;
  for (const std::int64_t batch : {1, 4, 32}) {
    const Workload decode{.batch = batch, .prompt = 1_tok, .output = 2_tok};
    const PhaseExplanation step = *explain(d, decode).decode;
    const double touched = expected_distinct(128, 8, static_cast<double>(batch)) / 128;
    const Bytes experts = predict(d, decode).host.weights;
    const Seconds on_host = step.time_by_roof[static_cast<std::size_t>(Roof::host_memory)] +
                            step.time_by_roof[static_cast<std::size_t>(Roof::host_compute)];
    EXPECT_NEAR(on_host / (experts * touched / *d.cluster.host->bandwidth), 1, 0.03) << batch;
  }
}

TEST(OffloadLaws, RoofsAddUpToTheStep) {
  for_each_offloading([](Deployment d) {
    d.offload.host_layers = layer_count(*d.network) / 3;
    const Explanation e = explain(d, workload);
    for (const PhaseExplanation& phase : {e.prefill, *e.decode}) {
      Seconds sum;
      for (const Seconds& part : phase.time_by_roof) {
        sum += part;
      }
      EXPECT_TRUE(nearly_equal(sum.value(), phase.cost.time.value(), 1e-9));
    }
  });
}

TEST(OffloadLaws, MissingFiguresOfTheHostAreNamed) {
  Deployment d = offloaded("llama-3.1-8b", "llama.cpp-cuda");
  d.offload.host_layers = 4;
  d.cluster.host->unit.reset();
  Prediction p = predict(d, workload);
  EXPECT_EQ(p.ttft_absence, Absence::no_host_compute_rate); // attention of those layers
  EXPECT_EQ(predict(d, {.batch = 1, .output = 8_tok}).tpot_absence, Absence::none);
  d.cluster.host.reset();
  p = predict(d, workload);
  EXPECT_EQ(p.tpot_absence, Absence::no_host_bandwidth);
  EXPECT_FALSE(p.tpot.has_value());
  EXPECT_TRUE(p.fits);
  d.cluster.host = desktop_host();
  d.cluster.device.pcie.reset();
  EXPECT_EQ(predict(d, workload).tpot_absence, Absence::no_host_link);
}

TEST(OffloadLaws, WhatTheHostCannotHoldDoesNotFit) {
  Deployment d = offloaded("llama-3.1-8b", "llama.cpp-cuda");
  d.offload.host_layers = 32;
  d.cluster.host->memory = 2_GiB;
  const Prediction p = predict(d, workload);
  EXPECT_FALSE(p.fits);
  EXPECT_EQ(p.shortfall.value(), 0);
  EXPECT_TRUE(nearly_equal(p.host_shortfall.value(), (peak(p.host) - 2_GiB).value()));
  EXPECT_THROW((void)p.latency(), DoesNotFit);
}

TEST(OffloadLaws, SweepsAgreeWithPredictions) {
  Deployment d = offloaded("qwen3-30b-a3b", "llama.cpp-cuda");
  d.offload = {.host_layers = 3, .host_expert_layers = 20, .mapped = true};
  d.cluster.host->memory = 4_GiB;
  const SweepAxes axes{
      .batch = {1, 5}, .prompt = {8_tok, 600_tok}, .output = {1_tok, 50_tok}, .context_depth = {0_tok, 9000_tok}};
  sweep(d, axes, [&](const Workload& point, const Prediction& p) {
    const Prediction same = predict(d, point);
    EXPECT_EQ(p.ttft.value.value(), same.ttft.value.value());
    EXPECT_TRUE(p.tpot.value.value() == same.tpot.value.value() || point.output == 1_tok);
    EXPECT_EQ(p.in_storage.value(), same.in_storage.value());
  });
}

Deployment mapped_on_a_server(const char* network, Bytes memory) {
  Deployment d{
      .network = catalogue::network(network),
      .cluster = {.device = with_memory(catalogue::device("epyc_9654"), memory), .host = Host{.storage_read = 7_GBps}},
      .weights = scheme("Q4_K_M"),
      .offload = {.mapped = true}};
  return d;
}

TEST(OffloadLaws, LessMemoryForMappedWeightsIsNeverFaster) {
  for (const char* network : {"llama-3.1-70b", "deepseek-r1"}) {
    Seconds last = Seconds::from_value(1e9);
    for (const double gibibytes : {4, 8, 16, 24, 32, 40, 48, 64, 128, 256, 512, 1024}) {
      SCOPED_TRACE(gibibytes);
      const Bytes memory = 1_GiB * gibibytes;
      const Prediction p = predict(mapped_on_a_server(network, memory), workload);
      EXPECT_TRUE(p.fits) << "what does not fit stays in storage";
      EXPECT_LE(p.peak_memory.value, memory);
      EXPECT_LE(p.tpot.value, last);
      last = p.tpot.value;
    }
  }
}

TEST(OffloadLaws, MappedWeightsThatFitCostNothing) {
  Deployment d = mapped_on_a_server("llama-3.1-70b", 512_GiB);
  const Prediction mapped = predict(d, workload);
  d.offload = {};
  const Prediction loaded = predict(d, workload);
  EXPECT_EQ(mapped.tpot.value.value(), loaded.tpot.value.value());
  EXPECT_EQ(mapped.peak_memory.value.value(), loaded.peak_memory.value.value());
}

} // namespace
} // namespace tokenroof
