/// @file
/// The facade: from a deployment and a workload to TTFT, TPOT, throughput and peak memory.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "tokenroof/deployment/check.hpp"
#include "tokenroof/deployment/deployment.hpp"
#include "tokenroof/estimate.hpp"
#include "tokenroof/inference/decode.hpp"
#include "tokenroof/inference/prefill.hpp"
#include "tokenroof/inference/step_cost.hpp"
#include "tokenroof/memory/host_ledger.hpp"
#include "tokenroof/memory/ledger.hpp"
#include "tokenroof/memory/loading.hpp"
#include "tokenroof/operators/program.hpp"
#include "tokenroof/roofline/paging.hpp"
#include "tokenroof/roofline/step_model.hpp"
#include "tokenroof/serving/closed_loop.hpp"
#include "tokenroof/workload/workload.hpp"

namespace tokenroof {

/// How far a prediction can be trusted.
enum class Trust : std::uint8_t {
  calibrated,  ///< the engine's constants were fitted on this device family
  transferred, ///< constants that the engine states for like devices, or for any
  datasheet,   ///< physics and published rates alone
};

inline constexpr std::array<std::string_view, 3> trust_names = {"calibrated", "transferred", "datasheet"};

[[nodiscard]] constexpr std::string_view name(Trust trust) { return trust_names[static_cast<std::size_t>(trust)]; }

/// Why a time is absent.
enum class Absence : std::uint8_t {
  none,
  does_not_fit,
  no_compute_rate, ///< the unit has no published or fitted rate for the arithmetic
  no_bandwidth,    ///< the memory's bandwidth is not published
  no_host_compute_rate,
  no_host_bandwidth, ///< no host was stated, or not how fast its memory is
  no_host_link,
  no_storage_bandwidth,
};

inline constexpr std::array<std::string_view, 8> absence_names = {
    "none",         "does_not_fit",         "no_compute_rate",
    "no_bandwidth", "no_host_compute_rate", "no_host_bandwidth",
    "no_host_link", "no_storage_bandwidth"};

[[nodiscard]] constexpr std::string_view name(Absence absence) {
  return absence_names[static_cast<std::size_t>(absence)];
}

/// What `predict()` answers: times of the whole of a static batch, or means over the requests of a closed loop.
struct Prediction {
  /// From arrival to the first token out, prefill and head included; of the whole batch.
  Estimate<Seconds> ttft{};
  /// (end to end - TTFT) / (output - 1); absent when output = 1.
  Estimate<Seconds> tpot{};
  /// From arrival to the last token of the whole batch.
  Estimate<Seconds> end_to_end{};
  /// Generated tokens a second: of one sequence while decoding (1 / TPOT), and of all sequences, or clients, end to end.
  Estimate<TokenRate> tokens_per_second_per_user{};
  Estimate<TokenRate> tokens_per_second{};
  /// Prompt tokens a second: during prefill of all sequences; in a closed loop that of all clients over the whole time.
  Estimate<TokenRate> prefill_tokens_per_second{};
  /// Of the fullest device.
  Estimate<Bytes> peak_memory{};
  Ledger ledger{};
  /// What one device offers; absent when no size was chosen and the answer is the same for all.
  Bytes memory_budget = absent<Bytes>();
  bool fits = false;
  Bytes shortfall{}; ///< by which the peak exceeds the budget
  /// Of the host, for all devices together; zero where nothing lies there.
  HostLedger host{};
  Bytes host_budget = absent<Bytes>(); ///< absent where the host's memory is not stated: then it holds what is needed
  Bytes host_shortfall{};
  Bytes in_storage{}; ///< mapped weights that no memory holds
  LoadPhase load{};   ///< before the first request
  Absence ttft_absence = Absence::none;
  Absence tpot_absence = Absence::none;
  Trust trust = Trust::datasheet;

  /// End-to-end seconds, for callers that want a number or an error.
  /// Throws DoesNotFit when the deployment does not fit, InvalidSpec when a rate it needs is unknown.
  [[nodiscard]] Seconds latency() const {
    if (!fits) {
      const bool on_device = shortfall.value() > 0;
      throw DoesNotFit("the deployment needs " +
                       std::to_string((on_device ? shortfall : host_shortfall).value() / 1e9) +
                       " GB more memory than " + (on_device ? "a device" : "the host") + " offers");
    }
    if (!end_to_end.has_value()) {
      throw InvalidSpec("device", "incomplete",
                        std::string(name(ttft_absence == Absence::none ? tpot_absence : ttft_absence)));
    }
    return end_to_end.value;
  }
};

/// Why a cold start has no time.
[[nodiscard]] inline Absence cold_start_absence(const Deployment& deployment) {
  if (!storage_of(deployment.cluster)) {
    return Absence::no_storage_bandwidth;
  }
  const Device& device = deployment.cluster.device;
  return shares_host_memory(device.device_class) || device.pcie ? Absence::none : Absence::no_host_link;
}

/// The two step models of a deployment: they differ only where latent attention takes another form in prefill.
struct StepModels {
  StepModel decode{};
  std::optional<StepModel> own_prefill{};

  [[nodiscard]] const StepModel& prefill() const { return own_prefill ? *own_prefill : decode; }
};

namespace detail {

/// Whether prefill expands a latent cache: where tokens are picked for each query it is never done.
[[nodiscard]] inline bool has_latent_attention(const Network& network) {
  for (const LayerRun& run : network.layers) {
    for (const Mixer& mixer : run.block.mixers) {
      const auto* latent = std::get_if<LatentAttention>(&mixer);
      if (latent != nullptr && !latent->selected) {
        return true;
      }
    }
  }
  return false;
}

} // namespace detail

/// Lowers and binds a deployment for both phases. The deployment must be free of faults (`check`).
[[nodiscard]] inline StepModels step_models(const Deployment& deployment) {
  StepModels models{.decode = bind(lower(deployment, LatentForm::absorbed), deployment)};
  if (detail::has_latent_attention(*deployment.network)) {
    models.own_prefill = bind(lower(deployment, LatentForm::expanded), deployment);
  }
  return models;
}

/// Both phases of a workload on one replica with all rates resolved; what remains free is the context.
struct BoundPhases {
  BoundPrefill prefill{}; ///< of the whole batch; in a closed loop of one prompt alone
  BoundStep decode{};
  std::int64_t running = 1; ///< sequences that decode at once, over all replicas
};

namespace detail {

/// Adds the waits for storage to every pass of both phases.
inline void add_page_ins(BoundPhases& phases, const StepModels& models, const Deployment& deployment,
                         const Workload& workload) {
  const Bytes resident = resident_weights(deployment, ledger(deployment, workload), host_ledger(deployment, workload));
  const auto add = [&](BoundStep& step, const StepModel& model) {
    tokenroof::add_page_ins(step, model.program, deployment, resident);
  };
  add(phases.decode, models.decode);
  add(phases.prefill.pass, models.prefill());
  if (phases.prefill.plan.last_chunk.value() > 0) {
    add(phases.prefill.last_chunk, models.prefill());
  }
  if (phases.prefill.plan.remaining_sequences > 0) {
    add(phases.prefill.remaining_sequences, models.prefill());
  }
}

} // namespace detail

/// Resolves both phases for a workload's batch and prompt; of mapped weights also for its output and context depth, since
/// the cache takes memory from them. `running`: `running_sequences` of them, which no constant of the time laws changes.
[[nodiscard]] inline BoundPhases bind_phases(const StepModels& models, const Deployment& deployment,
                                             const Workload& workload, std::int64_t running) {
  const std::int64_t sequences = batch_per_replica(running, deployment.parallelism);
  const std::int64_t prompts = workload.arrival == Arrival::together ? sequences : 1;
  BoundPhases phases{
      .prefill = bind_prefill(models.prefill(), prompts, workload.prompt, batched_tokens(deployment)),
      .decode = models.decode.at(sequences, Tokens::from_value(1)),
      .running = running,
  };
  if (deployment.offload.mapped) {
    detail::add_page_ins(phases, models, deployment, workload);
  }
  return phases;
}

[[nodiscard]] inline BoundPhases bind_phases(const StepModels& models, const Deployment& deployment,
                                             const Workload& workload) {
  return bind_phases(models, deployment, workload, running_sequences(deployment, workload));
}

namespace detail {

/// Decides `fits` against the chosen memory, or against every possible size when all give the same answer.
/// Throws InvalidSpec listing the sizes when the answer depends on the one that was not chosen.
inline void decide_fit(Prediction& prediction, const Deployment& deployment) {
  const Device& device = deployment.cluster.device;
  const Bytes peak = prediction.peak_memory.value;
  if (const MemoryVariant* variant = memory(device)) {
    prediction.memory_budget = memory_budget(deployment, prediction.ledger, *variant);
    prediction.fits = peak <= prediction.memory_budget;
    prediction.shortfall = larger(peak - prediction.memory_budget, Bytes());
    return;
  }
  std::string sizes;
  std::size_t fitting = 0;
  Bytes largest;
  for (std::size_t i = 0; i < device.memory_variant_count; ++i) {
    const MemoryVariant& variant = device.memory_variants[i];
    const Bytes budget = memory_budget(deployment, prediction.ledger, variant);
    fitting += peak <= budget ? 1U : 0U;
    largest = larger(largest, budget);
    sizes +=
        (sizes.empty() ? "" : ", ") + std::to_string(std::llround(variant.capacity.value() / 1073741824.0)) + " GiB";
  }
  if (device.memory_variant_count == 0) {
    throw InvalidSpec("device.memory", "not stated", "how much memory this device has is the buyer's choice; state it");
  }
  if (fitting != 0 && fitting != device.memory_variant_count) {
    throw InvalidSpec("device.memory", "not stated",
                      "whether this fits depends on the memory size; state one of " + sizes);
  }
  prediction.fits = fitting != 0;
  prediction.shortfall = prediction.fits ? Bytes() : peak - largest;
}

/// Why a step has no time. A single sequence that adds a single token moves at the pace of memory, so that an unknown
/// compute rate does not matter to it.
[[nodiscard]] inline Absence absence_of(const BoundStep& step) {
  const UnknownRates& unknown = step.unknown;
  const bool computes = step.shape.rows() > 1;
  if (unknown.bandwidth) {
    return Absence::no_bandwidth;
  }
  if (unknown.host_bandwidth) {
    return Absence::no_host_bandwidth;
  }
  if (unknown.host_link) {
    return Absence::no_host_link;
  }
  if (unknown.storage) {
    return Absence::no_storage_bandwidth;
  }
  if (computes && unknown.compute) {
    return Absence::no_compute_rate;
  }
  return computes && unknown.host_compute ? Absence::no_host_compute_rate : Absence::none;
}

/// Mapped weights take what memory is left for them.
inline void map_weights(Prediction& prediction, const Deployment& deployment) {
  const bool shared = shares_host_memory(deployment.cluster.device.device_class);
  Bytes& weights = shared ? prediction.ledger[LedgerItem::weights] : prediction.host.weights;
  const Bytes resident = resident_weights(deployment, prediction.ledger, prediction.host);
  prediction.in_storage = weights - resident;
  weights = resident;
}

/// Nothing fits that does not fit the host too.
inline void decide_host_fit(Prediction& prediction, const Deployment& deployment) {
  const std::optional<Host>& host = deployment.cluster.host;
  if (!host || !host->memory) {
    return;
  }
  prediction.host_budget = *host->memory;
  prediction.host_shortfall = larger(peak(prediction.host) - prediction.host_budget, Bytes());
  prediction.fits = prediction.fits && prediction.host_shortfall.value() == 0;
}

/// Measured over predicted on a device of a family that nobody measured strays more: by half as much again, in logarithms,
/// as errors on families left out of a fit do.
[[nodiscard]] inline ResidualBand widened(const ResidualBand& band) {
  constexpr double more = 1.5;
  return {std::pow(band.low, more), std::pow(band.high, more)};
}

template <class Quantity>
void set_interval(Estimate<Quantity>& estimate, const ResidualBand& band) {
  if (is_stated(band)) {
    estimate.low = estimate.value * band.low;
    estimate.high = estimate.value * band.high;
  }
}

/// Of a rate whose time has an interval.
template <class Quantity, class Time>
void set_rate_interval(Estimate<Quantity>& rate, const Estimate<Time>& time) {
  if (time.has_interval()) {
    rate.low = rate.value * (time.value / time.high);
    rate.high = rate.value * (time.value / time.low);
  }
}

[[nodiscard]] inline ResidualBand wider(const ResidualBand& a, const ResidualBand& b) {
  return is_stated(a) && is_stated(b) ? ResidualBand{std::min(a.low, b.low), std::max(a.high, b.high)} : ResidualBand{};
}

[[nodiscard]] inline ResidualBand first_stated(std::initializer_list<ResidualBand> bands) {
  const auto* const found = std::find_if(bands.begin(), bands.end(), is_stated);
  return found != bands.end() ? *found : ResidualBand{};
}

/// What the engine's measured rows say of how wrong times may be.
inline void set_intervals(Prediction& prediction, const Deployment& deployment, Arrival arrival) {
  const Residuals& residuals = deployment.engine->residuals;
  const bool loop = arrival == Arrival::closed_loop;
  // Where batches were not measured clients were, whose times are less certain; most of a whole request is decode.
  ResidualBand ttft = loop ? residuals.closed_loop_ttft : first_stated({residuals.ttft, residuals.closed_loop_ttft});
  ResidualBand tpot = loop ? residuals.closed_loop_tpot
                           : first_stated({residuals.tpot, residuals.end_to_end, residuals.closed_loop_tpot});
  ResidualBand whole = first_stated({loop ? ResidualBand{} : residuals.end_to_end, wider(ttft, tpot)});
  if (!is_measured_on(residuals, deployment.cluster.device)) {
    ttft = widened(ttft);
    tpot = widened(tpot);
    whole = widened(whole);
  }
  set_interval(prediction.ttft, ttft);
  set_interval(prediction.tpot, tpot);
  set_interval(prediction.end_to_end, prediction.tpot.has_value() ? whole : ttft);
  set_rate_interval(prediction.tokens_per_second_per_user, prediction.tpot);
  set_rate_interval(prediction.tokens_per_second, prediction.end_to_end);
  set_rate_interval(prediction.prefill_tokens_per_second, loop ? prediction.end_to_end : prediction.ttft);
}

inline void set_batch_times(Prediction& prediction, const BoundPhases& phases, const Workload& workload) {
  const double sequences = static_cast<double>(workload.batch);
  const double steps = workload.output.value() - 1;
  prediction.ttft_absence = absence_of(phases.prefill.pass);
  if (prediction.ttft_absence == Absence::none) {
    prediction.ttft.value = phases.prefill.time(workload.context_depth);
    prediction.prefill_tokens_per_second.value = workload.prompt * sequences / prediction.ttft.value;
  }
  if (steps < 1) {
    prediction.end_to_end = prediction.ttft;
  } else {
    prediction.tpot_absence = absence_of(phases.decode);
    if (prediction.tpot_absence == Absence::none) {
      prediction.tpot.value = mean_decode_time(phases.decode, workload.context_depth + workload.prompt, steps);
    }
    prediction.end_to_end.value = prediction.ttft.value + prediction.tpot.value * steps;
    prediction.tokens_per_second_per_user.value = Tokens::from_value(1) / prediction.tpot.value;
  }
  prediction.tokens_per_second.value = workload.output * sequences / prediction.end_to_end.value;
}

/// Of clients on all replicas, which share them evenly.
[[nodiscard]] inline ClosedLoopParts closed_loop_parts(const BoundPhases& phases, const Deployment& deployment,
                                                       const Workload& workload, double steps) {
  const auto replicas = static_cast<double>(deployment.parallelism.data);
  ClosedLoopParts parts{.clients = std::max(static_cast<double>(workload.batch) / replicas, 1.0),
                        .running = std::max(static_cast<double>(phases.running) / replicas, 1.0),
                        .prefill = phases.prefill.time(workload.context_depth),
                        .prefill_work = phases.prefill.work_time(workload.context_depth),
                        .passes = passes(phases.prefill.plan),
                        .steps = steps};
  if (steps >= 1) {
    parts.decode = mean_decode_time(phases.decode, workload.context_depth + workload.prompt, steps);
  }
  return parts;
}

inline void set_closed_loop_times(Prediction& prediction, const BoundPhases& phases, const Deployment& deployment,
                                  const Workload& workload) {
  const double steps = workload.output.value() - 1;
  const auto clients = static_cast<double>(workload.batch);
  prediction.ttft_absence = absence_of(phases.prefill.pass);
  prediction.tpot_absence = steps < 1 ? Absence::none : absence_of(phases.decode);
  if (prediction.ttft_absence != Absence::none || prediction.tpot_absence != Absence::none) {
    prediction.ttft_absence = prediction.tpot_absence =
        prediction.ttft_absence != Absence::none ? prediction.ttft_absence : prediction.tpot_absence;
    return; // prompts and answers share steps: one unknown makes both so
  }
  const ClosedLoopTimes times =
      closed_loop_times(closed_loop_parts(phases, deployment, workload, steps), deployment.engine->serving, workload);
  prediction.ttft.value = times.ttft;
  prediction.end_to_end.value = times.ttft + times.tpot * std::max(steps, 0.0);
  if (steps >= 1) {
    prediction.tpot.value = times.tpot;
    prediction.tokens_per_second_per_user.value = Tokens::from_value(1) / times.tpot;
  }
  prediction.tokens_per_second.value = workload.output * clients / prediction.end_to_end.value;
  prediction.prefill_tokens_per_second.value = workload.prompt * clients / prediction.end_to_end.value;
}

inline void set_times(Prediction& prediction, const BoundPhases& phases, const Deployment& deployment,
                      const Workload& workload) {
  if (workload.arrival == Arrival::together) {
    set_batch_times(prediction, phases, workload);
  } else {
    set_closed_loop_times(prediction, phases, deployment, workload);
  }
  set_intervals(prediction, deployment, workload.arrival);
}

} // namespace detail

namespace detail {

[[nodiscard]] inline Trust trust_in(const Deployment& deployment) {
  const bool neutral = deployment.engine == roofline_engine();
  const bool applies = closest_profile(*deployment.engine, deployment.cluster.device) > 0;
  if (is_measured_on(deployment.engine->residuals, deployment.cluster.device)) {
    return Trust::calibrated;
  }
  return !neutral && applies ? Trust::transferred : Trust::datasheet;
}

} // namespace detail

/// Puts memory and times together. `phases` must come from `bind_phases` of the same deployment, batch and
/// prompt, and of the same workload where weights are mapped.
[[nodiscard]] inline Prediction predict(const BoundPhases& phases, const Deployment& deployment,
                                        const Workload& workload) {
  Prediction prediction;
  Workload running = workload;
  running.batch = phases.running;
  prediction.ledger = ledger(deployment, running);
  prediction.host = host_ledger(deployment, running);
  prediction.load = load_phase(deployment, prediction.ledger, prediction.host);
  if (deployment.offload.mapped) {
    detail::map_weights(prediction, deployment);
  }
  prediction.peak_memory.value = peak(prediction.ledger);
  prediction.trust = detail::trust_in(deployment);
  detail::decide_fit(prediction, deployment);
  detail::decide_host_fit(prediction, deployment);
  if (prediction.fits) {
    detail::set_times(prediction, phases, deployment, workload);
  } else {
    prediction.ttft_absence = prediction.tpot_absence = Absence::does_not_fit;
  }
  return prediction;
}

/// TTFT, TPOT, throughput and peak memory of a workload on a deployment.
/// Throws InvalidSpec, naming the field, for a faulty deployment or workload. Thread-safe.
[[nodiscard]] inline Prediction predict(const Deployment& deployment, const Workload& workload) {
  require_none(check(deployment));
  require_none(check(workload));
  return predict(bind_phases(step_models(deployment), deployment, workload), deployment, workload);
}

} // namespace tokenroof
