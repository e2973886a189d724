/// @file
/// The operators of a decoder: their shapes on one rank, and from a shape and a step their work.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <variant>

#include "tokenroof/operators/work.hpp"
#include "tokenroof/precision/format.hpp"
#include "tokenroof/units/quantity.hpp"

namespace tokenroof {

/// What an operator does in the network.
enum class OperatorName : std::uint8_t {
  token_embedding,
  embedding_projection, ///< between the width of the embeddings and the hidden width
  normalisation,
  rotary_embedding,
  attention_projection, ///< query, key and value
  latent_down,          ///< hidden to latent query and latent key/value
  latent_query_up,
  latent_expand, ///< latent to keys and values of every cached and new token (prefill)
  latent_absorb, ///< queries into and values out of the latent space (decode)
  kv_append,
  attention,
  attention_output,
  index_projection, ///< queries, keys and head weights of an indexer
  index_scores,     ///< an indexer's own attention, which picks the tokens for the real one
  compression,      ///< entries that stand for several tokens
  scan_projection,  ///< into a state-space, linear-attention or convolution mixer
  scan,
  scan_output,
  feed_forward_up,
  activation,
  feed_forward_down,
  router,
  expert_latent,   ///< between the hidden width and that of the experts
  expert_dispatch, ///< gathering each expert's rows and weighing them back together
  expert_up,
  expert_activation,
  expert_down,
  shared_expert_up,
  shared_expert_down,
  linear_map,
  per_layer_embedding, ///< each layer's own embedding, and its way into the hidden state
  residual_mixing,     ///< reading and writing several residual streams
  lm_head,
  all_reduce,
  all_to_all,
  all_gather,
  pipeline_send,
  host_handover, ///< activations to the host or back
  page_in,       ///< mapped weights that memory did not hold
};

inline constexpr std::array<std::string_view, 39> operator_names = {"token_embedding",
                                                                    "embedding_projection",
                                                                    "normalisation",
                                                                    "rotary_embedding",
                                                                    "attention_projection",
                                                                    "latent_down",
                                                                    "latent_query_up",
                                                                    "latent_expand",
                                                                    "latent_absorb",
                                                                    "kv_append",
                                                                    "attention",
                                                                    "attention_output",
                                                                    "index_projection",
                                                                    "index_scores",
                                                                    "compression",
                                                                    "scan_projection",
                                                                    "scan",
                                                                    "scan_output",
                                                                    "feed_forward_up",
                                                                    "activation",
                                                                    "feed_forward_down",
                                                                    "router",
                                                                    "expert_latent",
                                                                    "expert_dispatch",
                                                                    "expert_up",
                                                                    "expert_activation",
                                                                    "expert_down",
                                                                    "shared_expert_up",
                                                                    "shared_expert_down",
                                                                    "linear_map",
                                                                    "per_layer_embedding",
                                                                    "residual_mixing",
                                                                    "lm_head",
                                                                    "all_reduce",
                                                                    "all_to_all",
                                                                    "all_gather",
                                                                    "pipeline_send",
                                                                    "host_handover",
                                                                    "page_in"};

[[nodiscard]] constexpr std::string_view name(OperatorName operator_name) {
  return operator_names[static_cast<std::size_t>(operator_name)];
}

/// Whether an operator is a matrix of weights applied to rows: its bytes hardly grow with the batch.
[[nodiscard]] constexpr bool multiplies_weights(OperatorName operator_name) {
  switch (operator_name) {
  case OperatorName::embedding_projection:
  case OperatorName::attention_projection:
  case OperatorName::latent_down:
  case OperatorName::latent_query_up:
  case OperatorName::latent_absorb:
  case OperatorName::attention_output:
  case OperatorName::index_projection:
  case OperatorName::scan_projection:
  case OperatorName::scan_output:
  case OperatorName::feed_forward_up:
  case OperatorName::feed_forward_down:
  case OperatorName::router:
  case OperatorName::expert_up:
  case OperatorName::expert_down:
  case OperatorName::shared_expert_up:
  case OperatorName::shared_expert_down:
  case OperatorName::expert_latent:
  case OperatorName::linear_map:
  case OperatorName::lm_head:
    return true;
  default:
    return false;
  }
}

/// A matrix of `inputs x outputs` weights applied to every row: `2 * rows * inputs * outputs` flops.
struct Gemm {
  double inputs = 0;
  double outputs = 0;
  Bytes weights{};
  Format weight_format{};
  double activation_bytes = 2; ///< of one element in and out
  double output_bytes = 2;
  bool last_rows_only = false;       ///< one row a sequence (the head)
  bool rows_include_context = false; ///< cached tokens are rows too (expanding a latent cache)
};

/// Softmax attention of new tokens over context and themselves (causal):
/// `2 * heads * (score_dim + value_dim)` flops a query-key pair.
struct Attention {
  double heads = 0;
  double score_dim = 0;
  double value_dim = 0;
  Bytes kv_per_token{};      ///< bytes of cache that one pass reads per visible token and sequence
  double query_elements = 0; ///< activations read and written per new token
  double activation_bytes = 2;
  Tokens window = no_window; ///< tokens a query may see, itself included
};

/// A recurrence with a fixed state per sequence, read and written once a pass.
struct Scan {
  double flops_per_token = 0;
  Bytes state{};
  Bytes weights{};
  double elements_per_token = 0;
  double activation_bytes = 2;
};

/// The grouped GEMM of routed experts on one rank.
/// Of `experts` with `active` per token, `expected_distinct` are touched and read once each.
struct Experts {
  double experts = 0;  ///< in the whole layer
  double active = 0;   ///< per token
  double ranks = 1;    ///< over which whole experts are spread
  double replicas = 1; ///< whose tokens meet here
  double inputs = 0;
  double outputs = 0;
  Bytes weights{}; ///< of one expert on this rank
  Format weight_format{};
  double activation_bytes = 2;
};

/// Passes over activations: norms, gates, rotary embedding, look-ups.
struct Elementwise {
  double bytes_per_row = 0;
  double flops_per_row = 0;
  Bytes weights{}; ///< vectors read once a pass
};

/// Bytes of the cache written for each new token.
struct CacheWrite {
  Bytes kv_per_token{};
};

/// `send`: between pipeline stages; `handover`: between a device and its host.
enum class CollectiveKind : std::uint8_t { all_reduce, all_gather, all_to_all, send, handover };

/// Communication among `ranks`: `bytes_per_row` is the payload of one row, before any algorithm's factor.
struct Collective {
  CollectiveKind kind = CollectiveKind::all_reduce;
  double bytes_per_row = 0;
  std::int64_t ranks = 1;
  bool last_rows_only = false;
};

using OperatorShape = std::variant<Gemm, Attention, Scan, Experts, Elementwise, CacheWrite, Collective>;

/// One operator of a program, `repeats` times in a pass.
struct Operator {
  OperatorName name = OperatorName::normalisation;
  double repeats = 1;
  OperatorShape shape{};
  bool weights_on_host = false; ///< what it multiplies with, or the layer it belongs to, lies in host memory
  bool cache_on_host = false;   ///< the keys, values or state that it works on lie there
};

/// Expected number of distinct experts among `experts` that `rows` tokens with `active` uniform choices each touch:
/// `E * (1 - (1 - k/E)^m)`.
[[nodiscard]] inline double expected_distinct(double experts, double active, double rows) {
  if (active >= experts) {
    return experts;
  }
  return experts * -std::expm1(rows * std::log1p(-active / experts));
}

[[nodiscard]] inline Work work(const Gemm& gemm, const StepShape& step) {
  const double rows = gemm.last_rows_only ? step.sequences : step.rows();
  const double flops_per_row = 2 * gemm.inputs * gemm.outputs;
  const double bytes_per_row = gemm.inputs * gemm.activation_bytes + gemm.outputs * gemm.output_bytes;
  Work result{.flops = Flops::from_value(rows * flops_per_row),
              .weights = gemm.weights,
              .activations = Bytes::from_value(rows * bytes_per_row)};
  if (gemm.rows_include_context) {
    result.flops_per_context = FlopsPerToken::from_value(step.sequences * flops_per_row);
    result.kv_per_context = BytesPerToken::from_value(step.sequences * bytes_per_row);
  }
  return result;
}

[[nodiscard]] inline Work work(const Attention& attention, const StepShape& step) {
  const Flops per_pair =
      Flops::from_value(2 * attention.heads * (attention.score_dim + attention.value_dim) * step.sequences);
  const double own_pairs = step.new_tokens * (step.new_tokens + 1) / 2;
  const Tokens one = Tokens::from_value(1);
  return Work{.flops = per_pair * own_pairs,
              .flops_per_context = per_pair * step.new_tokens / one,
              .flops_per_masked = per_pair,
              .activations = Bytes::from_value(step.rows() * attention.query_elements * attention.activation_bytes),
              .kv = attention.kv_per_token * step.rows(),
              .kv_per_context = attention.kv_per_token * step.sequences / one,
              .window = attention.window - one,
              .room = attention.window - Tokens::from_value(step.new_tokens)};
}

[[nodiscard]] inline Work work(const Scan& scan, const StepShape& step) {
  return Work{.flops = Flops::from_value(step.rows() * scan.flops_per_token),
              .weights = scan.weights,
              .activations = Bytes::from_value(step.rows() * scan.elements_per_token * scan.activation_bytes),
              .kv = scan.state * (2 * step.sequences)};
}

/// Experts of one rank that a pass is expected to touch.
[[nodiscard]] inline double experts_touched(const Experts& experts, const StepShape& step) {
  return expected_distinct(experts.experts, experts.active, step.rows() * experts.replicas) / experts.ranks;
}

[[nodiscard]] inline Work work(const Experts& experts, const StepShape& step) {
  const double routed = step.rows() * experts.replicas * experts.active / experts.ranks;
  const double touched = experts_touched(experts, step);
  return Work{.flops = Flops::from_value(2 * routed * experts.inputs * experts.outputs),
              .weights = experts.weights * touched,
              .activations = Bytes::from_value(routed * (experts.inputs + experts.outputs) * experts.activation_bytes)};
}

[[nodiscard]] inline Work work(const Elementwise& elementwise, const StepShape& step) {
  return Work{.flops = Flops::from_value(step.rows() * elementwise.flops_per_row),
              .weights = elementwise.weights,
              .activations = Bytes::from_value(step.rows() * elementwise.bytes_per_row)};
}

[[nodiscard]] inline Work work(const CacheWrite& write, const StepShape& step) {
  return Work{.kv = write.kv_per_token * step.rows()};
}

/// Collectives move their bytes over a link, not through memory: their payload is `payload()`, their work here is none.
[[nodiscard]] inline Work work(const Collective&, const StepShape&) { return {}; }

/// Bytes that one rank contributes to a collective in a pass.
[[nodiscard]] inline Bytes payload(const Collective& collective, const StepShape& step) {
  return Bytes::from_value((collective.last_rows_only ? step.sequences : step.rows()) * collective.bytes_per_row);
}

/// Work of one execution of an operator.
[[nodiscard]] inline Work work(const Operator& op, const StepShape& step) {
  return std::visit([&](const auto& shape) { return work(shape, step); }, op.shape);
}

} // namespace tokenroof
