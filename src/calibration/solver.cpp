#include "calibration/solver.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <Eigen/Cholesky>

namespace tokenroof::calibration {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// How much a row of residual z counts: the loss's derivative over that of z^2.
double robust_weight(double z) { return 1 / std::sqrt(1 + z * z); }

double loss(double z) { return 2 * (std::sqrt(1 + z * z) - 1); }

double cost(const Problem& problem, const VectorXd& point, const VectorXd& residuals) {
  double sum = point.squaredNorm();
  for (Index i = 0; i < residuals.size(); ++i) {
    sum += problem.weights[i] * loss(residuals[i] / problem.scales[i]);
  }
  return sum;
}

/// Weights of the rows in the normal equations at these residuals.
VectorXd weights_at(const Problem& problem, const VectorXd& residuals) {
  VectorXd result(residuals.size());
  for (Index i = 0; i < residuals.size(); ++i) {
    const double scale = problem.scales[i];
    result[i] = problem.weights[i] * robust_weight(residuals[i] / scale) / (scale * scale);
  }
  return result;
}

/// Elements on a bound that the gradient would push beyond it.
std::vector<Index> free_elements(const Problem& problem, const VectorXd& point, const VectorXd& gradient) {
  std::vector<Index> elements;
  elements.reserve(static_cast<std::size_t>(point.size()));
  for (Index j = 0; j < point.size(); ++j) {
    const bool held =
        (point[j] <= problem.lower[j] && gradient[j] > 0) || (point[j] >= problem.upper[j] && gradient[j] < 0);
    if (!held) {
      elements.push_back(j);
    }
  }
  return elements;
}

/// The damped step of the free elements; the others stay.
VectorXd damped_step(const MatrixXd& hessian, const VectorXd& gradient, const std::vector<Index>& free,
                     double damping) {
  MatrixXd reduced = hessian(free, free);
  reduced.diagonal() *= 1 + damping;
  const VectorXd solved = reduced.ldlt().solve(-gradient(free));
  VectorXd step = VectorXd::Zero(gradient.size());
  step(free) = solved;
  return step;
}

/// One run of the method.
class Descent {
public:
  Descent(const Problem& problem, const VectorXd& start) : problem_(problem) {
    now_.point = start.cwiseMax(problem.lower).cwiseMin(problem.upper);
    now_.residuals = problem.residuals(now_.point);
    cost_ = cost(problem, now_.point, now_.residuals);
  }

  Solution run(const MatrixXd& first_jacobian) {
    constexpr int most_iterations = 50;
    for (int i = 0; i < most_iterations; ++i) {
      const bool given = i == 0 && first_jacobian.size() > 0;
      now_.jacobian = given ? first_jacobian : problem_.jacobian(now_.point, now_.residuals);
      if (!improve()) {
        break;
      }
    }
    return std::move(now_);
  }

private:
  /// Whether a step was found that is worth another one.
  bool improve() {
    const VectorXd weights = weights_at(problem_, now_.residuals);
    const MatrixXd weighted = weights.asDiagonal() * now_.jacobian;
    const VectorXd gradient = weighted.transpose() * now_.residuals + now_.point;
    MatrixXd hessian = weighted.transpose() * now_.jacobian;
    hessian.diagonal().array() += 1;
    const std::vector<Index> free = free_elements(problem_, now_.point, gradient);
    if (free.empty()) {
      return false;
    }
    constexpr int most_tries = 12;
    for (int i = 0; i < most_tries; ++i, damping_ *= 4) {
      const VectorXd wanted = now_.point + damped_step(hessian, gradient, free, damping_);
      const VectorXd point = wanted.cwiseMax(problem_.lower).cwiseMin(problem_.upper);
      VectorXd residuals = problem_.residuals(point);
      const double reached = cost(problem_, point, residuals);
      if (reached < cost_) {
        return accept(point, std::move(residuals), reached);
      }
    }
    return false;
  }

  bool accept(const VectorXd& point, VectorXd residuals, double reached) {
    constexpr double least_gain = 1e-5; // of the cost, which errors of a per mille do not change
    constexpr double least_damping = 1e-9;
    const bool worth_another = cost_ - reached > least_gain * cost_;
    now_.point = point;
    now_.residuals = std::move(residuals);
    cost_ = reached;
    damping_ = std::max(damping_ / 4, least_damping);
    return worth_another;
  }

  const Problem& problem_;
  Solution now_{};
  double cost_ = 0;
  double damping_ = 1e-3;
};

} // namespace

Solution minimise(const Problem& problem, const VectorXd& start, const MatrixXd& first_jacobian) {
  return Descent(problem, start).run(first_jacobian);
}

MatrixXd information(const Problem& problem, const Solution& solution) {
  const VectorXd weights = weights_at(problem, solution.residuals);
  MatrixXd result = solution.jacobian.transpose() * weights.asDiagonal() * solution.jacobian;
  result.diagonal().array() += 1;
  return result;
}

} // namespace tokenroof::calibration
