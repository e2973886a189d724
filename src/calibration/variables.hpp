/// @file
/// What a fit may change: constants of profiles, each in a scale in which its prior has mean 0 and standard deviation 1.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "calibration/constants.hpp"
#include "calibration/engine_document.hpp"
#include "calibration/row_times.hpp"

namespace tokenroof::calibration {

/// Standard deviations from the middle of a normal distribution within which 80 % of it lies.
inline constexpr double deviations_of_interval = 1.2815515655446004;

struct Variable {
  Constant constant{};
  std::size_t profile = 0;             ///< where it is, or would be, stated
  std::vector<std::size_t> profiles{}; ///< that take it from there
  Figure prior{};
  double width = 0; ///< standard deviation: of the logarithm of an efficiency, of a cost itself

  /// The constant's value at a point of the scale, in the unit of the file, and back.
  [[nodiscard]] double value(double point) const;
  [[nodiscard]] double point(double value) const;
  /// The points that are physically possible.
  [[nodiscard]] double lower() const;
  [[nodiscard]] double upper() const;
};

/// The constants that rows of devices with these profiles can tell something of. Throws InvalidSpec for unknown keys.
/// `only`: all of them are to be stated in this profile.
[[nodiscard]] std::vector<Variable> variables_of(const EngineDocument& document, std::span<const std::size_t> profiles,
                                                 std::span<const std::string> fit, std::optional<std::size_t> only);

/// Gives a width to costs that are 0 and have no interval: with it, rows that depend on them usually take a fifth more.
void set_missing_widths(std::vector<Variable>& variables, const Engine& engine, RowTimes& times);

/// The engine with a variable at a point.
void set_point(Engine& engine, const Variable& variable, double point);

} // namespace tokenroof::calibration
