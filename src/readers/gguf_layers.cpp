#include "readers/gguf_layers.hpp"

#include <variant>

namespace tokenroof::readers {
namespace {

using enum GgufPart;

/// Mixers with a state of fixed size. Names of tensors are shared between kinds: the rarest decide.
std::optional<Mixer> take_state(GgufTaker& tensors) {
  if (tensors.has(receptance)) {
    return take_receptance(tensors);
  }
  if (tensors.has(decay_down)) {
    return take_channel_gated_delta(tensors);
  }
  if (tensors.has(linear_gates)) {
    return take_gated_delta(tensors);
  }
  if (tensors.has(state_scan)) {
    return take_selective_scan(tensors);
  }
  return tensors.has(state_out) ? std::optional<Mixer>(take_state_space(tensors)) : std::nullopt;
}

std::optional<Mixer> take_attention(GgufTaker& tensors, const GgufLayer& layer) {
  if (tensors.has(latent_kv_down)) {
    return take_latent_attention(tensors);
  }
  const bool attends = tensors.has(query) || tensors.has(query_key_value);
  return attends ? std::optional<Mixer>(take_grouped_attention(tensors, layer)) : std::nullopt;
}

/// All that mix tokens in the layer: some networks have two side by side.
std::vector<Mixer> take_mixers(GgufTaker& tensors, const GgufLayer& layer) {
  std::vector<Mixer> mixers;
  if (tensors.has(short_convolution_in)) {
    mixers.emplace_back(take_short_convolution(tensors));
  }
  const auto state = take_state(tensors);
  const bool linear = state && std::holds_alternative<LinearAttention>(*state);
  if (const auto attention = linear ? std::nullopt : take_attention(tensors, layer)) {
    mixers.push_back(*attention);
  }
  if (state) {
    mixers.push_back(*state);
  }
  if (mixers.empty() && tensors.rows(attention_output) == layer.hidden &&
      tensors.row_length(attention_output) == layer.hidden) {
    mixers.emplace_back(LinearMap{}); // what architecture search left of the attention
    tensors.take(attention_output, TensorRole::linear_map);
  }
  return mixers;
}

/// Norms of the hidden width. A layer whose attention and feed-forward network have one norm between them runs both at once.
void take_norms(GgufTaker& tensors, Block& block, Count hidden) {
  const Count before = tensors.take_sized(mixer_norm, TensorRole::norm, hidden);
  const Count others = tensors.take_sized(norm, TensorRole::norm, hidden);
  const Count biases = tensors.take_sized(norm_bias, TensorRole::norm, hidden);
  block.norms = before + others;
  block.normalisation.weight = block.norms > 0;
  block.normalisation.bias = block.norms > 0 && biases == block.norms;
  block.parallel = !block.mixers.empty() && block.feed_forward &&
                   (tensors.metadata().flag("use_parallel_residual").value_or(false) || (before > 0 && others == 0));
  if (block.norms == 0) {
    block.norms = 2;
    tensors.assume("layers without a norm's weights normalise twice");
  }
}

} // namespace

Block make_gguf_block(GgufTaker& tensors, const GgufLayer& layer) {
  Block block;
  block.mixers = take_mixers(tensors, layer);
  block.feed_forward = take_feed_forward(tensors, layer.hidden);
  take_norms(tensors, block, layer.hidden);
  block.scale = tensors.has(layer_scale);
  tensors.take(layer_scale, TensorRole::state_parameters);
  for (const GgufPart part : {per_layer_down, per_layer_up}) {
    tensors.take(part, TensorRole::per_layer_projection);
  }
  tensors.take(per_layer_norm, TensorRole::norm);
  tensors.finish();
  return block;
}

} // namespace tokenroof::readers
