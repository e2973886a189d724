/// @file
/// The arithmetics that a compute unit may have a rate for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tokenroof {

/// What the multiply-accumulate units compute in. Rates are dense, with 32-bit accumulation unless the name says
/// `accumulate16` (GeForce tensor cores run those twice as fast).
enum class Arithmetic : std::uint8_t {
  fp64,
  fp32,
  tf32,
  fp16,
  bf16,
  fp16_accumulate16,
  fp8,
  fp8_accumulate16,
  fp6,
  fp4,
  int8,
  int4,
};

inline constexpr std::array<std::string_view, 12> arithmetic_names = {
    "fp64", "fp32", "tf32", "fp16", "bf16", "fp16_accumulate16", "fp8", "fp8_accumulate16",
    "fp6",  "fp4",  "int8", "int4"};

inline constexpr std::size_t arithmetic_count = arithmetic_names.size();

[[nodiscard]] constexpr std::string_view name(Arithmetic arithmetic) {
  return arithmetic_names[static_cast<std::size_t>(arithmetic)];
}

/// The arithmetic of that name, or nothing.
[[nodiscard]] constexpr std::optional<Arithmetic> find_arithmetic(std::string_view text) {
  for (std::size_t i = 0; i < arithmetic_count; ++i) {
    if (arithmetic_names[i] == text) {
      return static_cast<Arithmetic>(i);
    }
  }
  return std::nullopt;
}

} // namespace tokenroof
