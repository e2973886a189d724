#include "calibration/named_deployment.hpp"

#include "validation/names.hpp"

namespace tokenroof::calibration {

namespace {

/// The first complaint stays.
void complain(NamedDeployment& named, const std::string& reason) {
  if (named.reason.empty()) {
    named.reason = reason;
  }
}

validation::NetworkName network_named(NamedDeployment& named, const std::vector<std::string>& candidates) {
  std::string reason = "the file does not name the network: say --model";
  for (const std::string& candidate : candidates) {
    if (candidate.empty()) {
      continue;
    }
    const auto resolved = validation::resolve_network(candidate);
    if (resolved) {
      return *resolved.meaning;
    }
    reason = resolved.reason + " (or say --model)";
  }
  complain(named, reason);
  return {};
}

/// Where nothing names the format, what the network's checkpoint is stored in.
WeightScheme weights_named(NamedDeployment& named, const std::vector<std::string>& candidates,
                           const validation::NetworkName& network) {
  std::string reason;
  for (const std::string& candidate : candidates) {
    if (candidate.empty()) {
      continue;
    }
    const auto resolved = validation::resolve_weights(candidate, network);
    if (resolved) {
      return *resolved.meaning;
    }
    reason = resolved.reason + " (or say --weights)";
  }
  if (!reason.empty()) {
    complain(named, reason);
    return {};
  }
  const bool stated = network.entry != nullptr && network.weight_format.empty() && network.entry->weights;
  if (stated) {
    return *network.entry->weights;
  }
  const auto by_name = validation::resolve_weights("", network);
  return by_name.meaning.value_or(WeightScheme{});
}

void set_device(NamedDeployment& named, const std::string& name, const std::optional<Device>& given) {
  if (name.empty() && !given) {
    complain(named, "the file does not name the device: say --device");
    return;
  }
  const validation::HardwareName hardware = validation::resolve_hardware(name);
  named.named_devices = hardware.devices;
  if (given) {
    named.deployment.cluster.device = *given;
  } else if (hardware.hardware) {
    named.deployment.cluster.device = hardware.hardware.meaning->device;
  } else {
    complain(named, hardware.hardware.reason + " (or say --device)");
  }
}

void set_kv(NamedDeployment& named, const std::string& name, const std::optional<Format>& given) {
  Deployment& deployment = named.deployment;
  if (given) {
    deployment.kv = *given;
    return;
  }
  const auto resolved = validation::resolve_kv(name, deployment.activations);
  deployment.kv = resolved.meaning.value_or(deployment.activations);
  if (!resolved) {
    complain(named, resolved.reason + " (or say --kv)");
  }
}

} // namespace

NamedDeployment deployment_of(const Names& names, const ReadOptions& options) {
  NamedDeployment named;
  const Given& given = options.given;
  Deployment& deployment = named.deployment;
  deployment.engine = options.engine;
  validation::NetworkName network;
  if (given.network) {
    deployment.network = *given.network;
  } else if (network = network_named(named, names.networks); network.entry != nullptr) {
    deployment.network = network.entry->network;
  }
  deployment.weights = given.weights ? *given.weights : weights_named(named, names.weights, network);
  deployment.activations = sixteen_bits(deployment.weights);
  set_kv(named, names.kv, given.kv);
  set_device(named, names.device, given.device);
  deployment.parallelism = given.parallelism.value_or(Parallelism{});
  deployment.cluster.devices = device_count(deployment.parallelism);
  return named;
}

} // namespace tokenroof::calibration
