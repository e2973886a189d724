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

/// A constant is identified when the rows tell at least as much of it as was known before: then its interval is at most so
/// wide, as a part of what it was.
constexpr double identified_below = 0.7071;

/// More groups than this are left out several at once.
constexpr std::size_t most_folds = 20;

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
  Fitter(const Engine& engine, const std::vector<Variable>& variables, RowTimes& times, const RowClasses& classes)
      : engine_(engine), variables_(variables), times_(times), classes_(classes),
        weights_(VectorXd::Ones(times.rows())) {}

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

  [[nodiscard]] Problem problem(const std::vector<std::size_t>& active) {
    Problem result{
        .residuals = [this, &active](const VectorXd& point) { return residuals(active, point); },
        .jacobian = [this, &active](const VectorXd& point, const VectorXd& at) { return jacobian(active, point, at); },
        .lower = VectorXd(static_cast<Index>(active.size())),
        .upper = VectorXd(static_cast<Index>(active.size())),
        .weights = weights_,
        .scales = scales_};
    for (std::size_t j = 0; j < active.size(); ++j) {
      result.lower[static_cast<Index>(j)] = variables_[active[j]].lower();
      result.upper[static_cast<Index>(j)] = variables_[active[j]].upper();
    }
    return result;
  }

  /// Fits, and again with the scatter that was found as the scale of the loss, until that stays. Then once more with what
  /// each row tells beside its group: as found by then, since a fit that trusts its rows less leaves more for them to share.
  [[nodiscard]] Solution solve(const std::vector<std::size_t>& active, const VectorXd& start) {
    Solution solution{.point = start, .residuals = residuals(active, start)};
    scales_ = scales_of(solution.residuals, classes_, 0);
    weights_.setOnes();
    constexpr int most_passes = 8;
    constexpr double near_enough = 0.05;
    for (int i = 0; i < most_passes; ++i) {
      const Problem now = problem(active);
      solution = minimise(now, solution.point);
      fitted_ = fitted_constants(information(now, solution));
      const VectorXd before = std::exchange(scales_, scales_of(solution.residuals, classes_, fitted_));
      if ((scales_.cwiseQuotient(before).array() - 1).abs().maxCoeff() < near_enough) {
        break;
      }
    }
    weights_ = weights_of(solution.residuals, scales_, classes_);
    return minimise(problem(active), solution.point);
  }

  /// Without some rows, from a solution with them.
  [[nodiscard]] Solution solve_without(const std::vector<std::size_t>& active, const Solution& all,
                                       const std::vector<bool>& left_out) {
    Problem without = problem(active);
    for (std::size_t i = 0; i < left_out.size(); ++i) {
      if (left_out[i]) {
        without.weights[static_cast<Index>(i)] = 0;
      }
    }
    return minimise(without, all.point, all.jacobian);
  }

  /// Of all residuals of the last solution.
  [[nodiscard]] double spread(const Solution& solution) const { return spread_of(solution.residuals, fitted_); }

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
  const RowClasses& classes_;
  VectorXd scales_{};
  VectorXd weights_;
  double fitted_ = 0;
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
    std::vector<bool> out(groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {
      out[i] = fold_of(groups[i], folds) == fold;
    }
    const Solution without = fitter.solve_without(active, all, out);
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (out[i]) {
        left_out[static_cast<Index>(i)] = without.residuals[static_cast<Index>(i)];
      }
    }
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
    const MatrixXd known = information(fitter.problem(chosen.active), chosen.solution);
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
  return deviations(information(fitter.problem(all), full)).head(active);
}

} // namespace

Fit fit(const Engine& engine, const std::vector<Variable>& variables, RowTimes& times, const RowClasses& classes,
        const std::function<void(double)>& on_progress) {
  Fit result{.variables = std::vector<FittedVariable>(variables.size()), .before = times.evaluate(engine)};
  Fitter fitter(engine, variables, times, classes);
  const std::vector<std::size_t>& groups = classes.groups;
  std::vector<std::size_t> all(variables.size());
  for (std::size_t j = 0; j < all.size(); ++j) {
    all[j] = j;
  }
  const VectorXd nowhere = VectorXd::Zero(static_cast<Index>(all.size()));
  const std::vector<std::size_t> candidates = moving(fitter.jacobian(all, nowhere, result.before), result.variables);
  const Chosen chosen = choose(fitter, candidates);
  result.spread = fitter.spread(chosen.solution);
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
