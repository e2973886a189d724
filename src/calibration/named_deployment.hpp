/// @file
/// A deployment from names, as far as it was not given beside them.
#pragma once

#include <string>
#include <vector>

#include "tokenroof/calibration.hpp"

namespace tokenroof::calibration {

/// What a benchmark calls things; empty: it does not say.
struct Names {
  std::vector<std::string> networks{}; ///< the first that is known counts
  std::vector<std::string> weights{};  ///< likewise; else what the network's name says
  std::string kv{};
  std::string device{}; ///< "A, A" are two
};

struct NamedDeployment {
  Deployment deployment{};
  std::int64_t named_devices = 1; ///< that the device's name counts
  std::string reason{};           ///< why there is none; empty: there is one
};

/// The engine is that of the options; the split is the given one, else none.
[[nodiscard]] NamedDeployment deployment_of(const Names& names, const ReadOptions& options);

} // namespace tokenroof::calibration
