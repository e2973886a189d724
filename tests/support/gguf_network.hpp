/// @file
/// The GGUF file that a converter would make of a network.
#pragma once

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "support/gguf_writer.hpp"
#include "tokenroof/network/weight_scheme.hpp"

namespace tokenroof::test {

/// The number of a format among ggml's types.
inline std::uint32_t ggml_type(std::string_view format) {
  static const std::vector<std::pair<std::string_view, std::uint32_t>> types = {
      {"fp32", 0},     {"fp16", 1},   {"Q4_0", 2},    {"Q4_1", 3},   {"Q5_0", 6},    {"Q5_1", 7},     {"Q8_0", 8},
      {"Q2_K", 10},    {"Q3_K", 11},  {"Q4_K", 12},   {"Q5_K", 13},  {"Q6_K", 14},   {"IQ2_XXS", 16}, {"IQ2_XS", 17},
      {"IQ3_XXS", 18}, {"IQ1_S", 19}, {"IQ4_NL", 20}, {"IQ3_S", 21}, {"IQ2_S", 22},  {"IQ4_XS", 23},  {"IQ1_M", 29},
      {"bf16", 30},    {"TQ1_0", 34}, {"TQ2_0", 35},  {"mxfp4", 39}, {"IQ4_KS", 144}};
  for (const auto& [name, id] : types) {
    if (name == format) {
      return id;
    }
  }
  return 9999;
}

/// Writes the tensors of a network in the formats of a scheme.
class GgufNetworkWriter {
public:
  GgufNetworkWriter(const Network& network, const WeightScheme& scheme, GgufWriter& out,
                    std::string architecture = "llama")
      : network_(network), scheme_(scheme), facts_(scheme_facts(network)), out_(out),
        architecture_(std::move(architecture)) {}

  void write() {
    metadata();
    outer();
    Count layer = 0;
    Count attention_layer = 0;
    for (const LayerRun& run : network_.layers) {
      for (Count i = 0; i < run.count; ++i, ++layer) {
        place_ = "blk." + std::to_string(layer) + ".";
        position_ = {layer, facts_.layers};
        attention_position_ = {attention_layer, facts_.attention_layers};
        block(run.block);
        attention_layer += std::any_of(run.block.mixers.begin(), run.block.mixers.end(), is_grouped) ? 1 : 0;
      }
    }
  }

private:
  [[nodiscard]] std::string key(std::string_view fact) const { return architecture_ + "." + std::string(fact); }

  void metadata() {
    out_.text("general.architecture", architecture_);
    out_.text("general.name", network_.name);
    out_.number(key("block_count"), static_cast<std::uint32_t>(layer_count(network_)));
    out_.number(key("embedding_length"), static_cast<std::uint32_t>(network_.hidden));
    out_.number(key("context_length"), static_cast<std::uint32_t>(network_.context_limit.value()));
    std::vector<std::int32_t> heads;
    std::vector<std::int32_t> kv_heads;
    std::vector<bool> windowed;
    std::optional<Tokens> window;
    Count active = 0;
    for (const LayerRun& run : network_.layers) {
      const HeadCounts counts = head_counts(run.block);
      heads.insert(heads.end(), static_cast<std::size_t>(run.count), static_cast<std::int32_t>(counts.heads));
      kv_heads.insert(kv_heads.end(), static_cast<std::size_t>(run.count), static_cast<std::int32_t>(counts.kv_heads));
      windowed.insert(windowed.end(), static_cast<std::size_t>(run.count), counts.window.has_value());
      window = counts.window ? counts.window : window;
      head_dim_ = counts.head_dim > 0 ? counts.head_dim : head_dim_;
      if (run.block.feed_forward) {
        const auto* moe = std::get_if<MixtureOfExperts>(&*run.block.feed_forward);
        active = moe != nullptr ? moe->active : active;
      }
    }
    out_.numbers(key("attention.head_count"), heads);
    out_.numbers(key("attention.head_count_kv"), kv_heads);
    if (head_dim_ > 0) {
      out_.number(key("attention.key_length"), static_cast<std::uint32_t>(head_dim_));
      out_.number(key("attention.value_length"), static_cast<std::uint32_t>(head_dim_));
    }
    if (window) {
      out_.number(key("attention.sliding_window"), static_cast<std::uint32_t>(window->value()));
      out_.flags(key("attention.sliding_window_pattern"), windowed);
    }
    if (active > 0) {
      out_.number(key("expert_used_count"), static_cast<std::uint32_t>(active));
    }
    for (const LayerRun& run : network_.layers) {
      if (run.block.parallel) {
        out_.flag(key("use_parallel_residual"), true);
        break;
      }
    }
    sharing();
    states();
  }

  /// The last layers use the caches of earlier ones; some layers' queries see picked tokens.
  void sharing() {
    Count layers = 0;
    std::optional<Tokens> selected;
    for (const LayerRun& run : network_.layers) {
      for (const Mixer& mixer : run.block.mixers) {
        const auto* grouped = std::get_if<GroupedQueryAttention>(&mixer);
        const auto* latent = std::get_if<LatentAttention>(&mixer);
        layers += grouped != nullptr && grouped->shares_cache ? run.count : 0;
        selected = latent != nullptr && latent->selected ? latent->selected : selected;
      }
    }
    if (layers > 0) {
      out_.number(key("attention.shared_kv_layers"), static_cast<std::uint32_t>(layers));
    }
    if (selected) {
      out_.number(key("attention.indexer.top_k"), static_cast<std::uint32_t>(selected->value()));
    }
  }

  /// One number for all layers, as converters write them.
  void states() {
    for (const LayerRun& run : network_.layers) {
      for (const Mixer& mixer : run.block.mixers) {
        if (const auto* space = std::get_if<StateSpace>(&mixer)) {
          out_.number(key("ssm.state_size"), static_cast<std::uint32_t>(space->state));
          out_.number(key("ssm.group_count"), static_cast<std::uint32_t>(space->groups));
          return;
        }
        const auto* linear = std::get_if<LinearAttention>(&mixer);
        if (linear != nullptr && linear->rule == LinearRule::receptance) {
          out_.number(key("wkv.head_size"), static_cast<std::uint32_t>(linear->key_head_dim));
          return;
        }
        if (linear != nullptr) {
          out_.number(key("ssm.group_count"), static_cast<std::uint32_t>(linear->key_heads));
          return;
        }
      }
    }
  }

  struct HeadCounts {
    Count heads = 0;
    Count kv_heads = 0;
    Count head_dim = 0;
    std::optional<Tokens> window{};
  };

  static bool is_grouped(const Mixer& mixer) { return std::holds_alternative<GroupedQueryAttention>(mixer); }

  static HeadCounts head_counts(const Block& block) {
    HeadCounts counts;
    for (const Mixer& mixer : block.mixers) {
      if (const auto* grouped = std::get_if<GroupedQueryAttention>(&mixer)) {
        counts = {grouped->heads, grouped->kv_heads, grouped->head_dim, grouped->window};
      } else if (const auto* latent = std::get_if<LatentAttention>(&mixer)) {
        counts = {latent->heads, latent->heads, 0, std::nullopt};
      }
    }
    return counts;
  }

  void outer() {
    place_.clear();
    const Count hidden = network_.hidden;
    matrix("token_embd.weight", network_.tied_embeddings ? TensorRole::tied_embedding : TensorRole::token_embedding,
           network_.vocabulary, hidden);
    if (network_.learned_positions > 0) {
      matrix("position_embd.weight", TensorRole::position_embedding, network_.learned_positions, hidden);
    }
    if (network_.embedding_norm) {
      norm("token_embd_norm", hidden, network_.normalisation);
    }
    if (network_.final_norm) {
      norm("output_norm", hidden, network_.normalisation);
    }
    if (!network_.tied_embeddings) {
      matrix("output.weight", TensorRole::lm_head, network_.vocabulary, hidden);
    }
    if (network_.per_layer_width > 0) {
      const Count all_layers = layer_count(network_) * network_.per_layer_width;
      matrix("per_layer_token_embd.weight", TensorRole::per_layer_embedding, network_.per_layer_vocabulary, all_layers);
      matrix("per_layer_model_proj.weight", TensorRole::per_layer_projection, all_layers, hidden);
      vector("per_layer_proj_norm.weight", network_.per_layer_width);
    }
    vector("output.bias", network_.head_bias ? network_.vocabulary : 0);
  }

  void block(const Block& block) {
    for (const Mixer& kind : block.mixers) {
      std::visit([this](const auto& part) { mixer(part); }, kind);
    }
    if (block.feed_forward) {
      std::visit([this](const auto& part) { feed_forward(part); }, *block.feed_forward);
    }
    if (network_.per_layer_width > 0) {
      matrix("inp_gate.weight", TensorRole::per_layer_projection, network_.per_layer_width, network_.hidden);
      matrix("proj.weight", TensorRole::per_layer_projection, network_.hidden, network_.per_layer_width);
      vector("post_norm.weight", network_.hidden);
    }
    vector("layer_output_scale.weight", block.scale ? 1 : 0);
    static const std::vector<std::string> names = {"attn_norm",       "ffn_norm",         "post_attention_norm",
                                                   "post_ffw_norm",   "post_ffw_norm_1",  "pre_ffw_norm_2",
                                                   "post_ffw_norm_2", "layer_output_norm"};
    for (Count i = 0; i < block.norms; ++i) {
      norm(names[static_cast<std::size_t>(i)], network_.hidden, block.normalisation);
    }
  }

  void mixer(const GroupedQueryAttention& a) {
    const Count query_rows = a.heads * a.head_dim * (a.output_gate ? 2 : 1);
    const Count key_rows = a.kv_heads * a.head_dim;
    const Count value_rows = a.kv_heads * a.value_head_dim;
    if (a.fused) {
      matrix("attn_qkv.weight", TensorRole::attention_query, query_rows + key_rows + value_rows, network_.hidden);
      vector("attn_qkv.bias", a.query_bias ? query_rows + key_rows + value_rows : 0);
    } else {
      matrix("attn_q.weight", TensorRole::attention_query, query_rows, network_.hidden);
      matrix("attn_k.weight", TensorRole::attention_key, key_rows, network_.hidden);
      if (!a.keys_are_values) {
        matrix("attn_v.weight", TensorRole::attention_value, value_rows, network_.hidden);
      }
      vector("attn_q.bias", a.query_bias ? query_rows : 0);
      vector("attn_k.bias", a.key_bias ? key_rows : 0);
      vector("attn_v.bias", a.value_bias ? value_rows : 0);
    }
    matrix("attn_output.weight", TensorRole::attention_output, network_.hidden, a.heads * a.value_head_dim);
    vector("attn_output.bias", a.output_bias ? network_.hidden : 0);
    vector("attn_sinks.weight", a.sinks ? a.heads : 0);
    if (a.head_gate) {
      matrix("attn_gate.weight", TensorRole::attention_gate, a.heads, network_.hidden);
    }
    if (a.query_key_norm != QueryKeyNorm::none) {
      const bool per_head = a.query_key_norm == QueryKeyNorm::per_head;
      vector("attn_q_norm.weight", per_head ? a.head_dim : a.heads * a.head_dim);
      vector("attn_k_norm.weight", per_head ? a.head_dim : key_rows);
    }
  }

  void mixer(const LatentAttention& a) {
    const Count query_rows = a.heads * (a.nope_head_dim + a.rope_head_dim);
    if (a.query_rank > 0) {
      matrix("attn_q_a.weight", TensorRole::latent_query_down, a.query_rank, network_.hidden);
      vector("attn_q_a_norm.weight", a.query_rank);
      matrix("attn_q_b.weight", TensorRole::latent_query_up, query_rows, a.query_rank);
    } else {
      matrix("attn_q.weight", TensorRole::attention_query, query_rows, network_.hidden);
    }
    matrix("attn_kv_a_mqa.weight", TensorRole::latent_kv_down, a.kv_rank + a.rope_head_dim, network_.hidden);
    vector("attn_kv_a_norm.weight", a.kv_rank);
    tensor("attn_k_b.weight", TensorRole::latent_key_up, {a.nope_head_dim, a.kv_rank, a.heads});
    tensor("attn_v_b.weight", TensorRole::latent_value_up, {a.kv_rank, a.value_head_dim, a.heads});
    matrix("attn_output.weight", TensorRole::attention_output, network_.hidden, a.heads * a.value_head_dim);
    vector("attn_output.bias", a.output_bias ? network_.hidden : 0);
    if (a.output_gate) {
      matrix("attn_gate.weight", TensorRole::attention_gate, a.heads * a.value_head_dim, network_.hidden);
    }
    if (a.indexer) {
      indexer(*a.indexer, a.query_rank > 0 ? a.query_rank : network_.hidden);
    }
  }

  void mixer(const StateSpace& m) {
    const Count inner = m.heads * m.head_dim;
    const Count convolved = inner + 2 * m.groups * m.state;
    matrix("ssm_in.weight", TensorRole::state_space_in, inner + convolved + m.heads, network_.hidden);
    vector("ssm_in.bias", m.projection_bias ? inner + convolved + m.heads : 0);
    matrix("ssm_conv1d.weight", TensorRole::convolution, convolved, m.convolution);
    vector("ssm_conv1d.bias", m.convolution_bias ? convolved : 0);
    tensor("ssm_a", TensorRole::state_parameters, {1, m.heads});
    tensor("ssm_d", TensorRole::state_parameters, {1, m.heads});
    vector("ssm_dt.bias", m.heads);
    if (m.norm) {
      tensor("ssm_norm.weight", TensorRole::norm, {inner / m.groups, m.groups});
    }
    matrix("ssm_out.weight", TensorRole::state_space_out, network_.hidden, inner);
    vector("ssm_out.bias", m.projection_bias ? network_.hidden : 0);
  }

  void mixer(const LinearAttention& m) {
    switch (m.rule) {
    case LinearRule::channel_gated_delta:
      return channel_gated_delta(m);
    case LinearRule::receptance:
      return receptance(m);
    case LinearRule::fixed_decay:
      throw std::logic_error("no GGUF file is known for this"); // see has_gguf_form
    case LinearRule::gated_delta:
      return gated_delta(m);
    }
  }

  void channel_gated_delta(const LinearAttention& m) {
    const Count keys = m.key_heads * m.key_head_dim;
    const Count values = m.value_heads * m.value_head_dim;
    matrix("attn_q.weight", TensorRole::linear_attention_in, keys, network_.hidden);
    matrix("attn_k.weight", TensorRole::linear_attention_in, keys, network_.hidden);
    matrix("attn_v.weight", TensorRole::linear_attention_in, values, network_.hidden);
    tensor("ssm_conv1d_q.weight", TensorRole::convolution, {m.convolution, 1, keys});
    tensor("ssm_conv1d_k.weight", TensorRole::convolution, {m.convolution, 1, keys});
    tensor("ssm_conv1d_v.weight", TensorRole::convolution, {m.convolution, 1, values});
    matrix("ssm_f_a.weight", TensorRole::linear_attention_gates, m.decay_rank, network_.hidden);
    matrix("ssm_f_b.weight", TensorRole::linear_attention_expand, keys, m.decay_rank);
    matrix("ssm_g_a.weight", TensorRole::linear_attention_gates, m.gate_rank, network_.hidden);
    matrix("ssm_g_b.weight", TensorRole::linear_attention_expand, values, m.gate_rank);
    matrix("ssm_beta.weight", TensorRole::linear_attention_gates, m.value_heads, network_.hidden);
    tensor("ssm_a", TensorRole::state_parameters, {1, m.value_heads});
    vector("ssm_dt.bias", keys);
    vector("ssm_norm.weight", m.value_head_dim);
    matrix("attn_output.weight", TensorRole::linear_attention_out, network_.hidden, values);
  }

  void receptance(const LinearAttention& m) {
    const Count keys = m.key_heads * m.key_head_dim;
    const Count values = m.value_heads * m.value_head_dim;
    for (const char* name : {"time_mix_receptance.weight", "time_mix_key.weight"}) {
      matrix(name, TensorRole::linear_attention_in, keys, network_.hidden);
    }
    for (const char* name : {"time_mix_value.weight", "time_mix_gate.weight"}) {
      matrix(name, TensorRole::linear_attention_in, values, network_.hidden);
    }
    matrix("time_mix_output.weight", TensorRole::linear_attention_out, network_.hidden, values);
    vector("time_mix_decay.weight", keys);
    tensor("time_mix_first.weight", TensorRole::state_parameters, {m.key_head_dim, m.key_heads});
    for (const char* name :
         {"time_mix_lerp_k.weight", "time_mix_lerp_v.weight", "time_mix_lerp_r.weight", "time_mix_lerp_g.weight"}) {
      tensor(name, TensorRole::state_parameters, {network_.hidden, 1, 1});
    }
    norm("time_mix_ln", values, {.bias = true});
  }

  void gated_delta(const LinearAttention& m) {
    const Count keys = m.key_heads * m.key_head_dim;
    const Count values = m.value_heads * m.value_head_dim;
    matrix("attn_qkv.weight", TensorRole::linear_attention_in, 2 * keys + values, network_.hidden);
    matrix("attn_gate.weight", TensorRole::linear_attention_in, values, network_.hidden);
    matrix("ssm_ba.weight", TensorRole::linear_attention_gates, 2 * m.value_heads, network_.hidden);
    matrix("ssm_conv1d.weight", TensorRole::convolution, 2 * keys + values, m.convolution);
    vector("ssm_a", m.value_heads);
    vector("ssm_dt.bias", m.value_heads);
    vector("ssm_norm.weight", m.value_head_dim);
    matrix("ssm_out.weight", TensorRole::linear_attention_out, network_.hidden, values);
  }

  void mixer(const SelectiveScan& m) {
    matrix("ssm_in.weight", TensorRole::state_space_in, 2 * m.inner, network_.hidden);
    vector("ssm_in.bias", m.projection_bias ? 2 * m.inner : 0);
    matrix("ssm_conv1d.weight", TensorRole::convolution, m.inner, m.convolution);
    vector("ssm_conv1d.bias", m.convolution_bias ? m.inner : 0);
    matrix("ssm_x.weight", TensorRole::state_space_parameters, m.step_rank + 2 * m.state, m.inner);
    matrix("ssm_dt.weight", TensorRole::state_space_step, m.inner, m.step_rank);
    vector("ssm_dt.bias", m.inner);
    tensor("ssm_a", TensorRole::state_parameters, {m.state, m.inner});
    vector("ssm_d", m.inner);
    vector("ssm_dt_norm.weight", m.norms ? m.step_rank : 0);
    vector("ssm_b_norm.weight", m.norms ? m.state : 0);
    vector("ssm_c_norm.weight", m.norms ? m.state : 0);
    matrix("ssm_out.weight", TensorRole::state_space_out, network_.hidden, m.inner);
    vector("ssm_out.bias", m.projection_bias ? network_.hidden : 0);
  }

  void mixer(const LinearMap& /*map*/) {
    matrix("attn_output.weight", TensorRole::linear_map, network_.hidden, network_.hidden);
  }

  void mixer(const CompressedAttention& /*attention*/) {
    throw std::logic_error("no GGUF file is known for this"); // see has_gguf_form
  }

  void indexer(const TokenIndexer& i, Count query_inputs) {
    matrix("indexer.attn_q_b.weight", TensorRole::indexer_query, i.heads * i.head_dim, query_inputs);
    matrix("indexer.attn_k.weight", TensorRole::indexer_key, i.head_dim, network_.hidden);
    if (i.head_weights) {
      matrix("indexer.proj.weight", TensorRole::indexer_weights, i.heads, network_.hidden);
    }
    norm("indexer.k_norm", i.head_dim, i.key_norm);
  }

  void mixer(const ShortConvolution& m) {
    matrix("shortconv.in_proj.weight", TensorRole::short_convolution_in, 3 * network_.hidden, network_.hidden);
    matrix("shortconv.conv.weight", TensorRole::convolution, network_.hidden, m.taps);
    matrix("shortconv.out_proj.weight", TensorRole::short_convolution_out, network_.hidden, network_.hidden);
  }

  void feed_forward(const LinearMap& /*map*/) {
    throw std::logic_error("no GGUF file is known for this"); // see has_gguf_form
  }

  void feed_forward(const DenseFeedForward& dense) {
    if (dense.receptance) {
      matrix("channel_mix_key.weight", TensorRole::feed_forward_up, dense.width, network_.hidden);
      matrix("channel_mix_value.weight", TensorRole::feed_forward_down, network_.hidden, dense.width);
      matrix("channel_mix_receptance.weight", TensorRole::feed_forward_receptance, network_.hidden, network_.hidden);
      vector("channel_mix_lerp_k.weight", network_.hidden);
      vector("channel_mix_lerp_r.weight", network_.hidden);
      return;
    }
    if (dense.gated) {
      matrix("ffn_gate.weight", TensorRole::feed_forward_gate, dense.width, network_.hidden);
      vector("ffn_gate.bias", dense.bias ? dense.width : 0);
    }
    matrix("ffn_up.weight", TensorRole::feed_forward_up, dense.width, network_.hidden);
    matrix("ffn_down.weight", TensorRole::feed_forward_down, network_.hidden, dense.width);
    vector("ffn_up.bias", dense.bias ? dense.width : 0);
    vector("ffn_down.bias", dense.bias ? network_.hidden : 0);
  }

  void feed_forward(const MixtureOfExperts& moe) {
    const Count hidden = network_.hidden;
    const Count width = expert_io_width(moe, hidden);
    matrix("ffn_gate_inp.weight", TensorRole::router, moe.experts, hidden);
    vector("ffn_gate_inp.scale", moe.router_scale ? hidden : 0);
    vector("ffn_down_exps.scale", moe.router_scale ? moe.experts : 0);
    if (width != hidden) {
      matrix("ffn_latent_down.weight", TensorRole::expert_latent_down, width, hidden);
      matrix("ffn_latent_up.weight", TensorRole::expert_latent_up, hidden, width);
    }
    vector("ffn_gate_inp.bias", moe.router_bias ? moe.experts : 0);
    vector("exp_probs_b.bias", moe.score_correction ? moe.experts : 0);
    if (moe.gated) {
      tensor("ffn_gate_exps.weight", TensorRole::expert_gate, {width, moe.width, moe.experts});
    }
    tensor("ffn_up_exps.weight", TensorRole::expert_up, {width, moe.width, moe.experts});
    tensor("ffn_down_exps.weight", TensorRole::expert_down, {moe.width, width, moe.experts});
    if (moe.expert_bias) {
      if (moe.gated) {
        tensor("ffn_gate_exps.bias", TensorRole::expert_bias, {moe.width, moe.experts});
      }
      tensor("ffn_up_exps.bias", TensorRole::expert_bias, {moe.width, moe.experts});
      tensor("ffn_down_exps.bias", TensorRole::expert_bias, {width, moe.experts});
    }
    if (moe.shared_width > 0) {
      if (moe.gated) {
        matrix("ffn_gate_shexp.weight", TensorRole::shared_expert_gate, moe.shared_width, hidden);
      }
      matrix("ffn_up_shexp.weight", TensorRole::shared_expert_up, moe.shared_width, hidden);
      matrix("ffn_down_shexp.weight", TensorRole::shared_expert_down, hidden, moe.shared_width);
      if (moe.shared_gate) {
        matrix("ffn_gate_inp_shexp.weight", TensorRole::shared_expert_router, 1, hidden);
      }
    }
  }

  void norm(const std::string& name, Count length, const Normalisation& normalisation) {
    vector(name + ".weight", normalisation.weight ? length : 0);
    vector(name + ".bias", normalisation.bias ? length : 0);
  }

  void vector(const std::string& name, Count length) {
    if (length > 0) {
      tensor(name, TensorRole::norm, {length});
    }
  }

  void matrix(const std::string& name, TensorRole role, Count rows, Count row_length) {
    tensor(name, role, {row_length, rows});
  }

  void tensor(const std::string& name, TensorRole role, const std::vector<Count>& shape) {
    const LayerPosition position = role == TensorRole::attention_value ? attention_position_ : position_;
    const Format& format = format_of(scheme_, facts_, role, shape.front(), position);
    Count rows = 1;
    std::vector<std::uint64_t> dimensions;
    for (const Count size : shape) {
      dimensions.push_back(static_cast<std::uint64_t>(size));
      rows *= size;
    }
    rows /= shape.front();
    out_.tensor(place_ + name, dimensions, ggml_type(format.name.view()),
                static_cast<std::uint64_t>(
                    storage(format, static_cast<double>(rows), static_cast<double>(shape.front())).value()));
  }

  const Network& network_;
  const WeightScheme& scheme_;
  SchemeFacts facts_;
  GgufWriter& out_;
  std::string architecture_;
  std::string place_{};
  LayerPosition position_{};
  LayerPosition attention_position_{};
  Count head_dim_ = 0;
};

/// Whether converters are known to write files of such networks.
inline bool has_gguf_form(const Network& network) {
  const auto unknown = [](const Mixer& mixer) {
    const auto* grouped = std::get_if<GroupedQueryAttention>(&mixer);
    const auto* linear = std::get_if<LinearAttention>(&mixer);
    return std::holds_alternative<CompressedAttention>(mixer) || (grouped != nullptr && grouped->indexer) ||
           (linear != nullptr && linear->rule == LinearRule::fixed_decay);
  };
  const bool mixes = std::none_of(network.layers.begin(), network.layers.end(), [&](const LayerRun& run) {
    const auto& mixers = run.block.mixers;
    const auto* moe = run.block.feed_forward ? std::get_if<MixtureOfExperts>(&*run.block.feed_forward) : nullptr;
    return std::any_of(mixers.begin(), mixers.end(), unknown) || (moe != nullptr && moe->latent_norm) ||
           (run.block.feed_forward && std::holds_alternative<LinearMap>(*run.block.feed_forward));
  });
  return mixes && network.residual_streams == 1;
}

/// The architecture whose files may do without values of their own, where the network does; Llama's for all others.
inline std::string architecture_of(const Network& network) {
  const auto keys_are_values = [](const Mixer& mixer) {
    const auto* grouped = std::get_if<GroupedQueryAttention>(&mixer);
    return grouped != nullptr && grouped->keys_are_values;
  };
  const bool any = std::any_of(network.layers.begin(), network.layers.end(), [&](const LayerRun& run) {
    return std::any_of(run.block.mixers.begin(), run.block.mixers.end(), keys_are_values);
  });
  return any ? "gemma4" : "llama";
}

/// The file of a network in the formats of a scheme.
inline GgufWriter gguf_of(const Network& network, const WeightScheme& scheme, GgufWriter out = GgufWriter()) {
  GgufNetworkWriter(network, scheme, out, architecture_of(network)).write();
  return out;
}

} // namespace tokenroof::test
