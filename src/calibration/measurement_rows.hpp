/// @file
/// Times in a CSV file of measurements.
#pragma once

#include <string_view>

#include "tokenroof/calibration.hpp"

namespace tokenroof::calibration {

/// Rows of the engine of the options whose metric is a time, or a rate that one follows from. Throws ParseError.
[[nodiscard]] Measurements measurement_rows(std::string_view text, std::string_view name, const ReadOptions& options);

} // namespace tokenroof::calibration
