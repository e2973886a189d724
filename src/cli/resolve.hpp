/// @file
/// From what people write to values: catalogue ids, files, sizes, formats.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/options.hpp"
#include "tokenroof/catalogue/networks.hpp"
#include "tokenroof/deployment/deployment.hpp"

namespace tokenroof::cli {

/// Whether a text means a file rather than an id: it ends in .json, starts with a dot or a slash, or has a slash and
/// exists. "meta-llama/Llama-3.1-8B" is an id unless there is such a directory here.
[[nodiscard]] bool means_file(std::string_view text);

/// The network of an id or a config.json, with what is known of where it comes from.
[[nodiscard]] catalogue::NetworkEntry find_network(const std::string& text);

/// The device of an id ("ID@SIZE" chooses a size) or a file; `memory` chooses a size too, unless it is empty.
[[nodiscard]] Device find_device(const std::string& text, const std::string& memory);

/// The engine of an id or a file; "auto" is the device's usual one.
[[nodiscard]] Shared<Engine> find_engine(const std::string& text, const Device& device);

struct ResolvedDeployment {
  Deployment deployment{};
  std::vector<std::string> assumptions{}; ///< what the reader of the network had to assume
};

/// Everything that is not the workload. Throws UnknownId, InvalidSpec or ParseError.
[[nodiscard]] ResolvedDeployment resolve(const DeploymentOptions& options);

} // namespace tokenroof::cli
