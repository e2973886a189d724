#include "calibration/row_times.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tokenroof/deployment/check.hpp"

namespace tokenroof::calibration {

namespace {

/// The time, whether or not the deployment fits by our account: it was measured.
Prediction times(const StepModels& models, const Deployment& deployment, const Workload& workload,
                 std::int64_t running) {
  Prediction prediction;
  detail::set_times(prediction, bind_phases(models, deployment, workload, running), deployment, workload);
  return prediction;
}

Seconds time_of(const Prediction& prediction, Metric metric) {
  switch (metric) {
  case Metric::ttft:
    return prediction.ttft.value;
  case Metric::tpot:
    return prediction.tpot.value;
  case Metric::end_to_end:
    return prediction.end_to_end.value;
  }
  return absent<Seconds>();
}

/// The engine with other habits, where there are any.
Shared<Engine> with_habits(const Shared<Engine>& engine, const std::optional<MemoryHabits>& habits) {
  if (!habits) {
    return engine;
  }
  Engine changed = *engine;
  changed.memory = *habits;
  return changed;
}

/// What the row says of how memory is used, where it is not what the engine does.
std::optional<MemoryHabits> own_habits(const Observation& observation, const Engine& engine) {
  const Shared<Engine>& measured = observation.deployment.engine;
  const bool same = !measured || measured->id != engine.id || measured->memory == engine.memory;
  return same ? std::nullopt : std::optional(measured->memory);
}

/// The observation's deployment with the engine in place of its own.
Deployment deployment_with(const Observation& observation, const Shared<Engine>& engine) {
  Deployment deployment = observation.deployment;
  deployment.engine = with_habits(engine, own_habits(observation, *engine));
  return deployment;
}

/// Binds anew, without lowering anew.
void rebind(StepModel& model, const Deployment& deployment) {
  Program program = std::move(model.program);
  model = bind(std::move(program), deployment);
}

/// Than the neutral engine, a twentieth allowed for clocks above the published ones and for rounding.
bool is_faster_than_physics(const Observation& observation) {
  constexpr double allowed = 0.95;
  Deployment deployment = observation.deployment;
  deployment.engine = roofline_engine();
  const Prediction least = times(step_models(deployment), deployment, observation.workload,
                                 running_sequences(deployment, observation.workload));
  return observation.measured < time_of(least, observation.metric) * allowed;
}

std::string first_of(const std::vector<Issue>& issues) {
  return issues.empty() ? "" : issues.front().field + " = " + issues.front().value + ": " + issues.front().reason;
}

} // namespace

std::optional<std::size_t> profile_for(const Engine& engine, const Device& device) {
  std::optional<std::size_t> best;
  int closest = 0;
  for (std::size_t i = 0; i < engine.profiles.size(); ++i) {
    if (const int close = closeness(engine.profiles[i], device); close > closest) {
      closest = close;
      best = i;
    }
  }
  return best;
}

std::string obstacle(const Observation& observation, const Shared<Engine>& engine) {
  const Deployment deployment = deployment_with(observation, engine);
  if (!(observation.measured.value() > 0) || !std::isfinite(observation.measured.value())) {
    return "the measured time is not above 0";
  }
  for (const std::string& fault : {first_of(check(deployment)), first_of(check(observation.workload))}) {
    if (!fault.empty()) {
      return fault;
    }
  }
  const Prediction prediction = times(step_models(deployment), deployment, observation.workload,
                                      running_sequences(deployment, observation.workload));
  if (time_of(prediction, observation.metric).value() > 0) {
    return is_faster_than_physics(observation) ? "faster than the device's published rates allow" : "";
  }
  const Absence absence = prediction.ttft_absence != Absence::none ? prediction.ttft_absence : prediction.tpot_absence;
  return "no prediction: " + std::string(absence == Absence::none ? "no output token" : name(absence));
}

RowTimes::RowTimes(std::span<const Observation> observations, const Engine& engine) {
  const Shared<Engine> shared(engine);
  profile_of_row_.reserve(observations.size());
  for (const Observation& observation : observations) {
    Rows& rows = rows_of(observation, shared);
    rows.rows.push_back({.workload = observation.workload,
                         .metric = observation.metric,
                         .running = running_sequences(rows.deployment, observation.workload),
                         .log_measured = std::log(observation.measured.value()),
                         .index = static_cast<Eigen::Index>(profile_of_row_.size())});
    profile_of_row_.push_back(rows.profile);
  }
}

RowTimes::Rows& RowTimes::rows_of(const Observation& observation, const Shared<Engine>& engine) {
  const Deployment deployment = deployment_with(observation, engine);
  // Files are sorted by deployment more often than not: the last one first.
  const auto found = std::find_if(deployments_.rbegin(), deployments_.rend(),
                                  [&](const Rows& rows) { return rows.deployment == deployment; });
  if (found != deployments_.rend()) {
    return *found;
  }
  return deployments_.emplace_back(
      Rows{.deployment = deployment,
           .habits = own_habits(observation, *engine),
           .models = step_models(deployment),
           .profile = profile_for(*engine, deployment.cluster.device).value_or(engine->profiles.size())});
}

void RowTimes::evaluate(Rows& rows, const Shared<Engine>& engine, Eigen::VectorXd& out) {
  rows.deployment.engine = with_habits(engine, rows.habits);
  rebind(rows.models.decode, rows.deployment);
  if (rows.models.own_prefill) {
    rebind(*rows.models.own_prefill, rows.deployment);
  }
  for (const Row& row : rows.rows) {
    const Prediction prediction = times(rows.models, rows.deployment, row.workload, row.running);
    out[row.index] = std::log(time_of(prediction, row.metric).value()) - row.log_measured;
  }
}

void RowTimes::evaluate(const Engine& engine, std::span<const std::size_t> profiles, Eigen::VectorXd& out) {
  const Shared<Engine> shared(engine);
  for (Rows& rows : deployments_) {
    if (std::find(profiles.begin(), profiles.end(), rows.profile) != profiles.end()) {
      evaluate(rows, shared, out);
    }
  }
}

Eigen::VectorXd RowTimes::evaluate(const Engine& engine) {
  const Shared<Engine> shared(engine);
  Eigen::VectorXd out(rows());
  for (Rows& rows : deployments_) {
    evaluate(rows, shared, out);
  }
  return out;
}

} // namespace tokenroof::calibration
