#include "readers/gguf_layers.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "tokenroof/errors.hpp"

namespace tokenroof::readers {
namespace {

using enum GgufPart;

Count rows_of(const GgufTensor& tensor) { return tensor.elements / tensor.shape[0]; }

bool is_matrix(const GgufTensor& tensor) { return rows_of(tensor) > 1; }

} // namespace

GgufTaker::GgufTaker(const GgufMetadata& metadata, const GgufTensors& tensors, std::optional<Count> layer,
                     GgufNetwork& result)
    : metadata_(metadata), tensors_(tensors), layer_(layer), result_(result) {}

Count GgufTaker::rows(GgufPart part) const {
  const GgufTensor* tensor = tensors_.find(part);
  return tensor == nullptr ? 0 : rows_of(*tensor);
}

Count GgufTaker::row_length(GgufPart part) const {
  const GgufTensor* tensor = tensors_.find(part);
  return tensor == nullptr ? 0 : tensor->shape[0];
}

Count GgufTaker::elements(GgufPart part) const {
  const auto found = tensors_.parts.find(part);
  Count sum = 0;
  if (found != tensors_.parts.end()) {
    for (const GgufTensor* tensor : found->second) {
      sum += tensor->elements;
    }
  }
  return sum;
}

const GgufTensor& GgufTaker::require(GgufPart part) const {
  const GgufTensor* tensor = tensors_.find(part);
  if (tensor == nullptr) {
    throw ParseError(metadata_.path(), tensors_.place + std::string(usual_name(part)), "the tensor is missing");
  }
  return *tensor;
}

void GgufTaker::expect(bool condition, GgufPart part, const std::string& reason) const {
  if (!condition) {
    const GgufTensor& tensor = require(part);
    std::string shape = std::to_string(tensor.shape[0]);
    for (std::size_t i = 1; i < tensor.shape.size() && tensor.shape[i] > 1; ++i) {
      shape += " x " + std::to_string(tensor.shape[i]);
    }
    throw InvalidSpec(tensor.name, shape, reason);
  }
}

void GgufTaker::take(GgufPart part, TensorRole role) {
  const auto found = tensors_.parts.find(part);
  if (found == tensors_.parts.end()) {
    return;
  }
  for (const GgufTensor* tensor : found->second) {
    take_rows(*tensor, role, rows_of(*tensor));
  }
  done(part);
}

void GgufTaker::take_rows(const GgufTensor& tensor, TensorRole role, Count rows) {
  result_.stored.push_back(
      {.role = role,
       .layer = layer_,
       .format = tensor.format,
       .elements = rows * tensor.shape[0],
       .bytes = storage(tensor.format, static_cast<double>(rows), static_cast<double>(tensor.shape[0])).value()});
}

void GgufTaker::set_aside(GgufPart part, const std::string& what) {
  const auto found = tensors_.parts.find(part);
  if (found == tensors_.parts.end()) {
    return;
  }
  for (const GgufTensor* tensor : found->second) {
    result_.others.push_back({tensor, what});
  }
  done(part);
}

void GgufTaker::finish() {
  std::vector<const GgufTensor*> left = tensors_.unknown;
  for (const auto& [part, tensors] : tensors_.parts) {
    if (std::find(taken_.begin(), taken_.end(), part) == taken_.end()) {
      left.insert(left.end(), tensors.begin(), tensors.end());
    }
  }
  for (const GgufTensor* tensor : left) {
    if (is_matrix(*tensor)) {
      throw ParseError(metadata_.path(), tensor->name.substr(0, 80),
                       "what this tensor is for in a network of the architecture '" + metadata_.architecture() +
                           "' is not known");
    }
    result_.others.push_back({tensor, "vectors whose use is not known"});
  }
}

void GgufTaker::assume(std::string note) {
  if (std::find(result_.assumptions.begin(), result_.assumptions.end(), note) == result_.assumptions.end()) {
    result_.assumptions.push_back(std::move(note));
  }
}

namespace {

/// Query heads of the layer, and key/value heads, which share them out evenly.
std::pair<Count, Count> head_counts(const GgufTaker& tensors) {
  constexpr std::string_view heads_fact = "attention.head_count";
  constexpr std::string_view kv_heads_fact = "attention.head_count_kv";
  constexpr Count most_heads = Count{1} << 16;
  const GgufMetadata& metadata = tensors.metadata();
  const Count heads = metadata.count(heads_fact, tensors.layer());
  const Count kv_heads = metadata.find_count(kv_heads_fact, tensors.layer()).value_or(heads);
  if (heads > most_heads) {
    throw InvalidSpec(metadata.key(heads_fact), std::to_string(heads), "must not exceed " + std::to_string(most_heads));
  }
  if (kv_heads == 0 || heads % kv_heads != 0) {
    throw InvalidSpec(metadata.key(kv_heads_fact), std::to_string(kv_heads),
                      "must divide the " + std::to_string(heads) + " query heads");
  }
  return {heads, kv_heads};
}

std::string heads_and(Count heads, std::string_view what) {
  return "does not fit " + std::to_string(heads) + " " + std::string(what);
}

/// Shapes of the three projections in one tensor say their sum alone.
void fused_projections(GgufTaker& tensors, GroupedQueryAttention& attention, Count hidden) {
  const GgufMetadata& metadata = tensors.metadata();
  const Count derived = hidden / attention.heads;
  attention.fused = true;
  attention.head_dim = metadata.find_count("attention.key_length", tensors.layer()).value_or(derived);
  attention.value_head_dim =
      metadata.find_count("attention.value_length", tensors.layer()).value_or(attention.head_dim);
  const Count query_rows = attention.heads * attention.head_dim;
  const Count key_rows = attention.kv_heads * attention.head_dim;
  const Count value_rows = attention.kv_heads * attention.value_head_dim;
  tensors.expect(tensors.rows(query_key_value) == query_rows + key_rows + value_rows && attention.head_dim > 0 &&
                     attention.value_head_dim > 0,
                 query_key_value,
                 heads_and(attention.heads, "query heads and ") + std::to_string(attention.kv_heads) +
                     " key heads of " + std::to_string(attention.head_dim));
  const GgufTensor& all = tensors.require(query_key_value);
  tensors.take_rows(all, TensorRole::attention_query, query_rows);
  tensors.take_rows(all, TensorRole::attention_key, key_rows);
  tensors.take_rows(all, TensorRole::attention_value, value_rows);
  tensors.done(query_key_value);
}

/// A gate on the attention's result: a second half of the query projection, or a tensor as large.
void take_output_gate(GgufTaker& tensors, GroupedQueryAttention& attention) {
  const Count rows = tensors.rows(output_gate);
  if (rows == attention.heads * attention.head_dim && !attention.output_gate) {
    attention.output_gate = true;
    tensors.take(output_gate, TensorRole::attention_query);
  } else {
    tensors.set_aside(output_gate, "gates of attention heads");
  }
}

void separate_projections(GgufTaker& tensors, GroupedQueryAttention& attention) {
  (void)tensors.require(query);
  (void)tensors.require(key);
  (void)tensors.require(value);
  tensors.expect(tensors.rows(key) % attention.kv_heads == 0, key, heads_and(attention.kv_heads, "key heads"));
  tensors.expect(tensors.rows(value) % attention.kv_heads == 0, value, heads_and(attention.kv_heads, "value heads"));
  attention.head_dim = tensors.rows(key) / attention.kv_heads;
  attention.value_head_dim = tensors.rows(value) / attention.kv_heads;
  const Count query_rows = attention.heads * attention.head_dim;
  attention.output_gate = tensors.rows(query) == 2 * query_rows;
  tensors.expect(attention.output_gate || tensors.rows(query) == query_rows, query,
                 heads_and(attention.heads, "query heads of ") + std::to_string(attention.head_dim));
  tensors.take(query, TensorRole::attention_query);
  tensors.take(key, TensorRole::attention_key);
  tensors.take(value, TensorRole::attention_value);
}

void take_attention_biases(GgufTaker& tensors, GroupedQueryAttention& attention) {
  const bool fused = tensors.has(query_key_value_bias);
  attention.query_bias = fused || tensors.has(query_bias);
  attention.key_bias = fused || tensors.has(key_bias);
  attention.value_bias = fused || tensors.has(value_bias);
  attention.output_bias = tensors.has(attention_output_bias);
  for (const GgufPart part : {query_bias, key_bias, value_bias, query_key_value_bias, attention_output_bias}) {
    tensors.take(part, TensorRole::attention_bias);
  }
}

void take_query_key_norm(GgufTaker& tensors, GroupedQueryAttention& attention) {
  const Count length = tensors.elements(query_norm);
  if (length == 0) {
    return;
  }
  const bool per_head = length == attention.head_dim;
  tensors.expect(per_head || length == attention.heads * attention.head_dim, query_norm,
                 heads_and(attention.heads, "query heads of ") + std::to_string(attention.head_dim));
  attention.query_key_norm = per_head ? QueryKeyNorm::per_head : QueryKeyNorm::per_model;
  tensors.take(query_norm, TensorRole::norm);
  tensors.take(key_norm, TensorRole::norm);
}

GroupedQueryAttention grouped_attention(GgufTaker& tensors, Count hidden, std::optional<Tokens> window) {
  GroupedQueryAttention attention;
  std::tie(attention.heads, attention.kv_heads) = head_counts(tensors);
  attention.window = window;
  if (tensors.has(query_key_value)) {
    fused_projections(tensors, attention, hidden);
  } else {
    separate_projections(tensors, attention);
  }
  take_output_gate(tensors, attention);
  (void)tensors.require(attention_output);
  tensors.expect(tensors.row_length(attention_output) == attention.heads * attention.value_head_dim, attention_output,
                 heads_and(attention.heads, "heads with values of ") + std::to_string(attention.value_head_dim));
  tensors.take(attention_output, TensorRole::attention_output);
  take_attention_biases(tensors, attention);
  take_query_key_norm(tensors, attention);
  attention.sinks = tensors.has(sinks);
  tensors.take(sinks, TensorRole::sinks);
  return attention;
}

/// Takes the query's projections; yields the width of a head's query.
Count take_latent_query(GgufTaker& tensors, LatentAttention& attention) {
  const GgufPart up = tensors.has(latent_query_down) ? latent_query_up : query;
  (void)tensors.require(up);
  tensors.expect(tensors.rows(up) % attention.heads == 0, up, heads_and(attention.heads, "query heads"));
  const Count width = tensors.rows(up) / attention.heads;
  attention.query_rank = tensors.rows(latent_query_down);
  attention.query_down_bias = tensors.has(latent_query_down_bias);
  tensors.take(latent_query_down, TensorRole::latent_query_down);
  tensors.take(latent_query_down_bias, TensorRole::attention_bias);
  tensors.take(latent_query_norm, TensorRole::norm);
  tensors.take(up, up == query ? TensorRole::attention_query : TensorRole::latent_query_up);
  return width;
}

/// Keys and values are re-made by one tensor, or by two that decode can use as they are. Some files have all three.
void take_latent_up(GgufTaker& tensors, const LatentAttention& attention) {
  const Count key_rows = attention.heads * attention.nope_head_dim;
  const Count value_rows = attention.heads * attention.value_head_dim;
  const std::string reason = heads_and(attention.heads, "heads with keys of ") +
                             std::to_string(attention.nope_head_dim) + " and values of " +
                             std::to_string(attention.value_head_dim);
  if (tensors.has(latent_key_up) && tensors.has(latent_value_up)) {
    tensors.expect(tensors.elements(latent_key_up) == key_rows * attention.kv_rank, latent_key_up, reason);
    tensors.expect(tensors.elements(latent_value_up) == value_rows * attention.kv_rank, latent_value_up, reason);
    tensors.take(latent_key_up, TensorRole::latent_key_up);
    tensors.take(latent_value_up, TensorRole::latent_value_up);
    tensors.set_aside(latent_kv_up, "a second copy of what re-makes keys and values");
    return;
  }
  const GgufTensor& both = tensors.require(latent_kv_up);
  tensors.expect(tensors.rows(latent_kv_up) == key_rows + value_rows, latent_kv_up, reason);
  tensors.take_rows(both, TensorRole::latent_key_up, key_rows);
  tensors.take_rows(both, TensorRole::latent_value_up, value_rows);
  tensors.done(latent_kv_up);
}

/// All widths follow from shapes: what the metadata call lengths of keys differs from one converter to the next.
LatentAttention latent_attention(GgufTaker& tensors) {
  LatentAttention attention;
  attention.heads = head_counts(tensors).first;
  (void)tensors.require(latent_kv_norm);
  (void)tensors.require(attention_output);
  attention.kv_rank = tensors.elements(latent_kv_norm);
  attention.rope_head_dim = tensors.rows(latent_kv_down) - attention.kv_rank;
  tensors.expect(attention.rope_head_dim >= 0, latent_kv_down,
                 "has fewer rows than " + std::to_string(attention.kv_rank) + ", the length of the norm after it");
  attention.nope_head_dim = take_latent_query(tensors, attention) - attention.rope_head_dim;
  attention.value_head_dim = tensors.row_length(attention_output) / attention.heads;
  attention.kv_down_bias = tensors.has(latent_kv_down_bias);
  attention.output_bias = tensors.has(attention_output_bias);
  tensors.take(latent_kv_down, TensorRole::latent_kv_down);
  tensors.take(latent_kv_down_bias, TensorRole::attention_bias);
  tensors.take(latent_kv_norm, TensorRole::norm);
  take_latent_up(tensors, attention);
  tensors.take(attention_output, TensorRole::attention_output);
  tensors.take(attention_output_bias, TensorRole::attention_bias);
  return attention;
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
DenseFeedForward take_feed_forward(GgufTaker& tensors, const FeedForwardParts& parts) {
  const GgufTensor& up = tensors.require(parts.up);
  (void)tensors.require(parts.down);
  DenseFeedForward dense{.width = tensors.row_length(parts.down)};
  const bool fused = !tensors.has(parts.gate) && rows_of(up) == 2 * dense.width;
  dense.gated = fused || tensors.has(parts.gate);
  tensors.expect(fused || rows_of(up) == dense.width, parts.up,
                 heads_and(dense.width, "channels, which the projection down takes"));
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
  DenseFeedForward dense = take_feed_forward(tensors, dense_parts);
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
  const Count all = moe.experts * moe.width * hidden;
  const bool fused = tensors.has(expert_gate_up);
  const std::string reason = heads_and(moe.experts, "experts of width ") + std::to_string(moe.width);
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

/// Experts that see every token, and a dense network beside the experts, which is the same by another name.
void take_shared_experts(GgufTaker& tensors, MixtureOfExperts& moe) {
  if (tensors.has(shared_expert_up)) {
    moe.shared_width = take_feed_forward(tensors, shared_parts).width;
  }
  if (tensors.has(feed_forward_up)) {
    moe.shared_width += take_feed_forward(tensors, dense_beside_experts).width;
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
  take_experts(tensors, moe, hidden);
  take_shared_experts(tensors, moe);
  moe.router_bias = tensors.has(router_bias);
  moe.score_correction = tensors.has(score_correction);
  moe.expert_bias = tensors.has(expert_up_bias) && tensors.has(expert_down_bias);
  tensors.take(router, TensorRole::router);
  tensors.take(router_bias, TensorRole::router_bias);
  tensors.take(score_correction, TensorRole::router_bias);
  for (const GgufPart part : {expert_gate_bias, expert_up_bias, expert_down_bias}) {
    tensors.take(part, TensorRole::expert_bias);
  }
  return moe;
}

std::vector<Mixer> mixers(GgufTaker& tensors, Count hidden, std::optional<Tokens> window) {
  if (tensors.has(latent_kv_down)) {
    return {latent_attention(tensors)};
  }
  if (tensors.has(query_key_value) || tensors.has(query)) {
    return {grouped_attention(tensors, hidden, window)};
  }
  tensors.set_aside(attention_output, "a projection in place of attention");
  return {};
}

std::optional<FeedForward> feed_forward(GgufTaker& tensors, Count hidden) {
  if (tensors.has(router)) {
    return mixture_of_experts(tensors, hidden);
  }
  return tensors.has(feed_forward_up) ? std::optional<FeedForward>(dense_feed_forward(tensors)) : std::nullopt;
}

/// Norms of the hidden width. A layer whose attention and feed-forward network have one norm between them runs both at once.
void take_norms(GgufTaker& tensors, Block& block, Count hidden) {
  const Count before = tensors.elements(mixer_norm);
  const Count others = tensors.elements(norm);
  block.norms = (before + others) / hidden;
  block.normalisation.weight = block.norms > 0;
  block.normalisation.bias = block.norms > 0 && tensors.elements(norm_bias) == block.norms * hidden;
  block.parallel = !block.mixers.empty() && block.feed_forward &&
                   (tensors.metadata().flag("use_parallel_residual").value_or(false) || (before > 0 && others == 0));
  if (block.norms == 0) {
    block.norms = 2;
    tensors.assume("layers without a norm's weights normalise twice");
  }
  for (const GgufPart part : {mixer_norm, norm, norm_bias}) {
    tensors.take(part, TensorRole::norm);
  }
}

} // namespace

Block make_gguf_block(GgufTaker& tensors, Count hidden, std::optional<Tokens> window) {
  Block block;
  block.mixers = mixers(tensors, hidden, window);
  block.feed_forward = feed_forward(tensors, hidden);
  take_norms(tensors, block, hidden);
  tensors.finish();
  return block;
}

} // namespace tokenroof::readers
