/// @file
/// Which part of a network one rank holds. Time and memory both read it here.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tokenroof/deployment/deployment.hpp"
#include "tokenroof/network/tensors.hpp"
#include "tokenroof/network/weight_scheme.hpp"

namespace tokenroof {

/// Key/value heads on one rank: shared out while there are enough, then replicated.
[[nodiscard]] constexpr Count kv_heads_per_rank(Count kv_heads, std::int64_t tensor) {
  return std::max<Count>(kv_heads / tensor, 1);
}

/// Ranks over which the width of one expert is split: those of the tensor group that expert parallelism leaves over.
[[nodiscard]] constexpr std::int64_t expert_tensor_ranks(const Parallelism& parallelism) {
  return std::max<std::int64_t>(parallelism.tensor / parallelism.expert, 1);
}

/// Replicas whose tokens meet at the same experts: 1 while experts are spread within one tensor group.
[[nodiscard]] constexpr std::int64_t expert_replicas(const Parallelism& parallelism) {
  return std::max<std::int64_t>(parallelism.expert / parallelism.tensor, 1);
}

/// Equal parts into which tensor and expert parallelism cut a tensor; 1: every rank holds it whole.
/// Key and value projections are cut by key/value heads, which are replicated once there are fewer than ranks.
[[nodiscard]] inline double weight_shards(TensorRole role, const Block& block, const Parallelism& parallelism) {
  using enum TensorRole;
  if (role == expert_bias) {
    return static_cast<double>(parallelism.expert);
  }
  if (is_vector(role)) {
    return 1;
  }
  switch (role) {
  case position_embedding:
  case embedding_projection:
  case latent_query_down:
  case latent_kv_down:
  case router:
  case shared_expert_router:
  case prediction_projection:
  case compressor:
  case indexer_query:
  case indexer_key:
  case indexer_weights:
  case linear_map:
  case expert_latent_down:
  case expert_latent_up:
  case per_layer_projection:
  case residual_mixing:
    return 1;
  case attention_key:
  case attention_value:
    for (const Mixer& mixer : block.mixers) {
      if (const auto* attention = std::get_if<GroupedQueryAttention>(&mixer)) {
        return static_cast<double>(attention->kv_heads) /
               static_cast<double>(kv_heads_per_rank(attention->kv_heads, parallelism.tensor));
      }
    }
    return static_cast<double>(parallelism.tensor);
  case expert_gate:
  case expert_up:
  case expert_down:
    return static_cast<double>(parallelism.expert * expert_tensor_ranks(parallelism));
  default:
    return static_cast<double>(parallelism.tensor);
  }
}

/// Whether a tensor outside the layers lies on a pipeline stage: embeddings on the first, head and final norm on the
/// last, a tied table on both.
[[nodiscard]] constexpr bool is_on_stage(TensorRole role, std::int64_t stage, std::int64_t stages) {
  const bool first = stage == 0;
  const bool last = stage + 1 == stages;
  switch (role) {
  case TensorRole::token_embedding:
  case TensorRole::position_embedding:
  case TensorRole::per_layer_embedding:
  case TensorRole::per_layer_projection:
    return first;
  case TensorRole::tied_embedding:
  case TensorRole::embedding_projection:
    return first || last;
  default:
    return last;
  }
}

/// Sequences of the busiest replica.
[[nodiscard]] constexpr std::int64_t batch_per_replica(std::int64_t batch, const Parallelism& parallelism) {
  return (batch + parallelism.data - 1) / parallelism.data;
}

/// Layers `[first, first + count)` of one pipeline stage; the first stages take the remainder.
struct StageLayers {
  Count first = 0;
  Count count = 0;
};

[[nodiscard]] constexpr StageLayers stage_layers(Count layers, std::int64_t stages, std::int64_t stage) {
  const Count base = layers / stages;
  const Count longer = layers % stages;
  const Count first = stage * base + std::min<Count>(stage, longer);
  return {first, base + (stage < longer ? 1 : 0)};
}

/// The layers of a run that lie among some layers; `count` is 0 where none does.
[[nodiscard]] inline LayerSpan within(const LayerRun& run, const LayerSpan& span, const StageLayers& layers) {
  const Count first = std::max(span.first, layers.first);
  const Count last = std::min(span.first + span.count, layers.first + layers.count);
  const bool attends = std::any_of(run.block.mixers.begin(), run.block.mixers.end(), [](const Mixer& mixer) {
    return std::holds_alternative<GroupedQueryAttention>(mixer);
  });
  return {.first = first,
          .count = std::max<Count>(last - first, 0),
          .first_attention = span.first_attention + (attends ? first - span.first : 0)};
}

} // namespace tokenroof
