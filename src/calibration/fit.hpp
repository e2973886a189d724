/// @file
/// The fit of an engine's constants: which of them the rows identify, their best values, and how they do on rows that were
/// left out.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "calibration/row_noise.hpp"
#include "calibration/row_times.hpp"
#include "calibration/solver.hpp"
#include "calibration/variables.hpp"

namespace tokenroof::calibration {

/// What became of a variable.
struct FittedVariable {
  bool identified = false;
  double point = 0;
  double deviation = 1; ///< standard deviation, in widths of the prior
  std::uint64_t rows = 0;
};

struct Fit {
  std::vector<FittedVariable> variables{}; ///< as many as there are variables
  double spread = 0;                       ///< robust standard deviation of the residuals
  Eigen::VectorXd before{};                ///< log(predicted / measured) of each row
  Eigen::VectorXd left_out{};              ///< of each row, by a fit without its group; empty: there is one group only
};

/// `on_progress` may be empty.
[[nodiscard]] Fit fit(const Engine& engine, const std::vector<Variable>& variables, RowTimes& times,
                      const RowClasses& classes, const std::function<void(double)>& on_progress);

} // namespace tokenroof::calibration
