/// @file
/// One layer of a GGUF file's network, and its members. All throw ParseError for what is missing or unknown, InvalidSpec for
/// keys that contradict shapes.
#pragma once

#include <optional>

#include "readers/gguf_taker.hpp"
#include "tokenroof/network/network.hpp"

namespace tokenroof::readers {

/// What a layer's own tensors do not say.
struct GgufLayer {
  Count hidden = 0;
  std::optional<Tokens> window{}; ///< of its attention
  bool shares_cache = false;      ///< with an earlier layer
};

/// The layer that those tensors make.
[[nodiscard]] Block make_gguf_block(GgufTaker& tensors, const GgufLayer& layer);

[[nodiscard]] GroupedQueryAttention take_grouped_attention(GgufTaker& tensors, const GgufLayer& layer);
[[nodiscard]] LatentAttention take_latent_attention(GgufTaker& tensors);
[[nodiscard]] StateSpace take_state_space(GgufTaker& tensors);
[[nodiscard]] SelectiveScan take_selective_scan(GgufTaker& tensors);
/// Of Qwen3-Next's kind, Kimi's, RWKV's.
[[nodiscard]] LinearAttention take_gated_delta(GgufTaker& tensors);
[[nodiscard]] LinearAttention take_channel_gated_delta(GgufTaker& tensors);
[[nodiscard]] LinearAttention take_receptance(GgufTaker& tensors);
[[nodiscard]] ShortConvolution take_short_convolution(GgufTaker& tensors);

/// The dense network or the experts of the layer; nothing where it has neither.
[[nodiscard]] std::optional<FeedForward> take_feed_forward(GgufTaker& tensors, Count hidden);

} // namespace tokenroof::readers
