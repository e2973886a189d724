/// @file
/// What laws are tried on: every network and every device of the catalogue.
#pragma once

#include <string>
#include <vector>

#include "tokenroof/catalogue/devices.hpp"
#include "tokenroof/catalogue/networks.hpp"
#include "tokenroof/network/named_schemes.hpp"
#include "tokenroof/predict.hpp"
#include "tokenroof/units/literals.hpp"

namespace tokenroof::test {

inline const std::vector<Shared<Network>>& all_networks() {
  static const std::vector<Shared<Network>> networks = [] {
    std::vector<Shared<Network>> found;
    for (const std::string& id : catalogue::network_ids()) {
      found.push_back(catalogue::network(id));
    }
    return found;
  }();
  return networks;
}

/// A device with so much memory that everything fits: laws of time are not about memory.
inline Device roomy(Device device) {
  device.memory_variants[0] = {.capacity = Bytes::from_value(1e18), .bandwidth = memory_bandwidth(device)};
  device.memory_variant_count = 1;
  device.chosen_memory = 0;
  return device;
}

/// Every device, roomy; those sold with several bandwidths get their first.
inline const std::vector<Device>& all_devices() {
  static const std::vector<Device> devices = [] {
    std::vector<Device> found;
    for (Device device : catalogue::devices()) {
      if (device.memory_variant_count > 0) {
        device.chosen_memory = 0;
      }
      found.push_back(roomy(device));
    }
    return found;
  }();
  return devices;
}

/// Whether a device publishes (or was fitted with) what a time needs.
inline bool has_times(const Device& device) {
  const ComputeUnit* unit = unit_for(*roofline_engine(), device);
  return memory_bandwidth(device) && unit && choose_rate(*unit, Arithmetic::bf16).rate;
}

inline Deployment deployment(const Shared<Network>& network, const Device& device,
                             const WeightScheme& weights = scheme("bf16")) {
  return {.network = network, .cluster = {.device = device}, .weights = weights};
}

/// The device that laws about networks are tried on.
inline Device reference_device() { return roomy(catalogue::device("h100_sxm")); }

} // namespace tokenroof::test
