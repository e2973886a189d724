/// @file
/// A deployment: which network, on which devices, by which engine, in which formats, split how.
#pragma once

#include <cstdint>
#include <optional>

#include "tokenroof/engine/engine.hpp"
#include "tokenroof/hardware/cluster.hpp"
#include "tokenroof/network/network.hpp"
#include "tokenroof/network/weight_scheme.hpp"
#include "tokenroof/precision/format.hpp"
#include "tokenroof/shared.hpp"

namespace tokenroof {

/// How a network is split. The cluster must have `tensor * pipeline * data` devices.
struct Parallelism {
  std::int64_t tensor = 1;   ///< ranks that share every layer's matrices
  std::int64_t pipeline = 1; ///< stages that each hold some layers
  std::int64_t data = 1;     ///< replicas that each serve a part of the batch
  std::int64_t expert = 1;   ///< ranks, of the tensor x data ones, over which whole experts are spread

  friend bool operator==(const Parallelism&, const Parallelism&) = default;
};

/// Devices that a split needs.
[[nodiscard]] constexpr std::int64_t device_count(const Parallelism& parallelism) {
  return parallelism.tensor * parallelism.pipeline * parallelism.data;
}

/// What is kept outside the memory of the devices. The default keeps nothing there.
struct Offload {
  /// The first layers, whose weights lie in host memory; all of them: embeddings and head too.
  Count host_layers = 0;
  /// The first layers, whose routed experts alone lie in host memory (`--n-cpu-moe` of llama.cpp).
  Count host_expert_layers = 0;
  /// The KV cache and states of every layer lie in host memory.
  bool host_cache = false;
  /// Weights that the host, or a device that shares its memory, computes with are mapped from their file: what memory
  /// does not hold is read again in every pass.
  bool mapped = false;

  friend bool operator==(const Offload&, const Offload&) = default;
};

/// Whether anything lies in host memory.
[[nodiscard]] constexpr bool uses_host(const Offload& offload) {
  return offload.host_layers > 0 || offload.host_expert_layers > 0 || offload.host_cache;
}

/// Limits given to an engine at its start; what is not stated is the engine's habit.
struct EngineSettings {
  std::optional<Tokens> batched_tokens{};       ///< most tokens in one pass
  std::optional<std::int64_t> most_sequences{}; ///< most sequences served at once
  std::optional<double> memory_fraction{};      ///< part of the usable memory to fill, in (0, 1]

  friend bool operator==(const EngineSettings&, const EngineSettings&) = default;
};

struct Deployment {
  Shared<Network> network{};
  Cluster cluster{};
  Shared<Engine> engine = roofline_engine();
  WeightScheme weights{};
  Format kv{};          ///< of the KV cache
  Format activations{}; ///< of everything between the matrices
  Parallelism parallelism{};
  Offload offload{};
  EngineSettings settings{};

  friend bool operator==(const Deployment&, const Deployment&) = default;
};

/// Most tokens in one pass, as set or as is the engine's habit; zero: no limit.
[[nodiscard]] inline Tokens batched_tokens(const Deployment& deployment) {
  return deployment.settings.batched_tokens.value_or(deployment.engine->memory.batched_tokens);
}

/// Most sequences served at once, as set or as is the engine's habit; zero: no limit.
[[nodiscard]] inline std::int64_t most_sequences_at_once(const Deployment& deployment) {
  return deployment.settings.most_sequences.value_or(deployment.engine->memory.most_sequences);
}

/// Part of the usable memory that the engine fills.
[[nodiscard]] inline double memory_fraction(const Deployment& deployment) {
  return deployment.settings.memory_fraction.value_or(deployment.engine->memory.memory_fraction);
}

} // namespace tokenroof
