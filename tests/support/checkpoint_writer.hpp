/// @file
/// Makes checkpoints of a small Llama in the ways that quantisers store matrices.
#pragma once

#include <cstddef>
#include <string>

#include "support/safetensors_writer.hpp"

namespace tokenroof::test {

inline constexpr std::size_t llama_hidden = 256;
inline constexpr std::size_t llama_key_rows = 128;
inline constexpr std::size_t llama_width = 768;
inline constexpr std::size_t llama_vocabulary = 512;
inline constexpr std::size_t llama_layers = 2;

/// The config.json of that network, with more members.
[[nodiscard]] inline std::string llama_config(const std::string& more) {
  return R"({"model_type": "llama", "hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4,
             "num_key_value_heads": 2, "intermediate_size": 768, "vocab_size": 512, "tie_word_embeddings": false,
             "max_position_embeddings": 2048, "attention_bias": false, "mlp_bias": false, "rms_norm_eps": 1e-5,
             "torch_dtype": "bfloat16")" +
         (more.empty() ? "" : ", " + more) + "}";
}

/// Adds the matrix of that module as a quantiser stores it.
using StoreMatrix = void (*)(SafetensorsWriter& out, const std::string& module, std::size_t rows, std::size_t columns);

inline void store_plain(SafetensorsWriter& out, const std::string& module, std::size_t rows, std::size_t columns) {
  out.add(module + ".weight", "BF16", {rows, columns});
}

inline void store_gptq(SafetensorsWriter& out, const std::string& module, std::size_t rows, std::size_t columns) {
  out.add(module + ".qweight", "I32", {columns / 8, rows});
  out.add(module + ".qzeros", "I32", {columns / 128, rows / 8});
  out.add(module + ".scales", "F16", {columns / 128, rows});
  out.add(module + ".g_idx", "I32", {columns});
}

inline void store_awq(SafetensorsWriter& out, const std::string& module, std::size_t rows, std::size_t columns) {
  out.add(module + ".qweight", "I32", {columns, rows / 8});
  out.add(module + ".qzeros", "I32", {columns / 128, rows / 8});
  out.add(module + ".scales", "F16", {columns / 128, rows});
}

inline void store_fp8_block(SafetensorsWriter& out, const std::string& module, std::size_t rows, std::size_t columns) {
  out.add(module + ".weight", "F8_E4M3", {rows, columns});
  out.add(module + ".weight_scale_inv", "F32", {(rows + 127) / 128, (columns + 127) / 128});
}

inline void store_fp8(SafetensorsWriter& out, const std::string& module, std::size_t rows, std::size_t columns) {
  out.add(module + ".weight", "F8_E4M3", {rows, columns});
  out.add(module + ".weight_scale", "F32", {});
  out.add(module + ".input_scale", "F32", {});
}

inline void store_nvfp4(SafetensorsWriter& out, const std::string& module, std::size_t rows, std::size_t columns) {
  out.add(module + ".weight", "U8", {rows, columns / 2});
  out.add(module + ".weight_scale", "F8_E4M3", {rows, columns / 16});
  out.add(module + ".weight_scale_2", "F32", {});
  out.add(module + ".input_scale", "F32", {});
}

inline void store_compressed(SafetensorsWriter& out, const std::string& module, std::size_t rows, std::size_t columns) {
  out.add(module + ".weight_packed", "I32", {rows, columns / 8});
  out.add(module + ".weight_scale", "BF16", {rows, columns / 32});
  out.add(module + ".weight_shape", "I64", {2});
}

inline void store_mlx(SafetensorsWriter& out, const std::string& module, std::size_t rows, std::size_t columns) {
  out.add(module + ".weight", "U32", {rows, columns / 8});
  out.add(module + ".scales", "BF16", {rows, columns / 64});
  out.add(module + ".biases", "BF16", {rows, columns / 64});
}

inline void store_int8(SafetensorsWriter& out, const std::string& module, std::size_t rows, std::size_t columns) {
  out.add(module + ".weight", "I8", {rows, columns});
  out.add(module + ".SCB", "F32", {rows});
  out.add(module + ".weight_format", "U8", {});
}

/// One layer of the network.
inline void add_llama_layer(SafetensorsWriter& out, const std::string& layer, StoreMatrix store) {
  store(out, layer + "self_attn.q_proj", llama_hidden, llama_hidden);
  store(out, layer + "self_attn.k_proj", llama_key_rows, llama_hidden);
  store(out, layer + "self_attn.v_proj", llama_key_rows, llama_hidden);
  store(out, layer + "self_attn.o_proj", llama_hidden, llama_hidden);
  store(out, layer + "mlp.gate_proj", llama_width, llama_hidden);
  store(out, layer + "mlp.up_proj", llama_width, llama_hidden);
  store(out, layer + "mlp.down_proj", llama_hidden, llama_width);
  out.add(layer + "input_layernorm.weight", "BF16", {llama_hidden});
  out.add(layer + "post_attention_layernorm.weight", "BF16", {llama_hidden});
}

/// The whole network: matrices in the layers as `store` does, tables as `table` does.
[[nodiscard]] inline SafetensorsWriter llama_checkpoint(StoreMatrix store, StoreMatrix table = store_plain,
                                                        bool head = true) {
  SafetensorsWriter out;
  table(out, "model.embed_tokens", llama_vocabulary, llama_hidden);
  for (std::size_t layer = 0; layer < llama_layers; ++layer) {
    add_llama_layer(out, "model.layers." + std::to_string(layer) + ".", store);
  }
  out.add("model.norm.weight", "BF16", {llama_hidden});
  if (head) {
    table(out, "lm_head", llama_vocabulary, llama_hidden);
  }
  return out;
}

} // namespace tokenroof::test
