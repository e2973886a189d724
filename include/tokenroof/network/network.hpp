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

  friend bool operator==(const LatentAttention&, const LatentAttention&) = default;
};

/// A Mamba-2 mixer: a state of `heads * head_dim * state` elements instead of a growing cache @cite mamba2.
struct StateSpace {
  Count heads = 0;
  Count head_dim = 0;
  Count state = 0;
  Count groups = 1;
  Count convolution = 4; ///< taps of the causal convolution before the scan
  bool projection_bias = false;
  bool convolution_bias = true;

  friend bool operator==(const StateSpace&, const StateSpace&) = default;
};

/// A gated delta-rule linear attention mixer: a state of `value_heads * key_head_dim * value_head_dim` @cite gateddeltanet.
struct LinearAttention {
  Count key_heads = 0;
  Count value_heads = 0;
  Count key_head_dim = 0;
  Count value_head_dim = 0;
  Count convolution = 4;

  friend bool operator==(const LinearAttention&, const LinearAttention&) = default;
};

/// A gated short convolution over the hidden channels (LFM2) @cite lfm2.
struct ShortConvolution {
  Count taps = 3;
  bool bias = false;

  friend bool operator==(const ShortConvolution&, const ShortConvolution&) = default;
};

/// What mixes information between tokens.
using Mixer = std::variant<GroupedQueryAttention, LatentAttention, StateSpace, LinearAttention, ShortConvolution>;

/// One feed-forward network: `hidden -> width -> hidden`, with a second up-projection where it is gated (SwiGLU, GeGLU).
struct DenseFeedForward {
  Count width = 0;
  bool gated = true;
  bool bias = false;

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

  friend bool operator==(const MixtureOfExperts&, const MixtureOfExperts&) = default;
};

using FeedForward = std::variant<DenseFeedForward, MixtureOfExperts>;

/// Layer normalisation has a weight, and a bias where `bias` is set; RMS normalisation a weight only.
struct Normalisation {
  bool weight = true;
  bool bias = false;

  [[nodiscard]] constexpr Count vectors() const { return (weight ? 1 : 0) + (bias ? 1 : 0); }
  friend bool operator==(const Normalisation&, const Normalisation&) = default;
};

/// One layer: mixers (in parallel, where there are two), a feed-forward network, norms of the hidden width.
struct Block {
  std::vector<Mixer> mixers{};
  std::optional<FeedForward> feed_forward{};
  Normalisation normalisation{};
  Count norms = 2; ///< normalisations of the hidden width in this layer
  bool parallel =
      false; ///< mixers and feed-forward network read the same input, and are summed at once (GPT-J, Falcon)

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
  Count prediction_heads = 0; ///< multi-token prediction modules, counted apart from the network

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
