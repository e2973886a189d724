/// @file
/// A step taken apart: what each operator costs, and which roof it stands under.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "tokenroof/roofline/bound_step.hpp"

namespace tokenroof {

/// One operator's share of a step, all its repeats together, on one device.
struct OperatorCost {
  OperatorName name = OperatorName::normalisation;
  double repeats = 1;
  Flops flops{};
  Bytes bytes{};
  Seconds compute{};         ///< under the compute roof alone
  Seconds compute_at_peak{}; ///< the same at the dense peak of the arithmetic it computes in
  Seconds memory{};          ///< under the memory roof alone
  Seconds time{};
  Roof roof = Roof::memory;
};

/// A step at one context: its operators, its fixed costs, and their sum.
struct StepCost {
  std::vector<OperatorCost> operators{};
  Seconds overhead{};
  Seconds time{};
  Flops flops{};
  Bytes bytes{};
  Flops device_flops{}; ///< those that the device does itself, not its host
  Bytes device_bytes{};
  Seconds compute_at_peak{}; ///< of the device's
};

/// The roof that an operator stands under at a context.
[[nodiscard]] inline Roof binding_roof(const BoundOperator& op, Tokens context) {
  const Seconds compute = compute_time(op, context);
  const Seconds memory = memory_time(op, context);
  if (op.floor > larger(compute, memory)) {
    return op.floor_roof;
  }
  return compute > memory ? op.compute_roof : op.memory_roof;
}

/// Takes a step apart at a context.
[[nodiscard]] inline StepCost cost_of(const BoundStep& step, Tokens context) {
  StepCost cost{.overhead = step.overhead, .time = step.time(context)};
  cost.operators.reserve(step.operators.size());
  for (const BoundOperator& op : step.operators) {
    const Tokens seen = smaller(context, op.window);
    OperatorCost entry{.name = op.name,
                       .repeats = op.repeats,
                       .flops = flops_at(op, context),
                       .bytes = op.bytes + op.bytes_per_context * seen,
                       .compute = compute_time(op, context),
                       .compute_at_peak = compute_time(op, context) * op.utilisation,
                       .memory = memory_time(op, context),
                       .time = time(op, context),
                       .roof = binding_roof(op, context)};
    cost.flops += entry.flops;
    cost.bytes += entry.bytes;
    if (op.compute_roof == Roof::compute) {
      cost.device_flops += entry.flops;
      cost.device_bytes += entry.bytes;
      cost.compute_at_peak += entry.compute_at_peak;
    }
    cost.operators.push_back(entry);
  }
  return cost;
}

/// The roof under which most of a step's time is spent.
[[nodiscard]] inline Roof binding_roof(const StepCost& cost) {
  std::array<Seconds, roof_names.size()> by_roof{};
  by_roof[static_cast<std::size_t>(Roof::fixed)] = cost.overhead;
  for (const OperatorCost& op : cost.operators) {
    by_roof[static_cast<std::size_t>(op.roof)] += op.time;
  }
  return static_cast<Roof>(std::max_element(by_roof.begin(), by_roof.end()) - by_roof.begin());
}

} // namespace tokenroof
