/// @file
/// What a sequence keeps between steps: keys and values that grow with its tokens, and states that do not.
#pragma once

#include <cmath>
#include <variant>

#include "tokenroof/deployment/deployment.hpp"
#include "tokenroof/deployment/sharding.hpp"
#include "tokenroof/network/network.hpp"

namespace tokenroof {

namespace detail {

/// Tokens that a layer keeps of a sequence.
[[nodiscard]] inline double kept_tokens(Tokens tokens, const std::optional<Tokens>& window) {
  return window ? smaller(tokens, *window).value() : tokens.value();
}

/// Bytes one sequence of `tokens` occupies in one layer's mixer on one rank.
struct SequenceBytes {
  double element_bytes = 2;
  double state_element_bytes = 2;
  std::int64_t tensor = 1;
  Tokens tokens{};

  [[nodiscard]] double operator()(const GroupedQueryAttention& attention) const {
    if (attention.shares_cache) {
      return 0;
    }
    const auto heads = static_cast<double>(kv_heads_per_rank(attention.kv_heads, tensor));
    const auto elements = heads * static_cast<double>(attention.head_dim + attention.value_head_dim);
    return kept_tokens(tokens, attention.window) * (elements * element_bytes + index_bytes(attention.indexer));
  }
  [[nodiscard]] double operator()(const LatentAttention& attention) const {
    const auto elements = static_cast<double>(attention.kv_rank + attention.rope_head_dim); // replicated on every rank
    return tokens.value() * (elements * element_bytes + index_bytes(attention.indexer));
  }
  [[nodiscard]] double operator()(const CompressedAttention& attention) const {
    return kept_tokens(tokens, attention.window) * vector_bytes(attention) + tokens.value() * entry_bytes(attention) +
           compressor_state_bytes(attention);
  }
  /// One token's vector, as it lies in the window.
  [[nodiscard]] double vector_bytes(const CompressedAttention& attention) const {
    return static_cast<double>(attention.head_dim) * element_bytes;
  }
  /// A token's part of a compressed entry and its index key.
  [[nodiscard]] double entry_bytes(const CompressedAttention& attention) const {
    const double entry = vector_bytes(attention) + index_bytes(attention.indexer);
    return attention.ratio > 0 ? entry / static_cast<double>(attention.ratio) : 0;
  }
  [[nodiscard]] double operator()(const StateSpace& mixer) const {
    const auto inner = static_cast<double>(mixer.heads * mixer.head_dim);
    const auto convolved = inner + static_cast<double>(2 * mixer.groups * mixer.state);
    return state(inner * static_cast<double>(mixer.state), convolved * static_cast<double>(mixer.convolution - 1));
  }
  [[nodiscard]] double operator()(const SelectiveScan& mixer) const {
    return state(static_cast<double>(mixer.inner * mixer.state),
                 static_cast<double>(mixer.inner * (mixer.convolution - 1)));
  }
  [[nodiscard]] double operator()(const LinearAttention& mixer) const {
    const auto keys = static_cast<double>(mixer.key_heads * mixer.key_head_dim);
    const auto values = static_cast<double>(mixer.value_heads * mixer.value_head_dim);
    const auto shifted = static_cast<double>(mixer.rule == LinearRule::receptance ? 2 * hidden : 0);
    const auto taps = static_cast<double>(std::max<Count>(mixer.convolution - 1, 0));
    return state(values * static_cast<double>(mixer.key_head_dim), (2 * keys + values) * taps + shifted);
  }
  [[nodiscard]] double operator()(const ShortConvolution& mixer) const {
    return state(0, static_cast<double>(hidden * (mixer.taps - 1)));
  }

  [[nodiscard]] double operator()(const LinearMap&) const { return 0; }

  Count hidden = 0;

private:
  [[nodiscard]] double index_bytes(const std::optional<TokenIndexer>& indexer) const {
    return indexer ? index_key_bytes(*indexer, element_bytes) : 0;
  }
  /// The recurrent state is kept in 32 bits, the convolution's last inputs as activations are.
  [[nodiscard]] double state(double recurrent, double convolution) const {
    return (recurrent * 4 + convolution * state_element_bytes) / static_cast<double>(tensor);
  }
};

} // namespace detail

/// Layers of a run that begins at layer `first` and lie within a stage.
[[nodiscard]] constexpr Count layers_within(Count count, Count first, StageLayers stage) {
  return std::max<Count>(std::min(first + count, stage.first + stage.count) - std::max(first, stage.first), 0);
}

namespace detail {

[[nodiscard]] inline SequenceBytes sequence_bytes_of_mixer(const Network& network, const Format& kv,
                                                           const Format& activations, Tokens tokens,
                                                           std::int64_t tensor) {
  return {.element_bytes = bytes_per_element(kv),
          .state_element_bytes = bytes_per_element(activations),
          .tensor = tensor,
          .tokens = tokens,
          .hidden = network.hidden};
}

} // namespace detail

/// Bytes that one sequence of `tokens` keeps in layers `[first, first + count)` on one tensor-parallel rank, nothing
/// padded. A windowed layer keeps `min(tokens, window)`:
///
///     sum over layers of  min(tokens, window) * kv_heads * (head_dim + value_head_dim) * bytes_per_element(kv)
///
/// Latent attention keeps `kv_rank + rope_head_dim` elements a token, replicated; recurrent mixers a fixed state; an indexer
/// one key a token; compressed attention its window and an entry for each `ratio` tokens, in fractions; layers that share
/// an earlier one's cache nothing.
[[nodiscard]] inline Bytes sequence_bytes(const Network& network, const Format& kv, const Format& activations,
                                          Tokens tokens, std::int64_t tensor, StageLayers layers) {
  const auto of_mixer = detail::sequence_bytes_of_mixer(network, kv, activations, tokens, tensor);
  double total = 0;
  Count first = 0;
  for (const LayerRun& run : network.layers) {
    const auto here = static_cast<double>(layers_within(run.count, first, layers));
    for (const Mixer& mixer : run.block.mixers) {
      total += here * std::visit(of_mixer, mixer);
    }
    first += run.count;
  }
  return Bytes::from_value(total);
}

/// Bytes of KV cache of one sequence of `tokens` on a single device, nothing padded, states included.
[[nodiscard]] inline Bytes kv_cache(const Network& network, const Format& kv, Tokens tokens) {
  return sequence_bytes(network, kv, Format{}, tokens, 1, {0, layer_count(network)});
}

/// Bytes of cache that one more token adds while no window is full.
[[nodiscard]] inline BytesPerToken kv_cache_per_token(const Network& network, const Format& kv) {
  const Tokens one = Tokens::from_value(1);
  return (kv_cache(network, kv, one) - kv_cache(network, kv, Tokens())) / one;
}

/// Tokens of context at which a sequence's cache outgrows the weights; absent when windows or states keep it below.
[[nodiscard]] inline Tokens context_where_cache_exceeds(const Network& network, const Format& kv, Bytes weights) {
  Tokens low = Tokens();
  Tokens high = Tokens::from_value(1);
  constexpr Tokens longest = Tokens::from_value(1e12);
  while (kv_cache(network, kv, high) <= weights) {
    low = high;
    high *= 2.0;
    if (high > longest) {
      return Tokens::from_value(std::numeric_limits<double>::quiet_NaN());
    }
  }
  while (high - low > Tokens::from_value(1)) {
    const Tokens middle = Tokens::from_value(std::floor((low + high).value() / 2));
    (kv_cache(network, kv, middle) <= weights ? low : high) = middle;
  }
  return high;
}

} // namespace tokenroof
