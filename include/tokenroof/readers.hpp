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

/// A network with what its description left open, and how its weights seem to be stored.
struct NetworkReading {
  Network network{};
  std::optional<WeightScheme> weights{};  ///< from `torch_dtype` and `quantization_config`; none where they do not tell
  std::vector<std::string> assumptions{}; ///< defaults that stood in for absent keys, and parts left out, as text
};

/// Reads a Hugging Face `config.json`, or a directory that holds one.
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
