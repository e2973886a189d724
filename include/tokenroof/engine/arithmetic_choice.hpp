/// @file
/// In which arithmetic a weight format is multiplied on a given unit, and at what rate.
#pragma once

#include <array>

#include "tokenroof/engine/engine.hpp"

namespace tokenroof {

/// A rate and the arithmetic it belongs to. `rate` is null when the unit has none that would do.
struct ChosenRate {
  Arithmetic arithmetic = Arithmetic::bf16;
  const Rate* rate = nullptr;
};

namespace detail {

/// What stands in for an arithmetic that a unit lacks, best first. Operands are widened, but for what runtimes do
/// themselves: 16-bit formats stand in for each other, the few 32-bit matrices (routers) are rounded to them, and a unit
/// that is known for 8-bit integers alone (an NPU) computes everything in those.
constexpr std::array<Arithmetic, 4> substitutes(Arithmetic wanted) {
  using enum Arithmetic;
  switch (wanted) {
  case fp4:
    return {fp8, bf16, fp16, fp32};
  case fp6:
    return {fp8, bf16, fp16, fp32};
  case fp8:
    return {bf16, fp16, fp32, fp32};
  case fp8_accumulate16:
    return {fp8, bf16, fp16, fp32};
  case int4:
    return {int8, fp16, bf16, fp32};
  case int8:
    return {fp16, bf16, fp32, fp32};
  case fp16_accumulate16:
    return {fp16, bf16, fp32, int8};
  case bf16:
    return {fp16, tf32, fp32, int8};
  case fp16:
    return {bf16, tf32, fp32, int8};
  case tf32:
    return {fp32, bf16, fp16, fp64};
  case fp32:
    return {tf32, bf16, fp16, int8};
  case fp64:
    return {fp64, fp64, fp64, fp64};
  }
  return {wanted, wanted, wanted, wanted};
}

} // namespace detail

/// The rate for an arithmetic, or for the best substitute that the unit has.
[[nodiscard]] constexpr ChosenRate choose_rate(const ComputeUnit& unit, Arithmetic wanted) {
  if (const Rate* rate = find_rate(unit, wanted)) {
    return {wanted, rate};
  }
  for (const Arithmetic substitute : detail::substitutes(wanted)) {
    if (const Rate* rate = find_rate(unit, substitute)) {
      return {substitute, rate};
    }
  }
  return {wanted, nullptr};
}

/// The arithmetic that an engine uses for weights of a format with activations of another.
[[nodiscard]] constexpr Arithmetic arithmetic_for(const Format& weights, const Format& activations,
                                                  const EngineConstants& constants) {
  const auto half = [&](Arithmetic arithmetic) {
    return arithmetic == Arithmetic::fp16 ? constants.half_arithmetic.value_or(arithmetic) : arithmetic;
  };
  switch (weights.encoding) {
  case Encoding::ggml:
  case Encoding::weight_only:
    return constants.quantised_arithmetic.value_or(half(activations.arithmetic));
  case Encoding::plain:
  case Encoding::scaled:
    return half(weights.arithmetic);
  }
  return weights.arithmetic;
}

/// The rate at which an engine multiplies weights of a format with activations of another on a unit.
[[nodiscard]] constexpr ChosenRate rate_for(const ComputeUnit& unit, const Format& weights, const Format& activations,
                                            const EngineConstants& constants) {
  const ChosenRate usual = choose_rate(unit, arithmetic_for(weights, activations, constants));
  if (!constants.quantised_fastest) {
    return usual;
  }
  const ChosenRate expanded = choose_rate(unit, arithmetic_for(activations, activations, constants));
  return is_unpacked(weights) && expanded.rate && usual.rate && expanded.rate->value > usual.rate->value ? expanded
                                                                                                         : usual;
}

} // namespace tokenroof
