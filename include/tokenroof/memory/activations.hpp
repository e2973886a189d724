/// @file
/// What is alive during a pass: the widest layer's vectors, then the logits of the tokens to pick.
#pragma once

#include <algorithm>
#include <cstdint>
#include <variant>

#include "tokenroof/deployment/deployment.hpp"
#include "tokenroof/deployment/sharding.hpp"
#include "tokenroof/network/network.hpp"
#include "tokenroof/workload/workload.hpp"

namespace tokenroof {

/// A pass: how many rows it has, of how many sequences, and how much the longest of them has cached at its end.
struct PassSize {
  Tokens rows{};
  std::int64_t sequences = 1;
  Tokens context{};
};

/// The largest pass of a workload on one replica: all prompts at once, or the engine's limits; the limits themselves where
/// the engine reserves for them.
[[nodiscard]] inline PassSize largest_pass(const Deployment& deployment, const Workload& workload) {
  std::int64_t sequences = batch_per_replica(workload.batch, deployment.parallelism);
  const std::int64_t most = most_sequences_at_once(deployment);
  const Tokens limit = batched_tokens(deployment);
  Tokens rows = workload.prompt * static_cast<double>(sequences);
  const bool reserves = deployment.engine->memory.reserves_for_largest_pass;
  if (limit.value() > 0) {
    rows = reserves ? limit : smaller(rows, limit);
  }
  if (most > 0) {
    sequences = reserves ? most : std::min(sequences, most);
  }
  return {.rows = rows, .sequences = sequences, .context = workload.context_depth + workload.prompt};
}

namespace detail {

/// Elements alive per row in a layer's widest moment, on one rank.
struct LiveElements {
  const MemoryHabits* habits = nullptr;
  double hidden = 0;
  double tensor = 1;
  double expert_width_shards = 1;

  [[nodiscard]] double operator()(const GroupedQueryAttention& a) const {
    const auto query = static_cast<double>(a.heads * a.head_dim) * (a.output_gate ? 2 : 1);
    const auto key_value = static_cast<double>(a.kv_heads * (a.head_dim + a.value_head_dim));
    return 2 * hidden + (query + key_value + static_cast<double>(a.heads * a.value_head_dim)) / tensor;
  }
  [[nodiscard]] double operator()(const LatentAttention& a) const {
    const auto key = static_cast<double>(a.nope_head_dim + a.rope_head_dim);
    const auto value = static_cast<double>(a.value_head_dim);
    return 2 * hidden + static_cast<double>(a.kv_rank + a.rope_head_dim + a.query_rank) +
           static_cast<double>(a.heads) * (2 * key + 2 * value) / tensor;
  }
  [[nodiscard]] double operator()(const StateSpace& m) const {
    const auto inner = static_cast<double>(m.heads * m.head_dim);
    return 2 * hidden + (3 * inner + static_cast<double>(2 * m.groups * m.state)) / tensor;
  }
  [[nodiscard]] double operator()(const LinearAttention& m) const {
    const auto keys = static_cast<double>(m.key_heads * m.key_head_dim);
    const auto values = static_cast<double>(m.value_heads * m.value_head_dim);
    return 2 * hidden + (2 * keys + 3 * values) / tensor;
  }
  [[nodiscard]] double operator()(const CompressedAttention& a) const {
    const auto query = static_cast<double>(a.heads * a.head_dim);
    const auto output = static_cast<double>(a.output_groups * a.output_rank);
    return 2 * hidden + static_cast<double>(a.query_rank + a.head_dim) + (2 * query + output) / tensor;
  }
  [[nodiscard]] double operator()(const SelectiveScan& m) const {
    return 2 * hidden + (4 * static_cast<double>(m.inner) + static_cast<double>(m.step_rank + 2 * m.state)) / tensor;
  }
  [[nodiscard]] double operator()(const LinearMap&) const { return habits->hidden_vectors * hidden; }
  [[nodiscard]] double operator()(const ShortConvolution&) const { return 2 * hidden + 4 * hidden / tensor; }
  [[nodiscard]] double operator()(const DenseFeedForward& f) const {
    return habits->hidden_vectors * hidden + wide(static_cast<double>(f.width), f.gated) / tensor;
  }
  [[nodiscard]] double operator()(const MixtureOfExperts& f) const {
    const double shared = wide(static_cast<double>(f.shared_width), f.gated) / tensor;
    return habits->hidden_vectors * hidden + shared + expert_workspace(f);
  }

  /// Of an expert layer: for each of a row's experts the branches and later its output in one buffer, the branches' product
  /// and earlier the gathered input in another.
  [[nodiscard]] double expert_workspace(const MixtureOfExperts& f) const {
    const double width = static_cast<double>(f.width) / expert_width_shards;
    const double branches = f.gated ? 2 * width : width;
    const double io = f.latent_width > 0 ? static_cast<double>(f.latent_width) : hidden;
    return static_cast<double>(f.active) * (std::max(branches, io) + std::max(width, io));
  }

private:
  [[nodiscard]] double wide(double width, bool gated) const {
    return width * (gated ? habits->feed_forward_vectors : habits->feed_forward_vectors - 1);
  }
};

[[nodiscard]] inline LiveElements live_elements(const Deployment& deployment) {
  return {.habits = &deployment.engine->memory,
          .hidden = static_cast<double>(deployment.network->hidden),
          .tensor = static_cast<double>(deployment.parallelism.tensor),
          .expert_width_shards = static_cast<double>(expert_tensor_ranks(deployment.parallelism))};
}

[[nodiscard]] inline double activation_element_bytes(const Deployment& deployment) {
  const double stated = deployment.engine->memory.activation_element_bytes;
  return stated > 0 ? stated : bytes_per_element(deployment.activations);
}

/// Elements alive per row while attention's scores are: queries, one score for each head of a rank and cached token, and
/// the mask. Nothing for mixers without scores.
struct ScoreElements {
  double hidden = 0; ///< of the vectors alive beside
  double context = 0;
  double tensor = 1;
  double element_bytes = 2;

  [[nodiscard]] double operator()(const GroupedQueryAttention& a) const { return of(a.heads, a.head_dim); }
  [[nodiscard]] double operator()(const LatentAttention& a) const {
    return of(a.heads, a.nope_head_dim + a.rope_head_dim);
  }
  template <class Recurrent>
  [[nodiscard]] double operator()(const Recurrent&) const {
    return 0;
  }

private:
  [[nodiscard]] double of(Count heads, Count head_dim) const {
    constexpr double score_bytes = 4;
    const double on_rank = static_cast<double>(heads) / tensor;
    return hidden + on_rank * static_cast<double>(head_dim) + (on_rank + 1) * context * score_bytes / element_bytes;
  }
};

[[nodiscard]] inline double widest_layer(const Deployment& deployment, Tokens context) {
  const LiveElements live = live_elements(deployment);
  const bool with_scores = deployment.engine->memory.attention_scores;
  const ScoreElements scores{.hidden = live.habits->hidden_vectors * live.hidden,
                             .context = context.value(),
                             .tensor = live.tensor,
                             .element_bytes = activation_element_bytes(deployment)};
  double widest = 0;
  for (const LayerRun& run : deployment.network->layers) {
    for (const Mixer& mixer : run.block.mixers) {
      widest = std::max({widest, std::visit(live, mixer), with_scores ? std::visit(scores, mixer) : 0});
    }
    if (run.block.feed_forward) {
      widest = std::max(widest, std::visit(live, *run.block.feed_forward));
    }
  }
  return widest;
}

[[nodiscard]] inline double widest_expert_workspace(const Deployment& deployment) {
  const LiveElements live = live_elements(deployment);
  double widest = 0;
  for (const LayerRun& run : deployment.network->layers) {
    const auto* moe = run.block.feed_forward ? std::get_if<MixtureOfExperts>(&*run.block.feed_forward) : nullptr;
    widest = moe != nullptr ? std::max(widest, live.expert_workspace(*moe)) : widest;
  }
  return widest;
}

} // namespace detail

/// Bytes of activations per row of a pass, live at once in the widest layer on one rank. For a gated feed-forward:
/// `(hidden_vectors * hidden + feed_forward_vectors * width / tp) * element bytes`, by default residual, norm's output and
/// the layer's own output, both branches and their product. For attention without flash attention also the scores of
/// `context` tokens.
[[nodiscard]] inline Bytes activation_bytes_per_token(const Deployment& deployment, Tokens context = {}) {
  return Bytes::from_value(detail::widest_layer(deployment, context) * detail::activation_element_bytes(deployment));
}

/// What a pass holds at its fullest moment on one rank.
struct ActivationPeak {
  Bytes activations{};
  Bytes logits{};

  [[nodiscard]] Bytes total() const { return activations + logits; }
};

/// While the layers run.
[[nodiscard]] inline ActivationPeak layers_peak(const Deployment& deployment, const PassSize& pass) {
  return {.activations = activation_bytes_per_token(deployment, pass.context) * pass.rows.value() +
                         deployment.engine->memory.workspace};
}

/// While tokens are picked: logits of one row a sequence (or of every row), the hidden vectors they come from, and
/// workspace that stays.
[[nodiscard]] inline ActivationPeak sampling_peak(const Deployment& deployment, const PassSize& pass) {
  const MemoryHabits& habits = deployment.engine->memory;
  const Network& network = *deployment.network;
  const double kept = habits.hidden_vectors_while_sampling * static_cast<double>(network.hidden) +
                      (habits.expert_workspace_stays ? detail::widest_expert_workspace(deployment) : 0);
  const double rows = habits.logits_for_every_row ? pass.rows.value() : static_cast<double>(pass.sequences);
  const double width = static_cast<double>(network.vocabulary) / static_cast<double>(deployment.parallelism.tensor);
  return {.activations = Bytes::from_value(kept * pass.rows.value() * detail::activation_element_bytes(deployment)) +
                         habits.workspace,
          .logits = Bytes::from_value(habits.logit_bytes * width * rows)};
}

/// The fuller of the two; only a last pipeline stage picks tokens.
[[nodiscard]] inline ActivationPeak activation_peak(const Deployment& deployment, const PassSize& pass,
                                                    bool last_stage) {
  const ActivationPeak layers = layers_peak(deployment, pass);
  const ActivationPeak sampling = last_stage ? sampling_peak(deployment, pass) : ActivationPeak{};
  return sampling.total() > layers.total() ? sampling : layers;
}

} // namespace tokenroof
