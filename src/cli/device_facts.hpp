/// @file
/// What a list says of a device in one word.
#pragma once

#include <initializer_list>
#include <span>

#include "tokenroof/estimate.hpp"
#include "tokenroof/hardware/device.hpp"

namespace tokenroof::cli {

[[nodiscard]] inline std::span<const MemoryVariant> memory_sizes(const Device& device) {
  return {device.memory_variants.data(), device.memory_variant_count};
}

[[nodiscard]] inline std::span<const ComputeUnit> compute_units(const Device& device) {
  return {device.compute_units.data(), device.compute_unit_count};
}

struct BandwidthSpan {
  Bandwidth least = absent<Bandwidth>();
  Bandwidth most = absent<Bandwidth>();
};

/// Over the sizes that are possible; both the same where they do not differ, or one was chosen.
[[nodiscard]] BandwidthSpan bandwidth_span(const Device& device);

/// The best rate that any unit has for one of these arithmetics; null: none.
[[nodiscard]] const Rate* best_rate(const Device& device, std::initializer_list<Arithmetic> arithmetics);

[[nodiscard]] inline const Rate* best_16_bit_rate(const Device& device) {
  return best_rate(device, {Arithmetic::bf16, Arithmetic::fp16});
}

[[nodiscard]] inline const Rate* best_8_bit_rate(const Device& device) {
  return best_rate(device, {Arithmetic::fp8, Arithmetic::int8});
}

} // namespace tokenroof::cli
