/// @file
/// What an engine allocates beside weights and the ideal KV cache, and how it lays the cache out.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "tokenroof/units/quantity.hpp"

namespace tokenroof {

/// How an engine lays out what the layers keep of a sequence.
enum class CacheLayout : std::uint8_t {
  exact,       ///< blocks; a windowed layer keeps its window
  whole,       ///< blocks; windowed layers are kept in full, as by allocators that know one kind of layer only
  page_groups, ///< one pool of equal pages; the layers form groups of equally many, each of one kind (vLLM's hybrid manager)
  slots,       ///< cells reserved for each sequence; a windowed layer keeps its window and one pass more (llama.cpp)
};

inline constexpr std::array<std::string_view, 4> cache_layout_names = {"exact", "whole", "page_groups", "slots"};

[[nodiscard]] constexpr std::string_view name(CacheLayout layout) {
  return cache_layout_names[static_cast<std::size_t>(layout)];
}

/// Per device. The defaults allocate nothing but what a pass needs.
struct MemoryHabits {
  /// Part of the device's usable memory that the engine will fill, in (0, 1].
  double memory_fraction = 1;

  CacheLayout cache_layout = CacheLayout::exact;
  /// The KV cache grows in blocks of this many tokens.
  Tokens kv_block = Tokens::from_value(1);

  /// Most tokens in one forward pass; longer prompts are processed in chunks. Zero: no limit.
  Tokens batched_tokens{};
  /// Most sequences served at once. Zero: as many as the workload has.
  std::int64_t most_sequences = 0;
  /// Memory for passes of that many tokens and sequences is taken at the start, however small the workload.
  bool reserves_for_largest_pass = false;

  /// Vectors of the hidden width alive per token beside a layer's own: residual, norm's output, layer's output.
  double hidden_vectors = 3;
  /// Vectors of a feed-forward network's width alive per token: both branches and their product.
  double feed_forward_vectors = 3;
  /// Bytes of one element of them. Zero: as the deployment's activations.
  double activation_element_bytes = 0;
  /// Attention's scores exist in memory, in 32 bits for each head, row and cached token: no flash attention.
  bool attention_scores = false;
  /// The experts' workspace stays allocated after the layers.
  bool expert_workspace_stays = false;
  /// Vectors of the hidden width alive per token while tokens are picked.
  double hidden_vectors_while_sampling = 1;
  /// Logits are made for every row of a pass, not only for each sequence's last.
  bool logits_for_every_row = false;
  /// Bytes alive per logit while tokens are picked: logits in one or two precisions, probabilities, sorted copies.
  double logit_bytes = 4;
  /// Workspace of kernel libraries.
  Bytes workspace{};

  /// Driver context and libraries.
  Bytes context{};
  /// What the driver holds before the engine measures the device; it lies outside `memory_fraction`.
  Bytes context_before{};

  /// Captured graphs: a base, more per layer, per hidden channel, and where the network has experts.
  Bytes graphs{};
  Bytes graphs_per_layer{};
  Bytes graphs_per_channel{};
  Bytes graphs_of_experts{};
  /// Graphs are captured after the cache was sized, outside `memory_fraction`.
  bool graphs_outside_fraction = false;

  /// Buffers for collectives, when there is more than one rank.
  Bytes communication{};
  /// Allocator slack as part of weights, cache and activations.
  double fragmentation = 0;

  friend bool operator==(const MemoryHabits&, const MemoryHabits&) = default;
};

} // namespace tokenroof
