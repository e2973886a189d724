/// @file
/// Predictions over ranges of batch, prompt, output and context depth.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tokenroof/predict.hpp"

namespace tokenroof {

/// The values that each part of the workload takes; a sweep visits every combination.
struct SweepAxes {
  std::vector<std::int64_t> batch = {1};
  std::vector<Tokens> prompt = {Tokens::from_value(512)};
  std::vector<Tokens> output = {Tokens::from_value(128)};
  std::vector<Tokens> context_depth = {Tokens()};

  friend bool operator==(const SweepAxes&, const SweepAxes&) = default;
};

/// Combinations of some axes.
[[nodiscard]] inline std::size_t point_count(const SweepAxes& axes) {
  return axes.batch.size() * axes.prompt.size() * axes.output.size() * axes.context_depth.size();
}

namespace detail {

inline void check_axes(const SweepAxes& axes) {
  for (const std::int64_t batch : axes.batch) {
    require_none(check(Workload{.batch = batch}));
  }
  for (const Tokens& prompt : axes.prompt) {
    require_none(check(Workload{.prompt = prompt}));
  }
  for (const Tokens& output : axes.output) {
    require_none(check(Workload{.output = output}));
  }
  for (const Tokens& depth : axes.context_depth) {
    require_none(check(Workload{.context_depth = depth}));
  }
}

} // namespace detail

/// Calls `sink(const Workload&, const Prediction&)` for every combination, batch outermost, then prompt, context depth
/// and output. Each prediction equals `predict()` of the same point bit for bit; memory does not grow with the points.
/// Throws InvalidSpec, before the first call, for a faulty deployment or axis.
template <class Sink>
void sweep(const Deployment& deployment, const SweepAxes& axes, Sink&& sink) {
  require_none(check(deployment));
  detail::check_axes(axes);
  const StepModels models = step_models(deployment);
  for (const std::int64_t batch : axes.batch) {
    for (const Tokens& prompt : axes.prompt) {
      const BoundPhases phases = bind_phases(models, deployment, {.batch = batch, .prompt = prompt});
      for (const Tokens& depth : axes.context_depth) {
        for (const Tokens& output : axes.output) {
          const Workload workload{.batch = batch, .prompt = prompt, .output = output, .context_depth = depth};
          sink(workload, deployment.offload.mapped
                             ? predict(bind_phases(models, deployment, workload), deployment, workload)
                             : predict(phases, deployment, workload));
        }
      }
    }
  }
}

/// Seconds of a pass at each context (tokens), for planners that sweep millions of points: what
/// `BoundStep::time(context)` gives, bit for bit, with the widest vectors that the machine has. Compiled part.
void step_times(const BoundStep& step, std::span<const double> contexts, std::span<double> seconds);

} // namespace tokenroof
