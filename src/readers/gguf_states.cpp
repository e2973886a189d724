// Mixers that keep a state of fixed size instead of a growing cache.
#include <string>
#include <string_view>

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

void take_projection_biases(GgufTaker& tensors) {
  tensors.take(state_in_bias, TensorRole::attention_bias);
  tensors.take(state_out_bias, TensorRole::attention_bias);
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
                   .convolution_bias = tensors.has(state_convolution_bias),
                   .norm = tensors.has(state_norm)};
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
  take_projection_biases(tensors);
  take_state_parameters(tensors);
  return mixer;
}

LinearAttention take_gated_delta(GgufTaker& tensors) {
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

SelectiveScan take_selective_scan(GgufTaker& tensors) {
  for (const GgufPart part : {state_in, state_out, state_step, state_decay, state_convolution}) {
    (void)tensors.require(part);
  }
  const SelectiveScan mixer{.inner = tensors.row_length(state_out),
                            .state = tensors.row_length(state_decay),
                            .step_rank = tensors.row_length(state_step),
                            .convolution = tensors.row_length(state_convolution),
                            .projection_bias = tensors.has(state_in_bias),
                            .convolution_bias = tensors.has(state_convolution_bias),
                            .norms = tensors.has(state_step_norm)};
  tensors.expect(tensors.rows(state_in) == 2 * mixer.inner, state_in,
                 needs_rows(2 * mixer.inner, "what is scanned, and a gate"));
  tensors.expect(tensors.rows(state_scan) == mixer.step_rank + 2 * mixer.state, state_scan,
                 needs_rows(mixer.step_rank + 2 * mixer.state, "the step's rank, input and output"));
  tensors.expect(tensors.rows(state_decay) == mixer.inner, state_decay, needs_rows(mixer.inner, "one a channel"));
  tensors.take(state_in, TensorRole::state_space_in);
  tensors.take(state_scan, TensorRole::state_space_parameters);
  tensors.take(state_step, TensorRole::state_space_step);
  tensors.take(state_out, TensorRole::state_space_out);
  tensors.take(state_step_norm, TensorRole::norm);
  take_projection_biases(tensors);
  take_state_parameters(tensors);
  return mixer;
}

LinearAttention take_channel_gated_delta(GgufTaker& tensors) {
  for (const GgufPart part : {query, key, value, decay_down, decay_up, gate_down, gate_up, linear_gates, state_decay,
                              query_convolution, attention_output}) {
    (void)tensors.require(part);
  }
  LinearAttention mixer{.key_heads = tensors.elements(state_decay),
                        .value_heads = tensors.elements(state_decay),
                        .convolution = tensors.row_length(query_convolution),
                        .rule = LinearRule::channel_gated_delta,
                        .decay_rank = tensors.rows(decay_down),
                        .gate_rank = tensors.rows(gate_down)};
  for (const GgufPart part : {key, value}) {
    tensors.expect(tensors.rows(part) % mixer.key_heads == 0, part,
                   "has rows that " + std::to_string(mixer.key_heads) + " heads do not share evenly");
  }
  mixer.key_head_dim = tensors.rows(key) / mixer.key_heads;
  mixer.value_head_dim = tensors.rows(value) / mixer.value_heads;
  for (const GgufPart part : {query, key, value}) {
    tensors.take(part, TensorRole::linear_attention_in);
  }
  for (const GgufPart part : {decay_down, gate_down, linear_gates}) {
    tensors.take(part, TensorRole::linear_attention_gates);
  }
  for (const GgufPart part : {query_convolution, key_convolution, value_convolution}) {
    tensors.take(part, TensorRole::convolution);
  }
  tensors.take(decay_up, TensorRole::linear_attention_expand);
  tensors.take(gate_up, TensorRole::linear_attention_expand);
  tensors.take(attention_output, TensorRole::linear_attention_out);
  take_state_parameters(tensors);
  return mixer;
}

LinearAttention take_receptance(GgufTaker& tensors) {
  for (const GgufPart part : {receptance_key, receptance_value, receptance_output}) {
    (void)tensors.require(part);
  }
  const Count head_dim = tensors.metadata().count("wkv.head_size", tensors.layer());
  for (const GgufPart part : {receptance_key, receptance_value}) {
    tensors.expect(tensors.rows(part) % head_dim == 0, part,
                   "has no whole number of heads of " + tensors.metadata().key("wkv.head_size"));
  }
  for (const GgufPart part : {receptance, receptance_key, receptance_value, receptance_gate}) {
    tensors.take(part, TensorRole::linear_attention_in);
  }
  const LinearAttention mixer{.key_heads = tensors.rows(receptance_key) / head_dim,
                              .value_heads = tensors.rows(receptance_value) / head_dim,
                              .key_head_dim = head_dim,
                              .value_head_dim = head_dim,
                              .convolution = 0,
                              .rule = LinearRule::receptance,
                              .gate_rank = tensors.rows(gate_down)};
  tensors.take(gate_down, TensorRole::linear_attention_gates);
  tensors.take(gate_up, TensorRole::linear_attention_expand);
  tensors.take(receptance_output, TensorRole::linear_attention_out);
  tensors.take(receptance_norm, TensorRole::norm);
  tensors.take(receptance_decay, TensorRole::state_parameters);
  tensors.take(receptance_mix, TensorRole::state_parameters);
  tensors.set_aside(receptance_low_rank, "low-rank projections of decays and mixes");
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
