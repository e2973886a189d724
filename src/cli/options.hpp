/// @file
/// What the command line was asked, as plain values: the commands know nothing of how arguments are parsed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tokenroof::cli {

enum class OutputForm : std::uint8_t { text, json, csv };

struct DeploymentOptions {
  std::string model{};
  std::string device{};
  std::string engine = "auto";
  std::string weights{}; ///< empty: what the network's file says
  std::string kv{};      ///< empty: 16 bits
  std::string memory{};
  std::string usable_memory{}; ///< of that, what one process may fill
  std::optional<std::int64_t> devices{};
  std::int64_t tensor = 1;
  std::int64_t pipeline = 1;
  std::int64_t expert = 1;
  std::int64_t data = 1;
  std::string host{};           ///< a processor of the catalogue, or a file
  std::string host_memory{};    ///< over what `host` says
  std::string host_bandwidth{}; ///< likewise
  std::string storage{};        ///< bandwidth of the drive that weights are read from
  std::optional<std::int64_t> device_layers{};
  std::int64_t host_experts = 0;
  bool cache_on_host = false;
  bool map_from_storage = false;
  std::optional<std::int64_t> batch_tokens{};
  std::optional<std::int64_t> most_sequences{};
  std::optional<double> memory_fraction{};
};

struct PredictOptions {
  DeploymentOptions deployment{};
  std::int64_t batch = 1;
  std::optional<std::int64_t> concurrency{}; ///< clients of a closed loop, instead of a batch
  std::optional<std::int64_t> requests{};    ///< that they send, all starting together
  std::int64_t prompt = 512;
  std::int64_t output = 128;
  std::int64_t context_depth = 0;
  bool require_fit = false;
  OutputForm form = OutputForm::text;
};

/// The workload's parts as lists and ranges, see ranges.hpp.
struct SweepOptions {
  DeploymentOptions deployment{};
  std::string batch = "1";
  std::string prompt = "512";
  std::string output = "128";
  std::string context_depth = "0";
  bool require_fit = false;
  OutputForm form = OutputForm::text;
};

struct ValidateOptions {
  std::string path{};
  std::string group_by = "framework,version,metric";
  std::string rows{}; ///< a file for one line a row; empty: none
  OutputForm form = OutputForm::text;
};

struct CalibrateOptions {
  std::vector<std::string> paths{};
  std::string engine{};
  std::string output{}; ///< a file for the engine; empty: none
  std::string model{};  ///< what follows is for files that do not say
  std::string device{};
  std::string weights{};
  std::string kv{};
  std::optional<std::int64_t> tensor{};
  std::optional<std::int64_t> pipeline{};
  std::optional<std::int64_t> expert{};
  std::optional<std::int64_t> data{};
  std::string fit{};     ///< keys with commas; empty: all that the engine states
  std::string profile{}; ///< empty: see docs/calibration.md
  std::string group_by = "network";
  OutputForm form = OutputForm::text;
};

struct CatalogueOptions {
  std::string id{}; ///< or a path; empty: list all
  OutputForm form = OutputForm::text;
};

} // namespace tokenroof::cli
