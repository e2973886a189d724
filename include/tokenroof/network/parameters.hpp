/// @file
/// How many parameters a network has, exactly, by part.
#pragma once

#include <variant>

#include "tokenroof/network/tensors.hpp"

namespace tokenroof {

/// Parameters by part. A tied table is counted once, as `embedding`; biases belong to the part they are added in.
struct ParameterCount {
  Count embedding = 0;      ///< token and position tables, those by layer too
  Count attention = 0;      ///< mixers of every kind
  Count feed_forward = 0;   ///< dense feed-forward networks
  Count experts = 0;        ///< all routed experts
  Count shared_experts = 0; ///< and what leads into and out of the experts' own width
  Count router = 0;
  Count norms = 0;
  Count head = 0;
  Count other = 0; ///< projections around embeddings of another width or by layer, mixing of residual streams

  Count active_experts = 0; ///< of `experts`: what one token passes through
  Count idle_embedding = 0; ///< of `embedding`: tables that are only looked up, not multiplied with
  Count prediction = 0;     ///< multi-token prediction modules; in none of the sums

  [[nodiscard]] constexpr Count total() const {
    return embedding + attention + feed_forward + experts + shared_experts + router + norms + head + other;
  }
  /// Parameters one token passes through, embedding tables counted whole.
  [[nodiscard]] constexpr Count active() const { return total() - experts + active_experts; }
  /// The same without tables that are only looked up; a tied table is the head too and stays.
  [[nodiscard]] constexpr Count active_without_embeddings() const { return active() - idle_embedding; }

  friend bool operator==(const ParameterCount&, const ParameterCount&) = default;
};

namespace detail {

[[nodiscard]] constexpr Count& part_of(ParameterCount& count, TensorRole role) {
  switch (role) {
  case TensorRole::token_embedding:
  case TensorRole::tied_embedding:
  case TensorRole::position_embedding:
  case TensorRole::per_layer_embedding:
    return count.embedding;
  case TensorRole::embedding_projection:
  case TensorRole::per_layer_projection:
  case TensorRole::residual_mixing:
  case TensorRole::prediction_projection:
    return count.other;
  case TensorRole::lm_head:
  case TensorRole::head_bias:
    return count.head;
  case TensorRole::feed_forward_gate:
  case TensorRole::feed_forward_up:
  case TensorRole::feed_forward_down:
  case TensorRole::feed_forward_bias:
  case TensorRole::feed_forward_receptance:
    return count.feed_forward;
  case TensorRole::router:
  case TensorRole::router_bias:
    return count.router;
  case TensorRole::expert_gate:
  case TensorRole::expert_up:
  case TensorRole::expert_down:
  case TensorRole::expert_bias:
    return count.experts;
  case TensorRole::shared_expert_gate:
  case TensorRole::shared_expert_up:
  case TensorRole::shared_expert_down:
  case TensorRole::shared_expert_router:
  case TensorRole::expert_latent_down:
  case TensorRole::expert_latent_up:
    return count.shared_experts;
  case TensorRole::norm:
    return count.norms;
  default:
    return count.attention;
  }
}

[[nodiscard]] constexpr bool is_looked_up(TensorRole role) {
  return role == TensorRole::token_embedding || role == TensorRole::position_embedding ||
         role == TensorRole::per_layer_embedding;
}

/// Parameters of the experts that one token activates, of those of all; nothing to divide where the layer has none.
[[nodiscard]] inline Count active_share(const Block& block, Count expert_parameters) {
  const auto* moe = block.feed_forward ? std::get_if<MixtureOfExperts>(&*block.feed_forward) : nullptr;
  return moe != nullptr && moe->experts > 0 ? expert_parameters / moe->experts * moe->active : 0;
}

} // namespace detail

/// Counts every parameter of the network.
[[nodiscard]] inline ParameterCount count_parameters(const Network& network) {
  ParameterCount count;
  for (const LayerRun& run : network.layers) {
    const Count experts_before = count.experts;
    for_each_tensor(run.block, network,
                    [&](const Tensor& tensor) { detail::part_of(count, tensor.role) += elements(tensor) * run.count; });
    count.active_experts += detail::active_share(run.block, count.experts - experts_before);
  }
  for_each_outer_tensor(network, [&](const Tensor& tensor) {
    detail::part_of(count, tensor.role) += elements(tensor);
    count.idle_embedding += detail::is_looked_up(tensor.role) ? elements(tensor) : 0;
  });
  for_each_prediction_tensor(
      network, [&](const Tensor& tensor) { count.prediction += elements(tensor) * network.prediction_heads; });
  return count;
}

} // namespace tokenroof
