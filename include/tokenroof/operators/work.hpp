/// @file
/// Work: what an operator computes and moves, without regard to any device.
#pragma once

#include <limits>

#include "tokenroof/units/quantity.hpp"

namespace tokenroof {

/// The shape of one forward pass: `sequences`, each with `new_tokens` tokens beyond those cached.
struct StepShape {
  double sequences = 1;
  double new_tokens = 1;

  [[nodiscard]] constexpr double rows() const { return sequences * new_tokens; }
};

inline constexpr Tokens no_window = Tokens::from_value(std::numeric_limits<double>::infinity());

/// Flops and bytes of one operator in one pass, as a function of the tokens each sequence has cached (the context).
///
/// With `seen = min(context, window)` and `masked = max(0, seen - room)`:
///
///     flops(context) = flops + flops_per_context * seen - flops_per_masked * masked * (masked + 1) / 2
///     bytes(context) = weights + activations + kv + kv_per_context * seen
///
/// `masked` counts the new tokens whose window no longer reaches back to the first token seen; it is zero in decode
/// and without a window, so that there both are affine in `min(context, window)`.
struct Work {
  Flops flops{};
  FlopsPerToken flops_per_context{};
  Flops flops_per_masked{};
  Bytes weights{};
  Bytes activations{};
  Bytes kv{};
  BytesPerToken kv_per_context{};
  Tokens window = no_window;
  Tokens room = no_window;
};

/// Tokens of the context that an operator sees.
[[nodiscard]] constexpr Tokens seen_context(const Work& work, Tokens context) { return smaller(context, work.window); }

/// Operations of one pass at a context.
[[nodiscard]] constexpr Flops flops_at(const Work& work, Tokens context) {
  const Tokens seen = seen_context(work, context);
  const double masked = larger(seen - work.room, Tokens()).value();
  return work.flops + work.flops_per_context * seen - work.flops_per_masked * (masked * (masked + 1) / 2);
}

/// Bytes moved in one pass at a context.
[[nodiscard]] constexpr Bytes bytes_at(const Work& work, Tokens context) {
  return work.weights + work.activations + work.kv + work.kv_per_context * seen_context(work, context);
}

} // namespace tokenroof
