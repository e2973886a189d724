#include "readers/gguf_layers.hpp"

namespace tokenroof::readers {
namespace {

using enum GgufPart;

/// All that mix tokens in the layer: some networks have two side by side.
std::vector<Mixer> take_mixers(GgufTaker& tensors, Count hidden, const std::optional<Tokens>& window) {
  std::vector<Mixer> mixers;
  if (tensors.has(short_convolution_in)) {
    mixers.emplace_back(take_short_convolution(tensors));
  }
  if (tensors.has(linear_gates)) {
    mixers.emplace_back(take_linear_attention(tensors));
  } else if (tensors.has(state_out)) {
    mixers.emplace_back(take_state_space(tensors));
  }
  if (tensors.has(latent_kv_down)) {
    mixers.emplace_back(take_latent_attention(tensors));
  } else if (tensors.has(query) || (tensors.has(query_key_value) && !tensors.has(linear_gates))) {
    mixers.emplace_back(take_grouped_attention(tensors, hidden, window));
  }
  if (mixers.empty()) {
    tensors.set_aside(attention_output, "a projection in place of attention");
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

Block make_gguf_block(GgufTaker& tensors, Count hidden, const std::optional<Tokens>& window) {
  Block block;
  block.mixers = take_mixers(tensors, hidden, window);
  block.feed_forward = take_feed_forward(tensors, hidden);
  take_norms(tensors, block, hidden);
  tensors.finish();
  return block;
}

} // namespace tokenroof::readers
