/// @file
/// From what people write to values: catalogue ids, files, sizes, formats.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.hpp"
#include "tokenroof/catalogue/networks.hpp"
#include "tokenroof/deployment/deployment.hpp"
#include "tokenroof/readers.hpp"

namespace tokenroof::cli {

/// Whether a text means a file rather than an id: it ends in .json, starts with a dot or a slash, or has a slash and
/// exists. "meta-llama/Llama-3.1-8B" is an id unless there is such a directory here.
[[nodiscard]] bool means_file(std::string_view text);

/// Whether a text means a model file or a folder of them: also one that ends as they do or with a slash, or names a folder
/// that there is here.
[[nodiscard]] bool means_model_file(std::string_view text);

/// A network with where its description comes from and, where that is files, what they hold.
struct Model {
  catalogue::NetworkEntry entry{};
  std::optional<Format> kv{};   ///< of the KV cache, where the files state it
  std::string kind{};           ///< of the files; empty for the catalogue
  std::string weights_source{}; ///< what tells the weights' formats
  ModelFiles files{};
};

/// The network of a catalogue id, a model file or a folder. Throws UnknownId, or ParseError for whatever is wrong with files.
[[nodiscard]] Model find_model(const std::string& text);

/// The device of an id ("ID@SIZE" chooses a size) or a file; `memory` chooses a size too, unless it is empty.
[[nodiscard]] Device find_device(const std::string& text, const std::string& memory);

/// The engine of an id or a file; "auto" is the device's usual one.
[[nodiscard]] Shared<Engine> find_engine(const std::string& text, const Device& device);

/// The format of a KV cache by name. Throws UnknownFormat.
[[nodiscard]] Format find_kv_format(const std::string& name);

struct ResolvedDeployment {
  Deployment deployment{};
  std::vector<std::string> assumptions{}; ///< what the reader of the network had to assume
};

/// Everything that is not the workload. Throws UnknownId, InvalidSpec or ParseError.
[[nodiscard]] ResolvedDeployment resolve(const DeploymentOptions& options);

} // namespace tokenroof::cli
