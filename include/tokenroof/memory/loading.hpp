/// @file
/// Loading: what memory holds at its fullest until the weights are in place, and how long that takes from a cold drive.
#pragma once

#include <optional>

#include "tokenroof/deployment/deployment.hpp"
#include "tokenroof/estimate.hpp"
#include "tokenroof/memory/host_ledger.hpp"
#include "tokenroof/memory/ledger.hpp"
#include "tokenroof/memory/weights.hpp"

namespace tokenroof {

/// Memory and time from the first byte read to the last in place. A device that shares its host's memory holds all of it:
/// its host has none of its own.
struct LoadPhase {
  Bytes host{};         ///< in the host's memory at its fullest: weights that stay there and the loader's own copies
  Bytes host_clean{};   ///< beside those, mapped pages of the file, which the system drops when it needs memory
  Bytes device{};       ///< on the fullest device
  Bytes device_clean{}; ///< of which so much are mapped pages
  /// Seconds to read the file from its drive and copy it over the link; absent where a bandwidth is not known.
  Seconds cold_start = absent<Seconds>();

  friend bool operator==(const LoadPhase&, const LoadPhase&) = default;
};

namespace detail {

/// Bytes of the file that a node reads: all weights, once.
[[nodiscard]] inline Bytes file_bytes(const Deployment& deployment, const Ledger& on_device,
                                      const HostLedger& on_host) {
  const Parallelism& parallelism = deployment.parallelism;
  const bool split = parallelism.tensor * parallelism.pipeline * parallelism.expert > 1;
  return split ? weight_bytes(*deployment.network, deployment.weights)
               : on_device[LedgerItem::weights] + on_host.weights / static_cast<double>(parallelism.data);
}

/// What a loader holds of its own, beside mapped pages, while it moves weights to where they belong.
[[nodiscard]] inline Bytes loader_bytes(const LoadHabits& habits, Bytes file) {
  switch (habits.style) {
  case LoadStyle::in_place:
  case LoadStyle::mapped:
  case LoadStyle::read:
    return {};
  case LoadStyle::by_shard:
    return smaller(file, habits.shard);
  case LoadStyle::whole:
    return file * habits.copies;
  }
  return {};
}

[[nodiscard]] inline Seconds cold_start(const Deployment& deployment, Bytes file, Bytes copied) {
  const std::optional<Bandwidth> storage = storage_of(deployment.cluster);
  const std::optional<Link>& link = deployment.cluster.device.pcie;
  const bool shared = shares_host_memory(deployment.cluster.device.device_class);
  if (!storage || (!shared && !link)) {
    return absent<Seconds>();
  }
  const Seconds read = file / (*storage * deployment.engine->load.storage_efficiency);
  return shared ? read : read + copied / (link->bandwidth * deployment.engine->offload.link_efficiency);
}

} // namespace detail

/// The load phase of a deployment whose ledgers are given, mapped weights as if all of them fitted:
///
///     cold start = file / (drive * e) + weights of a device / (link * e)
///
/// the link only where the device has a memory of its own. Reading and copying follow one another; loaders that overlap
/// them save at most the shorter of the two.
[[nodiscard]] inline LoadPhase load_phase(const Deployment& deployment, const Ledger& on_device,
                                          const HostLedger& on_host) {
  const LoadHabits& habits = deployment.engine->load;
  const bool shared = shares_host_memory(deployment.cluster.device.device_class);
  const bool maps = habits.style == LoadStyle::in_place || habits.style == LoadStyle::mapped;
  const Bytes& weights = on_device[LedgerItem::weights];
  const Bytes file = detail::file_bytes(deployment, on_device, on_host);
  const Bytes own = detail::loader_bytes(habits, file);
  const Bytes lasting = weights + on_device[LedgerItem::context];
  LoadPhase phase{.cold_start = detail::cold_start(deployment, file, weights)};
  if (!shared) {
    phase.device = lasting;
    phase.host = on_host.weights + own;
    phase.host_clean = maps ? file - on_host.weights / static_cast<double>(deployment.parallelism.data) : Bytes();
    return phase;
  }
  const bool in_place = habits.style == LoadStyle::in_place;
  phase.device_clean = maps ? file : Bytes();
  phase.device = lasting + own + (in_place ? Bytes() : phase.device_clean);
  return phase;
}

} // namespace tokenroof
