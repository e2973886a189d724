/// @file
/// Where the figures of the built-in devices come from. (tokenroof::tokenroof)
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tokenroof::catalogue {

/// One figure of a device file and its origin. Texts are empty where the file says nothing.
struct Provenance {
  std::string field;           ///< the keys that lead to it: "memory.bandwidth_GBps"
  std::optional<double> value; ///< in `unit`; none for a figure that could not be found
  std::string unit;            ///< "GBps", "TFLOPS", "GiB"; empty for counts
  std::string derivation;      ///< the formula, the measured rows it was inferred from, or why it is absent
  std::string source;          ///< all sources of the device, where the figure does not name its own
  std::string date;            ///< when the source was read: "2026-09"
  std::string confidence;      ///< high, medium or low

  friend bool operator==(const Provenance&, const Provenance&) = default;
};

/// The figures of a device in the order of its file, then those that are absent for a stated reason.
/// Throws UnknownDevice.
[[nodiscard]] std::vector<Provenance> provenance(std::string_view id);

/// One of them. Elements of lists go by what tells them apart: "compute_units.gpu.matrix_TFLOPS.fp16",
/// "memory.variants.64.usable_GiB". Throws UnknownDevice, or InvalidSpec with the nearest fields.
[[nodiscard]] Provenance provenance(std::string_view id, std::string_view field);

/// The sources of a device's file, which stand behind every figure that names none of its own. Throws UnknownDevice.
[[nodiscard]] std::vector<std::string> sources(std::string_view id);

/// Sources of a device that disagree, each with what was chosen. Throws UnknownDevice.
[[nodiscard]] std::vector<std::string> conflicts(std::string_view id);

} // namespace tokenroof::catalogue
