/// @file
/// How many devices there are and what joins them.
#pragma once

#include <cstdint>
#include <optional>

#include "tokenroof/hardware/device.hpp"
#include "tokenroof/hardware/host.hpp"

namespace tokenroof {

/// `devices` equal devices, `devices_per_node` of them sharing the fast link.
struct Cluster {
  Device device{};
  std::int64_t devices = 1;
  std::optional<std::int64_t> devices_per_node{}; ///< none: as many as the device's own link joins
  std::optional<Link> intra_node{};               ///< none: the device's scale-up link, else PCIe
  std::optional<Link> inter_node{};               ///< none: the device's network interface
  std::optional<Host> host{};                     ///< of one node; none: unknown

  friend bool operator==(const Cluster&, const Cluster&) = default;
};

/// The link between devices of one node: scale-up link or PCIe, whichever the device has; nothing when neither is known.
[[nodiscard]] constexpr std::optional<Link> intra_node_link(const Cluster& cluster) {
  if (cluster.intra_node) {
    return cluster.intra_node;
  }
  return cluster.device.scale_up ? cluster.device.scale_up : cluster.device.pcie;
}

/// The drive that weights are read from: the host's, or that of a device which has no other host than itself.
[[nodiscard]] constexpr std::optional<Bandwidth> storage_of(const Cluster& cluster) {
  return cluster.host && cluster.host->storage_read ? cluster.host->storage_read : cluster.device.storage_read;
}

/// The link that a group of `ranks` devices talks over: within a node if it fits there, else between nodes.
[[nodiscard]] constexpr std::optional<Link> link_of_group(const Cluster& cluster, std::int64_t ranks) {
  const std::optional<Link> within = intra_node_link(cluster);
  const std::int64_t per_node = cluster.devices_per_node.value_or(within ? within->devices : cluster.devices);
  if (ranks <= per_node) {
    return within;
  }
  return cluster.inter_node ? cluster.inter_node : cluster.device.scale_out;
}

} // namespace tokenroof
