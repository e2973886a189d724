/// @file
/// Binding a program to a device and an engine, and resolving it for a step's shape.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tokenroof/deployment/deployment.hpp"
#include "tokenroof/engine/arithmetic_choice.hpp"
#include "tokenroof/operators/program.hpp"
#include "tokenroof/roofline/bound_step.hpp"
#include "tokenroof/roofline/collective.hpp"

namespace tokenroof {

/// What an operator's flops cost on a device.
struct ComputeCost {
  SecondsPerFlop per_flop{}; ///< utilisation included; zero where it computes nothing, absent where no rate is known
  double utilisation = 1;    ///< part of the dense peak that is reached
  bool quantised = false;    ///< weights that its kernels unpack
};

/// What becomes of operators whose weights or cache lie in host memory.
struct HostSide {
  OffloadHabits habits{};
  std::vector<ComputeCost> compute{}; ///< on the host's processor, one an operator
  SecondsPerByte per_byte{};          ///< its processor reading its memory; absent where the bandwidth is unknown
  SecondsPerByte per_kv_byte{};
  SecondsPerByte per_streamed_byte{}; ///< over the link to the device, or from memory that the ranks share
  std::optional<Bandwidth> link{};    ///< to the device, efficiency included
};

/// What a device under an engine does for each operator of a program.
struct StepModel {
  Program program{};
  EngineConstants constants{};
  std::vector<ComputeCost> compute{};    ///< one an operator
  SecondsPerByte per_byte{};             ///< streaming weights and activations; absent where bandwidth is unknown
  SecondsPerByte per_kv_byte{};          ///< reading the cache
  SecondsPerFlop per_operation{};        ///< of the ordinary units; zero where their rate is unknown
  std::optional<Bandwidth> link{};       ///< among tensor and expert ranks, efficiency included
  std::optional<Bandwidth> stage_link{}; ///< between pipeline stages
  bool attention_scores = false;         ///< they pass through memory
  double overlapping_stages = 1;         ///< pipeline stages that work on different passes at once
  double tensor_doublings = 0;           ///< log2 of the tensor-parallel degree
  std::optional<HostSide> host{};        ///< where anything lies in host memory

  /// Resolves batch and new tokens; a single new token is a decode step, more are prefill.
  [[nodiscard]] BoundStep at(std::int64_t sequences, Tokens new_tokens) const;
};

namespace detail {

/// The format whose arithmetic an operator computes in; none where it computes nothing worth a roof.
[[nodiscard]] inline const Format* operand_format(const Operator& op, const Deployment& deployment) {
  if (const auto* gemm = std::get_if<Gemm>(&op.shape)) {
    return &gemm->weight_format;
  }
  if (const auto* grouped = std::get_if<Experts>(&op.shape)) {
    return &grouped->weight_format;
  }
  const bool computes = std::holds_alternative<Attention>(op.shape) || std::holds_alternative<Scan>(op.shape);
  return computes ? &deployment.activations : nullptr;
}

/// Seconds of an operation of the ordinary units; zero where their rate is unknown, so that it costs nothing.
[[nodiscard]] inline SecondsPerFlop seconds_per_operation(const ComputeUnit* unit) {
  return unit != nullptr && unit->vector_fp32 ? SecondsPerFlop(1.0 / *unit->vector_fp32) : SecondsPerFlop();
}

/// Of a GEMM, at the dense rate `peak`: tensor cores, then the scales of quantised blocks; no faster than power allows.
[[nodiscard]] inline SecondsPerFlop gemm_seconds_per_flop(SecondsPerFlop at_utilisation, bool quantised,
                                                          const EngineConstants& constants, const ComputeUnit* unit,
                                                          const std::optional<Watts>& power) {
  const SecondsPerFlop scales =
      quantised ? seconds_per_operation(unit) * constants.scale_operations_per_flop : SecondsPerFlop();
  const SecondsPerFlop cost = at_utilisation + scales;
  if (!power || constants.gemm_picojoules_per_flop == 0) {
    return cost;
  }
  const auto energy = Joules::from_value(constants.gemm_picojoules_per_flop * 1e-12) / Flops::from_value(1);
  return larger(cost, SecondsPerFlop(energy / *power));
}

[[nodiscard]] inline ComputeCost gemm_cost(const Operator& op, const ChosenRate& chosen, bool quantised,
                                           const EngineConstants& constants, const ComputeUnit* unit,
                                           const std::optional<Watts>& power) {
  double utilisation = constants.gemm_utilisation[static_cast<std::size_t>(chosen.arithmetic)];
  if (std::holds_alternative<Experts>(op.shape)) {
    utilisation *= constants.expert_utilisation;
  }
  if (quantised) {
    utilisation *= constants.quantised_utilisation;
  }
  const SecondsPerFlop at_peak = 1.0 / chosen.rate->value;
  const SecondsPerFlop cost = gemm_seconds_per_flop(at_peak / utilisation, quantised, constants, unit, power);
  return {.per_flop = cost, .utilisation = at_peak / cost, .quantised = quantised};
}

[[nodiscard]] inline ComputeCost compute_cost(const Operator& op, const Deployment& deployment,
                                              const EngineConstants& constants, const ComputeUnit* unit,
                                              const std::optional<Watts>& power) {
  const Format* operand = operand_format(op, deployment);
  if (operand == nullptr) {
    return {};
  }
  const bool gemm = std::holds_alternative<Gemm>(op.shape) || std::holds_alternative<Experts>(op.shape);
  const bool quantised = gemm && is_unpacked(*operand);
  const ChosenRate chosen =
      unit != nullptr ? rate_for(*unit, *operand, deployment.activations, constants) : ChosenRate{};
  if (!chosen.rate) {
    return {.per_flop = absent<SecondsPerFlop>(), .quantised = quantised};
  }
  if (gemm) {
    return gemm_cost(op, chosen, quantised, constants, unit, power);
  }
  const double utilisation = std::holds_alternative<Attention>(op.shape)
                                 ? constants.attention_utilisation
                                 : constants.gemm_utilisation[static_cast<std::size_t>(chosen.arithmetic)];
  return {.per_flop = 1.0 / (chosen.rate->value * utilisation), .utilisation = utilisation};
}

[[nodiscard]] inline std::optional<Bandwidth> effective_link(const Cluster& cluster, std::int64_t ranks,
                                                             const EngineConstants& constants) {
  const std::optional<Link> link = link_of_group(cluster, ranks);
  return link ? std::optional(link->bandwidth * constants.link_efficiency) : std::nullopt;
}

/// What a byte takes at least because cores have only so much under way; zero where that is no limit, or not known.
[[nodiscard]] inline SecondsPerByte least_by_cores(const EngineConstants& constants, const ComputeUnit* unit) {
  if (constants.core_bytes_per_clock == 0 || unit == nullptr || !unit->cores || !unit->clock_hertz) {
    return {};
  }
  return 1.0 / Bandwidth::from_value(*unit->cores * *unit->clock_hertz * constants.core_bytes_per_clock);
}

[[nodiscard]] inline SecondsPerByte reciprocal(const std::optional<Bandwidth>& bandwidth, double efficiency) {
  return bandwidth ? SecondsPerByte(1.0 / (*bandwidth * efficiency)) : absent<SecondsPerByte>();
}

} // namespace detail

/// The memory bandwidth that an engine's unit draws on a device: the memory's, or the unit's own lower limit.
[[nodiscard]] inline std::optional<Bandwidth> bandwidth_for(const Engine& engine, const Device& device) {
  const std::optional<Bandwidth> of_memory = memory_bandwidth(device);
  const ComputeUnit* unit = unit_for(engine, device);
  if (!unit || !unit->bandwidth) {
    return of_memory;
  }
  return of_memory ? std::optional(smaller(*unit->bandwidth, *of_memory)) : unit->bandwidth;
}

namespace detail {

/// Ranks that draw on one host's memory at once.
[[nodiscard]] inline double ranks_at_once(const Deployment& deployment) {
  return static_cast<double>(deployment.parallelism.tensor * deployment.parallelism.data);
}

[[nodiscard]] inline HostSide bind_host(const Program& program, const Deployment& deployment) {
  HostSide side{.habits = deployment.engine->offload};
  const Host host = deployment.cluster.host.value_or(Host{});
  const EngineConstants& constants = side.habits.host;
  side.compute.reserve(program.operators.size());
  for (const Operator& op : program.operators) {
    side.compute.push_back(compute_cost(op, deployment, constants, host.unit ? &*host.unit : nullptr, std::nullopt));
  }
  side.per_byte = reciprocal(host.bandwidth, constants.bandwidth_efficiency);
  side.per_kv_byte = reciprocal(host.bandwidth, constants.kv_bandwidth_efficiency);
  if (const std::optional<Link>& link = deployment.cluster.device.pcie) {
    side.link = link->bandwidth * side.habits.link_efficiency;
    side.per_streamed_byte = larger(1.0 / *side.link, side.per_byte * ranks_at_once(deployment));
  } else {
    side.per_streamed_byte = absent<SecondsPerByte>();
  }
  return side;
}

} // namespace detail

/// Attaches a device's rates and an engine's constants to a program.
[[nodiscard]] inline StepModel bind(Program program, const Deployment& deployment) {
  const Engine& engine = *deployment.engine;
  const Device& device = deployment.cluster.device;
  const Parallelism& parallelism = deployment.parallelism;
  StepModel model;
  model.constants = constants_for(engine, device);
  const ComputeUnit* unit = unit_for(engine, device);
  model.compute.reserve(program.operators.size());
  for (const Operator& op : program.operators) {
    model.compute.push_back(detail::compute_cost(op, deployment, model.constants, unit, device.power));
  }
  const std::optional<Bandwidth> bandwidth = bandwidth_for(engine, device);
  model.per_byte = larger(detail::reciprocal(bandwidth, model.constants.bandwidth_efficiency),
                          detail::least_by_cores(model.constants, unit));
  model.per_operation = detail::seconds_per_operation(unit);
  model.per_kv_byte = detail::reciprocal(bandwidth, model.constants.kv_bandwidth_efficiency);
  const std::int64_t group = std::max(parallelism.tensor, parallelism.expert);
  if (group > 1) {
    model.link = detail::effective_link(deployment.cluster, group, model.constants);
  }
  if (parallelism.pipeline > 1) {
    model.stage_link =
        detail::effective_link(deployment.cluster, parallelism.tensor * parallelism.pipeline, model.constants);
  }
  model.overlapping_stages = engine.overlaps_stages ? static_cast<double>(parallelism.pipeline) : 1;
  model.attention_scores = engine.memory.attention_scores;
  model.tensor_doublings = std::log2(static_cast<double>(parallelism.tensor));
  if (uses_host(deployment.offload)) {
    model.host = detail::bind_host(program, deployment);
  }
  model.program = std::move(program);
  return model;
}

namespace detail {

[[nodiscard]] inline Seconds fixed_cost(const StepModel& model, double sequences, bool decode) {
  const EngineConstants& c = model.constants;
  if (!decode) {
    return c.prefill_step + c.prefill_layer * model.program.layers +
           c.prefill_expert_layer * model.program.expert_layers;
  }
  const Seconds layer = c.decode_layer + c.decode_layer_per_tensor_doubling * model.tensor_doublings;
  return c.decode_step + layer * model.program.layers + c.decode_expert_layer * model.program.expert_layers +
         c.decode_sequence * sequences;
}

[[nodiscard]] inline Seconds communication_time(const StepModel& model, const Collective& collective,
                                                const StepShape& step) {
  if (collective.kind == CollectiveKind::handover) {
    return {}; // the host's side prices it
  }
  const std::optional<Bandwidth>& link = collective.kind == CollectiveKind::send ? model.stage_link : model.link;
  if (!link) {
    return absent<Seconds>();
  }
  return collective_time(collective.kind, payload(collective, step), collective.ranks, *link,
                         model.constants.collective_latency);
}

/// Attention in prefill approaches its utilisation with length, u(s) = u / (1 + half / s); with one new token it has
/// another. Over `attention_utilisation`.
[[nodiscard]] inline double attention_slowdown(const EngineConstants& constants, const StepShape& step) {
  return step.new_tokens > 1 ? 1 + constants.attention_half_length.value() / step.new_tokens
                             : constants.attention_utilisation / constants.decode_attention_utilisation;
}

/// Scores that go through memory: those of all new tokens among themselves, masked ones too, and with the context.
inline void add_score_traffic(BoundOperator& bound, const Attention& attention, const EngineConstants& constants,
                              const StepShape& step, double repeats) {
  const double bytes_per_token = 4 * constants.attention_score_passes * attention.heads * step.rows() * repeats;
  bound.bytes += Bytes::from_value(bytes_per_token * step.new_tokens);
  bound.bytes_per_context += BytesPerToken::from_value(bytes_per_token);
}

inline void bind_attention(BoundOperator& bound, const Attention& attention, const StepModel& model,
                           const StepShape& step) {
  const double slowdown = attention_slowdown(model.constants, step);
  bound.per_byte = model.per_kv_byte;
  bound.per_flop *= slowdown;
  bound.utilisation /= slowdown;
  if (model.attention_scores) {
    add_score_traffic(bound, attention, model.constants, step, bound.repeats);
  }
}

/// Weights that a pass multiplies with, each counted once.
[[nodiscard]] inline double weights_touched(const OperatorShape& shape, const StepShape& step) {
  if (const auto* gemm = std::get_if<Gemm>(&shape)) {
    return gemm->inputs * gemm->outputs;
  }
  if (const auto* experts = std::get_if<Experts>(&shape)) {
    return experts_touched(*experts, step) * experts->inputs * experts->outputs;
  }
  return 0;
}

/// Rows that meet each of them, on average.
[[nodiscard]] inline double rows_per_weight(const OperatorShape& shape, const StepShape& step) {
  if (const auto* gemm = std::get_if<Gemm>(&shape)) {
    return gemm->last_rows_only ? step.sequences : step.rows();
  }
  const auto& experts = std::get<Experts>(shape);
  return step.rows() * experts.replicas * experts.active / experts.ranks / experts_touched(experts, step);
}

/// What matrix-vector kernels of quantised weights do beside the memory's traffic, and what kernels of experts compute
/// in vain.
inline void bind_weights(BoundOperator& bound, const Operator& op, const StepModel& model, const StepShape& step,
                         bool quantised) {
  const EngineConstants& c = model.constants;
  const double weights = weights_touched(op.shape, step);
  if (quantised && step.rows() <= c.vector_rows) {
    const double operations = c.unpack_operations + c.unpack_operations_per_row * rows_per_weight(op.shape, step);
    bound.floor = Flops::from_value(weights * operations * op.repeats) * model.per_operation;
    bound.floor_roof = Roof::compute;
  } else if (std::holds_alternative<Experts>(op.shape)) {
    bound.flops += Flops::from_value(2 * weights * c.expert_padding_rows * op.repeats);
  }
}

[[nodiscard]] inline BoundOperator bound(const StepModel& model, std::size_t index, const StepShape& step) {
  const Operator& op = model.program.operators[index];
  const Work w = work(op, step);
  BoundOperator result{.flops = w.flops * op.repeats,
                       .flops_per_context = w.flops_per_context * op.repeats,
                       .flops_per_masked = w.flops_per_masked * op.repeats,
                       .bytes = (w.weights + w.activations + w.kv) * op.repeats,
                       .bytes_per_context = w.kv_per_context * op.repeats,
                       .window = w.window,
                       .room = w.room,
                       .per_flop = model.compute[index].per_flop,
                       .utilisation = model.compute[index].utilisation,
                       .per_byte = model.per_byte,
                       .name = op.name,
                       .repeats = static_cast<float>(op.repeats)};
  if (const auto* attention = std::get_if<Attention>(&op.shape)) {
    bind_attention(result, *attention, model, step);
  } else if (const auto* collective = std::get_if<Collective>(&op.shape)) {
    result.floor = communication_time(model, *collective, step) * op.repeats;
  } else {
    bind_weights(result, op, model, step, model.compute[index].quantised);
  }
  return result;
}

/// The operator on the host's processor, which reads the host's memory.
[[nodiscard]] inline BoundOperator computed_on_host(const StepModel& model, std::size_t index, const StepShape& step,
                                                    BoundOperator op) {
  const HostSide& host = *model.host;
  const bool attention = std::holds_alternative<Attention>(model.program.operators[index].shape);
  op.per_flop = host.compute[index].per_flop;
  op.utilisation = host.compute[index].utilisation;
  op.per_byte = attention ? host.per_kv_byte : host.per_byte;
  op.floor = {}; // the device's kernels do not unpack what the host multiplies
  if (attention) {
    const double slowdown = attention_slowdown(host.habits.host, step);
    op.per_flop *= slowdown;
    op.utilisation /= slowdown;
  }
  op.compute_roof = Roof::host_compute;
  op.memory_roof = Roof::host_memory;
  return op;
}

/// The operator on the device, with what lies in host memory coming over the link.
[[nodiscard]] inline BoundOperator streamed(const StepModel& model, std::size_t index, const StepShape& step,
                                            BoundOperator op) {
  const Operator& source = model.program.operators[index];
  const SecondsPerByte per_streamed = model.host->per_streamed_byte;
  if (source.cache_on_host) {
    op.per_byte = model.host->habits.overlapped ? per_streamed : op.per_byte + per_streamed;
    op.memory_roof = Roof::host_link;
    return op;
  }
  const Seconds link = work(source, step).weights * source.repeats * per_streamed;
  op.floor_roof = Roof::host_link;
  if (!model.host->habits.overlapped || is_contextual(op)) {
    op.floor += link;
  } else if (op.bytes.value() > 0) {
    // Mean price of a byte: weights over the link while activations go through the device's memory.
    const Seconds memory = (op.bytes - work(source, step).weights * source.repeats) * op.per_byte;
    op.memory_roof = link > memory ? Roof::host_link : Roof::memory;
    op.per_byte = (link + memory) / op.bytes;
  }
  return op;
}

/// Of two ways to run an operator the faster; where context decides, the one that a longer context costs less.
[[nodiscard]] inline const BoundOperator& faster(const BoundOperator& a, const BoundOperator& b) {
  const Tokens long_context = Tokens::from_value(1e6);
  const Tokens context = is_contextual(a) ? long_context : Tokens();
  return time(a, context) <= time(b, context) ? a : b;
}

/// Whether the host's processor takes an operator in such a pass. Engines that stream large batches stream weights alone.
[[nodiscard]] inline bool host_computes(const OffloadHabits& habits, const Operator& op, const StepShape& step) {
  const bool large = habits.streamed_from_rows > 0 && step.rows() >= habits.streamed_from_rows;
  return habits.style == OffloadStyle::host_computes && (op.cache_on_host || !large);
}

[[nodiscard]] inline BoundOperator handed_over(const StepModel& model, const Operator& op, const StepShape& step,
                                               BoundOperator bound) {
  const HostSide& host = *model.host;
  if (host_computes(host.habits, op, step)) {
    const Collective& collective = std::get<Collective>(op.shape);
    bound.floor_roof = Roof::host_link;
    bound.floor = !host.link ? absent<Seconds>()
                             : collective_time(collective.kind, payload(collective, step), collective.ranks, *host.link,
                                               host.habits.handover) *
                                   op.repeats;
  }
  return bound;
}

/// Runs an operator where its engine does when some of what it needs lies in host memory.
[[nodiscard]] inline BoundOperator with_host(const StepModel& model, std::size_t index, const StepShape& step,
                                             const BoundOperator& on_device) {
  const Operator& op = model.program.operators[index];
  if (op.name == OperatorName::host_handover) {
    return handed_over(model, op, step, on_device);
  }
  if (host_computes(model.host->habits, op, step)) {
    return computed_on_host(model, index, step, on_device);
  }
  const BoundOperator over_link = streamed(model, index, step, on_device);
  if (model.host->habits.style != OffloadStyle::fastest) {
    return over_link;
  }
  const BoundOperator on_host = computed_on_host(model, index, step, on_device);
  const bool host_can = is_present(on_host.per_flop) || step.rows() <= 1;
  return host_can ? faster(on_host, over_link) : over_link;
}

/// Puts zero in place of an unknown compute rate and notes whose it is.
inline void note_unknown_compute(BoundOperator& op, UnknownRates& unknown) {
  if (!is_present(op.per_flop)) {
    (op.compute_roof == Roof::host_compute ? unknown.host_compute : unknown.compute) = true;
    op.per_flop = {};
  }
}

/// The same for what an operator draws from host memory.
inline void note_unknown_host(BoundOperator& op, const HostSide& host, UnknownRates& unknown) {
  if (!is_present(op.per_byte) || !is_present(op.floor)) {
    unknown.host_bandwidth = unknown.host_bandwidth || !is_present(host.per_byte);
    unknown.host_link = unknown.host_link || !host.link;
    op.per_byte = {};
    op.floor = {};
  }
}

} // namespace detail

inline BoundStep StepModel::at(std::int64_t sequences, Tokens new_tokens) const {
  BoundStep step;
  step.shape = {static_cast<double>(sequences), new_tokens.value()};
  step.unknown.bandwidth = !is_present(per_byte);
  step.overhead = detail::fixed_cost(*this, step.shape.sequences, new_tokens <= Tokens::from_value(1));
  step.constant = step.overhead;
  step.operators.reserve(program.operators.size());
  std::vector<BoundOperator> independent;
  independent.reserve(program.operators.size());
  for (std::size_t i = 0; i < program.operators.size(); ++i) {
    BoundOperator op = detail::bound(*this, i, step.shape);
    if (program.operators[i].weights_on_host || program.operators[i].cache_on_host) {
      op = detail::with_host(*this, i, step.shape, op);
      detail::note_unknown_host(op, *host, step.unknown);
    }
    detail::note_unknown_compute(op, step.unknown);
    if (is_contextual(op)) {
      step.operators.push_back(op);
    } else {
      step.constant += tokenroof::time(op, Tokens());
      independent.push_back(op);
    }
  }
  step.contextual = step.operators.size();
  step.operators.insert(step.operators.end(), independent.begin(), independent.end());
  return step;
}

} // namespace tokenroof
