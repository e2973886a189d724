#include "readers/gguf_network.hpp"

#include <algorithm>
#include <utility>

#include "readers/gguf_layers.hpp"
#include "readers/gguf_windows.hpp"
#include "tokenroof/errors.hpp"

namespace tokenroof::readers {
namespace {

using enum GgufPart;

constexpr std::string_view block_fact = "block_count";
constexpr std::string_view prediction_fact = "nextn_predict_layers";
constexpr std::string_view hidden_fact = "embedding_length";
constexpr std::string_view sharing_fact = "attention.shared_kv_layers";

/// Takes a norm outside the layers; yields whether it is there.
bool take_norm(GgufTaker& tensors, GgufPart weight, GgufPart bias) {
  const bool found = tensors.has(weight);
  tensors.take(weight, TensorRole::norm);
  tensors.take(bias, TensorRole::norm);
  return found;
}

void take_embeddings(GgufTaker& tensors, Network& network) {
  network.vocabulary = tensors.rows(token_embedding);
  network.tied_embeddings = !tensors.has(head);
  tensors.expect(network.tied_embeddings || tensors.rows(head) == network.vocabulary, head,
                 "has another vocabulary than the " + std::to_string(network.vocabulary) + " embeddings");
  tensors.take(token_embedding, network.tied_embeddings ? TensorRole::tied_embedding : TensorRole::token_embedding);
  tensors.take(head, TensorRole::lm_head);
  network.head_bias = tensors.has(head_bias);
  tensors.take(head_bias, TensorRole::head_bias);
  network.learned_positions = tensors.rows(position_embedding);
  tensors.take(position_embedding, TensorRole::position_embedding);
}

/// Embeddings that each layer has of its own, all layers' in one table.
void take_per_layer_embeddings(GgufTaker& tensors, Network& network) {
  if (!tensors.has(per_layer_embedding)) {
    return;
  }
  (void)tensors.require(per_layer_input_norm);
  network.per_layer_width = tensors.elements(per_layer_input_norm);
  network.per_layer_vocabulary = tensors.rows(per_layer_embedding);
  tensors.take(per_layer_embedding, TensorRole::per_layer_embedding);
  tensors.take(per_layer_input, TensorRole::per_layer_projection);
  tensors.take(per_layer_input_norm, TensorRole::norm);
}

void take_outer(GgufTaker& tensors, Network& network) {
  (void)tensors.require(token_embedding);
  network.hidden = tensors.metadata().count(hidden_fact);
  tensors.expect(tensors.row_length(token_embedding) == network.hidden, token_embedding,
                 "does not have the width " + tensors.metadata().key(hidden_fact) + " = " +
                     std::to_string(network.hidden));
  take_embeddings(tensors, network);
  take_per_layer_embeddings(tensors, network);
  network.normalisation.weight = tensors.has(final_norm) || tensors.has(embedding_norm);
  network.normalisation.bias = tensors.has(final_norm_bias);
  const bool last = take_norm(tensors, final_norm, final_norm_bias);
  const bool first = take_norm(tensors, embedding_norm, embedding_norm_bias);
  network.embedding_norm = first && last; // some files call the last norm token_embd_norm
  network.final_norm = last || first || !network.normalisation.weight;
  tensors.finish();
}

bool predicts(const GgufTensors& block) { return block.find(prediction) != nullptr; }

/// Layers before the prediction modules. Files count these among the blocks, and may leave their tensors out.
Count layers_of(const GgufMetadata& metadata, const GgufTensorTable& table, Count& predictions) {
  const auto first = std::find_if(table.blocks.begin(), table.blocks.end(), predicts);
  const auto layers = static_cast<Count>(first - table.blocks.begin());
  predictions = static_cast<Count>(table.blocks.end() - first);
  if (!std::all_of(first, table.blocks.end(), predicts)) {
    throw ParseError(metadata.path(), first->place, "a prediction module that is not among the last blocks");
  }
  const Count stated = metadata.count(block_fact);
  const Count left_out = predictions == 0 ? metadata.find_count(prediction_fact).value_or(0) : predictions;
  if (stated != layers && stated != layers + left_out) {
    throw InvalidSpec(metadata.key(block_fact), std::to_string(stated),
                      "the file has tensors of " + std::to_string(table.blocks.size()) + " blocks");
  }
  return layers;
}

/// Only files that list heads by layer have layers that do nothing.
bool does_nothing(const GgufMetadata& metadata, const GgufTensors& block, Count layer) {
  return block.parts.empty() && block.unknown.empty() &&
         metadata.find_count("attention.head_count", layer).value_or(1) == 0;
}

void append(std::vector<LayerRun>& runs, Block block) {
  if (!runs.empty() && runs.back().block == block) {
    ++runs.back().count;
  } else {
    runs.push_back({std::move(block), 1});
  }
}

Block make_layer(const GgufMetadata& metadata, const GgufTensors& tensors, Count index, const GgufLayer& layer,
                 GgufNetwork& result) {
  if (does_nothing(metadata, tensors, index)) {
    return Block{.norms = 0};
  }
  GgufTaker taker(metadata, tensors, index, result);
  Block block = make_gguf_block(taker, layer);
  if (block.mixers.empty() && !block.feed_forward) {
    throw ParseError(metadata.path(), tensors.place, "the block has neither attention nor a feed-forward network");
  }
  return block;
}

void set_predictions_aside(const GgufTensorTable& table, Count layers, GgufNetwork& result) {
  for (auto block = table.blocks.begin() + layers; block != table.blocks.end(); ++block) {
    for (const auto& [part, tensors] : block->parts) {
      for (const GgufTensor* tensor : tensors) {
        result.others.push_back({tensor, "multi-token prediction modules"});
      }
    }
    for (const GgufTensor* tensor : block->unknown) {
      result.others.push_back({tensor, "multi-token prediction modules"});
    }
  }
}

} // namespace

GgufNetwork make_gguf_network(const GgufMetadata& metadata, const GgufTensorTable& tensors) {
  GgufNetwork result{.others = tensors.others};
  GgufTaker outer(metadata, tensors.outer, std::nullopt, result);
  take_outer(outer, result.network);
  const Count layers = layers_of(metadata, tensors, result.network.prediction_heads);
  const GgufWindows windows(metadata, layers, result.assumptions);
  const Count sharing = metadata.find_count(sharing_fact).value_or(0);
  for (Count index = 0; index < layers; ++index) {
    const GgufLayer layer{
        .hidden = result.network.hidden, .window = windows.of_layer(index), .shares_cache = index >= layers - sharing};
    append(result.network.layers,
           make_layer(metadata, tensors.blocks[static_cast<std::size_t>(index)], index, layer, result));
  }
  set_predictions_aside(tensors, layers, result);
  result.network.context_limit =
      Tokens::from_value(static_cast<double>(metadata.find_count("context_length").value_or(0)));
  return result;
}

} // namespace tokenroof::readers
