/// @file
/// The machine that devices are plugged into: what holds, feeds and, with some engines, computes what they do not.
#pragma once

#include <optional>

#include "tokenroof/hardware/device.hpp"

namespace tokenroof {

/// A host as far as it matters to a device. The link to it is the device's own (`Device::pcie`). Missing is missing:
/// without a bandwidth nothing that lies in host memory has a time.
struct Host {
  Id id{};                                 ///< of the catalogue's processor, where it is one
  std::optional<Bytes> memory{};           ///< capacity, of all sockets; none: as much as is needed
  std::optional<Bandwidth> bandwidth{};    ///< of that memory, as published
  std::optional<ComputeUnit> unit{};       ///< its processor
  std::optional<Bandwidth> storage_read{}; ///< sequential read of the drive that the weights lie on

  friend bool operator==(const Host&, const Host&) = default;
};

/// The host that a processor of the catalogue makes.
[[nodiscard]] constexpr Host host_of(const Device& processor) {
  Host host{.id = processor.id, .bandwidth = memory_bandwidth(processor), .storage_read = processor.storage_read};
  if (const MemoryVariant* variant = memory(processor)) {
    host.memory = variant->capacity;
  }
  if (const ComputeUnit* unit = compute_unit(processor, ComputeUnitKind::cpu)) {
    host.unit = *unit;
  }
  return host;
}

} // namespace tokenroof
