/// @file
/// Weights on one rank.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tokenroof/deployment/deployment.hpp"
#include "tokenroof/deployment/residency.hpp"
#include "tokenroof/deployment/sharding.hpp"
#include "tokenroof/network/tensors.hpp"
#include "tokenroof/network/weight_scheme.hpp"

namespace tokenroof {

namespace detail {

/// Which of a network's weights are meant.
struct WeightSelection {
  StageLayers layers{};   ///< routed experts aside
  StageLayers experts{};  ///< the layers whose routed experts are meant
  std::int64_t stage = 0; ///< of `stages`: which tensors outside the layers
  std::int64_t stages = 1;
  bool outside_layers = true; ///< whether any of them
};

/// Bytes of selected weights on one tensor-parallel rank.
[[nodiscard]] inline Bytes selected_bytes(const Deployment& deployment, const WeightSelection& selection) {
  const Network& network = *deployment.network;
  const Parallelism& parallelism = deployment.parallelism;
  const SchemeFacts facts = scheme_facts(network);
  Bytes bytes = selection.outside_layers && selection.stage == 0 ? other_bytes(deployment.weights) : Bytes();
  for_each_run(network, [&](const LayerRun& run, const LayerSpan& span) {
    const LayerSpan dense = within(run, span, selection.layers);
    const LayerSpan experts = within(run, span, selection.experts);
    if (dense.count == 0 && experts.count == 0) {
      return;
    }
    for_each_tensor(run.block, network, [&](const Tensor& tensor) {
      const LayerSpan& here = is_routed_expert(tensor.role) ? experts : dense;
      if (here.count == 0) {
        return;
      }
      const double shards = weight_shards(tensor.role, run.block, parallelism);
      for_each_format(deployment.weights, facts, tensor, here, [&](const Format& format, Count count) {
        bytes += storage(format, tensor) * (static_cast<double>(count) / shards);
      });
    });
  });
  for_each_outer_tensor(network, [&](const Tensor& tensor) {
    if (selection.outside_layers && is_on_stage(tensor.role, selection.stage, selection.stages)) {
      const Format format = format_of(deployment.weights, facts, tensor.role, tensor.row_length);
      bytes += storage(format, tensor) / weight_shards(tensor.role, Block{}, parallelism);
    }
  });
  return bytes;
}

} // namespace detail

/// Bytes of the weights that one tensor-parallel rank of a pipeline stage holds: the stage's layers, on the first stage
/// the embedding and what a file holds beside the network, on the last the head (a tied network's last stage holds its own
/// copy of the shared tensor). What lies in host memory is not among them.
[[nodiscard]] inline Bytes weight_bytes_of_stage(const Deployment& deployment, std::int64_t stage) {
  const StageLayers layers = device_layers(deployment, stage);
  const Count first = std::max(layers.first, deployment.offload.host_expert_layers);
  const Count last = layers.first + layers.count;
  return detail::selected_bytes(deployment, {.layers = layers,
                                             .experts = {first, std::max<Count>(last - first, 0)},
                                             .stage = stage,
                                             .stages = deployment.parallelism.pipeline,
                                             .outside_layers = !outside_layers_on_host(deployment)});
}

/// Bytes on a device of the largest matrix that comes from host memory, where the engine copies one before it computes:
/// the experts of a layer are one.
[[nodiscard]] inline Bytes staging_bytes(const Deployment& deployment) {
  const Offload& offload = deployment.offload;
  const OffloadHabits& habits = deployment.engine->offload;
  const bool streams = habits.style == OffloadStyle::streamed || habits.streamed_from_rows > 0;
  Bytes largest;
  if (!streams || habits.overlapped) {
    return largest;
  }
  const SchemeFacts facts = scheme_facts(*deployment.network);
  for_each_run(*deployment.network, [&](const LayerRun& run, const LayerSpan& span) {
    for_each_tensor(run.block, *deployment.network, [&](const Tensor& tensor) {
      const Count held = is_routed_expert(tensor.role) ? std::max(offload.host_layers, offload.host_expert_layers)
                                                       : offload.host_layers;
      const LayerSpan here = within(run, span, {0, held});
      if (here.count > 0) {
        const double shards = weight_shards(tensor.role, run.block, deployment.parallelism);
        for_each_format(deployment.weights, facts, tensor, here, [&](const Format& format, Count) {
          largest = larger(largest, storage(format, tensor) / shards);
        });
      }
    });
  });
  return largest;
}

/// Bytes of the weights that lie in host memory, those of all ranks of a node together.
[[nodiscard]] inline Bytes host_weight_bytes(const Deployment& deployment) {
  const Offload& offload = deployment.offload;
  if (offload.host_layers == 0 && offload.host_expert_layers == 0) {
    return {};
  }
  const Parallelism& parallelism = deployment.parallelism;
  const Bytes of_a_rank =
      detail::selected_bytes(deployment, {.layers = {0, offload.host_layers},
                                          .experts = {0, std::max(offload.host_layers, offload.host_expert_layers)},
                                          .outside_layers = outside_layers_on_host(deployment)});
  return of_a_rank * static_cast<double>(parallelism.tensor * parallelism.data);
}

} // namespace tokenroof
