/// @file
/// What a pass reads from storage when memory does not hold all weights of a mapped file.
#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "tokenroof/deployment/deployment.hpp"
#include "tokenroof/roofline/step_model.hpp"

namespace tokenroof {

/// Mapped weights as a pass sees them.
struct MappedPass {
  Bytes dense{};   ///< read in every pass
  Bytes experts{}; ///< routed experts, all of them
  Bytes touched{}; ///< of which the pass is expected to read so much
};

/// Bytes that a pass finds missing when `resident` bytes of the mapped weights stay in memory, least recently used pages
/// making room first:
///
///     0                                    all fits
///     dense + touched                      not even one pass's pages fit: each is evicted before its next use
///     touched (1 - (resident - dense) / experts)   what every pass reads stays, of the experts the resident share
///
/// Routing is taken as uniform and independent from pass to pass; skewed routing hits more often. A dense network larger
/// than memory is scanned in a cycle and never hits, however little is missing @cite belady1966.
[[nodiscard]] inline Bytes paged_bytes(const MappedPass& pass, Bytes resident) {
  if (pass.dense + pass.experts <= resident) {
    return {};
  }
  const Bytes needed = pass.dense + pass.touched;
  if (needed > resident) {
    return needed;
  }
  return pass.touched * (1 - (resident - pass.dense) / pass.experts);
}

namespace detail {

/// `in_host_memory`: only what lies there is mapped; else all weights are.
[[nodiscard]] inline MappedPass mapped_pass(const Program& program, const StepShape& step, bool in_host_memory) {
  MappedPass pass;
  for (const Operator& op : program.operators) {
    if (in_host_memory && !op.weights_on_host) {
      continue;
    }
    const Bytes read = work(op, step).weights * op.repeats;
    if (const auto* experts = std::get_if<Experts>(&op.shape)) {
      pass.experts += experts->weights * (experts->experts / experts->ranks * op.repeats);
      pass.touched += read;
    } else {
      pass.dense += read;
    }
  }
  return pass;
}

} // namespace detail

/// Adds to a step what it waits for storage, `resident` bytes of the mapped weights being in memory.
inline void add_page_ins(BoundStep& step, const Program& program, const Deployment& deployment, Bytes resident) {
  const bool in_host_memory = !shares_host_memory(deployment.cluster.device.device_class);
  const Bytes missing = paged_bytes(detail::mapped_pass(program, step.shape, in_host_memory), resident);
  if (missing.value() <= 0) {
    return;
  }
  const std::optional<Bandwidth> storage = storage_of(deployment.cluster);
  step.unknown.storage = !storage;
  const Seconds wait = storage ? missing / (*storage * deployment.engine->offload.storage_efficiency) : Seconds();
  step.constant += wait;
  step.operators.push_back({.floor = wait, .name = OperatorName::page_in, .floor_roof = Roof::storage});
}

} // namespace tokenroof
