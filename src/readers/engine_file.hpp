/// @file
/// An engine's file: the engine itself and what the catalogue needs to know about it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenroof/engine/engine.hpp"

namespace tokenroof::readers {

/// Devices for which an engine is the usual one: of a family, of a class, or of both.
struct DeviceSelector {
  InlineString<32> family{};
  std::optional<DeviceClass> device_class{};

  friend bool operator==(const DeviceSelector&, const DeviceSelector&) = default;
};

struct EngineFile {
  Engine engine{};
  std::string date{}; ///< of the software described, as YYYY, YYYY-MM or YYYY-MM-DD
  std::vector<std::string> aliases{};
  std::vector<DeviceSelector> default_for{};
};

/// Reads the text of an engine's file; `name` stands for the file in messages. Throws ParseError.
[[nodiscard]] EngineFile parse_engine_file(std::string_view json, std::string_view name);

} // namespace tokenroof::readers
