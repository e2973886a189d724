#include "cli/resolve.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include "tokenroof/catalogue/devices.hpp"
#include "tokenroof/catalogue/engines.hpp"
#include "tokenroof/deployment/check.hpp"
#include "tokenroof/errors.hpp"
#include "tokenroof/hardware/memory_choice.hpp"
#include "tokenroof/nearest.hpp"
#include "tokenroof/network/named_schemes.hpp"
#include "tokenroof/readers.hpp"
#include "tokenroof/units/parse.hpp"

namespace tokenroof::cli {

namespace {

Format find_kv_format(const std::string& name) {
  if (const auto format = find_format(name)) {
    return *format;
  }
  std::vector<std::string_view> names;
  names.reserve(formats.size());
  for (const Format& format : formats) {
    names.push_back(format.name.view());
  }
  throw UnknownFormat(name, nearest_names(name, names));
}

/// The devices in all: what was said, which must be what the split needs.
std::int64_t device_total(const DeploymentOptions& options, const Parallelism& parallelism) {
  for (const std::int64_t degree : {parallelism.tensor, parallelism.pipeline, parallelism.data}) {
    if (degree < 1 || degree > most_devices) {
      return 1; // check() names the degree; the product could overflow
    }
  }
  const std::int64_t needed = device_count(parallelism);
  if (options.devices && *options.devices != needed) {
    throw InvalidSpec("devices", std::to_string(*options.devices),
                      "must equal --tp x --pp x --dp, which is " + std::to_string(needed) +
                          "; say how the network is split over them");
  }
  return needed;
}

} // namespace

bool means_file(std::string_view text) {
  if (text.ends_with(".json") || text.starts_with('.') || text.starts_with('/')) {
    return true;
  }
  std::error_code ignored;
  return text.find_first_of("/\\") != std::string_view::npos && std::filesystem::exists(text, ignored);
}

catalogue::NetworkEntry find_network(const std::string& text) {
  if (!means_file(text)) {
    return catalogue::network_entry(text);
  }
  NetworkReading reading = examine_network(text);
  catalogue::NetworkEntry entry{.id = reading.network.name,
                                .source = text,
                                .weights = reading.weights,
                                .assumptions = std::move(reading.assumptions)};
  entry.network = std::move(reading.network);
  return entry;
}

Device find_device(const std::string& text, const std::string& memory) {
  const Device device = means_file(text) ? read_device(text) : catalogue::device(text);
  if (memory.empty()) {
    return device;
  }
  const std::optional<Bytes> size = parse_bytes(memory);
  if (!size) {
    throw InvalidSpec("memory", '\'' + memory + '\'', "is not a size; sizes look like 64GiB or 80GB");
  }
  return with_memory(device, *size);
}

Shared<Engine> find_engine(const std::string& text, const Device& device) {
  if (text == "auto") {
    return catalogue::default_engine(device);
  }
  return means_file(text) ? Shared<Engine>(read_engine(text)) : catalogue::engine(text);
}

ResolvedDeployment resolve(const DeploymentOptions& options) {
  ResolvedDeployment resolved;
  catalogue::NetworkEntry entry = find_network(options.model);
  Deployment& deployment = resolved.deployment;
  deployment.network = std::move(entry.network);
  deployment.weights = options.weights.empty() ? entry.weights.value_or(WeightScheme{}) : scheme(options.weights);
  deployment.activations = sixteen_bits(deployment.weights);
  deployment.kv = options.kv.empty() ? deployment.activations : find_kv_format(options.kv);
  deployment.cluster.device = find_device(options.device, options.memory);
  deployment.engine = find_engine(options.engine, deployment.cluster.device);
  deployment.parallelism = {
      .tensor = options.tensor, .pipeline = options.pipeline, .data = options.data, .expert = options.expert};
  deployment.cluster.devices = device_total(options, deployment.parallelism);
  resolved.assumptions = std::move(entry.assumptions);
  return resolved;
}

} // namespace tokenroof::cli
