#include "tokenroof/calibration.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "calibration/collector.hpp"
#include "calibration/engine_document.hpp"
#include "calibration/fit.hpp"
#include "calibration/row_times.hpp"
#include "calibration/variables.hpp"
#include "tokenroof/errors.hpp"
#include "tokenroof/readers.hpp"
#include "validation/statistics.hpp"

namespace tokenroof::calibration {

namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// Rows that have a part in the fit, and why the others have none.
struct Sorted {
  std::vector<Observation> used{};
  Reasons reasons{};
};

/// Counts whether a row is used.
class Sorter {
public:
  Sorter(const Engine& engine, std::optional<std::size_t> only) : engine_(engine), only_(only) {}

  void add(const Observation& observation) {
    const std::string reason = why_not(observation);
    if (reason.empty()) {
      sorted_.used.push_back(observation);
    } else {
      sorted_.reasons.add(reason);
    }
  }

  [[nodiscard]] Sorted result() && { return std::move(sorted_); }

private:
  [[nodiscard]] std::string why_not(const Observation& observation) const {
    const std::optional<std::size_t> profile = profile_for(*engine_, observation.deployment.cluster.device);
    if (!profile) {
      return "the engine has no profile for such a device";
    }
    if (only_ && *profile != *only_) {
      return "another profile is closer to the device";
    }
    return obstacle(observation, engine_);
  }

  Shared<Engine> engine_;
  std::optional<std::size_t> only_;
  Sorted sorted_{};
};

/// The profile that all is written into; none: each constant where it is stated.
std::optional<std::size_t> common_profile(const EngineDocument& document, std::span<const Observation> observations) {
  std::set<std::optional<std::size_t>> profiles;
  for (const Observation& observation : observations) {
    profiles.insert(profile_for(document.engine(), observation.deployment.cluster.device));
  }
  profiles.erase(std::nullopt);
  return profiles.size() == 1 ? *profiles.begin() : std::nullopt;
}

std::optional<std::size_t> chosen_profile(EngineDocument& document, std::span<const Observation> observations,
                                          const Options& options) {
  if (!options.profile) {
    return common_profile(document, observations);
  }
  const auto found = document.find_profile(*options.profile);
  return found ? *found : document.add_profile(*options.profile);
}

std::string text_of(const std::vector<NotUsed>& reasons) {
  std::string text;
  for (const NotUsed& one : reasons) {
    text += (text.empty() ? "" : "; ") + one.reason;
  }
  return text.empty() ? "there are none" : text;
}

std::vector<std::size_t> profiles_of(const RowTimes& times) {
  std::set<std::size_t> profiles;
  for (Index i = 0; i < times.rows(); ++i) {
    profiles.insert(times.profile_of(i));
  }
  return {profiles.begin(), profiles.end()};
}

/// Group names in order, and each row's group by its place there.
struct Groups {
  std::vector<std::string> names{};
  std::vector<std::size_t> of_row{};
};

Groups groups_of(const std::vector<Observation>& observations) {
  std::map<std::string, std::size_t> places;
  for (const Observation& observation : observations) {
    places.emplace(observation.group, 0);
  }
  Groups groups;
  for (auto& [name, place] : places) {
    place = groups.names.size();
    groups.names.push_back(name);
  }
  groups.of_row.reserve(observations.size());
  for (const Observation& observation : observations) {
    groups.of_row.push_back(places.at(observation.group));
  }
  return groups;
}

/// Each metric is a kind of measurement of its own.
RowClasses classes_of(const std::vector<Observation>& observations, const Groups& groups) {
  RowClasses classes{.groups = groups.of_row};
  classes.kinds.reserve(observations.size());
  for (const Observation& observation : observations) {
    classes.kinds.push_back(static_cast<std::size_t>(observation.metric));
  }
  return classes;
}

/// Of those rows for which `counts` says so; NaN errors where there is no row, or no prediction.
template <class Counts>
Errors errors_of(const VectorXd& log_ratios, Counts&& counts) {
  validation::Quantiles quantiles;
  Errors errors;
  double sum = 0;
  for (Index i = 0; i < log_ratios.size(); ++i) {
    if (counts(static_cast<std::size_t>(i))) {
      quantiles.add(std::abs(std::expm1(log_ratios[i])));
      sum += log_ratios[i];
      ++errors.rows;
    }
  }
  errors.median = quantiles.quantile(0.5);
  errors.p90 = quantiles.quantile(0.9);
  if (errors.rows > 0) {
    errors.bias = std::expm1(sum / static_cast<double>(errors.rows));
  }
  return errors;
}

template <class Counts>
ErrorSet error_set(const Fit& fit, const VectorXd& after, Counts&& counts) {
  return {.before = errors_of(fit.before, counts),
          .after = errors_of(after, counts),
          .left_out = errors_of(fit.left_out, counts)};
}

/// "a, b and 3 more".
std::string listed(const std::set<std::string>& names) {
  constexpr std::size_t most = 6;
  std::string text;
  std::size_t count = 0;
  for (const std::string& name : names) {
    if (count++ < most) {
      text += (text.empty() ? "" : ", ") + name;
    }
  }
  return count > most ? fmt::format("{} and {} more", text, count - most) : text;
}

/// What the rows are of: "40 rows of llama-3.1-8b, qwen3-8b on rtx_4090".
std::string rows_text(const std::vector<Observation>& observations, const std::vector<std::size_t>& profiles,
                      const RowTimes& times, std::uint64_t rows) {
  std::set<std::string> networks;
  std::set<std::string> devices;
  for (std::size_t i = 0; i < observations.size(); ++i) {
    if (std::find(profiles.begin(), profiles.end(), times.profile_of(static_cast<Index>(i))) != profiles.end()) {
      networks.insert(observations[i].deployment.network->name);
      devices.emplace(observations[i].deployment.cluster.device.id.view());
    }
  }
  return fmt::format("{} rows of {} on {}", rows, listed(networks), listed(devices));
}

double rounded(double value) { return std::stod(fmt::format("{:.4g}", value)); }

/// With its 80 % interval.
Figure figure_of(const Variable& variable, const FittedVariable& fitted) {
  const double away = deviations_of_interval * fitted.deviation;
  Figure figure{.value = rounded(variable.value(fitted.point)),
                .low = rounded(variable.value(fitted.point - away)),
                .high = rounded(variable.value(fitted.point + away))};
  figure.low = std::min(figure.low, figure.value);
  figure.high = std::max(figure.high, figure.value);
  return figure;
}

class Calibrator {
public:
  Calibrator(EngineDocument document, std::optional<std::size_t> only, const std::vector<Observation>& used,
             const Options& options)
      : document_(std::move(document)), used_(used), options_(options), groups_(groups_of(used)),
        times_(used, document_.engine()), variables_(variables_of(document_, profiles_of(times_), options.fit, only)) {
    set_missing_widths(variables_, document_.engine(), times_);
  }

  [[nodiscard]] Calibration run() {
    const Fit fit =
        calibration::fit(document_.engine(), variables_, times_, classes_of(used_, groups_), options_.on_progress);
    Calibration result{.spread = fit.spread};
    for (std::size_t j = 0; j < variables_.size(); ++j) {
      result.constants.push_back(fitted(variables_[j], fit.variables[j]));
    }
    result.engine = document_.engine();
    result.engine_file = document_.text();
    set_errors(result, fit);
    return result;
  }

private:
  /// States the constant if it was identified.
  FittedConstant fitted(const Variable& variable, const FittedVariable& outcome) {
    Figure figure = variable.prior;
    if (outcome.identified) {
      figure = figure_of(variable, outcome);
      document_.state(variable.profile, variable.constant, figure,
                      {.source = options_.source,
                       .date = options_.date,
                       .rows = rows_text(used_, variable.profiles, times_, outcome.rows)});
    }
    const bool of_serving = variable.constant.serving != nullptr;
    return {.profile = of_serving ? ProfileSelector{} : document_.selector(variable.profile),
            .key = variable.constant.name(),
            .prior = variable.prior.value,
            .prior_low = variable.prior.low,
            .prior_high = variable.prior.high,
            .value = figure.value,
            .low = figure.low,
            .high = figure.high,
            .identified = outcome.identified,
            .rows = outcome.rows};
  }

  /// By the file as it was written.
  void set_errors(Calibration& result, const Fit& fit) {
    const VectorXd after = times_.evaluate(result.engine);
    result.errors = error_set(fit, after, [](std::size_t) { return true; });
    for (std::size_t group = 0; group < groups_.names.size(); ++group) {
      result.groups.push_back({.group = groups_.names[group], .errors = error_set(fit, after, [&](std::size_t row) {
                                                                return groups_.of_row[row] == group;
                                                              })});
    }
    for (std::size_t metric = 0; metric < metric_count; ++metric) {
      result.by_metric.push_back(
          error_set(fit, after, [&](std::size_t row) { return used_[row].metric == static_cast<Metric>(metric); }));
    }
  }

  EngineDocument document_;
  const std::vector<Observation>& used_;
  const Options& options_;
  Groups groups_;
  RowTimes times_;
  std::vector<Variable> variables_;
};

} // namespace

std::string_view name(Metric metric) {
  constexpr std::array<std::string_view, metric_count> names = {"ttft", "tpot", "end_to_end"};
  return names[static_cast<std::size_t>(metric)];
}

std::string text_of(const ProfileSelector& selector) {
  std::string text(selector.family.view());
  if (selector.device_class) {
    text += (text.empty() ? "" : " ") + std::string(name(*selector.device_class));
  }
  return text.empty() ? "any device" : text;
}

Calibration calibrate(std::span<const Observation> observations, std::string_view engine_file, std::string_view name,
                      const Options& options) {
  EngineDocument document(engine_file, name);
  const std::optional<std::size_t> only = chosen_profile(document, observations, options);
  Sorter sorter(document.engine(), only);
  for (const Observation& observation : observations) {
    sorter.add(observation);
  }
  Sorted sorted = std::move(sorter).result();
  if (sorted.used.empty()) {
    throw InvalidSpec("measurements", "no row that can be used", text_of(sorted.reasons.sorted()));
  }
  Calibration result = Calibrator(std::move(document), only, sorted.used, options).run();
  result.not_used = sorted.reasons.sorted();
  return result;
}

} // namespace tokenroof::calibration
