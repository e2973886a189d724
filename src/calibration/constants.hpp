/// @file
/// All constants of the time laws that can be fitted, utilisations by arithmetic included.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "readers/engine_constants.hpp"
#include "tokenroof/engine/constants.hpp"

namespace tokenroof::calibration {

inline constexpr std::string_view utilisation_key = "gemm_utilisation";

/// One of readers::constant_fields(), or the utilisation of one arithmetic.
struct Constant {
  std::string key{}; ///< "decode_layer_us", "gemm_utilisation.bf16"
  readers::Range range = readers::Range::efficiency;
  const readers::ConstantField* field = nullptr; ///< null: the utilisation
  std::size_t arithmetic = 0;                    ///< of the utilisation
};

/// In the order of the files.
[[nodiscard]] std::vector<Constant> all_constants();

/// In the unit of the files.
[[nodiscard]] double value_of(const EngineConstants& constants, const Constant& constant);
void set_value(EngineConstants& constants, const Constant& constant, double value);

/// Whether a key that somebody wrote means this constant: its own, or that of its group.
[[nodiscard]] bool is_meant(const Constant& constant, std::string_view key);

} // namespace tokenroof::calibration
