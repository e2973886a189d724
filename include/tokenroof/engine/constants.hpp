/// @file
/// The constants of the time laws: what an engine reaches of a device's rates, and what it costs beyond them.
#pragma once

#include <array>
#include <optional>

#include "tokenroof/precision/arithmetic.hpp"
#include "tokenroof/units/quantity.hpp"

namespace tokenroof {

namespace detail {

constexpr std::array<double, arithmetic_count> filled(double value) {
  std::array<double, arithmetic_count> result{};
  result.fill(value);
  return result;
}

} // namespace detail

/// The constants of the time laws for one kind of device. The defaults are physics alone: a lower bound.
/// "Quantised" are weights in blocks that kernels expand themselves (ggml types, GPTQ, AWQ).
struct EngineConstants {
  /// Part of the memory bandwidth that streaming weights and activations reach, in (0, 1].
  double bandwidth_efficiency = 1;
  /// Part of it that reading the KV cache reaches, in (0, 1].
  double kv_bandwidth_efficiency = 1;
  /// Bytes that a core has under way per clock: no more than `cores * clock` times it is streamed. Zero: no such limit.
  double core_bytes_per_clock = 0;
  /// Part of the dense peak that large GEMMs reach, by arithmetic, in (0, 1].
  std::array<double, arithmetic_count> gemm_utilisation = detail::filled(1);
  /// Further factor for GEMMs with quantised weights, in (0, 1].
  double quantised_utilisation = 1;
  /// Operations of the ordinary units for each flop of such a GEMM: the scales of blocks, applied to partial sums.
  double scale_operations_per_flop = 0;
  /// Energy of a flop of a GEMM: under the device's design power no more are done. Zero: power is no limit.
  double gemm_picojoules_per_flop = 0;
  /// Passes of up to so many rows multiply quantised weights in matrix-vector kernels. Their unpacking is not hidden
  /// behind the memory's traffic: operations of the ordinary units per weight, and per weight and row.
  double vector_rows = 0;
  double unpack_operations = 0;
  double unpack_operations_per_row = 0;
  /// Further factor for the grouped GEMMs of experts, in (0, 1], and rows of padding for each expert that has any.
  double expert_utilisation = 1;
  double expert_padding_rows = 0;
  /// Part of the dense peak that causal prefill attention tends to with length, in (0, 1].
  double attention_utilisation = 1;
  /// New tokens at which attention reaches half of that: utilisation(s) = attention_utilisation / (1 + half / s).
  Tokens attention_half_length{};
  /// Part of the dense peak that attention reaches with one new token, in (0, 1].
  double decode_attention_utilisation = 1;
  /// Times that the scores of attention, as 32-bit numbers, pass through memory where they exist in it
  /// (`MemoryHabits::attention_scores`: no flash attention).
  double attention_score_passes = 0;
  /// Part of a link's bandwidth that collectives reach, in (0, 1], and the fixed cost of each.
  double link_efficiency = 1;
  Seconds collective_latency{};
  /// What a decode step costs beyond its operators' roofs: per layer, per layer and doubling of the tensor-parallel
  /// degree, more per layer with experts, per step, and per sequence of the batch.
  Seconds decode_layer{};
  Seconds decode_layer_per_tensor_doubling{};
  Seconds decode_expert_layer{};
  Seconds decode_step{};
  Seconds decode_sequence{};
  /// The same for a prefill step (or chunk): per layer, more per layer with experts, and per step.
  Seconds prefill_layer{};
  Seconds prefill_expert_layer{};
  Seconds prefill_step{};
  /// What fp16 is multiplied in when not with 32-bit accumulation (GeForce is twice as fast with 16-bit accumulation).
  std::optional<Arithmetic> half_arithmetic{};
  /// What ggml and other weight-only blocks are multiplied in, by kernels that quantise activations on the fly
  /// (llama.cpp's integer kernels, XNNPACK's dynamic ones); none: the activations' arithmetic.
  std::optional<Arithmetic> quantised_arithmetic{};
  /// They are multiplied in that or in the activations' arithmetic, whichever the unit is faster in.
  bool quantised_fastest = false;

  friend bool operator==(const EngineConstants&, const EngineConstants&) = default;
};

} // namespace tokenroof
