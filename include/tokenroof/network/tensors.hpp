/// @file
/// The tensors a network is made of: what parameter counts, weight schemes and operators go over.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

#include "tokenroof/network/network.hpp"

namespace tokenroof {

/// What a tensor is for. Weight schemes choose formats by it.
enum class TensorRole : std::uint8_t {
  token_embedding,
  tied_embedding, ///< the one tensor that is both token embedding and head
  position_embedding,
  embedding_projection, ///< between the width of the embeddings and the hidden width
  lm_head,
  attention_query, ///< twice as many rows where it yields the output gate too
  attention_key,
  attention_value,
  attention_fused, ///< the three in one; the inventory lists them apart, schemes name it where `fused` is set
  attention_output,
  latent_query_down,
  latent_query_up,
  latent_kv_down,
  latent_key_up,   ///< the key half of `kv_b`, laid out as decode multiplies queries with it
  latent_value_up, ///< the value half of `kv_b`, which decode multiplies the attention's result with
  state_space_in,
  state_space_out,
  linear_attention_in,    ///< queries, keys, values, and the output gate where it has no rank of its own
  linear_attention_gates, ///< write strength and decay, or the ranks they and the output gate pass through
  linear_attention_out,
  short_convolution_in,
  short_convolution_out,
  convolution,    ///< the causal convolution's taps
  attention_gate, ///< yields the gate on the attention's result, by head or by element
  output_down,    ///< from the heads to the rank that `attention_output` starts from
  compressor,     ///< makes one entry, and its weights, of several tokens
  indexer_query,
  indexer_key,
  indexer_weights,
  state_space_parameters,  ///< input, output and step of a selective scan
  state_space_step,        ///< from the step's rank to its channels
  linear_attention_expand, ///< from the rank of decays or gates to their channels
  linear_map,
  expert_latent_down, ///< from the hidden width to that of the experts
  expert_latent_up,
  feed_forward_receptance,
  per_layer_embedding,  ///< tables that each layer has of its own, looked up
  per_layer_projection, ///< between them and the hidden width
  residual_mixing,      ///< yields the weights by which residual streams are read and written
  feed_forward_gate,
  feed_forward_up,
  feed_forward_down,
  router,
  expert_gate,
  expert_up,
  expert_down,
  shared_expert_gate,
  shared_expert_up,
  shared_expert_down,
  shared_expert_router,  ///< yields the sigmoid gate of the shared expert
  prediction_projection, ///< joins hidden state and next token in a multi-token prediction module
  // From here on one-dimensional tensors.
  norm,
  attention_bias,
  sinks,
  state_parameters, ///< decays, step biases, skip weights and convolution biases
  feed_forward_bias,
  router_bias,
  expert_bias,
  head_bias,
};

inline constexpr std::array<std::string_view, 59> tensor_role_names = {
    "token_embedding",
    "tied_embedding",
    "position_embedding",
    "embedding_projection",
    "lm_head",
    "attention_query",
    "attention_key",
    "attention_value",
    "attention_fused",
    "attention_output",
    "latent_query_down",
    "latent_query_up",
    "latent_kv_down",
    "latent_key_up",
    "latent_value_up",
    "state_space_in",
    "state_space_out",
    "linear_attention_in",
    "linear_attention_gates",
    "linear_attention_out",
    "short_convolution_in",
    "short_convolution_out",
    "convolution",
    "attention_gate",
    "output_down",
    "compressor",
    "indexer_query",
    "indexer_key",
    "indexer_weights",
    "state_space_parameters",
    "state_space_step",
    "linear_attention_expand",
    "linear_map",
    "expert_latent_down",
    "expert_latent_up",
    "feed_forward_receptance",
    "per_layer_embedding",
    "per_layer_projection",
    "residual_mixing",
    "feed_forward_gate",
    "feed_forward_up",
    "feed_forward_down",
    "router",
    "expert_gate",
    "expert_up",
    "expert_down",
    "shared_expert_gate",
    "shared_expert_up",
    "shared_expert_down",
    "shared_expert_router",
    "prediction_projection",
    "norm",
    "attention_bias",
    "sinks",
    "state_parameters",
    "feed_forward_bias",
    "router_bias",
    "expert_bias",
    "head_bias",
};

inline constexpr std::size_t tensor_role_count = tensor_role_names.size();
static_assert(static_cast<std::size_t>(TensorRole::head_bias) + 1 == tensor_role_count);

[[nodiscard]] constexpr std::string_view name(TensorRole role) {
  return tensor_role_names[static_cast<std::size_t>(role)];
}

/// Whether tensors of this role have one dimension; formats with blocks leave those alone.
[[nodiscard]] constexpr bool is_vector(TensorRole role) { return role >= TensorRole::norm; }

/// Whether a tensor belongs to the routed experts of a layer.
[[nodiscard]] constexpr bool is_routed_expert(TensorRole role) {
  return role == TensorRole::expert_gate || role == TensorRole::expert_up || role == TensorRole::expert_down ||
         role == TensorRole::expert_bias;
}

/// `count` tensors of `rows` rows; a row is contiguous and as long as the input is wide.
struct Tensor {
  TensorRole role = TensorRole::norm;
  Count rows = 0;
  Count row_length = 0;
  Count count = 1; ///< experts, norms of one width: tensors alike in role and shape

  friend bool operator==(const Tensor&, const Tensor&) = default;
};

/// Parameters in all tensors of that entry.
[[nodiscard]] constexpr Count elements(const Tensor& tensor) { return tensor.rows * tensor.row_length * tensor.count; }

namespace detail {

template <class Visit>
constexpr void visit_vector(TensorRole role, Count length, Visit& visit, Count count = 1) {
  if (length > 0 && count > 0) {
    visit(Tensor{role, 1, length, count});
  }
}

/// An indexer whose queries come from `query_inputs` elements and whose keys are projected by `key_projections` matrices.
template <class Visit>
constexpr void for_each_tensor(const TokenIndexer& indexer, Count hidden, Count query_inputs, Count key_projections,
                               Visit& visit) {
  visit(Tensor{TensorRole::indexer_query, indexer.heads * indexer.head_dim, query_inputs});
  visit(Tensor{TensorRole::indexer_key, key_projections * indexer.head_dim, hidden});
  if (indexer.head_weights) {
    visit(Tensor{TensorRole::indexer_weights, indexer.heads, hidden});
  }
  visit_vector(TensorRole::norm, indexer.head_dim, visit, indexer.key_norm.vectors() + (indexer.query_norm ? 1 : 0));
}

template <class Visit>
constexpr void for_each_tensor(const GroupedQueryAttention& attention, Count hidden, Visit& visit) {
  const Count query_rows = attention.heads * attention.head_dim * (attention.output_gate ? 2 : 1);
  const Count key_rows = attention.kv_heads * attention.head_dim;
  const Count value_rows = attention.keys_are_values ? 0 : attention.kv_heads * attention.value_head_dim;
  visit(Tensor{TensorRole::attention_query, query_rows, hidden});
  visit(Tensor{TensorRole::attention_key, key_rows, hidden});
  if (value_rows > 0) {
    visit(Tensor{TensorRole::attention_value, value_rows, hidden});
  }
  visit(Tensor{TensorRole::attention_output, hidden, attention.heads * attention.value_head_dim});
  if (attention.head_gate) {
    visit(Tensor{TensorRole::attention_gate, attention.heads, hidden});
  }
  visit_vector(TensorRole::attention_bias, attention.query_bias ? query_rows : 0, visit);
  visit_vector(TensorRole::attention_bias, attention.key_bias ? key_rows : 0, visit);
  visit_vector(TensorRole::attention_bias, attention.value_bias ? value_rows : 0, visit);
  visit_vector(TensorRole::attention_bias, attention.output_bias ? hidden : 0, visit);
  visit_vector(TensorRole::sinks, attention.sinks ? attention.heads : 0, visit);
  if (attention.query_key_norm == QueryKeyNorm::per_head) {
    visit_vector(TensorRole::norm, attention.head_dim, visit, 2);
  } else if (attention.query_key_norm == QueryKeyNorm::per_model) {
    visit_vector(TensorRole::norm, attention.heads * attention.head_dim, visit);
    visit_vector(TensorRole::norm, key_rows, visit);
  }
  if (attention.indexer) {
    for_each_tensor(*attention.indexer, hidden, hidden, 1, visit);
  }
}

template <class Visit>
constexpr void for_each_tensor(const LatentAttention& attention, Count hidden, Visit& visit) {
  const Count query_rows = attention.heads * (attention.nope_head_dim + attention.rope_head_dim);
  const Count kv_rows = attention.kv_rank + attention.rope_head_dim;
  if (attention.query_rank > 0) {
    visit(Tensor{TensorRole::latent_query_down, attention.query_rank, hidden});
    visit_vector(TensorRole::attention_bias, attention.query_down_bias ? attention.query_rank : 0, visit);
    visit_vector(TensorRole::norm, attention.query_rank, visit);
    visit(Tensor{TensorRole::latent_query_up, query_rows, attention.query_rank});
  } else {
    visit(Tensor{TensorRole::attention_query, query_rows, hidden});
  }
  visit(Tensor{TensorRole::latent_kv_down, kv_rows, hidden});
  visit_vector(TensorRole::attention_bias, attention.kv_down_bias ? kv_rows : 0, visit);
  visit_vector(TensorRole::norm, attention.kv_rank, visit);
  visit(Tensor{TensorRole::latent_key_up, attention.heads * attention.kv_rank, attention.nope_head_dim});
  visit(Tensor{TensorRole::latent_value_up, attention.heads * attention.value_head_dim, attention.kv_rank});
  visit(Tensor{TensorRole::attention_output, hidden, attention.heads * attention.value_head_dim});
  visit_vector(TensorRole::attention_bias, attention.output_bias ? hidden : 0, visit);
  if (attention.output_gate) {
    visit(Tensor{TensorRole::attention_gate, attention.heads * attention.value_head_dim, hidden});
  }
  if (attention.indexer) {
    for_each_tensor(*attention.indexer, hidden, attention.query_rank > 0 ? attention.query_rank : hidden, 1, visit);
  }
}

/// A compressed entry's projections: its content and its weights, each over one or two stretches of tokens, and the learned
/// positions within them.
template <class Visit>
constexpr void visit_compressor(const CompressedAttention& attention, Count hidden, Visit& visit) {
  const Count stretches = attention.overlap ? 2 : 1;
  visit(Tensor{TensorRole::compressor, 2 * stretches * attention.head_dim, hidden});
  visit_vector(TensorRole::state_parameters, attention.ratio * stretches * attention.head_dim, visit);
  visit_vector(TensorRole::norm, attention.head_dim, visit);
  if (attention.indexer) {
    for_each_tensor(*attention.indexer, hidden, attention.query_rank, 2 * stretches, visit);
    visit_vector(TensorRole::state_parameters, attention.ratio * stretches * attention.indexer->head_dim, visit);
  }
}

template <class Visit>
constexpr void for_each_tensor(const CompressedAttention& attention, Count hidden, Visit& visit) {
  const Count query_rows = attention.heads * attention.head_dim;
  const Count output_inputs = attention.output_groups * attention.output_rank;
  visit(Tensor{TensorRole::latent_query_down, attention.query_rank, hidden});
  visit_vector(TensorRole::norm, attention.query_rank, visit);
  visit(Tensor{TensorRole::latent_query_up, query_rows, attention.query_rank});
  visit(Tensor{TensorRole::latent_kv_down, attention.head_dim, hidden});
  visit_vector(TensorRole::norm, attention.head_dim, visit);
  visit(Tensor{TensorRole::output_down, output_inputs, query_rows / attention.output_groups});
  visit(Tensor{TensorRole::attention_output, hidden, output_inputs});
  visit_vector(TensorRole::sinks, attention.heads, visit);
  if (attention.ratio > 0) {
    visit_compressor(attention, hidden, visit);
  }
}

template <class Visit>
constexpr void for_each_tensor(const StateSpace& mixer, Count hidden, Visit& visit) {
  const Count inner = mixer.heads * mixer.head_dim;
  const Count convolved = inner + 2 * mixer.groups * mixer.state;
  const Count projected = inner + convolved + mixer.heads;
  visit(Tensor{TensorRole::state_space_in, projected, hidden});
  visit(Tensor{TensorRole::convolution, convolved, mixer.convolution});
  visit(Tensor{TensorRole::state_space_out, hidden, inner});
  visit_vector(TensorRole::state_parameters, mixer.heads, visit, 3); // A, D and the step's bias
  visit_vector(TensorRole::state_parameters, mixer.convolution_bias ? convolved : 0, visit);
  visit_vector(TensorRole::attention_bias, mixer.projection_bias ? projected : 0, visit);
  visit_vector(TensorRole::attention_bias, mixer.projection_bias ? hidden : 0, visit);
  visit_vector(TensorRole::norm, mixer.norm ? inner : 0, visit);
}

template <class Visit>
constexpr void for_each_tensor(const SelectiveScan& mixer, Count hidden, Visit& visit) {
  visit(Tensor{TensorRole::state_space_in, 2 * mixer.inner, hidden});
  visit(Tensor{TensorRole::convolution, mixer.inner, mixer.convolution});
  visit(Tensor{TensorRole::state_space_parameters, mixer.step_rank + 2 * mixer.state, mixer.inner});
  visit(Tensor{TensorRole::state_space_step, mixer.inner, mixer.step_rank});
  visit(Tensor{TensorRole::state_space_out, hidden, mixer.inner});
  visit_vector(TensorRole::state_parameters, mixer.inner * mixer.state, visit); // A
  visit_vector(TensorRole::state_parameters, mixer.inner, visit,
               mixer.convolution_bias ? 3 : 2); // D, step, convolution
  visit_vector(TensorRole::attention_bias, mixer.projection_bias ? 2 * mixer.inner : 0, visit);
  visit_vector(TensorRole::attention_bias, mixer.projection_bias ? hidden : 0, visit);
  visit_vector(TensorRole::norm, mixer.norms ? mixer.step_rank : 0, visit);
  visit_vector(TensorRole::norm, mixer.norms ? mixer.state : 0, visit, 2);
}

/// Decays, write strengths and what else a rule learns beside its projections.
template <class Visit>
constexpr void visit_linear_rule(const LinearAttention& mixer, Count hidden, Visit& visit) {
  const Count keys = mixer.key_heads * mixer.key_head_dim;
  const Count values = mixer.value_heads * mixer.value_head_dim;
  switch (mixer.rule) {
  case LinearRule::gated_delta:
    visit(Tensor{TensorRole::linear_attention_gates, 2 * mixer.value_heads, hidden});
    visit_vector(TensorRole::state_parameters, mixer.value_heads, visit, 2); // A and the step's bias
    visit_vector(TensorRole::norm, mixer.value_head_dim, visit);
    break;
  case LinearRule::channel_gated_delta:
    visit(Tensor{TensorRole::linear_attention_gates, mixer.value_heads + mixer.decay_rank, hidden});
    visit(Tensor{TensorRole::linear_attention_expand, keys, mixer.decay_rank});
    visit_vector(TensorRole::state_parameters, mixer.value_heads, visit); // A
    visit_vector(TensorRole::state_parameters, keys, visit);              // the step's bias
    visit_vector(TensorRole::norm, mixer.value_head_dim, visit);
    break;
  case LinearRule::fixed_decay:
    visit_vector(TensorRole::norm, values, visit);
    break;
  case LinearRule::receptance:
    visit_vector(TensorRole::state_parameters, keys, visit, 2); // decay and bonus
    visit_vector(TensorRole::state_parameters, hidden, visit,
                 4); // mix with the token before: key, value, receptance, gate
    visit_vector(TensorRole::norm, values, visit, 2);
    break;
  }
}

template <class Visit>
constexpr void for_each_tensor(const LinearAttention& mixer, Count hidden, Visit& visit) {
  const Count keys = mixer.key_heads * mixer.key_head_dim;
  const Count values = mixer.value_heads * mixer.value_head_dim;
  visit(Tensor{TensorRole::linear_attention_in, 2 * keys + (mixer.gate_rank > 0 ? 1 : 2) * values, hidden});
  if (mixer.gate_rank > 0) {
    visit(Tensor{TensorRole::linear_attention_gates, mixer.gate_rank, hidden});
    visit(Tensor{TensorRole::linear_attention_expand, values, mixer.gate_rank});
  }
  if (mixer.convolution > 0) {
    visit(Tensor{TensorRole::convolution, 2 * keys + values, mixer.convolution});
  }
  visit_linear_rule(mixer, hidden, visit);
  visit(Tensor{TensorRole::linear_attention_out, hidden, values});
}

template <class Visit>
constexpr void for_each_tensor(const ShortConvolution& mixer, Count hidden, Visit& visit) {
  visit(Tensor{TensorRole::short_convolution_in, 3 * hidden, hidden});
  visit(Tensor{TensorRole::convolution, hidden, mixer.taps});
  visit(Tensor{TensorRole::short_convolution_out, hidden, hidden});
  if (mixer.bias) {
    visit_vector(TensorRole::attention_bias, 3 * hidden, visit);
    visit_vector(TensorRole::attention_bias, hidden, visit, 2); // of the convolution and of the projection out
  }
}

template <class Visit>
constexpr void for_each_tensor(const LinearMap& map, Count hidden, Visit& visit) {
  visit(Tensor{TensorRole::linear_map, hidden, hidden});
  visit_vector(TensorRole::feed_forward_bias, map.bias ? hidden : 0, visit);
}

template <class Visit>
constexpr void for_each_tensor(const DenseFeedForward& dense, Count hidden, Visit& visit) {
  if (dense.gated) {
    visit(Tensor{TensorRole::feed_forward_gate, dense.width, hidden});
  }
  visit(Tensor{TensorRole::feed_forward_up, dense.width, hidden});
  visit(Tensor{TensorRole::feed_forward_down, hidden, dense.width});
  if (dense.bias) {
    visit_vector(TensorRole::feed_forward_bias, dense.width, visit, dense.gated ? 2 : 1);
    visit_vector(TensorRole::feed_forward_bias, hidden, visit);
  }
  if (dense.receptance) {
    visit(Tensor{TensorRole::feed_forward_receptance, hidden, hidden});
    visit_vector(TensorRole::state_parameters, hidden, visit, 2); // mix with the token before: key and receptance
  }
}

template <class Visit>
constexpr void visit_shared_experts(const MixtureOfExperts& moe, Count hidden, Visit& visit) {
  if (moe.shared_width == 0) {
    return;
  }
  if (moe.gated) {
    visit(Tensor{TensorRole::shared_expert_gate, moe.shared_width, hidden});
  }
  visit(Tensor{TensorRole::shared_expert_up, moe.shared_width, hidden});
  visit(Tensor{TensorRole::shared_expert_down, hidden, moe.shared_width});
  if (moe.shared_gate) {
    visit(Tensor{TensorRole::shared_expert_router, 1, hidden});
  }
}

template <class Visit>
constexpr void for_each_tensor(const MixtureOfExperts& moe, Count hidden, Visit& visit) {
  const Count width = expert_io_width(moe, hidden);
  visit(Tensor{TensorRole::router, moe.experts, hidden});
  visit_vector(TensorRole::router_bias, moe.router_bias ? moe.experts : 0, visit);
  visit_vector(TensorRole::router_bias, moe.score_correction ? moe.experts : 0, visit);
  visit_vector(TensorRole::router_bias, moe.router_scale ? hidden : 0, visit);
  visit_vector(TensorRole::router_bias, moe.router_scale ? moe.experts : 0, visit);
  if (width != hidden) {
    visit(Tensor{TensorRole::expert_latent_down, width, hidden});
    visit(Tensor{TensorRole::expert_latent_up, hidden, width});
    visit_vector(TensorRole::norm, moe.latent_norm ? width : 0, visit);
  }
  if (moe.gated) {
    visit(Tensor{TensorRole::expert_gate, moe.width, width, moe.experts});
  }
  visit(Tensor{TensorRole::expert_up, moe.width, width, moe.experts});
  visit(Tensor{TensorRole::expert_down, width, moe.width, moe.experts});
  if (moe.expert_bias) {
    visit_vector(TensorRole::expert_bias, moe.width, visit, moe.experts * (moe.gated ? 2 : 1));
    visit_vector(TensorRole::expert_bias, width, visit, moe.experts);
  }
  visit_shared_experts(moe, hidden, visit);
}

/// What a layer has beside mixers and feed-forward network: its share of embeddings by layer, and the mixing of residual
/// streams around both parts.
template <class Visit>
constexpr void visit_layer_extras(const Block& block, const Network& network, Visit& visit) {
  if (network.per_layer_width > 0) {
    visit(Tensor{TensorRole::per_layer_projection, network.per_layer_width, network.hidden});
    visit(Tensor{TensorRole::per_layer_projection, network.hidden, network.per_layer_width});
    visit_vector(TensorRole::norm, network.hidden, visit);
  }
  const Count streams = network.residual_streams;
  if (streams > 1) {
    const Count parts = (block.mixers.empty() ? 0 : 1) + (block.feed_forward ? 1 : 0);
    visit(Tensor{TensorRole::residual_mixing, (2 + streams) * streams, streams * network.hidden, parts});
    visit_vector(TensorRole::state_parameters, (2 + streams) * streams + 3, visit, parts);
  }
  visit_vector(TensorRole::state_parameters, block.scale ? 1 : 0, visit);
}

} // namespace detail

/// Calls `visit(const Tensor&)` for each tensor of one layer, mixers first.
template <class Visit>
constexpr void for_each_tensor(const Block& block, const Network& network, Visit&& visit) {
  const auto members = [&](const auto& part) { detail::for_each_tensor(part, network.hidden, visit); };
  for (const Mixer& mixer : block.mixers) {
    std::visit(members, mixer);
  }
  if (block.feed_forward) {
    std::visit(members, *block.feed_forward);
  }
  detail::visit_layer_extras(block, network, visit);
  detail::visit_vector(TensorRole::norm, network.hidden, visit, block.norms * block.normalisation.vectors());
}

/// Calls `visit(const Tensor&)` for each tensor outside the layers; those of prediction heads are not among them.
template <class Visit>
constexpr void for_each_outer_tensor(const Network& network, Visit&& visit) {
  const Count width = network.embedding_width > 0 ? network.embedding_width : network.hidden;
  visit(Tensor{network.tied_embeddings ? TensorRole::tied_embedding : TensorRole::token_embedding, network.vocabulary,
               width});
  if (network.learned_positions > 0) {
    visit(Tensor{TensorRole::position_embedding, network.learned_positions, network.hidden});
  }
  if (width != network.hidden) {
    visit(Tensor{TensorRole::embedding_projection, network.hidden, width});
    visit(Tensor{TensorRole::embedding_projection, width, network.hidden});
  }
  if (!network.tied_embeddings) {
    visit(Tensor{TensorRole::lm_head, network.vocabulary, width});
  }
  if (network.per_layer_width > 0) {
    const Count all_layers = layer_count(network) * network.per_layer_width;
    visit(Tensor{TensorRole::per_layer_embedding, network.per_layer_vocabulary, all_layers});
    visit(Tensor{TensorRole::per_layer_projection, all_layers, network.hidden});
    detail::visit_vector(TensorRole::norm, network.per_layer_width, visit);
  }
  if (network.residual_streams > 1) {
    visit(Tensor{TensorRole::residual_mixing, network.residual_streams, network.residual_streams * network.hidden});
    detail::visit_vector(TensorRole::state_parameters, network.residual_streams + 1, visit);
  }
  detail::visit_vector(TensorRole::head_bias, network.head_bias ? network.vocabulary : 0, visit);
  detail::visit_vector(TensorRole::norm, network.hidden, visit,
                       ((network.final_norm ? 1 : 0) + (network.embedding_norm ? 1 : 0)) *
                           network.normalisation.vectors());
}

/// Calls `visit(const Tensor&)` for each tensor of one multi-token prediction module, where the network has them: its
/// layers (one like the network's last, if nothing else is said) behind a projection that joins hidden state and next token
/// @cite deepseekv3. Embedding and head are shared.
template <class Visit>
constexpr void for_each_prediction_tensor(const Network& network, Visit&& visit) {
  if (network.prediction_heads == 0 || network.layers.empty()) {
    return;
  }
  visit(Tensor{TensorRole::prediction_projection, network.hidden, 2 * network.hidden});
  detail::visit_vector(TensorRole::norm, network.hidden, visit, 3 * network.normalisation.vectors());
  if (network.prediction_blocks.empty()) {
    for_each_tensor(network.layers.back().block, network, visit);
  }
  for (const Block& block : network.prediction_blocks) {
    for_each_tensor(block, network, visit);
  }
}

} // namespace tokenroof
