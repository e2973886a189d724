#include <string>
#include <string_view>

#include "readers/gguf_layers.hpp"
#include "tokenroof/errors.hpp"

namespace tokenroof::readers {
namespace {

using enum GgufPart;

std::string does_not_fit(Count count, std::string_view what) {
  return "does not fit " + std::to_string(count) + " " + std::string(what);
}

/// The three matrices of a feed-forward network: as files have them, and as the network does.
struct FeedForwardParts {
  GgufPart gate;
  GgufPart up;
  GgufPart down;
  TensorRole gate_role;
  TensorRole up_role;
  TensorRole down_role;
};

constexpr FeedForwardParts dense_parts = {feed_forward_gate,           feed_forward_up,
                                          feed_forward_down,           TensorRole::feed_forward_gate,
                                          TensorRole::feed_forward_up, TensorRole::feed_forward_down};
constexpr FeedForwardParts shared_parts = {shared_expert_gate,           shared_expert_up,
                                           shared_expert_down,           TensorRole::shared_expert_gate,
                                           TensorRole::shared_expert_up, TensorRole::shared_expert_down};
constexpr FeedForwardParts dense_beside_experts = {feed_forward_gate,
                                                   feed_forward_up,
                                                   feed_forward_down,
                                                   TensorRole::shared_expert_gate,
                                                   TensorRole::shared_expert_up,
                                                   TensorRole::shared_expert_down};

/// Takes one feed-forward network. Gate and up-projection may be one tensor of twice the rows.
DenseFeedForward take_matrices(GgufTaker& tensors, const FeedForwardParts& parts) {
  const GgufTensor& up = tensors.require(parts.up);
  (void)tensors.require(parts.down);
  DenseFeedForward dense{.width = tensors.row_length(parts.down)};
  const bool fused = !tensors.has(parts.gate) && rows_of(up) == 2 * dense.width;
  dense.gated = fused || tensors.has(parts.gate);
  tensors.expect(fused || rows_of(up) == dense.width, parts.up,
                 does_not_fit(dense.width, "channels, which the projection down takes"));
  if (fused) {
    tensors.take_rows(up, parts.gate_role, dense.width);
    tensors.take_rows(up, parts.up_role, dense.width);
    tensors.done(parts.up);
  } else {
    tensors.take(parts.gate, parts.gate_role);
    tensors.take(parts.up, parts.up_role);
  }
  tensors.take(parts.down, parts.down_role);
  return dense;
}

DenseFeedForward dense_feed_forward(GgufTaker& tensors) {
  DenseFeedForward dense = take_matrices(tensors, dense_parts);
  dense.bias = tensors.has(feed_forward_up_bias) && tensors.has(feed_forward_down_bias);
  for (const GgufPart part : {feed_forward_gate_bias, feed_forward_up_bias, feed_forward_down_bias}) {
    tensors.take(part, TensorRole::feed_forward_bias);
  }
  return dense;
}

/// Experts in one tensor of three dimensions, or each in its own.
void take_experts(GgufTaker& tensors, MixtureOfExperts& moe, Count hidden) {
  (void)tensors.require(expert_down);
  moe.width = tensors.row_length(expert_down);
  const Count all = moe.experts * moe.width * expert_io_width(moe, hidden);
  const bool fused = tensors.has(expert_gate_up);
  const std::string reason = does_not_fit(moe.experts, "experts of width ") + std::to_string(moe.width);
  moe.gated = fused || tensors.has(expert_gate);
  tensors.expect(tensors.elements(expert_down) == all, expert_down, reason);
  tensors.take(expert_down, TensorRole::expert_down);
  if (!fused) {
    (void)tensors.require(expert_up);
    tensors.expect(tensors.elements(expert_up) == all, expert_up, reason);
    tensors.take(expert_gate, TensorRole::expert_gate);
    tensors.take(expert_up, TensorRole::expert_up);
    return;
  }
  const GgufTensor& both = tensors.require(expert_gate_up);
  tensors.expect(both.elements == 2 * all, expert_gate_up, reason);
  tensors.take_rows(both, TensorRole::expert_gate, rows_of(both) / 2);
  tensors.take_rows(both, TensorRole::expert_up, rows_of(both) / 2);
  tensors.done(expert_gate_up);
}

/// Experts may work in a width of their own, between projections that all share.
void take_latent_projections(GgufTaker& tensors, MixtureOfExperts& moe) {
  if (tensors.has(expert_latent_down)) {
    (void)tensors.require(expert_latent_up);
    moe.latent_width = tensors.rows(expert_latent_down);
    tensors.take(expert_latent_down, TensorRole::expert_latent_down);
    tensors.take(expert_latent_up, TensorRole::expert_latent_up);
  }
}

/// Learned scales of the router's input and of each expert's output.
void take_router_scales(GgufTaker& tensors, MixtureOfExperts& moe, Count hidden) {
  moe.router_scale = tensors.elements(router_scale) == hidden && tensors.elements(expert_scale) == moe.experts;
  for (const GgufPart part : {router_scale, expert_scale}) {
    if (moe.router_scale) {
      tensors.take(part, TensorRole::router_bias);
    } else {
      tensors.set_aside(part, "scales of whole tensors");
    }
  }
}

/// Experts that see every token, and a dense network beside the experts, which is the same by another name.
void take_shared_experts(GgufTaker& tensors, MixtureOfExperts& moe) {
  if (tensors.has(shared_expert_up)) {
    moe.shared_width = take_matrices(tensors, shared_parts).width;
  }
  if (tensors.has(feed_forward_up)) {
    moe.shared_width += take_matrices(tensors, dense_beside_experts).width;
    tensors.assume("the dense network beside the experts is counted as a shared expert");
  }
  moe.shared_gate = tensors.has(shared_expert_router);
  tensors.take(shared_expert_router, TensorRole::shared_expert_router);
}

MixtureOfExperts mixture_of_experts(GgufTaker& tensors, Count hidden) {
  constexpr std::string_view active_fact = "expert_used_count";
  constexpr Count most_experts = Count{1} << 16;
  const GgufMetadata& metadata = tensors.metadata();
  MixtureOfExperts moe{.experts = tensors.rows(router), .active = metadata.count(active_fact, tensors.layer())};
  tensors.expect(moe.experts <= most_experts, router, "has more than " + std::to_string(most_experts) + " experts");
  if (moe.active > moe.experts) {
    throw InvalidSpec(metadata.key(active_fact), std::to_string(moe.active),
                      "must not exceed the " + std::to_string(moe.experts) + " experts");
  }
  take_latent_projections(tensors, moe);
  take_experts(tensors, moe, hidden);
  take_shared_experts(tensors, moe);
  moe.router_bias = tensors.has(router_bias);
  moe.score_correction = tensors.has(score_correction);
  moe.expert_bias = tensors.has(expert_up_bias) && tensors.has(expert_down_bias);
  take_router_scales(tensors, moe, hidden);
  tensors.take(router, TensorRole::router);
  tensors.take(router_bias, TensorRole::router_bias);
  tensors.take(score_correction, TensorRole::router_bias);
  for (const GgufPart part : {expert_gate_bias, expert_up_bias, expert_down_bias}) {
    tensors.take(part, TensorRole::expert_bias);
  }
  return moe;
}

/// RWKV's feed-forward network, whose result a projection of the input gates.
DenseFeedForward take_channel_mix(GgufTaker& tensors) {
  (void)tensors.require(channel_value);
  const DenseFeedForward dense{
      .width = tensors.rows(channel_key), .gated = false, .receptance = tensors.has(channel_receptance)};
  tensors.take(channel_key, TensorRole::feed_forward_up);
  tensors.take(channel_value, TensorRole::feed_forward_down);
  tensors.take(channel_receptance, TensorRole::feed_forward_receptance);
  tensors.take(GgufPart::channel_mix, TensorRole::state_parameters);
  return dense;
}

} // namespace

std::optional<FeedForward> take_feed_forward(GgufTaker& tensors, Count hidden) {
  if (tensors.has(channel_key)) {
    return take_channel_mix(tensors);
  }
  if (tensors.has(router)) {
    return mixture_of_experts(tensors, hidden);
  }
  return tensors.has(feed_forward_up) ? std::optional<FeedForward>(dense_feed_forward(tensors)) : std::nullopt;
}

} // namespace tokenroof::readers
