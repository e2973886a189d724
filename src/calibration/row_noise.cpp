#include "calibration/row_noise.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace tokenroof::calibration {

namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// What the spread is taken to be before any row is seen, and how many rows that counts for: a few rows that happen to fit
/// do not show that all would.
constexpr double usual_spread = 0.06;
constexpr double rows_of_usual_spread = 4;

/// Residuals beyond this are no longer a matter of constants, and their rows count for less.
constexpr double most_spread = 0.4;

/// The standard deviation of a normal distribution with the same median of |x|, of rows that count.
double robust_deviation(const VectorXd& residuals) {
  std::vector<double> sizes(residuals.begin(), residuals.end());
  std::transform(sizes.begin(), sizes.end(), sizes.begin(), [](double x) { return std::abs(x); });
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  constexpr double deviations_of_median = 0.6744897501960817;
  return *middle / deviations_of_median;
}

std::size_t count_of(const std::vector<std::size_t>& classes) {
  return classes.empty() ? 0 : *std::max_element(classes.begin(), classes.end()) + 1;
}

/// Rows of a group that are of one kind.
struct Cell {
  double rows = 0;
  double sum = 0;
};

using Cells = std::map<std::pair<std::size_t, std::size_t>, Cell>;

/// In standard deviations, without the tails, which say more of single rows than of their groups.
double standardised(double residual, double scale) {
  constexpr double most = 3;
  return std::clamp(residual / scale, -most, most);
}

Cells cells_of(const VectorXd& residuals, const VectorXd& scales, const RowClasses& classes) {
  Cells cells;
  for (std::size_t i = 0; i < classes.groups.size(); ++i) {
    const auto row = static_cast<Index>(i);
    Cell& cell = cells[{classes.groups[i], classes.kinds[i]}];
    cell.rows += 1;
    cell.sum += standardised(residuals[row], scales[row]);
  }
  return cells;
}

/// The part of the rows' variance that is between cells; with one group nobody can tell.
double shared_part(const VectorXd& residuals, const VectorXd& scales, const RowClasses& classes, const Cells& cells) {
  const auto rows = static_cast<double>(classes.groups.size());
  const double free = rows - static_cast<double>(cells.size());
  if (count_of(classes.groups) < 2 || free < 1) {
    return 0;
  }
  double total = 0;
  double within = 0;
  for (std::size_t i = 0; i < classes.groups.size(); ++i) {
    const auto row = static_cast<Index>(i);
    const Cell& cell = cells.at({classes.groups[i], classes.kinds[i]});
    const double z = standardised(residuals[row], scales[row]);
    total += z * z / rows;
    within += (z - cell.sum / cell.rows) * (z - cell.sum / cell.rows) / free;
  }
  return std::clamp((total - within) / std::max(total, 1.0), 0.0, 1.0);
}

} // namespace

double spread_of(const VectorXd& residuals, double fitted) {
  const auto rows = static_cast<double>(residuals.size());
  const double free = std::max(rows - fitted, 1.0);
  const double found = std::min(robust_deviation(residuals) * std::sqrt(rows / free), most_spread);
  return std::sqrt((free * found * found + rows_of_usual_spread * usual_spread * usual_spread) /
                   (free + rows_of_usual_spread));
}

VectorXd scales_of(const VectorXd& residuals, const RowClasses& classes, double fitted) {
  VectorXd scales(residuals.size());
  for (std::size_t kind = 0; kind < count_of(classes.kinds); ++kind) {
    std::vector<Index> rows;
    for (std::size_t i = 0; i < classes.kinds.size(); ++i) {
      if (classes.kinds[i] == kind) {
        rows.push_back(static_cast<Index>(i));
      }
    }
    if (!rows.empty()) {
      const double share = static_cast<double>(rows.size()) / static_cast<double>(residuals.size());
      scales(rows).setConstant(spread_of(residuals(rows), fitted * share));
    }
  }
  return scales;
}

VectorXd weights_of(const VectorXd& residuals, const VectorXd& scales, const RowClasses& classes) {
  const Cells cells = cells_of(residuals, scales, classes);
  const double shared = shared_part(residuals, scales, classes, cells);
  VectorXd weights(residuals.size());
  for (std::size_t i = 0; i < classes.groups.size(); ++i) {
    const double rows = cells.at({classes.groups[i], classes.kinds[i]}).rows;
    weights[static_cast<Index>(i)] = 1 / (1 + (rows - 1) * shared);
  }
  return weights;
}

} // namespace tokenroof::calibration
