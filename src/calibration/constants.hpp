/// @file
/// All constants of the time laws that can be fitted: of profiles, utilisations by arithmetic included, and of serving.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "readers/engine_constants.hpp"
#include "tokenroof/engine/engine.hpp"

namespace tokenroof::calibration {

/// One of readers::constant_fields(), the utilisation of one arithmetic, or one of readers::serving_fields().
struct Constant {
  std::string group{}; ///< the object in the file that holds it; empty: its profile's constants themselves
  std::string key{};   ///< within that
  readers::Range range = readers::Range::efficiency;
  const readers::ConstantField* field = nullptr;
  const readers::ServingField* serving = nullptr; ///< of the engine, whatever the device
  std::size_t arithmetic = 0;                     ///< of a utilisation, which has neither field

  /// "decode_layer_us", "gemm_utilisation.bf16", "serving.request_overhead_ms".
  [[nodiscard]] std::string name() const { return group.empty() ? key : group + "." + key; }

  friend bool operator==(const Constant&, const Constant&) = default;
};

/// In the order of the files.
[[nodiscard]] std::vector<Constant> all_constants();

/// Of a profile, in the unit of the files.
[[nodiscard]] double value_of(const Engine& engine, std::size_t profile, const Constant& constant);
void set_value(Engine& engine, std::size_t profile, const Constant& constant, double value);

/// Whether a key that somebody wrote means this constant: its own, or that of its group.
[[nodiscard]] bool is_meant(const Constant& constant, std::string_view key);

} // namespace tokenroof::calibration
