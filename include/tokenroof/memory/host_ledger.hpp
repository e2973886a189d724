/// @file
/// What a deployment keeps in host memory, and what of mapped weights memory holds at all.
#pragma once

#include <algorithm>

#include "tokenroof/deployment/deployment.hpp"
#include "tokenroof/deployment/residency.hpp"
#include "tokenroof/memory/kv_cache.hpp"
#include "tokenroof/memory/ledger.hpp"
#include "tokenroof/memory/weights.hpp"
#include "tokenroof/workload/workload.hpp"

namespace tokenroof {

/// Bytes in the memory of one host, for all devices together.
struct HostLedger {
  Bytes weights{};
  Bytes kv_cache{};

  friend bool operator==(const HostLedger&, const HostLedger&) = default;
};

[[nodiscard]] constexpr Bytes peak(const HostLedger& ledger) { return ledger.weights + ledger.kv_cache; }

namespace detail {

[[nodiscard]] inline StageLayers host_cache_layers(const Deployment& deployment) {
  if (deployment.offload.host_cache) {
    return {0, layer_count(*deployment.network)};
  }
  const bool follows = deployment.engine->offload.style != OffloadStyle::streamed;
  return {0, follows ? deployment.offload.host_layers : 0};
}

} // namespace detail

/// The host's ledger when every sequence of the workload is at its longest, mapped weights as if all were in memory.
[[nodiscard]] inline HostLedger host_ledger(const Deployment& deployment, const Workload& workload) {
  if (!uses_host(deployment.offload)) {
    return {};
  }
  const Parallelism& parallelism = deployment.parallelism;
  const auto sequences = static_cast<double>(batch_per_replica(workload.batch, parallelism) * parallelism.data);
  const Bytes of_a_sequence =
      allocated_sequence_bytes(deployment, final_context(workload), detail::host_cache_layers(deployment));
  return {.weights = host_weight_bytes(deployment),
          .kv_cache = of_a_sequence * (sequences * static_cast<double>(parallelism.tensor))};
}

/// The part of some mapped weights that a memory of `budget` bytes holds beside `others`.
[[nodiscard]] constexpr Bytes resident_part(Bytes mapped, Bytes others, Bytes budget) {
  return smaller(mapped, larger(budget - others, Bytes()));
}

/// Bytes of mapped weights that stay in memory: beside the cache on a host, or beside everything else on a device that
/// shares its memory with its processor. The size of that memory must be known (`check`).
[[nodiscard]] inline Bytes resident_weights(const Deployment& deployment, const Ledger& on_device,
                                            const HostLedger& on_host) {
  const Cluster& cluster = deployment.cluster;
  if (!shares_host_memory(cluster.device.device_class)) {
    return resident_part(on_host.weights, on_host.kv_cache, *cluster.host->memory);
  }
  const Bytes& weights = on_device[LedgerItem::weights];
  return resident_part(weights, peak(on_device) - weights,
                       memory_budget(deployment, on_device, *memory(cluster.device)));
}

} // namespace tokenroof
