/// @file
/// The built-in engines, by id, version or alias. (tokenroof::tokenroof)
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tokenroof/engine/engine.hpp"
#include "tokenroof/shared.hpp"

namespace tokenroof::catalogue {

/// The engine of that id or alias, in its newest version or in the one named behind an `@`: "vllm", "vLLM",
/// "vllm@0.19"; a longer version finds the one it belongs to ("vllm@0.19.1"). "roofline" is the neutral engine.
/// Throws UnknownEngine, which holds the nearest ids, or the versions there are. Thread-safe.
[[nodiscard]] Shared<Engine> engine(std::string_view id);

/// The engine people usually run on such a device, as the engine files say; the neutral one where none says so.
[[nodiscard]] Shared<Engine> default_engine(const Device& device);

/// Ids of all engines, the neutral one included, sorted.
[[nodiscard]] std::vector<std::string> engine_ids();

/// The id with the version, which finds this one among all: "vllm@0.19"; the neutral engine has none.
[[nodiscard]] std::string versioned_id(const Engine& engine);

/// Every engine in every version, newest first, as "vllm@0.19"; sorted by id.
[[nodiscard]] std::vector<std::string> engine_versions();

/// The file of an engine as it is in models/engines/, sources included. Throws UnknownEngine.
[[nodiscard]] std::string_view engine_file(std::string_view id);

} // namespace tokenroof::catalogue
