#include "calibration/fit.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <Eigen/Cholesky>

namespace tokenroof::calibration {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// What the spread is taken to be before any row is seen, and how many rows that counts for: a few rows that happen to fit
/// do not show that all would.
constexpr double usual_spread = 0.06;
constexpr double rows_of_usual_spread = 4;

/// Residuals beyond this are no longer a matter of constants, and their rows count for less.
constexpr double most_spread = 0.4;

/// A constant is identified when the rows make its interval at least this much narrower.
constexpr double identified_below = 0.5;

/// More groups than this are left out several at once.
constexpr std::size_t most_folds = 20;

/// The standard deviation of a normal distribution with the same median of |x|, of rows that count.
double robust_deviation(const VectorXd& residuals) {
  std::vector<double> sizes(residuals.begin(), residuals.end());
  std::transform(sizes.begin(), sizes.end(), sizes.begin(), [](double x) { return std::abs(x); });
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  constexpr double deviations_of_median = 0.6744897501960817;
  return *middle / deviations_of_median;
}

/// The same with what was assumed of it; `fitted`: how many constants were chosen to make it small, those that rather
/// follow their prior counting in part.
double spread_of(const VectorXd& residuals, double fitted) {
  const auto rows = static_cast<double>(residuals.size());
  const double free = std::max(rows - fitted, 1.0);
  const double found = std::min(robust_deviation(residuals) * std::sqrt(rows / free), most_spread);
  return std::sqrt((free * found * found + rows_of_usual_spread * usual_spread * usual_spread) /
                   (free + rows_of_usual_spread));
}

/// Standard deviations of elements, from the inverse of their covariance.
VectorXd deviations(const MatrixXd& information) {
  const Index size = information.rows();
  return information.llt().solve(MatrixXd::Identity(size, size)).diagonal().cwiseSqrt();
}

/// How many constants the rows fit: of each the part of its uncertainty that they take away.
double fitted_constants(const MatrixXd& information) {
  return static_cast<double>(information.rows()) - deviations(information).squaredNorm();
}

/// Some of the variables as a problem; the others stay at what the file says.
class Fitter {
public:
  Fitter(const Engine& engine, const std::vector<Variable>& variables, RowTimes& times)
      : engine_(engine), variables_(variables), times_(times), weights_(VectorXd::Ones(times.rows())) {}

  [[nodiscard]] VectorXd residuals(const std::vector<std::size_t>& active, const VectorXd& point) {
    return times_.evaluate(at(active, point));
  }

  /// By differences: a variable costs only the rows that its profiles serve.
  [[nodiscard]] MatrixXd jacobian(const std::vector<std::size_t>& active, const VectorXd& point,
                                  const VectorXd& residuals) {
    constexpr double step = 1e-4;
    MatrixXd result = MatrixXd::Zero(residuals.size(), point.size());
    const Engine here = at(active, point);
    for (Index j = 0; j < point.size(); ++j) {
      const Variable& variable = variables_[active[static_cast<std::size_t>(j)]];
      const double moved = point[j] + step <= variable.upper() ? step : -step;
      Engine there = here;
      set_point(there, variable, point[j] + moved);
      VectorXd changed = residuals;
      times_.evaluate(there, variable.profiles, changed);
      result.col(j) = (changed - residuals) / moved;
    }
    return result;
  }

  [[nodiscard]] Problem problem(const std::vector<std::size_t>& active, double scale) {
    Problem result{
        .residuals = [this, &active](const VectorXd& point) { return residuals(active, point); },
        .jacobian = [this, &active](const VectorXd& point, const VectorXd& at) { return jacobian(active, point, at); },
        .lower = VectorXd(static_cast<Index>(active.size())),
        .upper = VectorXd(static_cast<Index>(active.size())),
        .weights = weights_,
        .scale = scale};
    for (std::size_t j = 0; j < active.size(); ++j) {
      result.lower[static_cast<Index>(j)] = variables_[active[j]].lower();
      result.upper[static_cast<Index>(j)] = variables_[active[j]].upper();
    }
    return result;
  }

  /// Fits, and again with the spread that was found as the scale of the loss, until that stays.
  [[nodiscard]] Solution solve(const std::vector<std::size_t>& active, const VectorXd& start) {
    Solution solution{.point = start, .residuals = residuals(active, start)};
    scale_ = spread_of(solution.residuals, 0);
    constexpr int most_passes = 8;
    constexpr double near_enough = 0.05;
    for (int i = 0; i < most_passes; ++i) {
      const Problem now = problem(active, scale_);
      solution = minimise(now, solution.point);
      const double fitted = fitted_constants(information(now, solution));
      const double before = std::exchange(scale_, spread_of(solution.residuals, fitted));
      if (std::abs(scale_ - before) < near_enough * before) {
        break;
      }
    }
    return solution;
  }

  /// Without the rows of zero weight, from a solution with them.
  [[nodiscard]] Solution solve_without(const std::vector<std::size_t>& active, const Solution& all,
                                       const VectorXd& weights) {
    Problem without = problem(active, scale_);
    without.weights = weights;
    return minimise(without, all.point, all.jacobian);
  }

  /// Of the residuals of the last solution.
  [[nodiscard]] double spread() const { return scale_; }

private:
  [[nodiscard]] Engine at(const std::vector<std::size_t>& active, const VectorXd& point) const {
    Engine engine = engine_;
    for (std::size_t j = 0; j < active.size(); ++j) {
      set_point(engine, variables_[active[j]], point[static_cast<Index>(j)]);
    }
    return engine;
  }

  const Engine& engine_;
  const std::vector<Variable>& variables_;
  RowTimes& times_;
  VectorXd weights_;
  double scale_ = 1;
};

/// Takes away, one after another, the variable that the rows tell least of, until they tell enough of each that is left.
/// What is taken away counts as known: of two that the rows cannot tell apart one stays.
std::vector<std::size_t> identified(std::vector<std::size_t> active, MatrixXd information) {
  while (!active.empty()) {
    Index worst = 0;
    if (deviations(information).maxCoeff(&worst) <= identified_below) {
      break;
    }
    active.erase(active.begin() + worst);
    std::vector<Index> kept;
    for (Index j = 0; j < information.rows(); ++j) {
      if (j != worst) {
        kept.push_back(j);
      }
    }
    information = MatrixXd(information(kept, kept));
  }
  return active;
}

/// Those of the variables that move a row by at least a thousandth when they change by their width.
std::vector<std::size_t> moving(const MatrixXd& jacobian, std::vector<FittedVariable>& variables) {
  constexpr double least = 1e-3;
  std::vector<std::size_t> active;
  for (std::size_t j = 0; j < variables.size(); ++j) {
    variables[j].rows = static_cast<std::uint64_t>((jacobian.col(static_cast<Index>(j)).array().abs() > least).count());
    if (variables[j].rows > 0) {
      active.push_back(j);
    }
  }
  return active;
}

VectorXd part(const VectorXd& point, const std::vector<std::size_t>& of, const std::vector<std::size_t>& wanted) {
  VectorXd result(static_cast<Index>(wanted.size()));
  for (std::size_t j = 0; j < wanted.size(); ++j) {
    const auto found = std::find(of.begin(), of.end(), wanted[j]);
    result[static_cast<Index>(j)] = point[found - of.begin()];
  }
  return result;
}

/// Groups that are left out together.
std::size_t fold_of(std::size_t group, std::size_t folds) { return group % folds; }

/// Fits without each fold; fills `left_out` and returns the points.
std::vector<VectorXd> leave_out(Fitter& fitter, const std::vector<std::size_t>& active, const Solution& all,
                                std::span<const std::size_t> groups, std::size_t folds, VectorXd& left_out,
                                const std::function<void(double)>& on_progress) {
  std::vector<VectorXd> points;
  points.reserve(folds);
  for (std::size_t fold = 0; fold < folds; ++fold) {
    VectorXd weights(all.residuals.size());
    for (Index i = 0; i < weights.size(); ++i) {
      weights[i] = fold_of(groups[static_cast<std::size_t>(i)], folds) == fold ? 0 : 1;
    }
    const Solution without = fitter.solve_without(active, all, weights);
    left_out = (weights.array() == 0).select(without.residuals, left_out);
    points.push_back(without.point);
    if (on_progress) {
      on_progress(static_cast<double>(fold + 1) / static_cast<double>(folds));
    }
  }
  return points;
}

/// Standard deviations by how much the points without one fold each differ: what rows of one group share does not count as
/// many times as there are rows @cite efron1981.
VectorXd jackknife(const std::vector<VectorXd>& points) {
  const auto count = static_cast<double>(points.size());
  VectorXd mean = VectorXd::Zero(points.front().size());
  for (const VectorXd& point : points) {
    mean += point / count;
  }
  VectorXd sum = VectorXd::Zero(mean.size());
  for (const VectorXd& point : points) {
    sum += (point - mean).cwiseAbs2();
  }
  return (sum * ((count - 1) / count)).cwiseSqrt();
}

std::vector<std::size_t> with(const std::vector<std::size_t>& first, const std::vector<std::size_t>& all) {
  std::vector<std::size_t> result = first;
  std::copy_if(all.begin(), all.end(), std::back_inserter(result),
               [&](std::size_t one) { return std::find(first.begin(), first.end(), one) == first.end(); });
  return result;
}

/// The solution and the variables it is of.
struct Chosen {
  std::vector<std::size_t> active{};
  Solution solution{};
};

/// Fits what moves rows, keeps what they identify, and fits that.
Chosen choose(Fitter& fitter, const std::vector<std::size_t>& candidates) {
  Chosen chosen{.active = candidates};
  chosen.solution = fitter.solve(candidates, VectorXd::Zero(static_cast<Index>(candidates.size())));
  while (!chosen.active.empty()) {
    const MatrixXd known = information(fitter.problem(chosen.active, fitter.spread()), chosen.solution);
    std::vector<std::size_t> kept = identified(chosen.active, known);
    if (kept.size() == chosen.active.size()) {
      break;
    }
    const VectorXd start = part(chosen.solution.point, chosen.active, kept);
    chosen.active = std::move(kept);
    chosen.solution = fitter.solve(chosen.active, start);
  }
  return chosen;
}

/// Of the chosen variables, those that keep their value being as uncertain as the file says.
VectorXd deviations_of(Fitter& fitter, const Chosen& chosen, const std::vector<std::size_t>& candidates) {
  const auto active = static_cast<Index>(chosen.active.size());
  const std::vector<std::size_t> all = with(chosen.active, candidates);
  Solution full{.point = VectorXd::Zero(static_cast<Index>(all.size())), .residuals = chosen.solution.residuals};
  full.point.head(active) = chosen.solution.point;
  full.jacobian = fitter.jacobian(all, full.point, full.residuals);
  return deviations(information(fitter.problem(all, fitter.spread()), full)).head(active);
}

} // namespace

Fit fit(const Engine& engine, const std::vector<Variable>& variables, RowTimes& times,
        std::span<const std::size_t> groups, const std::function<void(double)>& on_progress) {
  Fit result{.variables = std::vector<FittedVariable>(variables.size()), .before = times.evaluate(engine)};
  Fitter fitter(engine, variables, times);
  std::vector<std::size_t> all(variables.size());
  for (std::size_t j = 0; j < all.size(); ++j) {
    all[j] = j;
  }
  const VectorXd nowhere = VectorXd::Zero(static_cast<Index>(all.size()));
  const std::vector<std::size_t> candidates = moving(fitter.jacobian(all, nowhere, result.before), result.variables);
  const Chosen chosen = choose(fitter, candidates);
  result.spread = fitter.spread();
  VectorXd deviation = deviations_of(fitter, chosen, candidates);
  const std::size_t group_count = groups.empty() ? 0 : *std::max_element(groups.begin(), groups.end()) + 1;
  if (group_count > 1) {
    result.left_out = result.before;
    const std::vector<VectorXd> points = leave_out(fitter, chosen.active, chosen.solution, groups,
                                                   std::min(group_count, most_folds), result.left_out, on_progress);
    constexpr std::size_t enough = 3;
    deviation = points.size() >= enough ? VectorXd(deviation.cwiseMax(jackknife(points))) : deviation;
  }
  for (std::size_t j = 0; j < chosen.active.size(); ++j) {
    FittedVariable& variable = result.variables[chosen.active[j]];
    variable.identified = true;
    variable.point = chosen.solution.point[static_cast<Index>(j)];
    variable.deviation = deviation[static_cast<Index>(j)];
  }
  return result;
}

} // namespace tokenroof::calibration
