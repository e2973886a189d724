/// @file
/// How far rows scatter, and how much of it rows of one group share.
#pragma once

#include <cstddef>
#include <vector>

#include <Eigen/Core>

namespace tokenroof::calibration {

/// To what each row belongs, by numbers from 0 without gaps.
struct RowClasses {
  std::vector<std::size_t> groups{};
  std::vector<std::size_t> kinds{}; ///< of measurement: each has a scatter of its own
};

/// Of each row the robust standard deviation of the rows of its kind. `fitted`: how many constants were chosen to make the
/// residuals small.
[[nodiscard]] Eigen::VectorXd scales_of(const Eigen::VectorXd& residuals, const RowClasses& classes, double fitted);

/// What each row tells beside the others of its group and kind: `1 / (1 + (n - 1) shared)` of n rows @cite kish1965, where
/// `shared` is the part of the residuals' variance that such rows have in common.
[[nodiscard]] Eigen::VectorXd weights_of(const Eigen::VectorXd& residuals, const Eigen::VectorXd& scales,
                                         const RowClasses& classes);

/// The robust standard deviation of all rows together, with what was assumed of it before any row was seen.
[[nodiscard]] double spread_of(const Eigen::VectorXd& residuals, double fitted);

} // namespace tokenroof::calibration
