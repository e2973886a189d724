/// @file
/// The reader of config.json, for documents that are parsed already.
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

#include "tokenroof/readers.hpp"

namespace tokenroof::readers {

/// Reads the network that a config.json describes; `path` stands for the file in messages. Throws ParseError, InvalidSpec.
[[nodiscard]] NetworkReading examine_config(const nlohmann::json& document, std::string_view path,
                                            std::string_view name);

} // namespace tokenroof::readers
