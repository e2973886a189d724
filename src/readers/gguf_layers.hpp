/// @file
/// One layer of a GGUF file's network, and its members. All throw ParseError for what is missing or unknown, InvalidSpec for
/// keys that contradict shapes.
#pragma once

#include <optional>

#include "readers/gguf_taker.hpp"
#include "tokenroof/network/network.hpp"

namespace tokenroof::readers {

/// The layer that those tensors make; `window` is that of its attention.
[[nodiscard]] Block make_gguf_block(GgufTaker& tensors, Count hidden, const std::optional<Tokens>& window);

[[nodiscard]] GroupedQueryAttention take_grouped_attention(GgufTaker& tensors, Count hidden,
                                                           const std::optional<Tokens>& window);
[[nodiscard]] LatentAttention take_latent_attention(GgufTaker& tensors);
[[nodiscard]] StateSpace take_state_space(GgufTaker& tensors);
[[nodiscard]] LinearAttention take_linear_attention(GgufTaker& tensors);
[[nodiscard]] ShortConvolution take_short_convolution(GgufTaker& tensors);

/// The dense network or the experts of the layer; nothing where it has neither.
[[nodiscard]] std::optional<FeedForward> take_feed_forward(GgufTaker& tensors, Count hidden);

} // namespace tokenroof::readers
