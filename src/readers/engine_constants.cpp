#include "readers/engine_constants.hpp"

#include <array>
#include <type_traits>

namespace tokenroof::readers {

namespace {

using C = EngineConstants;
using enum Range;

constexpr double microsecond = 1e-6;
constexpr double millisecond = 1e-3;

constexpr std::array<ConstantField, 25> fields = {{
    {"bandwidth_efficiency", efficiency, &C::bandwidth_efficiency},
    {"kv_bandwidth_efficiency", efficiency, &C::kv_bandwidth_efficiency},
    {"core_bytes_per_clock", cost, &C::core_bytes_per_clock},
    {"quantised_utilisation", efficiency, &C::quantised_utilisation},
    {"scale_operations_per_flop", cost, &C::scale_operations_per_flop},
    {"gemm_picojoules_per_flop", cost, &C::gemm_picojoules_per_flop},
    {"vector_rows", cost, &C::vector_rows},
    {"unpack_operations", cost, &C::unpack_operations},
    {"unpack_operations_per_row", cost, &C::unpack_operations_per_row},
    {"expert_utilisation", efficiency, &C::expert_utilisation},
    {"expert_padding_rows", cost, &C::expert_padding_rows},
    {"attention_utilisation", efficiency, &C::attention_utilisation},
    {"attention_half_length_tokens", cost, &C::attention_half_length},
    {"decode_attention_utilisation", efficiency, &C::decode_attention_utilisation},
    {"attention_score_passes", cost, &C::attention_score_passes},
    {"link_efficiency", efficiency, &C::link_efficiency},
    {"collective_latency_us", cost, &C::collective_latency, microsecond},
    {"decode_layer_us", cost, &C::decode_layer, microsecond},
    {"decode_layer_per_tensor_doubling_us", cost, &C::decode_layer_per_tensor_doubling, microsecond},
    {"decode_expert_layer_us", cost, &C::decode_expert_layer, microsecond},
    {"decode_step_us", cost, &C::decode_step, microsecond},
    {"decode_sequence_us", cost, &C::decode_sequence, microsecond},
    {"prefill_layer_us", cost, &C::prefill_layer, microsecond},
    {"prefill_expert_layer_us", cost, &C::prefill_expert_layer, microsecond},
    {"prefill_step_ms", cost, &C::prefill_step, millisecond},
}};

double number(double value) { return value; }
template <class Quantity>
double number(const Quantity& value) {
  return value.value();
}

} // namespace

std::span<const ConstantField> constant_fields() { return fields; }

double value_of(const EngineConstants& constants, const ConstantField& field) {
  return std::visit([&](auto member) { return number(constants.*member); }, field.member) / field.unit;
}

void set_value(EngineConstants& constants, const ConstantField& field, double value) {
  std::visit(
      [&](auto member) {
        using Quantity = std::remove_cvref_t<decltype(constants.*member)>;
        if constexpr (std::is_same_v<Quantity, double>) {
          constants.*member = value * field.unit;
        } else {
          constants.*member = Quantity::from_value(value * field.unit);
        }
      },
      field.member);
}

} // namespace tokenroof::readers
