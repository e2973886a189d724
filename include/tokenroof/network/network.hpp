/// @file
/// A language model's architecture: what its layers are made of. Sizes only; formats and devices live elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tokenroof/units/quantity.hpp"

namespace tokenroof {

using Count = std::int64_t; ///< a whole number of heads, layers, experts, channels, parameters

/// Normalisation of queries and keys before the scores.
enum class QueryKeyNorm : std::uint8_t {
  none,
  per_head,  ///< one weight of head_dim for all query heads, one for all key heads (Qwen3, Gemma 3)
  per_model, ///< one weight over all query channels, one over all key channels (OLMo 2, MiniMax-M2)
};

/// Layer normalisation has a weight, and a bias where `bias` is set; RMS normalisation a weight only.
struct Normalisation {
  bool weight = true;
  bool bias = false;

  [[nodiscard]] constexpr Count vectors() const { return (weight ? 1 : 0) + (bias ? 1 : 0); }
  friend bool operator==(const Normalisation&, const Normalisation&) = default;
};

/// A light attention of its own that picks the cached tokens which the real one attends to @cite deepseekv32. Its keys are
/// cached beside: one a token, shared by its heads.
struct TokenIndexer {
  Count heads = 0;
  Count head_dim = 0;
  bool head_weights = true; ///< a projection weighs the heads token by token
  bool query_norm = false;  ///< queries are normalised, one weight for all heads
  Normalisation key_norm{}; ///< of its keys
  bool keys_in_fp8 = true;  ///< kept in 8 bits with one 32-bit scale per 128 elements, whatever the cache's format

  friend bool operator==(const TokenIndexer&, const TokenIndexer&) = default;
};

/// Bytes that an indexer caches for a token, in a cache of `element_bytes` an element.
[[nodiscard]] constexpr double index_key_bytes(const TokenIndexer& indexer, double element_bytes) {
  constexpr Count scale_elements = 128;
  const Count scales = (indexer.head_dim + scale_elements - 1) / scale_elements;
  return indexer.keys_in_fp8 ? static_cast<double>(indexer.head_dim + 4 * scales)
                             : static_cast<double>(indexer.head_dim) * element_bytes;
}

/// Softmax attention in which `heads / kv_heads` query heads share a key/value head (MHA: equal, MQA: one).
/// Caches `kv_heads * (head_dim + value_head_dim)` elements a token, of at most `window` tokens.
struct GroupedQueryAttention {
  Count heads = 0;
  Count kv_heads = 0;
  Count head_dim = 0;
  Count value_head_dim = 0;
  std::optional<Tokens> window{}; ///< a query sees at most this many tokens, itself included; none: all
  bool query_bias = false;
  bool key_bias = false;
  bool value_bias = false;
  bool output_bias = false;
  bool sinks = false;       ///< one learned logit a head in the softmax's denominator (gpt-oss)
  bool output_gate = false; ///< the query projection yields a second, gating half (Qwen3-Next)
  bool fused = false; ///< queries, keys and values come out of one stored tensor, which some schemes treat by itself
  QueryKeyNorm query_key_norm = QueryKeyNorm::none;
  bool head_gate = false; ///< a projection yields one gate a head (Step 3.5, Laguna)
  bool keys_are_values =
      false; ///< values are the keys before norm and rotation: projected once, cached twice (Gemma 4)
  /// Attends to the keys and values of an earlier layer; its own are stored and multiplied with, but not kept (Gemma 3n, 4).
  bool shares_cache = false;
  std::optional<TokenIndexer> indexer{}; ///< picks the tokens that a query sees
  std::optional<Tokens> selected{};      ///< at most this many cached tokens are picked for a query

  friend bool operator==(const GroupedQueryAttention&, const GroupedQueryAttention&) = default;
};

/// Multi-head latent attention: keys and values are re-made from one cached vector of
/// `kv_rank + rope_head_dim` elements a token @cite deepseekv2.
struct LatentAttention {
  Count heads = 0;
  Count query_rank = 0; ///< 0: queries come straight from the hidden state
  Count kv_rank = 0;
  Count nope_head_dim = 0; ///< part of a head's query and key without rotary embedding
  Count rope_head_dim = 0; ///< part with it, shared by all heads in the key
  Count value_head_dim = 0;
  bool query_down_bias = false;
  bool kv_down_bias = false;
  bool output_bias = false;
  bool output_gate = false;              ///< a projection yields a gate for every element of the result (Kimi K3)
  std::optional<TokenIndexer> indexer{}; ///< none where an earlier layer's choice is used again (GLM-5.2)
  std::optional<Tokens> selected{};      ///< at most this many cached tokens are picked for a query

  friend bool operator==(const LatentAttention&, const LatentAttention&) = default;
};

/// Attention of many query heads to a single vector a token that is key and value at once @cite deepseekv4: to the last
/// `window` tokens as they are, and to all before them in entries that each stand for `ratio` tokens. The result goes
/// through `output_groups` block-diagonal projections to `output_rank` elements each, and from there to the hidden width.
struct CompressedAttention {
  Count heads = 0;
  Count head_dim = 0;
  Count query_rank = 0;
  Count output_groups = 1;
  Count output_rank = 0;
  Tokens window{};
  Count ratio = 0;                       ///< tokens of one compressed entry; 0: the window alone is seen
  bool overlap = false;                  ///< each entry is made of two stretches of tokens, its own and the one before
  std::optional<TokenIndexer> indexer{}; ///< over compressed entries
  Count selected = 0;                    ///< at most this many entries are picked for a query; 0: all are seen

  friend bool operator==(const CompressedAttention&, const CompressedAttention&) = default;
};

/// Bytes of the tokens that wait to be compressed: contents and weights in 32 bits, of the stretch before too where
/// entries overlap.
[[nodiscard]] constexpr double compressor_state_bytes(const CompressedAttention& attention) {
  const Count stretches = attention.overlap ? 2 : 1;
  const Count width = attention.head_dim + (attention.indexer ? attention.indexer->head_dim : 0);
  constexpr Count bytes = 2 * sizeof(float); // of a content and its weight
  return static_cast<double>(bytes * stretches * stretches * attention.ratio * width);
}

/// A Mamba-2 mixer: a state of `heads * head_dim * state` elements instead of a growing cache @cite mamba2.
struct StateSpace {
  Count heads = 0;
  Count head_dim = 0;
  Count state = 0;
  Count groups = 1;
  Count convolution = 4; ///< taps of the causal convolution before the scan
  bool projection_bias = false;
  bool convolution_bias = true;
  bool norm = true; ///< a gated normalisation before the projection out

  friend bool operator==(const StateSpace&, const StateSpace&) = default;
};

/// A Mamba-1 mixer: a state of `inner * state` elements, each channel with a step size of its own @cite mamba.
struct SelectiveScan {
  Count inner = 0;
  Count state = 0;
  Count step_rank = 0;
  Count convolution = 4;
  bool projection_bias = false;
  bool convolution_bias = true;
  bool norms = false; ///< of step, input and output matrices (Jamba)

  friend bool operator==(const SelectiveScan&, const SelectiveScan&) = default;
};

/// How a linear attention's state takes up a token.
enum class LinearRule : std::uint8_t {
  gated_delta,         ///< the delta rule, one decay a head (Qwen3-Next) @cite gateddeltanet
  channel_gated_delta, ///< the delta rule, one decay a key channel (Kimi Linear) @cite kimilinear
  fixed_decay,         ///< outer products under a decay that is not learned (lightning attention) @cite minimax01
  receptance,          ///< RWKV's: outer products, one learned decay and bonus a key channel @cite rwkv5
};

/// A linear attention mixer: a state of `value_heads * key_head_dim * value_head_dim` elements.
struct LinearAttention {
  Count key_heads = 0;
  Count value_heads = 0;
  Count key_head_dim = 0;
  Count value_head_dim = 0;
  Count convolution = 4; ///< taps of the causal convolution before it; 0: none
  LinearRule rule = LinearRule::gated_delta;
  Count decay_rank = 0; ///< of the projection to the decays, where they are by channel
  Count gate_rank = 0;  ///< of the output gate's projection; 0: straight from the hidden state

  friend bool operator==(const LinearAttention&, const LinearAttention&) = default;
};

/// A gated short convolution over the hidden channels (LFM2) @cite lfm2.
struct ShortConvolution {
  Count taps = 3;
  bool bias = false;

  friend bool operator==(const ShortConvolution&, const ShortConvolution&) = default;
};

/// One matrix in place of a mixer or a feed-forward network, as architecture search leaves them @cite puzzle.
struct LinearMap {
  bool bias = false;

  friend bool operator==(const LinearMap&, const LinearMap&) = default;
};

/// What mixes information between tokens.
using Mixer = std::variant<GroupedQueryAttention, LatentAttention, StateSpace, LinearAttention, ShortConvolution,
                           CompressedAttention, SelectiveScan, LinearMap>;

/// One feed-forward network: `hidden -> width -> hidden`, with a second up-projection where it is gated (SwiGLU, GeGLU).
struct DenseFeedForward {
  Count width = 0;
  bool gated = true;
  bool bias = false;
  bool receptance = false; ///< the result is gated by a projection of the input (RWKV)

  friend bool operator==(const DenseFeedForward&, const DenseFeedForward&) = default;
};

/// A router sends each token to `active` of `experts` feed-forward networks; shared experts see every token.
struct MixtureOfExperts {
  Count experts = 0;
  Count active = 0;
  Count width = 0; ///< of one expert
  bool gated = true;
  Count shared_width = 0;        ///< of all shared experts together
  bool shared_gate = false;      ///< a sigmoid gate on the shared expert's output (Qwen MoE)
  bool router_bias = false;      ///< added to the router's logits
  bool score_correction = false; ///< a bias that only picks experts (DeepSeek V3)
  bool expert_bias = false;
  Count latent_width = 0;    ///< experts read and write this width, between shared projections; 0: the hidden width
  bool latent_norm = false;  ///< a normalisation of the latent width
  bool router_scale = false; ///< the router's input and the experts' outputs have learned scales (Gemma 4)

  friend bool operator==(const MixtureOfExperts&, const MixtureOfExperts&) = default;
};

using FeedForward = std::variant<DenseFeedForward, MixtureOfExperts, LinearMap>;

/// Width that experts read and write.
[[nodiscard]] constexpr Count expert_io_width(const MixtureOfExperts& moe, Count hidden) {
  return moe.latent_width > 0 ? moe.latent_width : hidden;
}

/// One layer: mixers (in parallel, where there are two), a feed-forward network, norms of the hidden width. Either may be
/// absent.
struct Block {
  std::vector<Mixer> mixers{};
  std::optional<FeedForward> feed_forward{};
  Normalisation normalisation{};
  Count norms = 2; ///< normalisations of the hidden width in this layer
  bool parallel =
      false;          ///< mixers and feed-forward network read the same input, and are summed at once (GPT-J, Falcon)
  bool scale = false; ///< one learned number that the layer's output is multiplied with (Gemma 4)

  friend bool operator==(const Block&, const Block&) = default;
};

/// `count` identical layers in a row.
struct LayerRun {
  Block block{};
  Count count = 0;

  friend bool operator==(const LayerRun&, const LayerRun&) = default;
};

/// A decoder-only language model.
struct Network {
  std::string name{};
  Count hidden = 0;
  Count vocabulary = 0;
  bool tied_embeddings = false; ///< the head is the token embedding, stored once
  Tokens context_limit{};       ///< tokens the network was made for; 0 when its description does not say
  std::vector<LayerRun> layers{};
  Normalisation normalisation{}; ///< of the final norm
  Count learned_positions = 0;   ///< rows of a learned position embedding; 0: rotary or none
  Count embedding_width = 0;     ///< width of the embeddings where it differs from `hidden` (OPT-350M); 0: hidden
  bool embedding_norm = false;   ///< a normalisation right after the embedding (BLOOM)
  bool final_norm = true;
  bool head_bias = false;
  Count prediction_heads = 0;             ///< multi-token prediction modules, counted apart from the network
  std::vector<Block> prediction_blocks{}; ///< layers of one such module; empty: one like the last layer
  Count per_layer_width = 0;      ///< width of the embedding that each layer has of its own (Gemma 3n, 4); 0: none
  Count per_layer_vocabulary = 0; ///< rows of its table
  Count residual_streams = 1;     ///< copies of the hidden state that layers mix (hyper-connections) @cite mhc

  friend bool operator==(const Network&, const Network&) = default;
};

/// Layers of all runs together.
[[nodiscard]] inline Count layer_count(const Network& network) {
  Count layers = 0;
  for (const LayerRun& run : network.layers) {
    layers += run.count;
  }
  return layers;
}

} // namespace tokenroof
