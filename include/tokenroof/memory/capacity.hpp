/// @file
/// How much a deployment can cache: tokens, sequences at a length, the longest context at a number of sequences.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "tokenroof/memory/cache_layout.hpp"
#include "tokenroof/memory/ledger.hpp"

namespace tokenroof {

/// What fits into the memory left for the cache of one replica. Its fixed and its growing part are apart: a ratio of the
/// two depends on the length.
struct Capacity {
  Bytes cache{};                   ///< left for the cache on the device with the least of it
  Bytes fixed_per_sequence{};      ///< recurrent states
  BytesPerToken per_token{};       ///< of one more token of one sequence while no window is full, nothing padded
  std::optional<double> blocks{};  ///< of the engine's pool, where it has one
  std::optional<Tokens> tokens{};  ///< of all sequences together, as the engine counts them; none if nothing grows
  double sequences = 0;            ///< of the workload's final length at once; a fraction is a sequence partly cached
  std::optional<Tokens> context{}; ///< longest sequence, with as many of them as the workload has; none: no limit

  friend bool operator==(const Capacity&, const Capacity&) = default;
};

namespace detail {

/// Bytes left for the cache on a stage. Slack is taken of everything, the cache included.
[[nodiscard]] inline Bytes cache_space(const Deployment& deployment, const Ledger& ledger,
                                       const MemoryVariant& variant) {
  const Bytes cache = ledger[LedgerItem::kv_cache] + ledger[LedgerItem::kv_padding];
  const double slack = 1 + deployment.engine->memory.fragmentation;
  const Bytes others = (peak(ledger) - ledger[LedgerItem::fragmentation] - cache) * slack;
  return larger((memory_budget(deployment, ledger, variant) - others) / slack, Bytes());
}

inline constexpr double longest_context = 0x1p40;

/// The longest sequence of which `sequences` fit into `space`; none if any length does.
[[nodiscard]] inline std::optional<Tokens> context_in(const Deployment& deployment, StageLayers layers, Bytes space,
                                                      double sequences) {
  const auto fits = [&](double tokens) {
    return allocated_sequence_bytes(deployment, Tokens::from_value(tokens), layers) * sequences <= space;
  };
  if (fits(longest_context)) {
    return std::nullopt;
  }
  double low = 0;
  double high = longest_context;
  while (high - low > 1) {
    const double middle = std::floor((low + high) / 2);
    (fits(middle) ? low : high) = middle;
  }
  return Tokens::from_value(low);
}

/// Tokens of one sequence after another that fill `space`, as an engine with slots or blocks counts them.
[[nodiscard]] inline std::optional<Tokens> tokens_in(const Deployment& deployment, StageLayers layers, Bytes space) {
  const double block = deployment.engine->memory.kv_block.value();
  double per_token = 0;
  for (const LayerCache& kind : layer_caches(deployment, layers)) {
    per_token += kind.bytes_per_token * static_cast<double>(kind.layers);
  }
  if (per_token == 0) {
    return std::nullopt;
  }
  return Tokens::from_value(std::floor(space.value() / (per_token * block)) * block);
}

/// What fits into `cache` bytes on a stage.
[[nodiscard]] inline Capacity capacity_in(const Deployment& deployment, StageLayers layers, Bytes cache, Tokens length,
                                          double sequences) {
  Capacity capacity{.cache = cache};
  for (const LayerCache& kind : layer_caches(deployment, layers)) {
    const auto count = static_cast<double>(kind.layers);
    capacity.fixed_per_sequence += Bytes::from_value(kind.fixed_bytes * count);
    capacity.per_token += Bytes::from_value(kind.bytes_per_token * count) / Tokens::from_value(1);
  }
  capacity.context = context_in(deployment, layers, cache, sequences);
  if (deployment.engine->memory.cache_layout == CacheLayout::page_groups) {
    const PageGroups pool = page_groups(deployment, layers);
    const double blocks = std::floor(cache.value() / pool.block_bytes());
    capacity.blocks = blocks;
    capacity.sequences = blocks / pool.sequence_blocks(length);
    capacity.tokens = Tokens::from_value(std::floor(blocks / static_cast<double>(pool.groups)) * pool.block);
  } else {
    capacity.sequences = cache / allocated_sequence_bytes(deployment, length, layers);
    capacity.tokens = tokens_in(deployment, layers, cache);
  }
  return capacity;
}

[[nodiscard]] inline Capacity stage_capacity(const Deployment& deployment, const Workload& workload,
                                             const MemoryVariant& variant, std::int64_t stage) {
  const Ledger ledger = stage_ledger(deployment, workload, stage);
  const StageLayers layers = device_cache_layers(deployment, stage);
  return capacity_in(deployment, layers, cache_space(deployment, ledger, variant), final_context(workload),
                     static_cast<double>(batch_per_replica(workload.batch, deployment.parallelism)));
}

} // namespace detail

/// What fits into one memory variant beside a workload's weights and activations; of the pipeline stage that caches the
/// fewest sequences.
[[nodiscard]] inline Capacity capacity(const Deployment& deployment, const Workload& workload,
                                       const MemoryVariant& variant) {
  Capacity least = detail::stage_capacity(deployment, workload, variant, 0);
  for (std::int64_t stage = 1; stage < deployment.parallelism.pipeline; ++stage) {
    const Capacity other = detail::stage_capacity(deployment, workload, variant, stage);
    if (other.sequences < least.sequences) {
      least = other;
    }
  }
  return least;
}

/// The same for cache bytes that someone states, such as an engine's log of its first pipeline stage, for one sequence of
/// `length`.
[[nodiscard]] inline Capacity capacity_of(const Deployment& deployment, Bytes cache, Tokens length) {
  return detail::capacity_in(deployment, device_cache_layers(deployment, 0), cache, length, 1);
}

} // namespace tokenroof
