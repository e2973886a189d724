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
    states();
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
        if (const auto* linear = std::get_if<LinearAttention>(&mixer)) {
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
    vector("output.bias", network_.head_bias ? network_.vocabulary : 0);
  }

  void block(const Block& block) {
    for (const Mixer& kind : block.mixers) {
      std::visit([this](const auto& part) { mixer(part); }, kind);
    }
    if (block.feed_forward) {
      std::visit([this](const auto& part) { feed_forward(part); }, *block.feed_forward);
    }
    static const std::vector<std::string> names = {"attn_norm", "ffn_norm", "post_attention_norm", "post_ffw_norm"};
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
      matrix("attn_v.weight", TensorRole::attention_value, value_rows, network_.hidden);
      vector("attn_q.bias", a.query_bias ? query_rows : 0);
      vector("attn_k.bias", a.key_bias ? key_rows : 0);
      vector("attn_v.bias", a.value_bias ? value_rows : 0);
    }
    matrix("attn_output.weight", TensorRole::attention_output, network_.hidden, a.heads * a.value_head_dim);
    vector("attn_output.bias", a.output_bias ? network_.hidden : 0);
    vector("attn_sinks.weight", a.sinks ? a.heads : 0);
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
    tensor("ssm_norm.weight", TensorRole::norm, {inner / m.groups, m.groups});
    matrix("ssm_out.weight", TensorRole::state_space_out, network_.hidden, inner);
    vector("ssm_out.bias", m.projection_bias ? network_.hidden : 0);
  }

  void mixer(const LinearAttention& m) {
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

  template <class Other>
  static void mixer(const Other& /*other*/) {
    throw std::logic_error("no GGUF file is known for this mixer"); // see has_gguf_form
  }

  void mixer(const ShortConvolution& m) {
    matrix("shortconv.in_proj.weight", TensorRole::short_convolution_in, 3 * network_.hidden, network_.hidden);
    matrix("shortconv.conv.weight", TensorRole::convolution, network_.hidden, m.taps);
    matrix("shortconv.out_proj.weight", TensorRole::short_convolution_out, network_.hidden, network_.hidden);
  }

  void feed_forward(const DenseFeedForward& dense) {
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
    matrix("ffn_gate_inp.weight", TensorRole::router, moe.experts, hidden);
    vector("ffn_gate_inp.bias", moe.router_bias ? moe.experts : 0);
    vector("exp_probs_b.bias", moe.score_correction ? moe.experts : 0);
    if (moe.gated) {
      tensor("ffn_gate_exps.weight", TensorRole::expert_gate, {hidden, moe.width, moe.experts});
    }
    tensor("ffn_up_exps.weight", TensorRole::expert_up, {hidden, moe.width, moe.experts});
    tensor("ffn_down_exps.weight", TensorRole::expert_down, {moe.width, hidden, moe.experts});
    if (moe.expert_bias) {
      if (moe.gated) {
        tensor("ffn_gate_exps.bias", TensorRole::expert_bias, {moe.width, moe.experts});
      }
      tensor("ffn_up_exps.bias", TensorRole::expert_bias, {moe.width, moe.experts});
      tensor("ffn_down_exps.bias", TensorRole::expert_bias, {hidden, moe.experts});
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

  static void feed_forward(const LinearMap& /*map*/) {
    throw std::logic_error("no GGUF file is known for this feed-forward network"); // see has_gguf_form
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

/// Whether the writer knows all that a mixer is made of.
struct HasGgufForm {
  bool operator()(const GroupedQueryAttention& a) const {
    return !a.head_gate && !a.keys_are_values && !a.shares_cache && !a.selected;
  }
  bool operator()(const LatentAttention& a) const { return !a.output_gate && !a.selected; }
  bool operator()(const StateSpace& m) const { return m.norm; }
  bool operator()(const LinearAttention& m) const { return m.rule == LinearRule::gated_delta; }
  bool operator()(const ShortConvolution& /*mixer*/) const { return true; }
  bool operator()(const DenseFeedForward& f) const { return !f.receptance; }
  bool operator()(const MixtureOfExperts& f) const { return f.latent_width == 0 && !f.router_scale; }
  template <class Other>
  bool operator()(const Other& /*other*/) const {
    return false;
  }
};

/// Whether the writer knows all that the network is made of.
inline bool has_gguf_form(const Network& network) {
  const auto known = [](const auto& part) { return std::visit(HasGgufForm{}, part); };
  return network.per_layer_width == 0 && network.residual_streams == 1 &&
         std::all_of(network.layers.begin(), network.layers.end(), [&](const LayerRun& run) {
           const Block& block = run.block;
           return !block.scale && block.norms <= 4 && block.mixers.size() == 1 && block.feed_forward &&
                  known(block.mixers.front()) && known(*block.feed_forward);
         });
}

/// The file of a network in the formats of a scheme.
inline GgufWriter gguf_of(const Network& network, const WeightScheme& scheme, GgufWriter out = GgufWriter()) {
  GgufNetworkWriter(network, scheme, out).write();
  return out;
}

} // namespace tokenroof::test
