/// @file
/// What of a network lies where: on a device or in host memory. Time and memory both read it here.
#pragma once

#include <algorithm>
#include <array>

#include "tokenroof/deployment/deployment.hpp"
#include "tokenroof/deployment/sharding.hpp"
#include "tokenroof/network/weight_scheme.hpp"

namespace tokenroof {

/// What of a layer lies in host memory.
struct Residence {
  bool layer_on_host = false; ///< all its weights
  bool experts_on_host = false;
  bool cache_on_host = false; ///< keys, values and states

  friend bool operator==(const Residence&, const Residence&) = default;
};

/// Where the parts of one layer lie. The cache follows a layer to the host unless the device still computes it there.
[[nodiscard]] inline Residence residence(const Deployment& deployment, Count layer) {
  const Offload& offload = deployment.offload;
  const bool on_host = layer < offload.host_layers;
  const bool computed_there = on_host && deployment.engine->offload.style != OffloadStyle::streamed;
  return {.layer_on_host = on_host,
          .experts_on_host = on_host || layer < offload.host_expert_layers,
          .cache_on_host = offload.host_cache || computed_there};
}

/// Calls `visit(const LayerSpan&, const Residence&)` for each part of a run of equal layers that lies in one place.
template <class Visit>
void for_each_residence(const Deployment& deployment, const LayerRun& run, const LayerSpan& span, Visit&& visit) {
  const Offload& offload = deployment.offload;
  const Count end = span.first + span.count;
  const std::array<Count, 3> bounds = {std::min(offload.host_layers, offload.host_expert_layers),
                                       std::max(offload.host_layers, offload.host_expert_layers), end};
  Count first = span.first;
  for (const Count bound : bounds) {
    const Count stop = std::min(bound, end);
    if (stop > first) {
      visit(within(run, span, {first, stop - first}), residence(deployment, first));
      first = stop;
    }
  }
}

/// The layers whose weights a pipeline stage holds on its device: those that the host does not hold, shared out evenly.
[[nodiscard]] inline StageLayers device_layers(const Deployment& deployment, std::int64_t stage) {
  const Count on_host = deployment.offload.host_layers;
  StageLayers layers = stage_layers(layer_count(*deployment.network) - on_host, deployment.parallelism.pipeline, stage);
  layers.first += on_host;
  return layers;
}

/// The layers whose cache lies on the device of a pipeline stage.
[[nodiscard]] inline StageLayers device_cache_layers(const Deployment& deployment, std::int64_t stage) {
  if (deployment.offload.host_cache) {
    return {};
  }
  if (deployment.engine->offload.style == OffloadStyle::streamed) {
    return stage_layers(layer_count(*deployment.network), deployment.parallelism.pipeline, stage);
  }
  return device_layers(deployment, stage);
}

/// Whether embeddings and head lie in host memory: they follow the last layer.
[[nodiscard]] inline bool outside_layers_on_host(const Deployment& deployment) {
  return deployment.offload.host_layers > 0 && deployment.offload.host_layers >= layer_count(*deployment.network);
}

} // namespace tokenroof
