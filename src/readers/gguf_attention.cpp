#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "readers/gguf_architectures.hpp"
#include "readers/gguf_layers.hpp"
#include "tokenroof/errors.hpp"

namespace tokenroof::readers {
namespace {

using enum GgufPart;

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

/// A gate on the attention's result: a second half of the query projection, a tensor as large, or one row a head.
void take_output_gate(GgufTaker& tensors, GroupedQueryAttention& attention) {
  const Count rows = tensors.rows(output_gate);
  if (rows == attention.heads * attention.head_dim && !attention.output_gate) {
    attention.output_gate = true;
    tensors.take(output_gate, TensorRole::attention_query);
  } else if (rows == attention.heads) {
    attention.head_gate = true;
    tensors.take(output_gate, TensorRole::attention_gate);
  }
}

/// Widths of heads from the rows of keys and values; values may be the keys, and a layer that uses the cache of an earlier
/// one may have neither.
void take_keys_and_values(GgufTaker& tensors, GroupedQueryAttention& attention) {
  if (attention.shares_cache && !tensors.has(key)) {
    attention.head_dim = tensors.rows(query) / attention.heads;
    attention.value_head_dim = attention.head_dim;
    tensors.assume("layers that share a cache: keys and values, which the file does not have, are taken as computed");
    return;
  }
  (void)tensors.require(key);
  attention.keys_are_values = !tensors.has(value) && values_may_be_keys(tensors.metadata().architecture());
  const GgufPart values = attention.keys_are_values ? key : value;
  (void)tensors.require(values);
  tensors.expect(tensors.rows(key) % attention.kv_heads == 0, key, heads_and(attention.kv_heads, "key heads"));
  tensors.expect(tensors.rows(values) % attention.kv_heads == 0, values, heads_and(attention.kv_heads, "value heads"));
  attention.head_dim = tensors.rows(key) / attention.kv_heads;
  attention.value_head_dim = tensors.rows(values) / attention.kv_heads;
  tensors.take(key, TensorRole::attention_key);
  tensors.take(value, TensorRole::attention_value);
}

void separate_projections(GgufTaker& tensors, GroupedQueryAttention& attention) {
  (void)tensors.require(query);
  take_keys_and_values(tensors, attention);
  const Count query_rows = attention.heads * attention.head_dim;
  attention.output_gate = tensors.rows(query) == 2 * query_rows;
  tensors.expect(attention.output_gate || tensors.rows(query) == query_rows, query,
                 heads_and(attention.heads, "query heads of ") + std::to_string(attention.head_dim));
  tensors.take(query, TensorRole::attention_query);
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

} // namespace

GroupedQueryAttention take_grouped_attention(GgufTaker& tensors, const GgufLayer& layer) {
  GroupedQueryAttention attention;
  std::tie(attention.heads, attention.kv_heads) = head_counts(tensors);
  attention.window = layer.window;
  attention.shares_cache = layer.shares_cache;
  if (tensors.has(query_key_value)) {
    fused_projections(tensors, attention, layer.hidden);
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

namespace {

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

/// The tokens that a query sees are picked by a light attention of its own; a layer without one uses an earlier choice.
std::optional<TokenIndexer> take_indexer(GgufTaker& tensors) {
  if (!tensors.has(indexer_query)) {
    return std::nullopt;
  }
  (void)tensors.require(indexer_key);
  TokenIndexer indexer{.head_dim = tensors.rows(indexer_key), .head_weights = tensors.has(indexer_weights)};
  tensors.expect(tensors.rows(indexer_query) % indexer.head_dim == 0, indexer_query,
                 heads_and(indexer.head_dim, "channels of its key"));
  indexer.heads = tensors.rows(indexer_query) / indexer.head_dim;
  indexer.key_norm = {.weight = tensors.has(indexer_key_norm), .bias = tensors.has(indexer_key_norm_bias)};
  tensors.take(indexer_query, TensorRole::indexer_query);
  tensors.take(indexer_key, TensorRole::indexer_key);
  tensors.take(indexer_weights, TensorRole::indexer_weights);
  tensors.take(indexer_key_norm, TensorRole::norm);
  tensors.take(indexer_key_norm_bias, TensorRole::norm);
  return indexer;
}

} // namespace

// What the metadata call lengths of keys differs from one converter to the next.
LatentAttention take_latent_attention(GgufTaker& tensors) {
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
  attention.output_gate = tensors.rows(output_gate) == attention.heads * attention.value_head_dim;
  tensors.take(output_gate, TensorRole::attention_gate);
  attention.indexer = take_indexer(tensors);
  if (const auto selected = tensors.metadata().find_count("attention.indexer.top_k", tensors.layer())) {
    attention.selected = Tokens::from_value(static_cast<double>(*selected));
  }
  return attention;
}

} // namespace tokenroof::readers
