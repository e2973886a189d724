/// @file
/// A device: what it computes and moves per second, what it holds, how it is linked. Missing figures are missing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "tokenroof/inline_string.hpp"
#include "tokenroof/precision/arithmetic.hpp"
#include "tokenroof/units/quantity.hpp"

namespace tokenroof {

/// Our classes of device; the catalogue maps every device onto one.
enum class DeviceClass : std::uint8_t {
  datacenter_gpu,
  workstation_gpu,
  consumer_gpu,
  apple_mac,
  unified_pc, ///< PCs and boards whose GPU shares the CPU's memory (GB10, Jetson, Strix Halo, Snapdragon X)
  mobile,     ///< iPhones and Android phones
  tpu,
  accelerator,
  cpu,
};

inline constexpr std::array<std::string_view, 9> device_class_names = {"datacenter_gpu",
                                                                       "workstation_gpu",
                                                                       "consumer_gpu",
                                                                       "apple_mac",
                                                                       "unified_pc",
                                                                       "mobile",
                                                                       "tpu",
                                                                       "accelerator",
                                                                       "cpu"};

[[nodiscard]] constexpr std::string_view name(DeviceClass device_class) {
  return device_class_names[static_cast<std::size_t>(device_class)];
}

/// Whether devices of a class are boards whose own memory no CPU or NPU reads.
[[nodiscard]] constexpr bool is_board(DeviceClass device_class) {
  return device_class == DeviceClass::datacenter_gpu || device_class == DeviceClass::workstation_gpu ||
         device_class == DeviceClass::consumer_gpu;
}

/// Whether devices of a class have no memory but that of their host: a system on chip, or a processor by itself.
[[nodiscard]] constexpr bool shares_host_memory(DeviceClass device_class) {
  return device_class == DeviceClass::apple_mac || device_class == DeviceClass::unified_pc ||
         device_class == DeviceClass::mobile || device_class == DeviceClass::cpu;
}

/// Which part of a device runs the network.
enum class ComputeUnitKind : std::uint8_t { gpu, npu, cpu };

inline constexpr std::array<std::string_view, 3> compute_unit_names = {"gpu", "npu", "cpu"};

[[nodiscard]] constexpr std::string_view name(ComputeUnitKind kind) {
  return compute_unit_names[static_cast<std::size_t>(kind)];
}

/// Where a rate comes from.
enum class Basis : std::uint8_t {
  published, ///< a datasheet's figure, or one derived from it by a stated formula
  fitted,    ///< an effective rate inferred from measured rows: what the unit reaches, not its peak
};

/// A dense compute rate. `low` and `high` bound a fitted one (80 %); they equal `value` for a published one.
struct Rate {
  ComputeRate value{};
  ComputeRate low{};
  ComputeRate high{};
  Basis basis = Basis::published;

  friend bool operator==(const Rate&, const Rate&) = default;
};

/// One processor of a device.
struct ComputeUnit {
  ComputeUnitKind kind = ComputeUnitKind::gpu;
  std::array<std::optional<Rate>, arithmetic_count> matrix{}; ///< dense rates of the matrix path, by arithmetic
  std::optional<ComputeRate> vector_fp32{};                   ///< rate of the ordinary (non-matrix) units
  std::optional<std::int32_t> cores{};                        ///< SMs, GPU cores, CPU cores
  std::optional<double> clock_hertz{};                        ///< boost clock
  std::optional<Bandwidth> bandwidth{}; ///< what this unit alone can draw, where it is less than the memory's

  friend bool operator==(const ComputeUnit&, const ComputeUnit&) = default;
};

/// One size in which a device is sold.
struct MemoryVariant {
  Bytes capacity{};
  std::optional<Bytes> usable{};        ///< what driver and operating system leave to one process, where known
  std::optional<Bandwidth> bandwidth{}; ///< where this variant differs from the device's

  friend bool operator==(const MemoryVariant&, const MemoryVariant&) = default;
};

/// Point-to-point bandwidth per direction and how many devices it joins.
struct Link {
  InlineString<32> name{};
  Bandwidth bandwidth{};    ///< of one device, per direction
  std::int32_t devices = 2; ///< devices that this link joins directly

  friend bool operator==(const Link&, const Link&) = default;
};

inline constexpr std::size_t most_memory_variants = 6;
inline constexpr std::size_t most_compute_units = 3;

/// A device as sold. Flat and constexpr-friendly: the built-in ones are constants of the program.
struct Device {
  Id id{};
  Name name{};
  InlineString<32> vendor{};
  DeviceClass device_class = DeviceClass::datacenter_gpu;
  InlineString<32> family{};            ///< one microarchitecture: hopper, m3, adreno8, …
  std::optional<Bandwidth> bandwidth{}; ///< of the memory, as published
  std::array<MemoryVariant, most_memory_variants> memory_variants{}; ///< none where the buyer chooses (CPUs)
  std::size_t memory_variant_count = 0;
  std::optional<std::size_t> chosen_memory{}; ///< index of the variant meant; none while several are possible
  std::array<ComputeUnit, most_compute_units> compute_units{};
  std::size_t compute_unit_count = 0;
  std::optional<Bytes> l2_cache{};
  std::optional<Bytes> last_level_cache{};
  std::optional<Link> scale_up{};          ///< NVLink, xGMI, ICI within one node or domain
  std::optional<Link> pcie{};              ///< to the host, and between devices that have nothing better
  std::optional<Link> scale_out{};         ///< network interface to other nodes
  std::optional<Watts> power{};            ///< design power
  std::optional<Bandwidth> storage_read{}; ///< sequential read of the storage it ships with
  std::optional<UsDollars> list_price{};
  std::optional<Price> cloud_price{}; ///< median of the dated quotes in its file

  friend bool operator==(const Device&, const Device&) = default;
};

/// The chosen memory variant, or the only one; nothing while several are possible or none is listed.
[[nodiscard]] constexpr const MemoryVariant* memory(const Device& device) {
  if (device.chosen_memory) {
    return &device.memory_variants[*device.chosen_memory];
  }
  return device.memory_variant_count == 1 ? &device.memory_variants[0] : nullptr;
}

/// The memory bandwidth; nothing where it is not published, or where the possible variants differ in it.
[[nodiscard]] constexpr std::optional<Bandwidth> memory_bandwidth(const Device& device) {
  if (const MemoryVariant* variant = memory(device)) {
    return variant->bandwidth ? variant->bandwidth : device.bandwidth;
  }
  for (std::size_t i = 0; i < device.memory_variant_count; ++i) {
    if (device.memory_variants[i].bandwidth) {
      return std::nullopt;
    }
  }
  return device.bandwidth;
}

/// The unit of that kind, or nothing.
[[nodiscard]] constexpr const ComputeUnit* compute_unit(const Device& device, ComputeUnitKind kind) {
  for (std::size_t i = 0; i < device.compute_unit_count; ++i) {
    if (device.compute_units[i].kind == kind) {
      return &device.compute_units[i];
    }
  }
  return nullptr;
}

/// The dense rate of a unit for an arithmetic, or nothing.
[[nodiscard]] constexpr const Rate* find_rate(const ComputeUnit& unit, Arithmetic arithmetic) {
  const std::optional<Rate>& rate = unit.matrix[static_cast<std::size_t>(arithmetic)];
  return rate ? &*rate : nullptr;
}

} // namespace tokenroof
