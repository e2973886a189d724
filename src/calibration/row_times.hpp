/// @file
/// Predicted times of many observations under changing constants: networks are lowered once.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "tokenroof/calibration.hpp"
#include "tokenroof/predict.hpp"

namespace tokenroof::calibration {

/// Index of the profile that an engine uses for a device; none: physics alone.
[[nodiscard]] std::optional<std::size_t> profile_for(const Engine& engine, const Device& device);

/// Why a time cannot be predicted, whatever the constants are; empty: it can.
[[nodiscard]] std::string obstacle(const Observation& observation, const Shared<Engine>& engine);

class RowTimes {
public:
  /// The observations must be free of obstacles.
  RowTimes(std::span<const Observation> observations, const Engine& engine);

  [[nodiscard]] Eigen::Index rows() const { return static_cast<Eigen::Index>(profile_of_row_.size()); }
  /// Of the row's device; `engine.profiles.size()` where none applies.
  [[nodiscard]] std::size_t profile_of(Eigen::Index row) const {
    return profile_of_row_[static_cast<std::size_t>(row)];
  }

  /// log(predicted / measured) of each row whose profile is one of `profiles`; other elements of `out` are left alone.
  void evaluate(const Engine& engine, std::span<const std::size_t> profiles, Eigen::VectorXd& out);
  /// Of all rows.
  [[nodiscard]] Eigen::VectorXd evaluate(const Engine& engine);

private:
  struct Row {
    Workload workload{};
    Metric metric = Metric::tpot;
    std::int64_t running = 1;
    double log_measured = 0;
    Eigen::Index index = 0;
  };
  /// Rows that share all but their workload.
  struct Rows {
    Deployment deployment{};
    std::optional<MemoryHabits> habits{}; ///< of the row's engine, where they are not those of the engine
    StepModels models{};
    std::size_t profile = 0;
    std::vector<Row> rows{};
  };

  [[nodiscard]] Rows& rows_of(const Observation& observation, const Shared<Engine>& engine);
  static void evaluate(Rows& rows, const Shared<Engine>& engine, Eigen::VectorXd& out);

  std::vector<Rows> deployments_{};
  std::vector<std::size_t> profile_of_row_{};
};

} // namespace tokenroof::calibration
