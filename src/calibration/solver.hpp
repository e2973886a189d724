/// @file
/// Least squares with a robust loss, a prior and bounds.
#pragma once

#include <functional>

#include <Eigen/Core>

namespace tokenroof::calibration {

/// Residuals of rows as a function of a point whose elements have a prior of mean 0 and standard deviation 1.
struct Problem {
  std::function<Eigen::VectorXd(const Eigen::VectorXd& point)> residuals{};
  /// Of the residuals; `at` is what they are at the point.
  std::function<Eigen::MatrixXd(const Eigen::VectorXd& point, const Eigen::VectorXd& at)> jacobian{};
  Eigen::VectorXd lower{}; ///< bounds of each element
  Eigen::VectorXd upper{};
  Eigen::VectorXd weights{}; ///< of the rows; 0: without a part
  /// Of each row: the residual at which the loss turns from quadratic to linear, and its standard deviation.
  Eigen::VectorXd scales{};
};

struct Solution {
  Eigen::VectorXd point{};
  Eigen::VectorXd residuals{};
  Eigen::MatrixXd jacobian{}; ///< at the last point but the step that no longer mattered
};

/// Minimises `sum w rho(r / scale) + sum x^2` within the bounds, rho(z) = 2 (sqrt(1 + z^2) - 1), by Levenberg and
/// Marquardt's method @cite more1978 with projected steps: elements that would leave their bounds stay on them, exactly.
/// `first_jacobian` may hold the one at the start; empty: it is worked out.
[[nodiscard]] Solution minimise(const Problem& problem, const Eigen::VectorXd& start,
                                const Eigen::MatrixXd& first_jacobian = {});

/// The inverse of the covariance of the solution's elements, prior included.
[[nodiscard]] Eigen::MatrixXd information(const Problem& problem, const Solution& solution);

} // namespace tokenroof::calibration
