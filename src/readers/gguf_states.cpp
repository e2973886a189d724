// Mixers that keep a state of fixed size instead of a growing cache.
#include <string>

#include "readers/gguf_layers.hpp"

namespace tokenroof::readers {
namespace {

using enum GgufPart;

std::string needs_rows(Count rows, std::string_view why) {
  return "must have " + std::to_string(rows) + " rows: " + std::string(why);
}

void take_state_parameters(GgufTaker& tensors) {
  for (const GgufPart part : {state_decay, state_skip, state_step_bias, state_convolution_bias}) {
    tensors.take(part, TensorRole::state_parameters);
  }
  tensors.take(state_convolution, TensorRole::convolution);
  tensors.take(state_norm, TensorRole::norm);
}

} // namespace

StateSpace take_state_space(GgufTaker& tensors) {
  const GgufMetadata& metadata = tensors.metadata();
  (void)tensors.require(state_in);
  (void)tensors.require(state_decay);
  (void)tensors.require(state_convolution);
  const Count inner = tensors.row_length(state_out);
  StateSpace mixer{.heads = tensors.elements(state_decay),
                   .state = metadata.count("ssm.state_size", tensors.layer()),
                   .groups = metadata.find_count("ssm.group_count", tensors.layer()).value_or(1),
                   .convolution = tensors.row_length(state_convolution),
                   .projection_bias = tensors.has(state_in_bias),
                   .convolution_bias = tensors.has(state_convolution_bias)};
  tensors.expect(inner % mixer.heads == 0, state_out,
                 "has channels that " + std::to_string(mixer.heads) + " heads do not share evenly");
  mixer.head_dim = inner / mixer.heads;
  const Count convolved = tensors.rows(state_convolution);
  tensors.expect((convolved - inner) / 2 / mixer.state == mixer.groups &&
                     convolved == inner + 2 * mixer.groups * mixer.state,
                 state_convolution, "does not fit ssm.group_count and ssm.state_size");
  tensors.expect(tensors.rows(state_in) == inner + convolved + mixer.heads, state_in,
                 needs_rows(inner + convolved + mixer.heads, "a gate, what is convolved, and a step for each head"));
  tensors.take(state_in, TensorRole::state_space_in);
  tensors.take(state_out, TensorRole::state_space_out);
  tensors.take(state_in_bias, TensorRole::attention_bias);
  tensors.take(state_out_bias, TensorRole::attention_bias);
  take_state_parameters(tensors);
  return mixer;
}

LinearAttention take_linear_attention(GgufTaker& tensors) {
  const GgufMetadata& metadata = tensors.metadata();
  (void)tensors.require(state_out);
  (void)tensors.require(state_decay);
  (void)tensors.require(state_convolution);
  const Count values = tensors.row_length(state_out);
  LinearAttention mixer{.key_heads = metadata.count("ssm.group_count", tensors.layer()),
                        .value_heads = tensors.elements(state_decay),
                        .convolution = tensors.row_length(state_convolution)};
  const Count keys = (tensors.rows(state_convolution) - values) / 2;
  tensors.expect(values % mixer.value_heads == 0, state_out,
                 "has channels that " + std::to_string(mixer.value_heads) + " heads do not share evenly");
  tensors.expect(keys > 0 && keys % mixer.key_heads == 0 && tensors.rows(state_convolution) == 2 * keys + values,
                 state_convolution,
                 "does not fit the " + std::to_string(mixer.key_heads) + " key heads of ssm.group_count");
  mixer.key_head_dim = keys / mixer.key_heads;
  mixer.value_head_dim = values / mixer.value_heads;
  const GgufPart in = tensors.has(state_in) ? state_in : query_key_value;
  (void)tensors.require(in);
  const Count projected = tensors.rows(in) + tensors.rows(output_gate);
  tensors.expect(projected == 2 * keys + 2 * values, in,
                 "with its gate " + needs_rows(2 * keys + 2 * values, "queries, keys, values and gates"));
  tensors.take(in, TensorRole::linear_attention_in);
  tensors.take(output_gate, TensorRole::linear_attention_in);
  tensors.take(linear_gates, TensorRole::linear_attention_gates);
  tensors.take(state_out, TensorRole::linear_attention_out);
  take_state_parameters(tensors);
  return mixer;
}

ShortConvolution take_short_convolution(GgufTaker& tensors) {
  (void)tensors.require(short_convolution);
  (void)tensors.require(short_convolution_out);
  tensors.take(short_convolution_in, TensorRole::short_convolution_in);
  tensors.take(short_convolution, TensorRole::convolution);
  tensors.take(short_convolution_out, TensorRole::short_convolution_out);
  return {.taps = tensors.row_length(short_convolution)};
}

} // namespace tokenroof::readers
