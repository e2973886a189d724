/// @file
/// An engine: the software that runs a network, as the constants of our laws and its habits with memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tokenroof/engine/constants.hpp"
#include "tokenroof/engine/memory_habits.hpp"
#include "tokenroof/hardware/device.hpp"
#include "tokenroof/inline_string.hpp"
#include "tokenroof/precision/arithmetic.hpp"
#include "tokenroof/precision/format.hpp"
#include "tokenroof/shared.hpp"
#include "tokenroof/units/quantity.hpp"

namespace tokenroof {

/// To which devices a set of constants applies: those of a family, of a class, of both (Ada is in consumer boards and,
/// under other power limits, in datacenter ones), or, with both empty, any.
struct EngineProfile {
  InlineString<32> family{};
  std::optional<DeviceClass> device_class{};
  EngineConstants constants{};

  friend bool operator==(const EngineProfile&, const EngineProfile&) = default;
};

/// What an engine does with weights that it leaves in host memory.
enum class OffloadStyle : std::uint8_t {
  none,          ///< it leaves none there
  host_computes, ///< the host's processor multiplies them where they lie
  streamed,      ///< the device reads them over its link to the host in every pass
  fastest,       ///< whichever of the two is faster, operator by operator: no engine, but the bound of all
};

inline constexpr std::array<std::string_view, 4> offload_style_names = {"none", "host_computes", "streamed", "fastest"};

[[nodiscard]] constexpr std::string_view name(OffloadStyle style) {
  return offload_style_names[static_cast<std::size_t>(style)];
}

/// How an engine runs what does not lie in the device's memory. The defaults are physics alone: a lower bound.
struct OffloadHabits {
  OffloadStyle style = OffloadStyle::fastest;
  /// What the host's processor and its memory reach.
  EngineConstants host{};
  /// Passes of at least this many rows are computed on the device, their weights streamed, even where the host computes
  /// the others. Zero: never.
  double streamed_from_rows = 0;
  /// Streaming goes on while the device computes; else it waits for each matrix.
  bool overlapped = true;
  /// Part of the link's bandwidth that streaming reaches, in (0, 1].
  double link_efficiency = 1;
  /// Fixed cost of each change from host to device or back within a pass.
  Seconds handover{};
  /// Part of the drive's sequential rate that page faults on a mapped file reach, in (0, 1].
  double storage_efficiency = 1;

  friend bool operator==(const OffloadHabits&, const OffloadHabits&) = default;
};

/// How a loader gets weights from their file to where they are computed with.
enum class LoadStyle : std::uint8_t {
  in_place, ///< maps the file and computes with its pages where host and device share a memory; else as `mapped`
  mapped,   ///< maps the file and copies out of its pages
  read,     ///< reads each tensor to where it belongs
  by_shard, ///< reads a shard of the checkpoint into memory, then copies out of it
  whole,    ///< reads the whole checkpoint into memory first
};

inline constexpr std::array<std::string_view, 5> load_style_names = {"in_place", "mapped", "read", "by_shard", "whole"};

[[nodiscard]] constexpr std::string_view name(LoadStyle style) {
  return load_style_names[static_cast<std::size_t>(style)];
}

/// What an engine's loader costs. The defaults are the least that is possible.
struct LoadHabits {
  LoadStyle style = LoadStyle::in_place;
  Bytes shard{};                 ///< of `by_shard`: the largest shard
  double copies = 1;             ///< of `whole`: times that the checkpoint is in memory at the fullest
  double storage_efficiency = 1; ///< part of the drive's sequential rate that reading reaches, in (0, 1]

  friend bool operator==(const LoadHabits&, const LoadHabits&) = default;
};

/// What a server adds to requests. The defaults are a server that costs nothing and takes prompts one by one.
struct ServingHabits {
  Seconds request_overhead{};             ///< HTTP, tokenisation, scheduling: of each request, before its first token
  double prefill_group = 1;               ///< prompts that on average are prefilled together, lengths varying
  double prefill_group_equal_lengths = 1; ///< the same where all requests are equally long

  friend bool operator==(const ServingHabits&, const ServingHabits&) = default;
};

/// Between what lies 80 % of measured over predicted; absent (0) where nobody measured enough.
struct ResidualBand {
  double low = 0;
  double high = 0;

  friend bool operator==(const ResidualBand&, const ResidualBand&) = default;
};

[[nodiscard]] constexpr bool is_stated(const ResidualBand& band) { return band.low > 0; }

inline constexpr std::size_t most_measured_families = 24;

/// How far measurements lie from predictions by this engine's constants.
struct Residuals {
  ResidualBand ttft{};
  ResidualBand tpot{};
  ResidualBand end_to_end{};
  ResidualBand closed_loop_ttft{}; ///< of clients that send one request after another
  ResidualBand closed_loop_tpot{};
  std::array<InlineString<32>, most_measured_families> families{}; ///< of the devices they were measured on
  std::size_t family_count = 0;

  friend bool operator==(const Residuals&, const Residuals&) = default;
};

[[nodiscard]] constexpr bool is_measured_on(const Residuals& residuals, const Device& device) {
  const auto end = residuals.families.begin() + static_cast<std::ptrdiff_t>(residuals.family_count);
  return std::find(residuals.families.begin(), end, device.family) != end;
}

/// A named, versioned engine. The profile that fits a device best is chosen by `constants_for`.
struct Engine {
  Id id = "roofline";
  InlineString<32> version{};
  std::optional<ComputeUnitKind> unit{}; ///< which compute unit it runs on; none: whichever the device has, GPU first
  std::vector<EngineProfile> profiles{};
  bool overlaps_stages = true; ///< in prefill, pipeline stages work on different passes at the same time
  MemoryHabits memory{};
  OffloadHabits offload{};
  LoadHabits load{};
  ServingHabits serving{};
  Residuals residuals{};

  friend bool operator==(const Engine&, const Engine&) = default;
};

/// How closely a family and a class, either of which may be left out, are meant for a device: 0 not at all, 1 as for any
/// device, 2 by the class, 3 by the family, 4 by both.
[[nodiscard]] constexpr int closeness(std::string_view family, std::optional<DeviceClass> device_class,
                                      const Device& device) {
  if ((!family.empty() && family != device.family) || (device_class && *device_class != device.device_class)) {
    return 0;
  }
  return 1 + (family.empty() ? 0 : 2) + (device_class ? 1 : 0);
}

[[nodiscard]] constexpr int closeness(const EngineProfile& profile, const Device& device) {
  return closeness(profile.family, profile.device_class, device);
}

/// Constants for a device, from the profile that is meant for it most closely; physics alone where there is none.
[[nodiscard]] inline EngineConstants constants_for(const Engine& engine, const Device& device) {
  const EngineProfile* best = nullptr;
  for (const EngineProfile& profile : engine.profiles) {
    if (closeness(profile, device) > (best != nullptr ? closeness(*best, device) : 0)) {
      best = &profile;
    }
  }
  return best != nullptr ? best->constants : EngineConstants{};
}

/// How closely the closest profile of an engine is meant for a device; 0: none applies to it.
[[nodiscard]] constexpr int closest_profile(const Engine& engine, const Device& device) {
  int closest = 0;
  for (const EngineProfile& profile : engine.profiles) {
    closest = std::max(closest, closeness(profile, device));
  }
  return closest;
}

/// Whether an engine's constants were stated for this device's family or class.
[[nodiscard]] constexpr bool has_profile(const Engine& engine, const Device& device) {
  return closest_profile(engine, device) > 1;
}

/// The neutral engine: every efficiency 1, no overhead. What physics allows at best.
[[nodiscard]] inline const Shared<Engine>& roofline_engine() {
  static const Shared<Engine> engine(Engine{
      .profiles = {EngineProfile{.constants = EngineConstants{.half_arithmetic = Arithmetic::fp16_accumulate16,
                                                              .quantised_arithmetic = Arithmetic::int8,
                                                              .quantised_fastest = true}}},
  });
  return engine;
}

/// The unit that an engine runs on; nothing when the device's description does not list one of that kind.
[[nodiscard]] constexpr const ComputeUnit* unit_for(const Engine& engine, const Device& device) {
  if (engine.unit) {
    return compute_unit(device, *engine.unit);
  }
  if (const ComputeUnit* gpu = compute_unit(device, ComputeUnitKind::gpu)) {
    return gpu;
  }
  return device.compute_unit_count > 0 ? &device.compute_units[0] : nullptr;
}

} // namespace tokenroof
