/// @file
/// Files that describe devices, read at run time. (tokenroof::tokenroof)
#pragma once

#include <filesystem>
#include <string_view>

#include "tokenroof/hardware/device.hpp"

namespace tokenroof {

/// The device that a JSON file describes, in the format of models/devices/*.json.
/// Throws ParseError for what is no such file, InvalidSpec for figures that cannot be.
[[nodiscard]] Device read_device(const std::filesystem::path& path);

/// The same for a text in memory; `name` stands for the file in messages.
[[nodiscard]] Device parse_device(std::string_view json, std::string_view name);

} // namespace tokenroof
