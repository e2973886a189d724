/// @file
/// The itemised memory of one device at its fullest.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <variant>

#include "tokenroof/deployment/deployment.hpp"
#include "tokenroof/memory/kv_cache.hpp"
#include "tokenroof/memory/weights.hpp"
#include "tokenroof/workload/workload.hpp"

namespace tokenroof {

enum class LedgerItem : std::uint8_t {
  weights,
  kv_cache,    ///< of all sequences at their longest, nothing padded
  kv_padding,  ///< what the engine's blocks add to it
  activations, ///< live at once in the widest operator
  logits,
  graphs,
  communication,
  context, ///< driver and libraries
  staging, ///< weights on their way from host memory
  fragmentation,
};

inline constexpr std::array<std::string_view, 10> ledger_item_names = {
    "weights", "kv_cache",      "kv_padding", "activations", "logits",
    "graphs",  "communication", "context",    "staging",     "fragmentation"};

[[nodiscard]] constexpr std::string_view name(LedgerItem item) {
  return ledger_item_names[static_cast<std::size_t>(item)];
}

/// Bytes by item on the fullest device. Their sum is the peak.
struct Ledger {
  std::array<Bytes, ledger_item_names.size()> items{};

  [[nodiscard]] Bytes& operator[](LedgerItem item) { return items[static_cast<std::size_t>(item)]; }
  [[nodiscard]] const Bytes& operator[](LedgerItem item) const { return items[static_cast<std::size_t>(item)]; }
  friend bool operator==(const Ledger&, const Ledger&) = default;
};

/// The sum of all items.
[[nodiscard]] inline Bytes peak(const Ledger& ledger) {
  Bytes total;
  for (const Bytes& item : ledger.items) {
    total += item;
  }
  return total;
}

/// The largest item.
[[nodiscard]] inline LedgerItem dominant(const Ledger& ledger) {
  const auto largest = std::max_element(ledger.items.begin(), ledger.items.end());
  return static_cast<LedgerItem>(largest - ledger.items.begin());
}

namespace detail {

/// Elements alive at once per token in a layer's widest moment, residual and normalised input included.
struct LiveElements {
  double hidden = 0;
  double tensor = 1;
  double expert_width_shards = 1;

  [[nodiscard]] double operator()(const GroupedQueryAttention& a) const {
    const auto query = static_cast<double>(a.heads * a.head_dim) * (a.output_gate ? 2 : 1);
    const auto key_value = static_cast<double>(a.kv_heads * (a.head_dim + a.value_head_dim));
    return 2 * hidden + (query + key_value + static_cast<double>(a.heads * a.value_head_dim)) / tensor;
  }
  [[nodiscard]] double operator()(const LatentAttention& a) const {
    const auto key = static_cast<double>(a.nope_head_dim + a.rope_head_dim);
    const auto value = static_cast<double>(a.value_head_dim);
    return 2 * hidden + static_cast<double>(a.kv_rank + a.rope_head_dim + a.query_rank) +
           static_cast<double>(a.heads) * (2 * key + 2 * value) / tensor;
  }
  [[nodiscard]] double operator()(const StateSpace& m) const {
    const auto inner = static_cast<double>(m.heads * m.head_dim);
    return 2 * hidden + (3 * inner + static_cast<double>(2 * m.groups * m.state)) / tensor;
  }
  [[nodiscard]] double operator()(const LinearAttention& m) const {
    const auto keys = static_cast<double>(m.key_heads * m.key_head_dim);
    const auto values = static_cast<double>(m.value_heads * m.value_head_dim);
    return 2 * hidden + (2 * keys + 3 * values) / tensor;
  }
  [[nodiscard]] double operator()(const ShortConvolution&) const { return 2 * hidden + 4 * hidden / tensor; }
  [[nodiscard]] double operator()(const DenseFeedForward& f) const {
    return 3 * hidden + static_cast<double>(f.width) * (f.gated ? 3 : 2) / tensor;
  }
  [[nodiscard]] double operator()(const MixtureOfExperts& f) const {
    const double width = static_cast<double>(f.width) * (f.gated ? 3 : 2) / expert_width_shards;
    const double shared = static_cast<double>(f.shared_width) * (f.gated ? 3 : 2) / tensor;
    return 3 * hidden + shared + static_cast<double>(f.active) * (2 * hidden + width);
  }
};

} // namespace detail

/// Bytes of activations per token of a pass, live at once in the widest layer on one rank. For a gated feed-forward:
/// `(3 hidden + 3 width / tp) * bytes_per_element`: residual, norm's output, the layer's own output, both branches
/// and their product.
[[nodiscard]] inline Bytes activation_bytes_per_token(const Deployment& deployment) {
  const Network& network = *deployment.network;
  const detail::LiveElements live{.hidden = static_cast<double>(network.hidden),
                                  .tensor = static_cast<double>(deployment.parallelism.tensor),
                                  .expert_width_shards =
                                      static_cast<double>(expert_tensor_ranks(deployment.parallelism))};
  double widest = 0;
  for (const LayerRun& run : network.layers) {
    for (const Mixer& mixer : run.block.mixers) {
      widest = std::max(widest, std::visit(live, mixer));
    }
    if (run.block.feed_forward) {
      widest = std::max(widest, std::visit(live, *run.block.feed_forward));
    }
  }
  return Bytes::from_value(widest * bytes_per_element(deployment.activations));
}

/// Tokens in the largest pass of a workload on one replica: all prompts at once, or the engine's limit.
[[nodiscard]] inline Tokens largest_pass(const Deployment& deployment, const Workload& workload) {
  const std::int64_t sequences = batch_per_replica(workload.batch, deployment.parallelism);
  const Tokens all = workload.prompt * static_cast<double>(sequences);
  const Tokens limit = deployment.engine->memory.batched_tokens;
  return limit.value() > 0 ? smaller(all, limit) : all;
}

namespace detail {

[[nodiscard]] inline Ledger stage_ledger(const Deployment& deployment, const Workload& workload, std::int64_t stage) {
  const Network& network = *deployment.network;
  const MemoryHabits& habits = deployment.engine->memory;
  const Parallelism& parallelism = deployment.parallelism;
  const StageLayers layers = device_cache_layers(deployment, stage);
  const auto sequences = static_cast<double>(batch_per_replica(workload.batch, parallelism));
  const auto cache = [&](Tokens block) {
    return sequence_bytes(network, deployment.kv, deployment.activations, final_context(workload), block,
                          parallelism.tensor, layers) *
           sequences;
  };
  const Tokens rows = largest_pass(deployment, workload);
  Ledger ledger;
  ledger[LedgerItem::weights] = weight_bytes_of_stage(deployment, stage);
  ledger[LedgerItem::kv_cache] = cache(Tokens::from_value(1));
  ledger[LedgerItem::kv_padding] = cache(habits.kv_block) - ledger[LedgerItem::kv_cache];
  ledger[LedgerItem::activations] = activation_bytes_per_token(deployment) * rows.value();
  if (stage + 1 == parallelism.pipeline) {
    const double logit_rows = habits.logits_for_every_row ? rows.value() : sequences;
    const double logits = static_cast<double>(network.vocabulary) / static_cast<double>(parallelism.tensor);
    ledger[LedgerItem::logits] = Bytes::from_value(4 * logits * logit_rows);
  }
  ledger[LedgerItem::graphs] = habits.graphs;
  ledger[LedgerItem::communication] = device_count(parallelism) > 1 ? habits.communication : Bytes();
  ledger[LedgerItem::context] = habits.context;
  ledger[LedgerItem::staging] = staging_bytes(deployment);
  ledger[LedgerItem::fragmentation] = peak(ledger) * habits.fragmentation;
  return ledger;
}

} // namespace detail

/// The ledger of the fullest device of a deployment when every sequence of the workload is at its longest.
[[nodiscard]] inline Ledger ledger(const Deployment& deployment, const Workload& workload) {
  Ledger fullest = detail::stage_ledger(deployment, workload, 0);
  for (std::int64_t stage = 1; stage < deployment.parallelism.pipeline; ++stage) {
    const Ledger other = detail::stage_ledger(deployment, workload, stage);
    if (peak(other) > peak(fullest)) {
      fullest = other;
    }
  }
  return fullest;
}

/// What the engine may fill of one device: usable memory (else capacity) times the engine's fraction.

[[nodiscard]] inline Bytes memory_budget(const Engine& engine, const MemoryVariant& variant) {
  return variant.usable.value_or(variant.capacity) * engine.memory.memory_fraction;
}

} // namespace tokenroof
