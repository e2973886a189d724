// Laws of whole predictions, over random networks, devices, splits and workloads.
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tokenroof/network/named_schemes.hpp"
#include "tokenroof/predict.hpp"
#include "tokenroof/sweep/sweep.hpp"

namespace {

using namespace tokenroof;

Count pick(Count least, Count most) { return *rc::gen::inRange<Count>(least, most + 1); }

Tokens tokens(Count least, Count most) { return Tokens::from_value(static_cast<double>(pick(least, most))); }

/// One of the rules of linear attention.
LinearRule any_rule() { return static_cast<LinearRule>(pick(0, 3)); }

std::optional<TokenIndexer> any_indexer() {
  return pick(0, 1) == 0 ? std::nullopt : std::optional(TokenIndexer{.heads = pick(1, 64), .head_dim = pick(16, 128)});
}

Mixer any_newer_mixer() {
  switch (pick(0, 3)) {
  case 0: {
    const Count ratio = pick(0, 1) * 4;
    return CompressedAttention{.heads = 16,
                               .head_dim = pick(16, 512),
                               .query_rank = pick(16, 1024),
                               .output_groups = 16,
                               .output_rank = pick(16, 1024),
                               .window = tokens(1, 256),
                               .ratio = ratio,
                               .overlap = ratio > 0,
                               .selected = pick(0, 512)};
  }
  case 1:
    return SelectiveScan{.inner = 16 * pick(16, 512), .state = pick(4, 64), .step_rank = pick(4, 256)};
  case 2:
    return LatentAttention{.heads = 16,
                           .query_rank = 512,
                           .kv_rank = 512,
                           .nope_head_dim = 128,
                           .rope_head_dim = 64,
                           .value_head_dim = 128,
                           .output_gate = pick(0, 1) == 1,
                           .indexer = any_indexer(),
                           .selected = tokens(1, 2048)};
  default:
    return LinearMap{};
  }
}

Mixer any_mixer() {
  const Count kv_heads = pick(1, 16);
  switch (pick(0, 6)) {
  case 0:
    return LatentAttention{.heads = 16,
                           .query_rank = pick(0, 1) * 512,
                           .kv_rank = pick(64, 512),
                           .nope_head_dim = pick(16, 128),
                           .rope_head_dim = pick(8, 64),
                           .value_head_dim = pick(16, 128)};
  case 1:
    return StateSpace{.heads = 16, .head_dim = pick(8, 64), .state = pick(16, 128)};
  case 2:
    return LinearAttention{.key_heads = 16,
                           .value_heads = 32,
                           .key_head_dim = pick(16, 128),
                           .value_head_dim = pick(16, 128),
                           .convolution = pick(0, 1) * 4,
                           .rule = any_rule(),
                           .decay_rank = 16 * pick(1, 8),
                           .gate_rank = 16 * pick(0, 8)};
  case 3:
    return ShortConvolution{};
  case 4:
    return any_newer_mixer();
  default:
    break;
  }
  GroupedQueryAttention attention{.heads = kv_heads * 16, .kv_heads = kv_heads, .head_dim = pick(8, 128)};
  attention.value_head_dim = attention.head_dim;
  if (pick(0, 1) == 1) {
    attention.window = tokens(1, 4096);
  }
  return attention;
}

FeedForward any_feed_forward() {
  if (pick(0, 1) == 0) {
    return DenseFeedForward{.width = pick(64, 16384), .gated = pick(0, 1) == 1};
  }
  const Count experts = pick(1, 128);
  return MixtureOfExperts{.experts = experts,
                          .active = pick(1, experts),
                          .width = pick(64, 4096),
                          .shared_width = pick(0, 1) * 1024,
                          .latent_width = pick(0, 1) * 256};
}

Network any_network() {
  Network network{.name = "random", .hidden = pick(64, 8192), .vocabulary = pick(100, 200000)};
  network.tied_embeddings = pick(0, 1) == 1;
  network.residual_streams = pick(1, 4);
  network.per_layer_width = pick(0, 1) * 256;
  network.per_layer_vocabulary = 1000;
  for (Count runs = pick(1, 4); runs > 0; --runs) {
    network.layers.push_back({Block{.mixers = {any_mixer()}, .feed_forward = any_feed_forward()}, pick(1, 40)});
  }
  return network;
}

double log_uniform(double least, double most) {
  const double part = static_cast<double>(pick(0, 1000)) / 1000;
  return least * std::pow(most / least, part);
}

Device any_device() {
  Device device{.id = "random", .bandwidth = Bandwidth::from_value(log_uniform(1e9, 2e13))};
  device.memory_variants[0].capacity = Bytes::from_value(1e16);
  device.memory_variant_count = 1;
  const ComputeRate rate = ComputeRate::from_value(log_uniform(1e11, 1e16));
  device.compute_units[0].matrix[static_cast<std::size_t>(Arithmetic::bf16)] = Rate{rate, rate, rate};
  device.compute_unit_count = 1;
  device.scale_up = Link{.bandwidth = Bandwidth::from_value(log_uniform(1e9, 1e12)), .devices = 1024};
  return device;
}

Deployment any_deployment() {
  const std::vector<std::string> names = {"bf16", "fp8", "Q4_K_M", "Q8_0", "nvfp4", "int8"};
  Deployment deployment{.network = any_network(),
                        .cluster = {.device = any_device()},
                        .weights = scheme(names[static_cast<std::size_t>(pick(0, 5))])};
  deployment.parallelism.tensor = Count{1} << pick(0, 4);
  deployment.parallelism.pipeline = pick(1, layer_count(*deployment.network));
  deployment.parallelism.data = pick(1, 3);
  deployment.cluster.devices = device_count(deployment.parallelism);
  return deployment;
}

Workload any_workload() {
  return {
      .batch = pick(1, 500), .prompt = tokens(1, 20000), .output = tokens(1, 2000), .context_depth = tokens(0, 50000)};
}

/// Random splits that the network does not allow are not of interest here.
Deployment any_valid_deployment() {
  Deployment deployment = any_deployment();
  if (!check(deployment).empty()) {
    deployment.parallelism = {};
    deployment.cluster.devices = 1;
  }
  RC_PRE(check(deployment).empty());
  return deployment;
}

bool is_finite_and_positive(double value) { return std::isfinite(value) && value > 0; }

RC_GTEST_PROP(Predictions, AreFiniteAndPositive, ()) {
  const Deployment deployment = any_valid_deployment();
  const Workload workload = any_workload();
  const Prediction p = predict(deployment, workload);
  RC_ASSERT(p.fits);
  RC_ASSERT(is_finite_and_positive(p.ttft.value.value()));
  RC_ASSERT(is_finite_and_positive(p.end_to_end.value.value()));
  RC_ASSERT(is_finite_and_positive(p.peak_memory.value.value()));
  RC_ASSERT(p.tpot.has_value() == (workload.output > Tokens::from_value(1)));
  RC_ASSERT(p.latency() >= p.ttft.value);
}

RC_GTEST_PROP(Predictions, MoreOfAnythingIsNeverSlower, ()) {
  const Deployment deployment = any_valid_deployment();
  const Workload workload = any_workload();
  Deployment better = deployment;
  const double factor = log_uniform(1, 10);
  *better.cluster.device.bandwidth *= log_uniform(1, 10);
  better.cluster.device.scale_up->bandwidth *= log_uniform(1, 10);
  better.cluster.device.compute_units[0].matrix[static_cast<std::size_t>(Arithmetic::bf16)]->value *= factor;
  const Prediction before = predict(deployment, workload);
  const Prediction after = predict(better, workload);
  RC_ASSERT(after.ttft.value <= before.ttft.value * (1 + 1e-12));
  RC_ASSERT(after.end_to_end.value <= before.end_to_end.value * (1 + 1e-12));
}

RC_GTEST_PROP(Predictions, GrowWithEveryPartOfTheWorkload, ()) {
  const Deployment deployment = any_valid_deployment();
  const Workload workload = any_workload();
  Workload more = workload;
  more.batch += pick(0, 100);
  more.output += tokens(0, 100);
  more.context_depth += tokens(0, 10000);
  const Prediction before = predict(deployment, workload);
  const Prediction after = predict(deployment, more);
  RC_ASSERT(after.ttft.value >= before.ttft.value * (1 - 1e-12));
  RC_ASSERT(after.end_to_end.value >= before.end_to_end.value * (1 - 1e-12));
  RC_ASSERT(after.peak_memory.value >= before.peak_memory.value);
}

RC_GTEST_PROP(Predictions, ChunksNeverSpeedUpAPrompt, ()) {
  Deployment whole = any_valid_deployment();
  Workload workload = any_workload();
  workload.batch = whole.parallelism.data;
  Engine chunking = *whole.engine;
  chunking.memory.batched_tokens = tokens(16, 4096);
  Deployment chunked = whole;
  chunked.engine = chunking;
  const auto stages = static_cast<double>(whole.parallelism.pipeline); // which chunks may keep busy all at once
  const Seconds unbroken = predict(whole, workload).ttft.value;
  RC_ASSERT(predict(chunked, workload).ttft.value >= unbroken * ((1 - 1e-9) / stages));
  chunking.overlaps_stages = false;
  chunked.engine = chunking;
  RC_ASSERT(predict(chunked, workload).ttft.value >= unbroken * (1 - 1e-9));
}

RC_GTEST_PROP(Predictions, OverlappingStagesWorkOnManyChunksAtOnce, ()) {
  Deployment apart = any_valid_deployment();
  Workload workload = any_workload();
  workload.batch = apart.parallelism.data;
  Engine engine = *apart.engine;
  engine.memory.batched_tokens = tokens(16, 4096);
  Deployment together = apart;
  together.engine = engine;
  engine.overlaps_stages = false;
  apart.engine = engine;
  const Seconds slow = predict(apart, workload).ttft.value;
  const Seconds fast = predict(together, workload).ttft.value;
  RC_ASSERT(fast <= slow * (1 + 1e-9));
  RC_ASSERT(fast >= slow * ((1 - 1e-9) / static_cast<double>(apart.parallelism.pipeline)));
}

/// Numbers that no one means.
double absurd() {
  const std::vector<double> numbers = {-1,
                                       0,
                                       0.5,
                                       -1e30,
                                       1e30,
                                       std::numeric_limits<double>::infinity(),
                                       -std::numeric_limits<double>::infinity(),
                                       std::numeric_limits<double>::quiet_NaN()};
  return numbers[static_cast<std::size_t>(pick(0, 7))];
}

RC_GTEST_PROP(Predictions, AbsurdWorkloadsAreRefusedByName, ()) {
  const Deployment deployment = any_valid_deployment();
  Workload workload = any_workload();
  const Count which = pick(0, 3);
  const double number = absurd();
  if (which == 0) {
    workload.batch = -pick(0, 1000);
  } else if (which == 1) {
    workload.prompt = Tokens::from_value(number);
  } else if (which == 2) {
    workload.output = Tokens::from_value(number);
  } else {
    RC_PRE(number != 0);
    workload.context_depth = Tokens::from_value(number);
  }
  const std::vector<std::string> fields = {"batch", "prompt", "output", "context_depth"};
  try {
    static_cast<void>(predict(deployment, workload));
    RC_FAIL("an absurd workload was accepted");
  } catch (const InvalidSpec& error) {
    RC_ASSERT(error.field() == fields[static_cast<std::size_t>(which)]);
  }
}

RC_GTEST_PROP(Predictions, AnySplitIsAnsweredOrRefused, ()) {
  Deployment deployment = any_deployment();
  deployment.parallelism = {
      .tensor = pick(-2, 40), .pipeline = pick(-2, 40), .data = pick(-2, 10), .expert = pick(-2, 40)};
  deployment.cluster.devices = pick(0, 1) == 1 ? device_count(deployment.parallelism) : pick(-5, 100);
  const bool faulty = !check(deployment).empty();
  try {
    RC_ASSERT(is_finite_and_positive(predict(deployment, any_workload()).ttft.value.value()));
    RC_ASSERT(!faulty);
  } catch (const InvalidSpec&) {
    RC_ASSERT(faulty);
  }
}

} // namespace
