/// @file
/// Weights on one rank.
#pragma once

#include <algorithm>
#include <variant>

#include "tokenroof/deployment/deployment.hpp"
#include "tokenroof/deployment/sharding.hpp"
#include "tokenroof/network/tensors.hpp"
#include "tokenroof/network/weight_scheme.hpp"

namespace tokenroof {

namespace detail {

/// The layers of a run that lie in a stage.
[[nodiscard]] inline LayerSpan within_stage(const LayerRun& run, const LayerSpan& span, const StageLayers& stage) {
  const Count first = std::max(span.first, stage.first);
  const Count last = std::min(span.first + span.count, stage.first + stage.count);
  const bool attends = std::any_of(run.block.mixers.begin(), run.block.mixers.end(), [](const Mixer& mixer) {
    return std::holds_alternative<GroupedQueryAttention>(mixer);
  });
  return {.first = first,
          .count = std::max<Count>(last - first, 0),
          .first_attention = span.first_attention + (attends ? first - span.first : 0)};
}

} // namespace detail

/// Bytes of the weights that one tensor-parallel rank of a pipeline stage holds: the stage's layers, on the first stage
/// the embedding and what a file holds beside the network, on the last the head (a tied network's last stage holds its own copy of the shared tensor).
[[nodiscard]] inline Bytes weight_bytes_of_stage(const Deployment& deployment, std::int64_t stage) {
  const Network& network = *deployment.network;
  const Parallelism& parallelism = deployment.parallelism;
  const SchemeFacts facts = scheme_facts(network);
  const StageLayers layers = stage_layers(layer_count(network), parallelism.pipeline, stage);
  Bytes bytes = stage == 0 ? other_bytes(deployment.weights) : Bytes();
  for_each_run(network, [&](const LayerRun& run, const LayerSpan& span) {
    const LayerSpan here = detail::within_stage(run, span, layers);
    if (here.count == 0) {
      return;
    }
    for_each_tensor(run.block, network, [&](const Tensor& tensor) {
      const double shards = weight_shards(tensor.role, run.block, parallelism);
      for_each_format(deployment.weights, facts, tensor, here, [&](const Format& format, Count count) {
        bytes += storage(format, tensor) * (static_cast<double>(count) / shards);
      });
    });
  });
  for_each_outer_tensor(network, [&](const Tensor& tensor) {
    if (!is_on_stage(tensor.role, stage, parallelism.pipeline)) {
      return;
    }
    const Format format = format_of(deployment.weights, facts, tensor.role, tensor.row_length);
    bytes += storage(format, tensor) / weight_shards(tensor.role, Block{}, parallelism);
  });
  return bytes;
}

} // namespace tokenroof
