/// @file
/// Files that describe networks, devices and engines, read at run time. They are not trusted: what is wrong with one is an
/// error that names the key. (tokenroof::tokenroof)
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenroof/engine/engine.hpp"
#include "tokenroof/hardware/device.hpp"
#include "tokenroof/network/network.hpp"
#include "tokenroof/network/weight_scheme.hpp"

namespace tokenroof {

/// The device that a JSON file describes, in the format of models/devices/*.json.
/// Throws ParseError for what is no such file, InvalidSpec for figures that cannot be.
[[nodiscard]] Device read_device(const std::filesystem::path& path);

/// The same for a text in memory; `name` stands for the file in messages.
[[nodiscard]] Device parse_device(std::string_view json, std::string_view name);

/// Tensors of a model file that are of one type.
struct StoredType {
  std::string name{}; ///< as the file calls it: BF16, F8_E4M3, Q4_K, ...
  Count tensors = 0;
  Bytes bytes{};

  friend bool operator==(const StoredType&, const StoredType&) = default;
};

/// The files that a network was read from, and what they hold.
struct ModelFiles {
  std::vector<std::string> paths{};
  Bytes on_disk{};                 ///< of files that hold weights, headers included; 0 where there are none
  Count tensors = 0;               ///< in their tables; 0 where there are none
  Bytes tensor_bytes{};            ///< data of all tensors, or what an index states where the files are not there
  std::vector<StoredType> types{}; ///< most bytes first

  friend bool operator==(const ModelFiles&, const ModelFiles&) = default;
};

/// A network with what its description left open, and how its weights are stored.
struct NetworkReading {
  Network network{};
  std::optional<WeightScheme> weights{};  ///< as the files say; none where they do not tell
  std::vector<std::string> assumptions{}; ///< defaults that stood in for absent keys, and parts left out, as text
  std::optional<Format> kv{};             ///< of the KV cache, where the files state it
  std::string kind{};                     ///< what was read: config.json, safetensors, GGUF
  std::string weights_source{};           ///< the key or table that tells the weights' formats
  ModelFiles files{};                     ///< empty for what was in memory
};

/// Reads a model: a Hugging Face `config.json`, a safetensors file or index with a config.json beside it, a GGUF file (told by
/// their first bytes), or a directory of such files. Tensors' data are never read. `weight_bytes` of the result is what the
/// files' tensors take, to the byte, where there are any; else what the configuration says they would.
/// Throws ParseError for what cannot be read or is not supported, InvalidSpec for values that make no network.
[[nodiscard]] NetworkReading examine_network(const std::filesystem::path& path);

/// The same for a text in memory; `name` stands for the file in messages and names the network.
[[nodiscard]] NetworkReading examine_network_text(std::string_view json, std::string_view name);

/// The network alone. Throws as `examine_network`.
[[nodiscard]] Network read_network(const std::filesystem::path& path);

/// The network alone. Throws as `examine_network_text`.
[[nodiscard]] Network parse_network(std::string_view json, std::string_view name);

/// The engine that a JSON file describes, in the format of models/engines/*.json.
/// Throws ParseError for what is no such file, InvalidSpec for figures that cannot be.
[[nodiscard]] Engine read_engine(const std::filesystem::path& path);

/// The same for a text in memory; `name` stands for the file in messages.
[[nodiscard]] Engine parse_engine(std::string_view json, std::string_view name);

} // namespace tokenroof
