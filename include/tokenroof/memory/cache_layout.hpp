/// @file
/// The KV cache as an engine allocates it: blocks, windows, pages that several kinds of layers share.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>
#include <vector>

#include "tokenroof/deployment/deployment.hpp"
#include "tokenroof/deployment/sharding.hpp"
#include "tokenroof/memory/kv_cache.hpp"

namespace tokenroof {

/// What layers of one kind keep of a sequence, each: bytes that grow with its tokens up to a window, and a fixed state.
struct LayerCache {
  double bytes_per_token = 0;
  std::optional<Tokens> window{};
  double fixed_bytes = 0;
  Count layers = 0;

  /// Whether layers of both are interchangeable to an allocator.
  [[nodiscard]] bool same_kind(const LayerCache& other) const {
    return bytes_per_token == other.bytes_per_token && window == other.window && fixed_bytes == other.fixed_bytes;
  }
};

namespace detail {

[[nodiscard]] inline std::optional<Tokens> window_of(const Mixer& mixer) {
  const auto* attention = std::get_if<GroupedQueryAttention>(&mixer);
  return attention != nullptr ? attention->window : std::nullopt;
}

/// What one layer's mixer keeps. Compressed attention keeps three things of different growth.
[[nodiscard]] inline std::vector<LayerCache> caches_of(const Mixer& mixer, SequenceBytes bytes) {
  if (const auto* compressed = std::get_if<CompressedAttention>(&mixer)) {
    return {{.bytes_per_token = bytes.vector_bytes(*compressed), .window = compressed->window},
            {.bytes_per_token = bytes.entry_bytes(*compressed)},
            {.fixed_bytes = compressor_state_bytes(*compressed)}};
  }
  bytes.tokens = Tokens();
  LayerCache cache{.window = window_of(mixer), .fixed_bytes = std::visit(bytes, mixer)};
  bytes.tokens = Tokens::from_value(1);
  cache.bytes_per_token = std::visit(bytes, mixer) - cache.fixed_bytes;
  return {cache};
}

/// Adds layers to the kind they are of.
inline void add_kind(std::vector<LayerCache>& kinds, LayerCache cache, Count layers) {
  if (layers == 0 || (cache.bytes_per_token == 0 && cache.fixed_bytes == 0)) {
    return;
  }
  cache.layers = layers;
  const auto known =
      std::find_if(kinds.begin(), kinds.end(), [&](const LayerCache& kind) { return kind.same_kind(cache); });
  known == kinds.end() ? kinds.push_back(cache) : void(known->layers += layers);
}

/// The kinds of caches in a pipeline stage on one rank, mixers without any aside.
[[nodiscard]] inline std::vector<LayerCache> layer_caches(const Deployment& deployment, StageLayers stage) {
  const Network& network = *deployment.network;
  const SequenceBytes bytes =
      sequence_bytes_of_mixer(network, deployment.kv, deployment.activations, Tokens(), deployment.parallelism.tensor);
  std::vector<LayerCache> kinds;
  Count first = 0;
  for (const LayerRun& run : network.layers) {
    const Count layers = layers_within(run.count, first, stage);
    first += run.count;
    for (const Mixer& mixer : run.block.mixers) {
      for (const LayerCache& cache : caches_of(mixer, bytes)) {
        add_kind(kinds, cache, layers);
      }
    }
  }
  return kinds;
}

[[nodiscard]] constexpr double whole_blocks(double tokens, double block) { return std::ceil(tokens / block); }

} // namespace detail

/// A pool of equal pages. The layers form groups of `group_layers`, each of one kind; a block holds one page for each
/// layer of a group, and serves any of them. Small groups are padded. As vLLM's hybrid cache manager does @cite pagedattention.
struct PageGroups {
  std::vector<LayerCache> kinds{};
  Count group_layers = 1; ///< the smallest kind's layers; the largest's, where that is less than a quarter more
  Count groups = 1;
  double page_bytes = 0; ///< of the kind that needs most for a block of tokens, or for its state
  double block = 1;      ///< tokens of a block of that kind
  double batched = 0;    ///< tokens of a pass, which a window holds beside itself

  /// Tokens of one block in layers of a kind: pages are equal in bytes, so layers that keep less a token hold more.
  [[nodiscard]] double block_tokens(const LayerCache& kind) const {
    return std::max(1.0, std::floor(page_bytes / (kind.bytes_per_token * block))) * block;
  }

  /// Blocks that a sequence takes from the pool.
  [[nodiscard]] double sequence_blocks(Tokens tokens) const {
    double blocks = 0;
    for (const LayerCache& kind : kinds) {
      const double groups_of_kind = detail::whole_blocks(static_cast<double>(kind.layers), double(group_layers));
      blocks += groups_of_kind * blocks_of(kind, tokens.value());
    }
    return blocks;
  }

  /// Bytes of one block.
  [[nodiscard]] double block_bytes() const { return page_bytes * static_cast<double>(group_layers); }

private:
  [[nodiscard]] double blocks_of(const LayerCache& kind, double tokens) const {
    if (kind.bytes_per_token == 0) {
      return 1; // a state fits in one
    }
    if (!kind.window) {
      return detail::whole_blocks(tokens, block_tokens(kind));
    }
    const double kept = std::min(tokens, kind.window->value() - 1 + batched);
    return detail::whole_blocks(kept, block_tokens(kind)) + 1; // a window may begin and end within blocks
  }
};

/// How the caches of a stage's layers share pages.
[[nodiscard]] inline PageGroups page_groups(const Deployment& deployment, StageLayers stage) {
  PageGroups pool{.kinds = detail::layer_caches(deployment, stage),
                  .block = deployment.engine->memory.kv_block.value(),
                  .batched = batched_tokens(deployment).value()};
  if (pool.kinds.empty()) {
    return pool;
  }
  const auto [least, most] = std::minmax_element(pool.kinds.begin(), pool.kinds.end(),
                                                 [](const auto& a, const auto& b) { return a.layers < b.layers; });
  pool.group_layers = 4 * most->layers < 5 * least->layers ? most->layers : least->layers;
  pool.groups = 0;
  for (const LayerCache& kind : pool.kinds) {
    pool.groups += (kind.layers + pool.group_layers - 1) / pool.group_layers;
    pool.page_bytes = std::max({pool.page_bytes, kind.bytes_per_token * pool.block, kind.fixed_bytes});
  }
  return pool;
}

namespace detail {

/// Tokens of a sequence that a layer allocates for by a layout without shared pages.
[[nodiscard]] inline double allocated_tokens(const LayerCache& kind, Tokens tokens, const MemoryHabits& habits,
                                             double batched) {
  const double block = habits.kv_block.value();
  const double all = whole_blocks(tokens.value(), block) * block;
  if (!kind.window || habits.cache_layout == CacheLayout::whole) {
    return all;
  }
  const double beside = habits.cache_layout == CacheLayout::slots ? batched : 0;
  return std::min(all, whole_blocks(kind.window->value() + beside, block) * block);
}

} // namespace detail

/// Bytes that the engine allocates on one rank of a pipeline stage for one sequence of `tokens`.
[[nodiscard]] inline Bytes allocated_sequence_bytes(const Deployment& deployment, Tokens tokens, StageLayers stage) {
  const MemoryHabits& habits = deployment.engine->memory;
  if (habits.cache_layout == CacheLayout::page_groups) {
    const PageGroups pool = page_groups(deployment, stage);
    return Bytes::from_value(pool.sequence_blocks(tokens) * pool.block_bytes());
  }
  const double batched = batched_tokens(deployment).value();
  double total = 0;
  for (const LayerCache& kind : detail::layer_caches(deployment, stage)) {
    const double kept = detail::allocated_tokens(kind, tokens, habits, batched) * kind.bytes_per_token;
    total += static_cast<double>(kind.layers) * (kept + kind.fixed_bytes);
  }
  return Bytes::from_value(total);
}

} // namespace tokenroof
