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
#include "tokenroof/units/parse.hpp"

namespace tokenroof::cli {

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

namespace {

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

Bytes size_of(const char* field, const std::string& text) {
  const std::optional<Bytes> size = parse_bytes(text);
  if (!size || size->value() <= 0) {
    throw InvalidSpec(field, '\'' + text + '\'', "is not a size; sizes look like 64GiB or 80GB");
  }
  return *size;
}

Bandwidth bandwidth_of(const char* field, const std::string& text) {
  const std::optional<Bandwidth> bandwidth = parse_bandwidth(text);
  if (!bandwidth || bandwidth->value() <= 0) {
    throw InvalidSpec(field, '\'' + text + '\'', "is not a bandwidth in bytes; bandwidths look like 83GB/s");
  }
  return *bandwidth;
}

/// The host, as far as anything was said of it.
std::optional<Host> find_host(const DeploymentOptions& options) {
  std::optional<Host> host;
  if (!options.host.empty()) {
    const Device processor = find_device(options.host, "");
    if (compute_unit(processor, ComputeUnitKind::cpu) == nullptr) {
      throw InvalidSpec("host", std::string(processor.id.view()), "has no processor that could be a host");
    }
    host = host_of(processor);
  }
  const auto said = [&]() -> Host& { return host ? *host : host.emplace(); };
  if (!options.host_memory.empty()) {
    said().memory = size_of("host_memory", options.host_memory);
  }
  if (!options.host_bandwidth.empty()) {
    said().bandwidth = bandwidth_of("host_bandwidth", options.host_bandwidth);
  }
  if (!options.storage.empty()) {
    said().storage_read = bandwidth_of("storage", options.storage);
  }
  return host;
}

Offload offload_of(const DeploymentOptions& options, const Network& network) {
  const Count layers = layer_count(network);
  const Count on_device = options.device_layers.value_or(layers);
  if (on_device < 0 || on_device > layers) {
    throw InvalidSpec("device_layers", std::to_string(on_device),
                      "must lie in 0.." + std::to_string(layers) + ", the network's layers");
  }
  return {.host_layers = layers - on_device,
          .host_expert_layers = options.host_experts,
          .host_cache = options.cache_on_host,
          .mapped = options.map_from_storage};
}

} // namespace

bool means_file(std::string_view text) {
  if (text.ends_with(".json") || text.starts_with('.') || text.starts_with('/')) {
    return true;
  }
  std::error_code ignored;
  return text.find_first_of("/\\") != std::string_view::npos && std::filesystem::exists(text, ignored);
}

bool means_model_file(std::string_view text) {
  std::error_code ignored;
  const bool ends_like_one = text.ends_with(".gguf") || text.ends_with(".safetensors") || text.ends_with('/');
  return ends_like_one || means_file(text) || std::filesystem::is_directory(text, ignored);
}

namespace {

/// What `read` makes of a file. What is wrong within it is the file's fault, not the question's.
template <class Read>
auto from_file(const std::string& path, Read&& read) {
  try {
    return read(path);
  } catch (const InvalidSpec& error) {
    throw ParseError(path, error.field(), error.value() + ": " + error.reason());
  }
}

Device device_of_file(const std::string& path) {
  return from_file(path, [](const std::string& file) { return read_device(file); });
}

Engine engine_of_file(const std::string& path) {
  return from_file(path, [](const std::string& file) { return read_engine(file); });
}

} // namespace

Model find_model(const std::string& text) {
  if (!means_model_file(text)) {
    return {.entry = catalogue::network_entry(text)};
  }
  NetworkReading reading = from_file(text, [](const std::string& file) { return examine_network(file); });
  Model model{.entry = {.id = reading.network.name,
                        .source = text,
                        .weights = reading.weights,
                        .assumptions = std::move(reading.assumptions)}};
  model.entry.network = std::move(reading.network);
  model.kv = reading.kv;
  model.kind = std::move(reading.kind);
  model.weights_source = std::move(reading.weights_source);
  model.files = std::move(reading.files);
  return model;
}

Device find_device(const std::string& text, const std::string& memory) {
  const Device device = means_file(text) ? device_of_file(text) : catalogue::device(text);
  if (memory.empty()) {
    return device;
  }
  return with_memory(device, size_of("memory", memory));
}

Shared<Engine> find_engine(const std::string& text, const Device& device) {
  if (text == "auto") {
    return catalogue::default_engine(device);
  }
  return means_file(text) ? Shared<Engine>(engine_of_file(text)) : catalogue::engine(text);
}

ResolvedDeployment resolve(const DeploymentOptions& options) {
  ResolvedDeployment resolved;
  Model model = find_model(options.model);
  catalogue::NetworkEntry& entry = model.entry;
  Deployment& deployment = resolved.deployment;
  deployment.network = std::move(entry.network);
  deployment.weights = options.weights.empty() ? entry.weights.value_or(WeightScheme{}) : scheme(options.weights);
  deployment.activations = sixteen_bits(deployment.weights);
  deployment.kv = options.kv.empty() ? deployment.activations : find_kv_format(options.kv);
  deployment.cluster.device = find_device(options.device, options.memory);
  if (!options.usable_memory.empty()) {
    deployment.cluster.device =
        with_usable_memory(deployment.cluster.device, size_of("usable_memory", options.usable_memory));
  }
  deployment.engine = find_engine(options.engine, deployment.cluster.device);
  deployment.parallelism = {
      .tensor = options.tensor, .pipeline = options.pipeline, .data = options.data, .expert = options.expert};
  deployment.settings = {.most_sequences = options.most_sequences, .memory_fraction = options.memory_fraction};
  if (options.batch_tokens) {
    deployment.settings.batched_tokens = Tokens::from_value(static_cast<double>(*options.batch_tokens));
  }
  deployment.cluster.devices = device_total(options, deployment.parallelism);
  deployment.cluster.host = find_host(options);
  deployment.offload = offload_of(options, *deployment.network);
  resolved.assumptions = std::move(entry.assumptions);
  if (options.kv.empty() && model.kv && *model.kv != deployment.kv) {
    const std::string stated(model.kv->name.view());
    resolved.assumptions.push_back("the files state a KV cache in " + stated + "; it is taken in " +
                                   std::string(deployment.kv.name.view()) + " unless --kv " + stated + " is given");
  }
  return resolved;
}

} // namespace tokenroof::cli
