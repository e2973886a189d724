/// @file
/// Why a prediction is what it is: numbers and enumerations, which report.hpp turns into text.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "tokenroof/deployment/sharding.hpp"
#include "tokenroof/engine/arithmetic_choice.hpp"
#include "tokenroof/inference/step_cost.hpp"
#include "tokenroof/memory/kv_cache.hpp"
#include "tokenroof/network/weight_scheme.hpp"
#include "tokenroof/predict.hpp"

namespace tokenroof {

/// Prefill as a whole, or one decode step, on one device.
struct PhaseExplanation {
  Absence absence = Absence::none; ///< other than `none`: every time, ratio and roof below is absent or meaningless
  Tokens context{};                ///< tokens of each sequence cached before it; in decode the mean over the output
  /// One entry for each operator name, the longest first; flops and bytes are of all pipeline stages together.
  StepCost cost{};
  std::array<Seconds, roof_names.size()> time_by_roof{};         ///< indexed by Roof
  Roof roof = Roof::memory;                                      ///< under which most of the time is spent
  ArithmeticIntensity intensity = absent<ArithmeticIntensity>(); ///< flops / bytes
  /// The dense peak for this phase's mix of arithmetics: flops / (their time at the peak each has on this unit).
  ComputeRate peak = absent<ComputeRate>();
  ArithmeticIntensity ridge = absent<ArithmeticIntensity>(); ///< peak / bandwidth
  /// Model flops utilisation: flops / (time x peak), the flops being those one device does. Absent (NaN) without a peak.
  double mfu = std::numeric_limits<double>::quiet_NaN();
  /// Memory bandwidth utilisation: bytes / (time x bandwidth), the bytes being those one device moves.
  double mbu = std::numeric_limits<double>::quiet_NaN();
};

/// Where a workload on a deployment stands under the device's roofs.
struct Explanation {
  /// The dense rate of the unit for the activations' 16-bit arithmetic, or for what stands in for it.
  std::optional<Rate> peak{};
  Arithmetic arithmetic = Arithmetic::bf16;  ///< that the peak belongs to
  Bandwidth bandwidth = absent<Bandwidth>(); ///< that the unit draws: the bandwidth of MBU
  PhaseExplanation prefill{};
  std::optional<PhaseExplanation> decode{}; ///< none when output = 1
  /// The smallest batch at which the operators of a decode step compute at least as long as they move bytes, at the
  /// context of `decode`; none when they never do below a million sequences, or when a rate is unknown.
  std::optional<std::int64_t> compute_bound_batch{};
  /// The same for the weights' matrices alone, whose bytes do not grow with context: where a larger batch stops being free.
  std::optional<std::int64_t> compute_bound_batch_of_matrices{};
  /// Tokens in each sequence at which the cache of the batch outgrows the weights; absent when it never does.
  Tokens cache_exceeds_weights = absent<Tokens>();
};

/// Part of a phase's time that an operator takes.
[[nodiscard]] inline double share(const StepCost& cost, const OperatorCost& op) { return op.time / cost.time; }

namespace detail {

/// Adds up passes, operators of one name together.
class CostSum {
public:
  void add(const BoundStep& step, Tokens context, double times) {
    const StepCost cost = cost_of(step, context);
    total_.overhead += cost.overhead * times;
    total_.time += cost.time * times;
    total_.flops += cost.flops * times;
    total_.bytes += cost.bytes * times;
    total_.device_flops += cost.device_flops * times;
    total_.device_bytes += cost.device_bytes * times;
    total_.compute_at_peak += cost.compute_at_peak * times;
    by_roof_[static_cast<std::size_t>(Roof::fixed)] += cost.overhead * times;
    for (const OperatorCost& op : cost.operators) {
      add(op, times);
    }
  }

  /// Passes that overlap take `whole` together, each of its parts in proportion.
  void overlap(Seconds whole) {
    const double part = whole / total_.time;
    total_.time = whole;
    total_.overhead *= part;
    scale(by_roof_, part);
    for (Entry& entry : entries_) {
      entry.cost.compute *= part;
      entry.cost.memory *= part;
      entry.cost.time *= part;
      scale(entry.by_roof, part);
    }
  }

  [[nodiscard]] PhaseExplanation explanation() && {
    PhaseExplanation phase{.time_by_roof = by_roof_};
    const auto longest = std::max_element(by_roof_.begin(), by_roof_.end());
    phase.roof = static_cast<Roof>(longest - by_roof_.begin());
    for (const Entry& entry : entries_) {
      total_.operators.push_back(entry.cost);
      const auto most = std::max_element(entry.by_roof.begin(), entry.by_roof.end());
      total_.operators.back().roof = static_cast<Roof>(most - entry.by_roof.begin());
    }
    std::stable_sort(total_.operators.begin(), total_.operators.end(),
                     [](const OperatorCost& a, const OperatorCost& b) { return a.time > b.time; });
    phase.cost = std::move(total_);
    return phase;
  }

private:
  using ByRoof = std::array<Seconds, roof_names.size()>;
  struct Entry {
    OperatorCost cost{};
    ByRoof by_roof{};
  };

  static void scale(ByRoof& times, double factor) {
    for (Seconds& time : times) {
      time *= factor;
    }
  }

  void add(const OperatorCost& op, double times) {
    auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.cost.name == op.name; });
    if (entry == entries_.end()) {
      entry = entries_.insert(entries_.end(), Entry{.cost = {.name = op.name, .repeats = 0}});
    }
    entry->cost.repeats += op.repeats * times;
    entry->cost.flops += op.flops * times;
    entry->cost.bytes += op.bytes * times;
    entry->cost.compute += op.compute * times;
    entry->cost.compute_at_peak += op.compute_at_peak * times;
    entry->cost.memory += op.memory * times;
    entry->cost.time += op.time * times;
    entry->by_roof[static_cast<std::size_t>(op.roof)] += op.time * times;
    by_roof_[static_cast<std::size_t>(op.roof)] += op.time * times;
  }

  StepCost total_{};
  std::vector<Entry> entries_{};
  ByRoof by_roof_{};
};

/// The passes of `BoundPrefill::time`, added up.
[[nodiscard]] inline CostSum cost_of_prefill(const BoundPrefill& prefill, Tokens context) {
  const PrefillPlan& plan = prefill.plan;
  const auto passes = static_cast<double>(plan.passes);
  CostSum sum;
  for (std::int64_t i = 0; i < plan.chunks; ++i) {
    sum.add(prefill.pass, context + plan.chunk * static_cast<double>(i), passes);
  }
  if (plan.last_chunk.value() > 0) {
    sum.add(prefill.last_chunk, context + plan.chunk * static_cast<double>(plan.chunks), passes);
  }
  if (plan.remaining_sequences > 0) {
    sum.add(prefill.remaining_sequences, context, 1);
  }
  if (prefill.overlapping_stages > 1) {
    sum.overlap(prefill.time(context));
  }
  return sum;
}

/// Which operators of a step are asked for the batch that makes them compute-bound.
enum class Part : std::uint8_t { whole_step, matrices };

/// Whether the operators of a step compute at least as long as they move bytes.
[[nodiscard]] inline bool computes_longer(const BoundStep& step, Tokens context, Part part) {
  Seconds compute;
  Seconds memory;
  for (const BoundOperator& op : step.operators) {
    if (part == Part::whole_step || multiplies_weights(op.name)) {
      compute += compute_time(op, context);
      memory += memory_time(op, context);
    }
  }
  return compute >= memory;
}

/// Sequences of one replica at which a decode step turns compute-bound. Compute grows linearly with the batch and bytes
/// at most so (experts saturate), hence the two cross once and bisection finds where.
[[nodiscard]] inline std::optional<std::int64_t> compute_bound_sequences(const StepModel& model, Tokens context,
                                                                         Part part) {
  constexpr std::int64_t most = 1'000'000;
  const Tokens one = Tokens::from_value(1);
  const auto holds = [&](std::int64_t sequences) { return computes_longer(model.at(sequences, one), context, part); };
  const BoundStep single = model.at(1, one);
  if (single.unknown != UnknownRates{}) {
    return std::nullopt;
  }
  std::int64_t below = 0;
  std::int64_t above = 1;
  while (!holds(above)) {
    if (above == most) {
      return std::nullopt;
    }
    below = above;
    above = std::min(2 * above, most);
  }
  while (above - below > 1) {
    const std::int64_t middle = below + (above - below) / 2;
    (holds(middle) ? above : below) = middle;
  }
  return above;
}

[[nodiscard]] inline std::optional<std::int64_t> compute_bound_batch(const StepModel& model, Tokens context, Part part,
                                                                     std::int64_t replicas) {
  const std::optional<std::int64_t> sequences = compute_bound_sequences(model, context, part);
  return sequences ? std::optional(*sequences * replicas) : std::nullopt;
}

/// Fills in what follows from a phase's sums and the device's roofs. `stages`: pipeline stages, among which the work of
/// a pass is divided.
inline void set_ratios(PhaseExplanation& phase, const Explanation& roofs, double stages) {
  phase.intensity = phase.cost.flops / phase.cost.bytes;
  if (phase.absence != Absence::none) {
    return;
  }
  if (roofs.peak) {
    phase.peak = phase.cost.device_flops / phase.cost.compute_at_peak;
    phase.ridge = phase.peak / roofs.bandwidth;
    phase.mfu = phase.cost.compute_at_peak / stages / phase.cost.time;
  }
  phase.mbu = phase.cost.device_bytes / stages / (phase.cost.time * roofs.bandwidth);
}

/// Flops and bytes are known without a rate; times are not.
inline void remove_times(PhaseExplanation& phase) {
  phase.time_by_roof.fill(absent<Seconds>());
  phase.cost.time = phase.cost.overhead = absent<Seconds>();
  for (OperatorCost& op : phase.cost.operators) {
    op.compute = op.memory = op.time = absent<Seconds>();
  }
}

[[nodiscard]] inline PhaseExplanation explain_phase(CostSum sum, Absence absence, Tokens context,
                                                    const Explanation& roofs, double stages) {
  PhaseExplanation phase = std::move(sum).explanation();
  phase.absence = absence;
  phase.context = context;
  set_ratios(phase, roofs, stages);
  if (absence != Absence::none) {
    remove_times(phase);
  }
  return phase;
}

inline void set_roofs(Explanation& explanation, const Deployment& deployment) {
  const Device& device = deployment.cluster.device;
  if (const ComputeUnit* unit = unit_for(*deployment.engine, device)) {
    const ChosenRate chosen = choose_rate(*unit, deployment.activations.arithmetic);
    explanation.arithmetic = chosen.arithmetic;
    explanation.peak = chosen.rate != nullptr ? std::optional(*chosen.rate) : std::nullopt;
  }
  explanation.bandwidth = bandwidth_for(*deployment.engine, device).value_or(absent<Bandwidth>());
}

} // namespace detail

/// Explains a workload. `models` must be those of the deployment. Whether it fits does not matter: these are the times
/// that its operators would take.
[[nodiscard]] inline Explanation explain(const StepModels& models, const Deployment& deployment,
                                         const Workload& workload) {
  const Tokens one = Tokens::from_value(1);
  const auto stages = static_cast<double>(deployment.parallelism.pipeline);
  const double steps = workload.output.value() - 1;
  const Tokens context = workload.context_depth + workload.prompt + one * (std::max(steps - 1, 0.0) / 2);
  const BoundPhases phases = bind_phases(models, deployment, workload);
  const std::int64_t sequences = batch_per_replica(phases.running, deployment.parallelism);
  Explanation explanation;
  detail::set_roofs(explanation, deployment);
  explanation.prefill =
      detail::explain_phase(detail::cost_of_prefill(phases.prefill, workload.context_depth),
                            detail::absence_of(phases.prefill.pass), workload.context_depth, explanation, stages);
  if (steps >= 1) {
    detail::CostSum step;
    step.add(phases.decode, context, 1);
    explanation.decode =
        detail::explain_phase(std::move(step), detail::absence_of(phases.decode), context, explanation, stages);
  }
  const std::int64_t replicas = deployment.parallelism.data;
  explanation.compute_bound_batch =
      detail::compute_bound_batch(models.decode, context, detail::Part::whole_step, replicas);
  explanation.compute_bound_batch_of_matrices =
      detail::compute_bound_batch(models.decode, context, detail::Part::matrices, replicas);
  explanation.cache_exceeds_weights = context_where_cache_exceeds(
      *deployment.network, deployment.kv,
      weight_bytes(*deployment.network, deployment.weights) / static_cast<double>(sequences));
  return explanation;
}

/// Explains a workload on a deployment. Throws InvalidSpec, naming the field, for a faulty one. Thread-safe.
[[nodiscard]] inline Explanation explain(const Deployment& deployment, const Workload& workload) {
  require_none(check(deployment));
  require_none(check(workload));
  return explain(step_models(deployment), deployment, workload);
}

} // namespace tokenroof
