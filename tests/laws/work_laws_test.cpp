// Laws of work and memory, over every network of the catalogue.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/catalogue_grid.hpp"
#include "support/nearly_equal.hpp"
#include "tokenroof/network/named_schemes.hpp"
#include "tokenroof/network/parameters.hpp"

namespace tokenroof {
namespace {

using namespace literals;
using test::all_networks;
using test::deployment;
using test::nearly_equal;
using test::reference_device;

Work total_work(const Program& program, const StepShape& step) {
  Work total;
  for (const Operator& op : program.operators) {
    const Work one = work(op, step);
    total.flops += one.flops * op.repeats;
    total.weights += one.weights * op.repeats;
    total.kv += one.kv * op.repeats;
  }
  return total;
}

/// Bytes of the tables that are looked up in, not multiplied with.
Bytes looked_up(const Network& network, const WeightScheme& weights) {
  const SchemeFacts facts = scheme_facts(network);
  Bytes bytes;
  for_each_outer_tensor(network, [&](const Tensor& tensor) {
    if (detail::is_looked_up(tensor.role)) {
      bytes += storage(format_of(weights, facts, tensor.role, tensor.row_length), tensor);
    }
  });
  return bytes;
}

TEST(WorkLaws, AStepOfManyTokensReadsEveryWeightOnce) {
  for (const Shared<Network>& network : all_networks()) {
    for (const char* name : {"bf16", "Q4_K_M", "fp8"}) {
      SCOPED_TRACE(network->name + " in " + name);
      const WeightScheme weights = scheme(name);
      const Program program = lower(deployment(network, reference_device(), weights), LatentForm::absorbed);
      const StepShape all_experts_touched{.sequences = 1e6, .new_tokens = 1};
      const Bytes read = total_work(program, all_experts_touched).weights;
      const Bytes stored = weight_bytes(*network, weights);
      EXPECT_TRUE(nearly_equal(read.value(), (stored - looked_up(*network, weights)).value()));
    }
  }
}

TEST(WorkLaws, ASingleTokenReadsTheActiveWeights) {
  for (const Shared<Network>& network : all_networks()) {
    SCOPED_TRACE(network->name);
    const Program program = lower(deployment(network, reference_device()), LatentForm::absorbed);
    const Bytes read = total_work(program, {.sequences = 1, .new_tokens = 1}).weights;
    const ParameterCount count = count_parameters(*network);
    EXPECT_TRUE(nearly_equal(read.value(), 2.0 * static_cast<double>(count.active_without_embeddings())));
  }
}

/// The network as it would be if every layer kept what it attends to, and picked nothing.
Network attending_to_all_it_keeps(Network network) {
  for (LayerRun& run : network.layers) {
    for (Mixer& mixer : run.block.mixers) {
      if (auto* grouped = std::get_if<GroupedQueryAttention>(&mixer)) {
        grouped->shares_cache = false;
        grouped->selected.reset();
      } else if (auto* latent = std::get_if<LatentAttention>(&mixer)) {
        latent->selected.reset();
      } else if (auto* compressed = std::get_if<CompressedAttention>(&mixer)) {
        compressed->selected = 0;
      }
    }
  }
  return network;
}

/// Bytes of cache that a decode step of three sequences reads.
Bytes cache_read(const Shared<Network>& network, Tokens context) {
  Bytes read;
  for (const Operator& op : lower(deployment(network, reference_device()), LatentForm::absorbed).operators) {
    if (op.name == OperatorName::attention || op.name == OperatorName::index_scores) {
      const Work w = work(op, {.sequences = 3, .new_tokens = 1});
      read += (w.kv + w.kv_per_context * seen_context(w, context)) * op.repeats;
    }
  }
  return read;
}

TEST(WorkLaws, TheCacheReadInDecodeIsTheCacheStored) {
  for (const Shared<Network>& network : all_networks()) {
    SCOPED_TRACE(network->name);
    const Shared<Network> plain = attending_to_all_it_keeps(*network);
    const Bytes states = kv_cache(*plain, Format{}, Tokens());
    for (const double context : {0.0, 1.0, 127.0, 128.0, 1023.0, 1024.0, 5000.0}) {
      const Bytes stored = kv_cache(*plain, Format{}, Tokens::from_value(context + 1)) - states;
      EXPECT_TRUE(nearly_equal(cache_read(plain, Tokens::from_value(context)).value(), 3 * stored.value())) << context;
    }
  }
}

TEST(WorkLaws, PickingTokensReadsLessOfALongCacheAndAllOfAShortOne) {
  std::size_t tried = 0;
  for (const Shared<Network>& network : all_networks()) {
    const Shared<Network> plain = attending_to_all_it_keeps(*network);
    if (*plain == *network) {
      continue;
    }
    ++tried;
    SCOPED_TRACE(network->name);
    EXPECT_EQ(cache_read(network, 100_tok), cache_read(plain, 100_tok));
    EXPECT_LE(cache_read(network, 100000_tok), cache_read(plain, 100000_tok));
    EXPECT_LE(kv_cache(*network, Format{}, 100000_tok), kv_cache(*plain, Format{}, 100000_tok));
  }
  EXPECT_GE(tried, 5U);
}

TEST(WorkLaws, AttentionCountsEveryVisiblePairOnce) {
  for (const double window : {1.0, 5.0, 128.0, 1024.0, 1e9}) {
    for (const double tokens : {1.0, 2.0, 7.0, 128.0, 300.0}) {
      const Attention attention{.heads = 1, .score_dim = 1, .value_dim = 0, .window = Tokens::from_value(window)};
      for (const double context : {0.0, 1.0, 4.0, 5.0, 100.0, 127.0, 128.0, 900.0, 1023.0, 1024.0, 9000.0}) {
        double pairs = 0;
        for (double i = 1; i <= tokens; ++i) {
          pairs += std::min(context + i, window);
        }
        const Work w = work(attention, {.sequences = 1, .new_tokens = tokens});
        EXPECT_EQ(flops_at(w, Tokens::from_value(context)).value(), 2 * pairs)
            << "window " << window << ", new tokens " << tokens << ", context " << context;
      }
    }
  }
}

TEST(WorkLaws, APromptInChunksCostsTheSamePairs) {
  for (const Shared<Network>& network : all_networks()) {
    SCOPED_TRACE(network->name);
    const Program program = lower(deployment(network, reference_device()), LatentForm::absorbed);
    for (const Operator& op : program.operators) {
      if (op.name != OperatorName::attention) {
        continue;
      }
      const double whole = flops_at(work(op, {.sequences = 2, .new_tokens = 3000}), 0_tok).value();
      double chunked = 0;
      for (double first = 0; first < 3000; first += 500) {
        chunked += flops_at(work(op, {.sequences = 2, .new_tokens = 500}), Tokens::from_value(first)).value();
      }
      EXPECT_TRUE(nearly_equal(whole, chunked));
    }
  }
}

TEST(WorkLaws, AllExpertsActiveIsOneDenseNetworkOfTheirWidth) {
  std::size_t tried = 0;
  for (const Shared<Network>& network : all_networks()) {
    Network all_active = *network;
    Network dense = *network;
    bool has_experts = false;
    for (std::size_t i = 0; i < network->layers.size(); ++i) {
      auto& feed_forward = all_active.layers[i].block.feed_forward;
      if (auto* moe = feed_forward ? std::get_if<MixtureOfExperts>(&*feed_forward) : nullptr) {
        moe->active = moe->experts;
        moe->shared_width = moe->latent_width = 0;
        moe->expert_bias = moe->router_bias = moe->score_correction = moe->shared_gate = false;
        dense.layers[i].block.feed_forward = DenseFeedForward{.width = moe->experts * moe->width, .gated = moe->gated};
        has_experts = true;
      }
    }
    if (!has_experts) {
      continue;
    }
    ++tried;
    SCOPED_TRACE(network->name);
    const auto feed_forward_work = [](const Network& n) {
      Work total;
      for (const Operator& op : lower(deployment(n, reference_device()), LatentForm::absorbed).operators) {
        const bool up = op.name == OperatorName::expert_up || op.name == OperatorName::feed_forward_up;
        const bool down = op.name == OperatorName::expert_down || op.name == OperatorName::feed_forward_down;
        if (up || down) {
          const Work one = work(op, {.sequences = 5, .new_tokens = 7});
          total.flops += one.flops * op.repeats;
          total.weights += one.weights * op.repeats;
        }
      }
      return total;
    };
    const Work of_experts = feed_forward_work(all_active);
    const Work of_dense = feed_forward_work(dense);
    EXPECT_TRUE(nearly_equal(of_experts.flops.value(), of_dense.flops.value()));
    EXPECT_TRUE(nearly_equal(of_experts.weights.value(), of_dense.weights.value()));
  }
  EXPECT_GE(tried, 5U);
}

TEST(WorkLaws, BothFormsOfLatentAttentionAreChosenForTheirPhase) {
  std::size_t tried = 0;
  for (const Shared<Network>& network : all_networks()) {
    if (!detail::has_latent_attention(*network)) {
      continue;
    }
    ++tried;
    SCOPED_TRACE(network->name);
    const Deployment d = deployment(network, reference_device());
    const StepModel absorbed = bind(lower(d, LatentForm::absorbed), d);
    const StepModel expanded = bind(lower(d, LatentForm::expanded), d);
    EXPECT_LT(absorbed.at(8, 1_tok).time(4000_tok), expanded.at(8, 1_tok).time(4000_tok));
    EXPECT_LT(expanded.at(1, 4000_tok).time(0_tok), absorbed.at(1, 4000_tok).time(0_tok));
  }
  EXPECT_GE(tried, 3U);
}

TEST(MemoryLaws, TheLedgerSumsToThePeak) {
  for (const Shared<Network>& network : all_networks()) {
    SCOPED_TRACE(network->name);
    const Prediction p =
        predict(deployment(network, reference_device()), {.batch = 3, .prompt = 999_tok, .output = 7_tok});
    Bytes sum;
    for (const Bytes& item : p.ledger.items) {
      EXPECT_GE(item, Bytes());
      sum += item;
    }
    EXPECT_EQ(sum, p.peak_memory.value);
  }
}

TEST(MemoryLaws, ASingleDeviceHoldsTheWholeCheckpoint) {
  for (const Shared<Network>& network : all_networks()) {
    for (const char* name : {"bf16", "Q4_K_M", "Q8_0", "nvfp4"}) {
      SCOPED_TRACE(network->name + " in " + name);
      const Deployment d = deployment(network, reference_device(), scheme(name));
      EXPECT_TRUE(nearly_equal(weight_bytes_of_stage(d, 0).value(), weight_bytes(*network, d.weights).value()));
    }
  }
}

TEST(MemoryLaws, PipelineStagesTogetherHoldTheWholeCheckpoint) {
  for (const Shared<Network>& network : all_networks()) {
    SCOPED_TRACE(network->name);
    Deployment d = deployment(network, reference_device(), scheme("Q4_K_M"));
    d.parallelism.pipeline = d.cluster.devices = std::min<std::int64_t>(3, layer_count(*network));
    Bytes held;
    for (std::int64_t stage = 0; stage < d.parallelism.pipeline; ++stage) {
      held += weight_bytes_of_stage(d, stage);
    }
    Bytes on_two_stages; // a tied table, and what projects into and out of the embeddings' width
    for_each_outer_tensor(*network, [&](const Tensor& tensor) {
      if (tensor.role == TensorRole::tied_embedding || tensor.role == TensorRole::embedding_projection) {
        on_two_stages += storage(format_of(d.weights, scheme_facts(*network), tensor.role, tensor.row_length), tensor);
      }
    });
    EXPECT_TRUE(nearly_equal(held.value(), (weight_bytes(*network, d.weights) + on_two_stages).value()));
  }
}

TEST(MemoryLaws, RanksTogetherHoldAtLeastTheWholeAndNoneMoreThanItsShareAndTheReplicas) {
  for (const Shared<Network>& network : all_networks()) {
    Deployment d = deployment(network, reference_device());
    d.parallelism.tensor = d.cluster.devices = 2;
    if (!check(d).empty()) {
      continue;
    }
    SCOPED_TRACE(network->name);
    const double whole = weight_bytes(*network, d.weights).value();
    const double rank = weight_bytes_of_stage(d, 0).value();
    EXPECT_GE(rank * 2, whole);
    EXPECT_LT(rank, whole * 0.7);
    const Work per_rank = total_work(lower(d, LatentForm::absorbed), {.sequences = 1e6, .new_tokens = 1});
    const double tables = looked_up(*network, d.weights).value(); // halved on a rank, but for positions
    EXPECT_LE(per_rank.weights.value(), rank);
    EXPECT_GE(per_rank.weights.value(), rank - tables - 1);
  }
}

TEST(MemoryLaws, MemoryNeverFallsWithBatchPromptOrOutput) {
  for (const Shared<Network>& network : all_networks()) {
    SCOPED_TRACE(network->name);
    const Deployment d = deployment(network, reference_device());
    const auto peak_of = [&](const Workload& w) { return peak(ledger(d, w)); };
    const Bytes base = peak_of({.batch = 2, .prompt = 500_tok, .output = 50_tok});
    EXPECT_GT(peak_of({.batch = 3, .prompt = 500_tok, .output = 50_tok}), base);
    EXPECT_GT(peak_of({.batch = 2, .prompt = 501_tok, .output = 50_tok}), base);
    EXPECT_GE(peak_of({.batch = 2, .prompt = 500_tok, .output = 51_tok}), base);
  }
}

} // namespace
} // namespace tokenroof
