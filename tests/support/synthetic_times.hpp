/// @file
/// Times as an engine of known constants would take them, as if they had been measured.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenroof/calibration.hpp"
#include "tokenroof/catalogue/devices.hpp"
#include "tokenroof/catalogue/networks.hpp"
#include "tokenroof/predict.hpp"

namespace tokenroof::test {

/// An engine whose profile for any device states these constants, all of them guesses.
[[nodiscard]] inline std::string engine_text(const std::string& constants, const std::string& more_profiles = "") {
  return R"({"schema_version": 1, "id": "test", "version": "1", "date": "2026", "unit": "gpu",
             "profiles": [{"constants": {)" +
         constants + "}}" + more_profiles + "]}";
}

[[nodiscard]] inline std::string guess(const std::string& key, double value) {
  return '"' + key + R"(": {"value": )" + std::to_string(value) + R"(, "basis": "assumed", "note": "a guess"})";
}

/// The constants of both phases, all of which rows of several batches and prompts tell apart.
[[nodiscard]] inline std::string usual_guesses() {
  return guess("bandwidth_efficiency", 0.8) + "," + guess("decode_layer_us", 20) + "," + guess("prefill_layer_us", 50) +
         R"(, "gemm_utilisation": {)" + guess("bf16", 0.6) + "}";
}

[[nodiscard]] inline Deployment deployment_of(std::string_view network, std::string_view device) {
  return {.network = catalogue::network(network),
          .cluster = {.device = catalogue::device(device)},
          .weights = WeightScheme{},
          .kv = WeightScheme{}.format,
          .activations = WeightScheme{}.format};
}

/// What `engine` takes for a workload.
[[nodiscard]] inline calibration::Observation observed(Deployment deployment, const Workload& workload,
                                                       calibration::Metric metric, const Engine& engine) {
  calibration::Observation observation{
      .deployment = deployment, .workload = workload, .metric = metric, .group = deployment.network->name};
  deployment.engine = engine;
  const Prediction prediction = predict(deployment, workload);
  observation.measured = metric == calibration::Metric::ttft   ? prediction.ttft.value
                         : metric == calibration::Metric::tpot ? prediction.tpot.value
                                                               : prediction.end_to_end.value;
  return observation;
}

/// Both times of some batches and prompts on a device, of each network.
[[nodiscard]] inline std::vector<calibration::Observation>
measured_grid(const Engine& engine, std::string_view device, const std::vector<std::string_view>& networks) {
  std::vector<calibration::Observation> observations;
  for (const std::string_view network : networks) {
    const Deployment deployment = deployment_of(network, device);
    for (const std::int64_t batch : {1, 8, 32}) {
      for (const double prompt : {128.0, 512.0, 2048.0}) {
        const Workload workload{.batch = batch, .prompt = Tokens::from_value(prompt), .output = Tokens::from_value(64)};
        observations.push_back(observed(deployment, workload, calibration::Metric::ttft, engine));
        observations.push_back(observed(deployment, workload, calibration::Metric::tpot, engine));
      }
    }
  }
  return observations;
}

} // namespace tokenroof::test
