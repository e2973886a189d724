/// @file
/// What an engine's file says.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace tokenroof::cli {

/// The text under a key; empty where there is none.
[[nodiscard]] std::string text_of(const nlohmann::json& object, const char* key);

/// The kinds of device that an engine is the usual one of: classes, and families where no class is said.
[[nodiscard]] std::string usual_on(const nlohmann::json& file);

struct Figure {
  std::string field{};     ///< ends in its unit; a member of a group is "gemm_utilisation.fp8"
  nlohmann::json stated{}; ///< value, low, high, basis, source, date, rows, note, confidence, as far as the file says
  bool inherited = false;  ///< from the constants for any device
};

/// All figures in an object of the file.
[[nodiscard]] std::vector<Figure> figures(const nlohmann::json& object);

/// The constants that a profile states, then those that it takes from the one that names no device.
[[nodiscard]] std::vector<Figure> constants(const nlohmann::json& profile, const nlohmann::json& file);

} // namespace tokenroof::cli
