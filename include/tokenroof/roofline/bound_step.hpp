/// @file
/// The law of one operator, and a step in which everything but the context is resolved.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tokenroof/estimate.hpp"
#include "tokenroof/operators/operators.hpp"
#include "tokenroof/units/quantity.hpp"

namespace tokenroof {

/// Which limit binds an operator's time.
enum class Roof : std::uint8_t {
  compute,
  memory,
  link,
  fixed,
  host_compute,
  host_memory,
  host_link, ///< between a device and its host
  storage,
};

inline constexpr std::array<std::string_view, 8> roof_names = {"compute",      "memory",      "link",      "fixed",
                                                               "host_compute", "host_memory", "host_link", "storage"};

[[nodiscard]] constexpr std::string_view name(Roof roof) { return roof_names[static_cast<std::size_t>(roof)]; }

/// One operator, all its repeats together, with the reciprocals of its device's rates folded in.
struct BoundOperator {
  Flops flops{};
  FlopsPerToken flops_per_context{};
  Flops flops_per_masked{};
  Bytes bytes{};
  BytesPerToken bytes_per_context{};
  Tokens window = no_window;
  Tokens room = no_window;
  SecondsPerFlop per_flop{}; ///< utilisation included
  double utilisation = 1;    ///< part of the dense peak that `per_flop` assumes
  SecondsPerByte per_byte{};
  Seconds floor{}; ///< what it takes beyond its roofs (a collective's whole time)
  OperatorName name = OperatorName::normalisation;
  Roof compute_roof = Roof::compute; ///< whose roofs these are: the device's, or what it borrows from its host
  Roof memory_roof = Roof::memory;
  Roof floor_roof = Roof::link;
  float repeats = 1;
};

/// Operations, `context` tokens being cached (see `Work`).
[[nodiscard]] inline Flops flops_at(const BoundOperator& op, Tokens context) {
  const Tokens seen = smaller(context, op.window);
  const double masked = larger(seen - op.room, Tokens()).value();
  return op.flops + op.flops_per_context * seen - op.flops_per_masked * (0.5 * masked * (masked + 1));
}

/// Seconds of computation alone, `context` tokens being cached.
[[nodiscard]] inline Seconds compute_time(const BoundOperator& op, Tokens context) {
  return flops_at(op, context) * op.per_flop;
}

/// Seconds of memory traffic alone, `context` tokens being cached.
[[nodiscard]] inline Seconds memory_time(const BoundOperator& op, Tokens context) {
  return (op.bytes + op.bytes_per_context * smaller(context, op.window)) * op.per_byte;
}

/// The law: `t = floor + max(flops / rate, bytes / bandwidth)` with flops and bytes at a context.
/// The same function serves the scalar call and the sweep's inner loop.
[[nodiscard]] inline Seconds time(const BoundOperator& op, Tokens context) {
  return op.floor + larger(compute_time(op, context), memory_time(op, context));
}

/// Whether an operator's time depends on the context.
[[nodiscard]] inline bool is_contextual(const BoundOperator& op) {
  return op.flops_per_context.value() > 0 || op.bytes_per_context.value() > 0;
}

/// Rates that a pass needs and nobody states. What they would price counts as 0, so that its time means nothing.
struct UnknownRates {
  bool compute = false;
  bool bandwidth = false;
  bool host_compute = false;
  bool host_bandwidth = false;
  bool host_link = false;
  bool storage = false;

  friend bool operator==(const UnknownRates&, const UnknownRates&) = default;
};

/// A forward pass with batch, new tokens and all rates resolved. `contextual` operators come first.
struct BoundStep {
  StepShape shape{};
  std::vector<BoundOperator> operators{};
  std::size_t contextual = 0; ///< how many of the operators depend on the context
  Seconds overhead{};         ///< fixed costs of layers, step and sequences
  Seconds constant{};         ///< overhead and the operators that do not depend on the context
  UnknownRates unknown{};

  /// Seconds of the pass when each sequence has `context` tokens cached. No allocation.
  [[nodiscard]] Seconds time(Tokens context) const {
    Seconds total = constant;
    for (std::size_t i = 0; i < contextual; ++i) {
      total += tokenroof::time(operators[i], context);
    }
    return total;
  }
};

} // namespace tokenroof
