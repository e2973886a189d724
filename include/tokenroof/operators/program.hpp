/// @file
/// Lowering: from a deployment's network, formats and split to the operators of one pass on one rank.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "tokenroof/deployment/deployment.hpp"
#include "tokenroof/deployment/residency.hpp"
#include "tokenroof/deployment/sharding.hpp"
#include "tokenroof/network/tensors.hpp"
#include "tokenroof/network/weight_scheme.hpp"
#include "tokenroof/operators/operators.hpp"

namespace tokenroof {

/// How latent attention is computed: `absorbed` keeps the cache latent (decode), `expanded` re-makes keys and values
/// of every cached token first (prefill). The results are equal, the work is not @cite deepseekv2.
enum class LatentForm : std::uint8_t { absorbed, expanded };

/// The operators of one pass. Identical layers are one entry with `repeats`. Device-free.
struct Program {
  std::vector<Operator> operators{};
  double layers = 0;
  double expert_layers = 0;
};

namespace detail {

/// Weights of one or several matrices that are multiplied as one.
struct PlacedWeights {
  Bytes bytes{};
  Format format{};
};

/// Writes down the operators of a deployment, layer group by layer group.
class Lowering {
public:
  Lowering(const Deployment& deployment, LatentForm form)
      : deployment_(deployment), network_(*deployment.network), form_(form),
        activation_bytes_(bytes_per_element(deployment.activations)), kv_bytes_(bytes_per_element(deployment.kv)),
        tensor_(static_cast<double>(deployment.parallelism.tensor)), facts_(scheme_facts(network_)) {
    program_.operators.reserve(20 * network_.layers.size() + 8);
  }

  [[nodiscard]] Program lower() && {
    program_.layers = static_cast<double>(layer_count(network_));
    embedding();
    layers();
    head();
    return std::move(program_);
  }

private:
  void add(OperatorName name, OperatorShape shape) {
    program_.operators.push_back({name, repeats_, std::move(shape), residence_.layer_on_host, false});
  }

  /// An operator that works on keys, values or a state.
  void add_with_cache(OperatorName name, OperatorShape shape) {
    add(name, std::move(shape));
    program_.operators.back().cache_on_host = residence_.cache_on_host;
  }

  /// Equal layers that lie in one place.
  struct Part {
    const Block* block = nullptr;
    LayerSpan span{};
    Residence residence{};
    bool lowered = false;
  };

  [[nodiscard]] std::vector<Part> parts() const {
    std::vector<Part> parts;
    parts.reserve(network_.layers.size() + 2);
    for_each_run(network_, [&](const LayerRun& run, const LayerSpan& span) {
      for_each_residence(deployment_, run, span, [&](const LayerSpan& part, const Residence& residence) {
        parts.push_back({&run.block, part, residence});
      });
    });
    return parts;
  }

  /// Equal blocks become one set of operators wherever they stand: alternating layers would make two of every pair else.
  void layers() {
    std::vector<Part> all = parts();
    for (Part& first : all) {
      if (first.lowered) {
        continue;
      }
      spans_.clear();
      repeats_ = 0;
      for (Part& part : all) {
        if (&part == &first || (!part.lowered && part.residence == first.residence && *part.block == *first.block)) {
          part.lowered = true;
          spans_.push_back(part.span);
          repeats_ += static_cast<double>(part.span.count);
        }
      }
      residence_ = first.residence;
      block(*first.block);
    }
    between_layers();
  }

  /// What lies outside the layers is there once.
  void outside_layers() {
    repeats_ = 1;
    spans_.assign(1, LayerSpan{});
    residence_ = {.layer_on_host = outside_layers_on_host(deployment_)};
  }

  /// Rows that change between device and host so many times a layer, where the host computes.
  void handover(double times, bool for_cache) {
    if (deployment_.engine->offload.style == OffloadStyle::host_computes) {
      program_.operators.push_back(
          {OperatorName::host_handover, repeats_ * times,
           Collective{.kind = CollectiveKind::handover, .bytes_per_row = hidden() * activation_bytes_, .ranks = 2},
           !for_cache, for_cache});
    }
  }

  /// The first layers on the host hand over to the others once.
  void between_layers() {
    outside_layers();
    if (deployment_.offload.host_layers > 0 && !residence_.layer_on_host) {
      handover(1, false);
    }
  }

  /// One of `shards` equal parts of a matrix: bytes are the mean over the layers of its kind, where a scheme mixes
  /// formats among them, and the format is the commonest.
  [[nodiscard]] PlacedWeights place(TensorRole role, double rows, double row_length, double shards) const {
    const Tensor matrix{role, static_cast<Count>(rows), static_cast<Count>(row_length)};
    std::array<std::pair<const Format*, Count>, formats.size() + 1> uses{};
    Bytes bytes;
    for (const LayerSpan& span : spans_) {
      for_each_format(deployment_.weights, facts_, matrix, span, [&](const Format& format, Count layers) {
        bytes += storage(format, matrix) * static_cast<double>(layers);
        const auto use = std::find_if(uses.begin(), uses.end() - 1,
                                      [&](const auto& known) { return !known.first || *known.first == format; });
        use->first = &format;
        use->second += layers;
      });
    }
    const auto commonest =
        std::max_element(uses.begin(), uses.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return {bytes / (repeats_ * shards), *commonest->first};
  }

  [[nodiscard]] static PlacedWeights together(PlacedWeights a, const PlacedWeights& b) {
    a.bytes += b.bytes;
    return a;
  }

  /// Bytes of one activation as a matrix with such weights takes it: low-precision arithmetic wants low-precision input.
  [[nodiscard]] double input_bytes(const Format& weights) const {
    const bool converted = weights.encoding == Encoding::plain || weights.encoding == Encoding::scaled;
    return converted ? std::min(activation_bytes_, bytes_per_element(weights)) : activation_bytes_;
  }

  void gemm(OperatorName name, const PlacedWeights& weights, double inputs, double outputs) {
    add(name, Gemm{.inputs = inputs,
                   .outputs = outputs,
                   .weights = weights.bytes,
                   .weight_format = weights.format,
                   .activation_bytes = input_bytes(weights.format),
                   .output_bytes = activation_bytes_});
  }

  void elementwise(OperatorName name, double elements, double flops = 0) {
    if (elements > 0) {
      add(name, Elementwise{.bytes_per_row = elements * activation_bytes_, .flops_per_row = flops});
    }
  }

  void all_reduce() {
    if (deployment_.parallelism.tensor > 1) {
      add(OperatorName::all_reduce, Collective{.kind = CollectiveKind::all_reduce,
                                               .bytes_per_row = hidden() * activation_bytes_,
                                               .ranks = deployment_.parallelism.tensor});
    }
  }

  [[nodiscard]] double hidden() const { return static_cast<double>(network_.hidden); }

  [[nodiscard]] double embedding_width() const {
    return static_cast<double>(network_.embedding_width > 0 ? network_.embedding_width : network_.hidden);
  }

  /// Between the width of the embeddings and the hidden width, where they differ.
  void project(double inputs, double outputs) {
    if (inputs != outputs) {
      gemm(OperatorName::embedding_projection, place(TensorRole::embedding_projection, outputs, inputs, 1), inputs,
           outputs);
    }
  }

  void embedding() {
    outside_layers();
    const TensorRole role = network_.tied_embeddings ? TensorRole::tied_embedding : TensorRole::token_embedding;
    const double width = embedding_width();
    const PlacedWeights row = place(role, 1, width, 1);
    const double positions = network_.learned_positions > 0 ? 2 : 1; // a row of each table
    add(OperatorName::token_embedding,
        Elementwise{.bytes_per_row = row.bytes.value() * positions + hidden() * activation_bytes_});
    project(width, hidden());
    per_layer_tables();
  }

  /// A row of each layer's own table, and what the hidden state adds to it.
  void per_layer_tables() {
    if (network_.per_layer_width == 0) {
      return;
    }
    const double all_layers = static_cast<double>(layer_count(network_) * network_.per_layer_width);
    const PlacedWeights row = place(TensorRole::per_layer_embedding, 1, all_layers, 1);
    add(OperatorName::token_embedding,
        Elementwise{.bytes_per_row = row.bytes.value() + all_layers * activation_bytes_});
    gemm(OperatorName::per_layer_embedding, place(TensorRole::per_layer_projection, all_layers, hidden(), 1), hidden(),
         all_layers);
  }

  void block(const Block& block) {
    if (residence_.cache_on_host && !residence_.layer_on_host && !block.mixers.empty()) {
      handover(2, true);
    }
    normalise(block);
    if (!block.mixers.empty()) {
      mix_streams();
    }
    for (const Mixer& mixer : block.mixers) {
      std::visit([&](const auto& kind) { this->mixer(kind); }, mixer);
    }
    if (!block.mixers.empty()) {
      all_reduce();
    }
    if (block.feed_forward) {
      mix_streams();
      std::visit([&](const auto& kind) { feed_forward(kind); }, *block.feed_forward);
      all_reduce();
    }
    per_layer_input();
  }

  /// Reads the residual streams through learned weights, and writes them back through others.
  void mix_streams() {
    if (network_.residual_streams == 1) {
      return;
    }
    const double streams = static_cast<double>(network_.residual_streams);
    const double weights = (2 + streams) * streams;
    gemm(OperatorName::residual_mixing, place(TensorRole::residual_mixing, weights, streams * hidden(), 1),
         streams * hidden(), weights);
    elementwise(OperatorName::residual_mixing, 2 * (streams + 1) * hidden(), 2 * (streams + 2) * streams * hidden());
  }

  /// A layer's own embedding, gated by the hidden state and added to it.
  void per_layer_input() {
    const double width = static_cast<double>(network_.per_layer_width);
    if (width == 0) {
      return;
    }
    gemm(OperatorName::per_layer_embedding, place(TensorRole::per_layer_projection, width, hidden(), 1), hidden(),
         width);
    gemm(OperatorName::per_layer_embedding, place(TensorRole::per_layer_projection, hidden(), width, 1), width,
         hidden());
  }

  /// A norm reads the layer's output and the residual and writes their sum and its normalised form. The block's
  /// vectors (norms, biases, sinks) are read here, those of experts aside.
  void normalise(const Block& block) {
    const double norms = static_cast<double>(block.norms);
    Bytes vectors;
    for_each_tensor(block, network_, [&](const Tensor& tensor) {
      if (is_vector(tensor.role) && tensor.role != TensorRole::expert_bias) {
        vectors += storage(format_of(deployment_.weights, facts_, tensor.role, tensor.row_length), tensor);
      }
    });
    add(OperatorName::normalisation, Elementwise{.bytes_per_row = 4 * hidden() * norms * activation_bytes_,
                                                 .flops_per_row = 8 * hidden() * norms,
                                                 .weights = vectors});
  }

  /// Queries, keys and values, and the gate of each head where there is one.
  void project_attention(const GroupedQueryAttention& attention, double kv_shards) {
    const double head_dim = static_cast<double>(attention.head_dim);
    const double query_rows = static_cast<double>(attention.heads) * head_dim * (attention.output_gate ? 2 : 1);
    PlacedWeights weights = place(TensorRole::attention_query, query_rows, hidden(), tensor_);
    double outputs = query_rows / tensor_;
    const auto also = [&](TensorRole role, double rows, double shards) {
      weights = together(weights, place(role, rows, hidden(), shards));
      outputs += rows / shards;
    };
    also(TensorRole::attention_key, static_cast<double>(attention.kv_heads) * head_dim, kv_shards);
    if (!attention.keys_are_values) {
      also(TensorRole::attention_value, static_cast<double>(attention.kv_heads * attention.value_head_dim), kv_shards);
    }
    if (attention.head_gate) {
      also(TensorRole::attention_gate, static_cast<double>(attention.heads), tensor_);
    }
    gemm(OperatorName::attention_projection, weights, hidden(), outputs);
  }

  void mixer(const GroupedQueryAttention& attention) {
    const double heads = static_cast<double>(attention.heads) / tensor_;
    const double kv_heads = static_cast<double>(kv_heads_per_rank(attention.kv_heads, deployment_.parallelism.tensor));
    const double head_dim = static_cast<double>(attention.head_dim);
    const double value_dim = static_cast<double>(attention.value_head_dim);
    project_attention(attention, static_cast<double>(attention.kv_heads) / kv_heads);
    if (network_.learned_positions == 0) {
      elementwise(OperatorName::rotary_embedding, 2 * (heads + kv_heads) * head_dim);
    }
    const Bytes kv_per_token = Bytes::from_value(kv_heads * (head_dim + value_dim) * kv_bytes_);
    if (attention.indexer) {
      index(*attention.indexer, hidden(), 1, 1);
    }
    if (!attention.shares_cache) {
      add_with_cache(OperatorName::kv_append, CacheWrite{kv_per_token});
    }
    add_with_cache(OperatorName::attention, Attention{.heads = heads,
                                                      .score_dim = head_dim,
                                                      .value_dim = value_dim,
                                                      .kv_per_token = kv_per_token,
                                                      .query_elements = heads * (head_dim + value_dim),
                                                      .activation_bytes = activation_bytes_,
                                                      .window = smaller(attention.window.value_or(no_window),
                                                                        attention.selected.value_or(no_window))});
    const double all_values = static_cast<double>(attention.heads) * value_dim;
    gemm(OperatorName::attention_output, place(TensorRole::attention_output, hidden(), all_values, tensor_),
         all_values / tensor_, hidden());
  }

  /// An indexer picks the cached tokens (or entries of `ratio` tokens) for the attention that follows. Every rank holds it
  /// whole, for each needs the whole choice.
  void index(const TokenIndexer& indexer, double query_inputs, double key_projections, double ratio) {
    const double heads = static_cast<double>(indexer.heads);
    const double head_dim = static_cast<double>(indexer.head_dim);
    gemm(OperatorName::index_projection, place(TensorRole::indexer_query, heads * head_dim, query_inputs, 1),
         query_inputs, heads * head_dim);
    PlacedWeights keys = place(TensorRole::indexer_key, key_projections * head_dim, hidden(), 1);
    double outputs = key_projections * head_dim;
    if (indexer.head_weights) {
      keys = together(keys, place(TensorRole::indexer_weights, heads, hidden(), 1));
      outputs += heads;
    }
    gemm(OperatorName::index_projection, keys, hidden(), outputs);
    const Bytes per_token = Bytes::from_value(index_key_bytes(indexer, kv_bytes_) / ratio);
    add_with_cache(OperatorName::kv_append, CacheWrite{per_token});
    add_with_cache(OperatorName::index_scores, Attention{.heads = heads / ratio,
                                                         .score_dim = head_dim,
                                                         .kv_per_token = per_token,
                                                         .query_elements = heads * head_dim,
                                                         .activation_bytes = activation_bytes_});
  }

  void mixer(const CompressedAttention& attention) {
    const double all_heads = static_cast<double>(attention.heads);
    const double head_dim = static_cast<double>(attention.head_dim);
    const double query_rank = static_cast<double>(attention.query_rank);
    gemm(OperatorName::latent_down,
         together(place(TensorRole::latent_query_down, query_rank, hidden(), 1),
                  place(TensorRole::latent_kv_down, head_dim, hidden(), 1)),
         hidden(), query_rank + head_dim);
    gemm(OperatorName::latent_query_up, place(TensorRole::latent_query_up, all_heads * head_dim, query_rank, tensor_),
         query_rank, all_heads * head_dim / tensor_);
    attend(attention, 1, attention.window);
    if (attention.ratio > 0) {
      compress(attention);
    }
    const double groups = static_cast<double>(attention.output_groups);
    const double ranks = groups * static_cast<double>(attention.output_rank);
    gemm(OperatorName::attention_output, place(TensorRole::output_down, ranks, all_heads * head_dim / groups, tensor_),
         all_heads * head_dim / groups, ranks / tensor_);
    gemm(OperatorName::attention_output, place(TensorRole::attention_output, hidden(), ranks, tensor_), ranks / tensor_,
         hidden());
  }

  /// Attention to vectors that stand for `ratio` tokens each and are key and value at once.
  void attend(const CompressedAttention& attention, double ratio, Tokens visible) {
    const double heads = static_cast<double>(attention.heads) / tensor_;
    const double head_dim = static_cast<double>(attention.head_dim);
    const Bytes per_token = Bytes::from_value(head_dim * kv_bytes_ / ratio);
    add_with_cache(OperatorName::kv_append, CacheWrite{per_token});
    add_with_cache(OperatorName::attention, Attention{.heads = heads / ratio,
                                                      .score_dim = head_dim,
                                                      .value_dim = head_dim,
                                                      .kv_per_token = per_token,
                                                      .query_elements = 2 * heads * head_dim,
                                                      .activation_bytes = activation_bytes_,
                                                      .window = visible});
  }

  void compress(const CompressedAttention& attention) {
    const double ratio = static_cast<double>(attention.ratio);
    const double outputs = static_cast<double>((attention.overlap ? 4 : 2) * attention.head_dim);
    gemm(OperatorName::compression, place(TensorRole::compressor, outputs, hidden(), 1), hidden(), outputs);
    add_with_cache(OperatorName::compression, Scan{.flops_per_token = 4 * outputs,
                                                   .state = Bytes::from_value(compressor_state_bytes(attention)),
                                                   .elements_per_token = 2 * outputs,
                                                   .activation_bytes = activation_bytes_});
    if (attention.indexer) {
      index(*attention.indexer, static_cast<double>(attention.query_rank), attention.overlap ? 4 : 2, ratio);
    }
    const Tokens picked = Tokens::from_value(static_cast<double>(attention.selected) * ratio);
    attend(attention, ratio, attention.selected > 0 ? picked : no_window);
  }

  void mixer(const LinearMap&) { linear_map(); }
  void feed_forward(const LinearMap&) { linear_map(); }

  void linear_map() {
    gemm(OperatorName::linear_map, place(TensorRole::linear_map, hidden(), hidden(), 1), hidden(), hidden());
  }

  void mixer(const LatentAttention& attention) {
    const double all_heads = static_cast<double>(attention.heads);
    const double heads = all_heads / tensor_;
    const double nope = static_cast<double>(attention.nope_head_dim);
    const double rope = static_cast<double>(attention.rope_head_dim);
    const double value = static_cast<double>(attention.value_head_dim);
    const double kv_rank = static_cast<double>(attention.kv_rank);
    const double query_rank = static_cast<double>(attention.query_rank);
    PlacedWeights down = place(TensorRole::latent_kv_down, kv_rank + rope, hidden(), 1);
    if (query_rank > 0) {
      down = together(down, place(TensorRole::latent_query_down, query_rank, hidden(), 1));
    }
    gemm(OperatorName::latent_down, down, hidden(), kv_rank + rope + query_rank);
    const double query_inputs = query_rank > 0 ? query_rank : hidden();
    const TensorRole query_role = query_rank > 0 ? TensorRole::latent_query_up : TensorRole::attention_query;
    gemm(OperatorName::latent_query_up, place(query_role, all_heads * (nope + rope), query_inputs, tensor_),
         query_inputs, heads * (nope + rope));
    elementwise(OperatorName::rotary_embedding, 2 * (heads + 1) * rope);
    if (attention.indexer) {
      index(*attention.indexer, query_inputs, 1, 1);
    }
    add_with_cache(OperatorName::kv_append, CacheWrite{Bytes::from_value((kv_rank + rope) * kv_bytes_)});
    latent_attention(attention.selected.value_or(no_window), heads, nope, rope, value, kv_rank,
                     together(place(TensorRole::latent_key_up, all_heads * kv_rank, nope, tensor_),
                              place(TensorRole::latent_value_up, all_heads * value, kv_rank, tensor_)));
    if (attention.output_gate) {
      gemm(OperatorName::attention_projection, place(TensorRole::attention_gate, all_heads * value, hidden(), tensor_),
           hidden(), heads * value);
    }
    gemm(OperatorName::attention_output, place(TensorRole::attention_output, hidden(), all_heads * value, tensor_),
         heads * value, hidden());
  }

  /// Where only some tokens are picked, keys and values are never re-made: the picked ones differ from query to query.
  void latent_attention(Tokens picked, double heads, double nope, double rope, double value, double kv_rank,
                        const PlacedWeights& up) {
    Gemm expansion{.inputs = kv_rank,
                   .outputs = heads * (nope + value),
                   .weights = up.bytes,
                   .weight_format = up.format,
                   .activation_bytes = input_bytes(up.format),
                   .output_bytes = activation_bytes_};
    Attention attention{.heads = heads,
                        .score_dim = kv_rank + rope,
                        .value_dim = kv_rank,
                        .kv_per_token = Bytes::from_value((kv_rank + rope) * kv_bytes_),
                        .query_elements = heads * (2 * kv_rank + rope),
                        .activation_bytes = activation_bytes_,
                        .window = picked};
    const bool expanded = form_ == LatentForm::expanded && picked == no_window;
    if (expanded) {
      expansion.rows_include_context = true;
      attention.score_dim = nope + rope;
      attention.value_dim = value;
      attention.kv_per_token = Bytes::from_value(heads * (nope + rope + value) * activation_bytes_);
      attention.query_elements = heads * (nope + rope + value);
    }
    add(expanded ? OperatorName::latent_expand : OperatorName::latent_absorb, expansion);
    add_with_cache(OperatorName::attention, attention);
  }

  void mixer(const StateSpace& mixer) {
    const double inner = static_cast<double>(mixer.heads * mixer.head_dim);
    const double shared = static_cast<double>(2 * mixer.groups * mixer.state);
    const double projected = 2 * inner + shared + static_cast<double>(mixer.heads);
    const double state = inner * static_cast<double>(mixer.state);
    gemm(OperatorName::scan_projection, place(TensorRole::state_space_in, projected, hidden(), tensor_), hidden(),
         projected / tensor_);
    // Per state element: decay, two for the input's outer product, two for the read-out.
    scan(5 * state, state, inner + shared, static_cast<double>(mixer.convolution), 3 * inner + shared);
    gemm(OperatorName::scan_output, place(TensorRole::state_space_out, hidden(), inner, tensor_), inner / tensor_,
         hidden());
  }

  void mixer(const SelectiveScan& mixer) {
    const double inner = static_cast<double>(mixer.inner);
    const double rank = static_cast<double>(mixer.step_rank);
    const double state = static_cast<double>(mixer.state);
    gemm(OperatorName::scan_projection, place(TensorRole::state_space_in, 2 * inner, hidden(), tensor_), hidden(),
         2 * inner / tensor_);
    gemm(OperatorName::scan_projection, place(TensorRole::state_space_parameters, rank + 2 * state, inner, tensor_),
         inner / tensor_, rank + 2 * state);
    gemm(OperatorName::scan_projection, place(TensorRole::state_space_step, inner, rank, tensor_), rank,
         inner / tensor_);
    // Per state element: two for the decay, one for the input, two each for taking it in and reading it out.
    scan(7 * inner * state, inner * state, inner, static_cast<double>(mixer.convolution), 3 * inner);
    gemm(OperatorName::scan_output, place(TensorRole::state_space_out, hidden(), inner, tensor_), inner / tensor_,
         hidden());
  }

  /// Operations of a rule per element of its state: decay, two for the outer product and two for the read-out; two more for
  /// what the key recalls (delta rules), or for the bonus of the newest token (receptance).
  [[nodiscard]] static constexpr double flops_per_state_element(LinearRule rule) {
    return rule == LinearRule::fixed_decay ? 5 : 7;
  }

  void mixer(const LinearAttention& mixer) {
    const double keys = static_cast<double>(mixer.key_heads * mixer.key_head_dim);
    const double values = static_cast<double>(mixer.value_heads * mixer.value_head_dim);
    const double state = values * static_cast<double>(mixer.key_head_dim);
    const double projected = 2 * keys + (mixer.gate_rank > 0 ? 1 : 2) * values;
    gemm(OperatorName::scan_projection, place(TensorRole::linear_attention_in, projected, hidden(), tensor_), hidden(),
         projected / tensor_);
    linear_attention_gates(mixer, keys, values);
    scan(flops_per_state_element(mixer.rule) * state, state, mixer.convolution > 0 ? 2 * keys + values : 0,
         static_cast<double>(mixer.convolution), 2 * keys + 3 * values,
         mixer.rule == LinearRule::receptance ? 2 * hidden() : 0);
    gemm(OperatorName::scan_output, place(TensorRole::linear_attention_out, hidden(), values, tensor_),
         values / tensor_, hidden());
  }

  /// Decays and write strengths, and an output gate that passes through a low rank.
  void linear_attention_gates(const LinearAttention& mixer, double keys, double values) {
    const double heads = static_cast<double>(mixer.value_heads);
    const double decay_rank = static_cast<double>(mixer.decay_rank);
    if (mixer.gate_rank > 0) {
      through_rank(static_cast<double>(mixer.gate_rank), 0, values);
    }
    if (mixer.rule == LinearRule::gated_delta) {
      gemm(OperatorName::scan_projection, place(TensorRole::linear_attention_gates, 2 * heads, hidden(), tensor_),
           hidden(), 2 * heads / tensor_);
    } else if (mixer.rule == LinearRule::channel_gated_delta) {
      through_rank(decay_rank, heads, keys);
    }
  }

  /// From the hidden state to a rank, and to `more` outputs beside it, and from the rank to some channels.
  void through_rank(double rank, double more, double channels) {
    gemm(OperatorName::scan_projection, place(TensorRole::linear_attention_gates, rank + more, hidden(), tensor_),
         hidden(), (rank + more) / tensor_);
    gemm(OperatorName::scan_projection, place(TensorRole::linear_attention_expand, channels, rank, tensor_), rank,
         channels / tensor_);
  }

  void mixer(const ShortConvolution& mixer) {
    gemm(OperatorName::scan_projection, place(TensorRole::short_convolution_in, 3 * hidden(), hidden(), tensor_),
         hidden(), 3 * hidden() / tensor_);
    scan(2 * hidden(), 0, hidden(), static_cast<double>(mixer.taps), 4 * hidden());
    gemm(OperatorName::scan_output, place(TensorRole::short_convolution_out, hidden(), hidden(), tensor_),
         hidden() / tensor_, hidden());
  }

  /// A recurrence, behind a causal convolution over `channels` where there are any. Its state is kept in 32 bits, the
  /// convolution's last inputs in the activations' format, and so are `shifted` elements of the token before.
  void scan(double flops, double state_elements, double channels, double taps, double elements, double shifted = 0) {
    const double inputs = channels > 0 ? (taps - 1) * channels : 0;
    add_with_cache(
        OperatorName::scan,
        Scan{.flops_per_token = (flops + 2 * taps * channels) / tensor_,
             .state = Bytes::from_value((state_elements * 4 + (inputs + shifted) * activation_bytes_) / tensor_),
             .weights = channels > 0 ? place(TensorRole::convolution, channels, taps, tensor_).bytes : Bytes(),
             .elements_per_token = elements / tensor_,
             .activation_bytes = activation_bytes_});
  }

  void feed_forward(const DenseFeedForward& dense) {
    const double width = static_cast<double>(dense.width);
    PlacedWeights up = place(TensorRole::feed_forward_up, width, hidden(), tensor_);
    if (dense.gated) {
      up = together(up, place(TensorRole::feed_forward_gate, width, hidden(), tensor_));
    }
    const double branches = dense.gated ? 2 : 1;
    gemm(OperatorName::feed_forward_up, up, hidden(), branches * width / tensor_);
    elementwise(OperatorName::activation, (branches + 1) * width / tensor_);
    gemm(OperatorName::feed_forward_down, place(TensorRole::feed_forward_down, hidden(), width, tensor_),
         width / tensor_, hidden());
    if (dense.receptance) {
      gemm(OperatorName::feed_forward_up, place(TensorRole::feed_forward_receptance, hidden(), hidden(), tensor_),
           hidden(), hidden() / tensor_);
    }
  }

  void feed_forward(const MixtureOfExperts& moe) {
    program_.expert_layers += repeats_;
    const double choices = static_cast<double>(moe.experts);
    gemm(OperatorName::router, place(TensorRole::router, choices, hidden(), 1), hidden(), choices);
    const double width = static_cast<double>(expert_io_width(moe, network_.hidden));
    if (width != hidden()) {
      gemm(OperatorName::expert_latent, place(TensorRole::expert_latent_down, width, hidden(), 1), hidden(), width);
      gemm(OperatorName::expert_latent, place(TensorRole::expert_latent_up, hidden(), width, 1), width, hidden());
    }
    routed_experts(moe, width);
    if (moe.shared_width > 0) {
      shared_experts(moe);
    }
  }

  /// Experts that read and write `io` elements a token.
  void routed_experts(const MixtureOfExperts& moe, double io) {
    const Parallelism& parallelism = deployment_.parallelism;
    const double width_shards = static_cast<double>(expert_tensor_ranks(parallelism));
    const double replicas = static_cast<double>(expert_replicas(parallelism));
    const double width = static_cast<double>(moe.width) / width_shards;
    const double branches = moe.gated ? 2 : 1;
    PlacedWeights up = place(TensorRole::expert_up, static_cast<double>(moe.width), io, width_shards);
    if (moe.gated) {
      up = together(up, place(TensorRole::expert_gate, static_cast<double>(moe.width), io, width_shards));
    }
    const PlacedWeights down = place(TensorRole::expert_down, io, static_cast<double>(moe.width), width_shards);
    const double bias = moe.expert_bias ? bytes_per_element(deployment_.weights.vectors) : 0;
    Experts routed{.experts = static_cast<double>(moe.experts),
                   .active = static_cast<double>(moe.active),
                   .ranks = static_cast<double>(parallelism.expert),
                   .replicas = replicas,
                   .inputs = io,
                   .outputs = branches * width,
                   .weights = up.bytes + Bytes::from_value(bias * branches * width),
                   .weight_format = up.format,
                   .activation_bytes = activation_bytes_};
    const Residence of_layer = residence_;
    if (residence_.experts_on_host && !residence_.layer_on_host) {
      handover(2, false);
    }
    const double rows_here = routed.active * replicas / routed.ranks; // per row of this replica
    exchange(moe, io);
    residence_.layer_on_host = residence_.experts_on_host;
    elementwise(OperatorName::expert_dispatch, (2 * rows_here + 2) * io);
    add(OperatorName::expert_up, routed);
    elementwise(OperatorName::expert_activation, rows_here * (branches + 1) * width);
    routed.inputs = width;
    routed.outputs = io;
    routed.weights = down.bytes + Bytes::from_value(bias * io);
    routed.weight_format = down.format;
    add(OperatorName::expert_down, routed);
    residence_ = of_layer;
    exchange(moe, io);
  }

  /// Tokens travel to their experts and back only where experts are spread over more ranks than share the tokens.
  void exchange(const MixtureOfExperts& moe, double io) {
    if (expert_replicas(deployment_.parallelism) > 1) {
      add(OperatorName::all_to_all,
          Collective{.kind = CollectiveKind::all_to_all,
                     .bytes_per_row = static_cast<double>(moe.active) * io * activation_bytes_ / tensor_,
                     .ranks = deployment_.parallelism.expert});
    }
  }

  void shared_experts(const MixtureOfExperts& moe) {
    const double width = static_cast<double>(moe.shared_width);
    const double branches = moe.gated ? 2 : 1;
    PlacedWeights up = place(TensorRole::shared_expert_up, width, hidden(), tensor_);
    if (moe.gated) {
      up = together(up, place(TensorRole::shared_expert_gate, width, hidden(), tensor_));
    }
    double outputs = branches * width / tensor_;
    if (moe.shared_gate) {
      up = together(up, place(TensorRole::shared_expert_router, 1, hidden(), 1));
      outputs += 1;
    }
    gemm(OperatorName::shared_expert_up, up, hidden(), outputs);
    elementwise(OperatorName::activation, (branches + 1) * width / tensor_);
    gemm(OperatorName::shared_expert_down, place(TensorRole::shared_expert_down, hidden(), width, tensor_),
         width / tensor_, hidden());
  }

  [[nodiscard]] Bytes outer_vectors() const {
    Bytes vectors;
    for_each_outer_tensor(network_, [&](const Tensor& tensor) {
      if (is_vector(tensor.role)) {
        vectors += storage(format_of(deployment_.weights, facts_, tensor.role, tensor.row_length), tensor);
      }
    });
    return vectors;
  }

  void head() {
    outside_layers();
    const Parallelism& parallelism = deployment_.parallelism;
    const double vocabulary = static_cast<double>(network_.vocabulary);
    const double width = embedding_width();
    add(OperatorName::normalisation, Elementwise{.bytes_per_row = 2 * hidden() * activation_bytes_,
                                                 .flops_per_row = 8 * hidden(),
                                                 .weights = outer_vectors()});
    project(hidden(), width);
    if (network_.residual_streams > 1) {
      const double streams = static_cast<double>(network_.residual_streams);
      gemm(OperatorName::residual_mixing, place(TensorRole::residual_mixing, streams, streams * hidden(), 1),
           streams * hidden(), streams);
    }
    const TensorRole role = network_.tied_embeddings ? TensorRole::tied_embedding : TensorRole::lm_head;
    const PlacedWeights weights = place(role, vocabulary, width, tensor_);
    add(OperatorName::lm_head, Gemm{.inputs = width,
                                    .outputs = vocabulary / tensor_,
                                    .weights = weights.bytes,
                                    .weight_format = weights.format,
                                    .activation_bytes = input_bytes(weights.format),
                                    .output_bytes = activation_bytes_,
                                    .last_rows_only = true});
    if (parallelism.tensor > 1) {
      add(OperatorName::all_gather, Collective{.kind = CollectiveKind::all_gather,
                                               .bytes_per_row = vocabulary * activation_bytes_,
                                               .ranks = parallelism.tensor,
                                               .last_rows_only = true});
    }
    if (parallelism.pipeline > 1) {
      repeats_ = static_cast<double>(parallelism.pipeline - 1);
      add(OperatorName::pipeline_send,
          Collective{.kind = CollectiveKind::send, .bytes_per_row = hidden() * activation_bytes_, .ranks = 2});
    }
  }

  const Deployment& deployment_;
  const Network& network_;
  LatentForm form_;
  double activation_bytes_;
  double kv_bytes_;
  double tensor_;
  SchemeFacts facts_;
  double repeats_ = 1;
  std::vector<LayerSpan> spans_{};
  Residence residence_{};
  Program program_{};
};

} // namespace detail

/// The operators of one pass of a deployment on one tensor-parallel rank, all pipeline stages in sequence.
[[nodiscard]] inline Program lower(const Deployment& deployment, LatentForm form) {
  return detail::Lowering(deployment, form).lower();
}

} // namespace tokenroof
