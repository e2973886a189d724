/// @file
/// Literals with decimal (kB, MB, GB, TB) and binary (KiB, MiB, GiB, TiB) prefixes: `80_GiB`, `3.35_TBps`, `989_TFLOPS`.
#pragma once

#include "tokenroof/units/quantity.hpp"

namespace tokenroof::literals {

// One literal is two overloads, for 80_GiB and for 3.35_TBps: a macro, since a literal's name cannot be a parameter.
#define TOKENROOF_LITERAL(Quantity, suffix, factor)                                                                    \
  [[nodiscard]] constexpr Quantity operator""_##suffix(unsigned long long value) {                                     \
    return Quantity::from_value(static_cast<double>(value) * (factor));                                                \
  }                                                                                                                    \
  [[nodiscard]] constexpr Quantity operator""_##suffix(long double value) {                                            \
    return Quantity::from_value(static_cast<double>(value) * (factor));                                                \
  }

TOKENROOF_LITERAL(Bytes, B, 1.0)
TOKENROOF_LITERAL(Bytes, kB, 1e3)
TOKENROOF_LITERAL(Bytes, MB, 1e6)
TOKENROOF_LITERAL(Bytes, GB, 1e9)
TOKENROOF_LITERAL(Bytes, TB, 1e12)
TOKENROOF_LITERAL(Bytes, KiB, 1024.0)
TOKENROOF_LITERAL(Bytes, MiB, 1048576.0)
TOKENROOF_LITERAL(Bytes, GiB, 1073741824.0)
TOKENROOF_LITERAL(Bytes, TiB, 1099511627776.0)

TOKENROOF_LITERAL(Bandwidth, GBps, 1e9)
TOKENROOF_LITERAL(Bandwidth, TBps, 1e12)

TOKENROOF_LITERAL(Flops, GFLOP, 1e9)
TOKENROOF_LITERAL(Flops, TFLOP, 1e12)
TOKENROOF_LITERAL(ComputeRate, GFLOPS, 1e9)
TOKENROOF_LITERAL(ComputeRate, TFLOPS, 1e12)
TOKENROOF_LITERAL(ComputeRate, PFLOPS, 1e15)
TOKENROOF_LITERAL(ComputeRate, TOPS, 1e12)

TOKENROOF_LITERAL(Tokens, tok, 1.0)
TOKENROOF_LITERAL(TokenRate, tokps, 1.0)

TOKENROOF_LITERAL(Seconds, s, 1.0)
TOKENROOF_LITERAL(Seconds, ms, 1e-3)
TOKENROOF_LITERAL(Seconds, us, 1e-6)

TOKENROOF_LITERAL(Watts, W, 1.0)

#undef TOKENROOF_LITERAL

} // namespace tokenroof::literals
