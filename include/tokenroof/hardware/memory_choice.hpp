/// @file
/// Choosing one of the sizes in which a device is sold.
#pragma once

#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "tokenroof/errors.hpp"
#include "tokenroof/hardware/device.hpp"

namespace tokenroof {

namespace detail {

[[nodiscard]] inline std::string in_gibibytes(Bytes bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g GiB", bytes.value() / 1073741824.0);
  return text;
}

[[noreturn]] inline void throw_no_such_memory(const Device& device, Bytes capacity) {
  std::string reason = device.memory_variant_count == 0 ? "a size must be positive" : "the sizes are ";
  for (std::size_t i = 0; i < device.memory_variant_count; ++i) {
    reason += (i == 0 ? "" : ", ") + in_gibibytes(device.memory_variants[i].capacity);
  }
  throw InvalidSpec("memory of " + std::string(device.id.view()), in_gibibytes(capacity), std::move(reason));
}

/// How much larger the larger of two sizes is than the smaller one.
[[nodiscard]] constexpr double size_ratio(Bytes a, Bytes b) { return a < b ? b / a : a / b; }

} // namespace detail

/// The index of the variant of that size, or nothing. Vendors write GB where they mean GiB, 7.4 % apart: the nearest
/// variant within 8 % is meant.
[[nodiscard]] constexpr std::optional<std::size_t> find_memory(const Device& device, Bytes capacity) {
  constexpr double tolerance = 1.08;
  std::optional<std::size_t> nearest;
  double smallest = tolerance;
  for (std::size_t i = 0; i < device.memory_variant_count; ++i) {
    const double ratio = detail::size_ratio(device.memory_variants[i].capacity, capacity);
    if (ratio <= smallest) {
      smallest = ratio;
      nearest = i;
    }
  }
  return nearest;
}

/// The device with that much memory. Where the buyer chooses (no variant is listed) every positive size exists.
/// Throws InvalidSpec, listing the sizes, if it is not sold with that one.
[[nodiscard]] constexpr Device with_memory(Device device, Bytes capacity) {
  if (device.memory_variant_count == 0 && capacity > Bytes()) {
    device.memory_variants[0] = MemoryVariant{.capacity = capacity};
    device.memory_variant_count = 1;
  }
  device.chosen_memory = find_memory(device, capacity);
  if (!device.chosen_memory) {
    detail::throw_no_such_memory(device, capacity);
  }
  return device;
}

/// The device of which one process may fill `usable` bytes: an app's limit, a raised working set, a share of a server.
/// Throws InvalidSpec where the memory size is open, or is smaller than that.
[[nodiscard]] constexpr Device with_usable_memory(Device device, Bytes usable) {
  const MemoryVariant* const variant = memory(device);
  if (variant == nullptr) {
    throw InvalidSpec("usable_memory", detail::in_gibibytes(usable),
                      "needs the memory size of the device to be stated");
  }
  if (!(usable > Bytes()) || usable > variant->capacity) {
    throw InvalidSpec("usable_memory", detail::in_gibibytes(usable),
                      "must be above 0 and at most the device's " + detail::in_gibibytes(variant->capacity));
  }
  device.memory_variants[device.chosen_memory.value_or(0)].usable = usable;
  return device;
}

} // namespace tokenroof
