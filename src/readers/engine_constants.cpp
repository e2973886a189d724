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

using S = ServingHabits;

constexpr std::array<ServingField, 3> fields_of_serving = {{
    {"request_overhead_ms", cost, &S::request_overhead, millisecond},
    {"prefill_group", multiple, &S::prefill_group},
    {"prefill_group_equal_lengths", multiple, &S::prefill_group_equal_lengths},
}};

double number(double value) { return value; }
template <class Quantity>
double number(const Quantity& value) {
  return value.value();
}

template <class Values, class Field>
double get(const Values& values, const Field& field) {
  return std::visit([&](auto member) { return number(values.*member); }, field.member) / field.unit;
}

template <class Values, class Field>
void set(Values& values, const Field& field, double value) {
  std::visit(
      [&](auto member) {
        using Quantity = std::remove_cvref_t<decltype(values.*member)>;
        if constexpr (std::is_same_v<Quantity, double>) {
          values.*member = value * field.unit;
        } else {
          values.*member = Quantity::from_value(value * field.unit);
        }
      },
      field.member);
}

} // namespace

std::span<const ConstantField> constant_fields() { return fields; }

std::span<const ServingField> serving_fields() { return fields_of_serving; }

double value_of(const EngineConstants& constants, const ConstantField& field) { return get(constants, field); }

void set_value(EngineConstants& constants, const ConstantField& field, double value) { set(constants, field, value); }

double value_of(const ServingHabits& habits, const ServingField& field) { return get(habits, field); }

void set_value(ServingHabits& habits, const ServingField& field, double value) { set(habits, field, value); }

} // namespace tokenroof::readers
