/// @file
/// What the tensors of a GGUF file are for: a table by name that is data (models/gguf_tensors.json).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "readers/gguf_file.hpp"

namespace tokenroof::readers {

/// Parts of a network as files store them, which cut it differently than tokenroof's own inventory does.
enum class GgufPart : std::uint8_t {
  token_embedding,
  embedding_norm,
  embedding_norm_bias,
  position_embedding,
  final_norm,
  final_norm_bias,
  head,
  head_bias,
  mixer_norm, ///< before what mixes tokens
  norm,
  norm_bias,
  query,
  key,
  value,
  query_key_value,
  attention_output,
  output_gate,
  query_bias,
  key_bias,
  value_bias,
  query_key_value_bias,
  attention_output_bias,
  query_norm,
  key_norm,
  sinks,
  latent_query_down,
  latent_query_down_bias,
  latent_query_norm,
  latent_query_up,
  latent_kv_down,
  latent_kv_down_bias,
  latent_kv_norm,
  latent_kv_up,
  latent_key_up,
  latent_value_up,
  feed_forward_gate,
  feed_forward_up,
  feed_forward_down,
  feed_forward_gate_bias,
  feed_forward_up_bias,
  feed_forward_down_bias,
  router,
  router_bias,
  score_correction,
  expert_gate,
  expert_up,
  expert_down,
  expert_gate_up,
  expert_gate_bias,
  expert_up_bias,
  expert_down_bias,
  shared_expert_gate,
  shared_expert_up,
  shared_expert_down,
  shared_expert_router,
  state_in,
  state_in_bias,
  state_out,
  state_out_bias,
  state_convolution,
  state_convolution_bias,
  state_decay,
  state_skip,
  state_step_bias,
  state_norm,
  linear_gates,
  short_convolution_in,
  short_convolution,
  short_convolution_out,
  state_scan,
  state_step,
  state_step_norm,
  query_convolution,
  key_convolution,
  value_convolution,
  decay_down,
  decay_up,
  write_strength,
  gate_down,
  gate_up,
  receptance,
  receptance_key,
  receptance_value,
  receptance_gate,
  receptance_output,
  receptance_norm,
  receptance_decay,
  receptance_mix,
  receptance_low_rank,
  channel_key,
  channel_value,
  channel_receptance,
  channel_mix,
  indexer_query,
  indexer_key,
  indexer_weights,
  indexer_key_norm,
  indexer_key_norm_bias,
  expert_latent_down,
  expert_latent_up,
  router_scale,
  expert_scale,
  layer_scale,
  per_layer_embedding,
  per_layer_input,
  per_layer_input_norm,
  per_layer_down,
  per_layer_up,
  per_layer_norm,
  prediction, ///< of a multi-token prediction module, beside the tensors that it has in common with any layer
};

/// The tensors of one block, or of all that lies outside the blocks, by part. Refers to the file they are of.
struct GgufTensors {
  std::string place{}; ///< "blk.3.", or nothing
  std::map<GgufPart, std::vector<const GgufTensor*>> parts{};
  std::vector<const GgufTensor*> unknown{};

  /// The tensor of that part, or null. Of several (old files have one an expert) the first.
  [[nodiscard]] const GgufTensor* find(GgufPart part) const;
};

/// A tensor that is stored and never read by a step, and what it is.
struct GgufOther {
  const GgufTensor* tensor = nullptr;
  std::string what{};
};

/// All tensors of a file, sorted.
struct GgufTensorTable {
  GgufTensors outer{};
  std::vector<GgufTensors> blocks{};
  std::vector<GgufOther> others{};
};

/// Sorts the tensors of a file, which must outlive the result. Throws ParseError for numbers of blocks that cannot be.
[[nodiscard]] GgufTensorTable sort_tensors(const GgufFile& file);

/// How files call a tensor of that part, for messages: "attn_output.weight".
[[nodiscard]] std::string_view usual_name(GgufPart part);

} // namespace tokenroof::readers
