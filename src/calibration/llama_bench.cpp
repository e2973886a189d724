#include <algorithm>
#include <array>
#include <cmath>

#include "calibration/benchmarks.hpp"
#include "calibration/named_deployment.hpp"
#include "tokenroof/network/parameters.hpp"

namespace tokenroof::calibration {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "models/Qwen3-8B-Q4_K_M-00001-of-00002.gguf" is Qwen3-8B-Q4_K_M.
std::string stem_of(std::string_view path) {
  const std::size_t folder = path.find_last_of("/\\");
  std::string stem(folder == std::string_view::npos ? path : path.substr(folder + 1));
  if (constexpr std::string_view suffix = ".gguf"; stem.ends_with(suffix)) {
    stem.resize(stem.size() - suffix.size());
  }
  constexpr std::string_view part = "-00001-of-00002";
  const std::string_view end =
      stem.size() > part.size() ? std::string_view(stem).substr(stem.size() - part.size()) : "";
  const bool numbered = !end.empty() && std::equal(end.begin(), end.end(), part.begin(),
                                                   [](char c, char p) { return is_digit(p) ? is_digit(c) : c == p; });
  return numbered ? stem.substr(0, stem.size() - part.size()) : stem;
}

/// "llama 8B Q4_K - Medium" is a network, "llama 8B", in "Q4_K - Medium".
struct TypeText {
  std::string network{};
  std::string weights{};
};

TypeText split_type(const std::string& type) {
  const std::size_t size = type.find(' ');
  const std::size_t format = size == std::string::npos ? size : type.find(' ', size + 1);
  if (format == std::string::npos) {
    return {.network = type};
  }
  std::string weights = type.substr(format + 1);
  if (constexpr std::string_view guessed = " (guessed)"; weights.ends_with(guessed)) {
    weights.resize(weights.size() - guessed.size());
  }
  return {.network = type.substr(0, format), .weights = std::move(weights)};
}

bool runs_on_cpu(const Engine& engine) { return engine.unit == ComputeUnitKind::cpu; }

/// The formats of keys and values as one text.
std::string kv_of(const Record& record) {
  const std::string keys = record.text("type_k");
  const std::string values = record.text("type_v");
  return keys == values || values.empty() ? keys : keys + "/" + values;
}

/// Layers go to devices from the last one on; all of them and the head are one more than there are layers.
std::string misplaced_layers(const Record& record, const Deployment& deployment) {
  const double layers = static_cast<double>(layer_count(*deployment.network));
  const double on_device = record.number("n_gpu_layers").value_or(layers);
  if (runs_on_cpu(*deployment.engine)) {
    return on_device == 0 || record.text("backends") == "CPU" ? "" : "layers on a GPU, and the engine runs on the CPU";
  }
  return on_device < 0 || on_device >= layers ? "" : "not all layers on the device (n_gpu_layers)";
}

/// A file that has other parameters than the network of its name is of another one.
std::string other_network(const Record& record, const Network& network) {
  const auto stated = record.number("model_n_params");
  const auto ours = static_cast<double>(count_parameters(network).total());
  constexpr double allowed = 0.05; // heads stored twice, prediction modules
  if (!stated || *stated <= 0 || std::abs(ours / *stated - 1) <= allowed) {
    return {};
  }
  return "the model has other parameters than " + network.name + " (model_n_params)";
}

/// Layers are shared out among the devices that were seen, unless tensors are.
void set_split(const Record& record, const ReadOptions& options, NamedDeployment& named) {
  if (options.given.parallelism || named.named_devices <= 1) {
    return;
  }
  Parallelism& split = named.deployment.parallelism;
  const std::string mode = record.text("split_mode");
  if (mode == "none") {
    return;
  }
  (mode == "row" || mode == "tensor" ? split.tensor : split.pipeline) = named.named_devices;
  named.deployment.cluster.devices = device_count(split);
}

/// What was measured; a prompt of no tokens is a generation from the start.
struct Test {
  double prompt = 0;
  double generated = 0;
  double depth = 0;
  double tokens_per_second = 0;
};

Observation observation_of(const Test& test, Deployment deployment) {
  const auto tokens = [](double count) { return Tokens::from_value(count); };
  Observation observation{.deployment = std::move(deployment)};
  // The first token is of the prompt's pass, each further one of a step: `generated` steps are one token more.
  observation.workload = {.batch = 1,
                          .prompt = tokens(std::max(test.prompt, 1.0)),
                          .output = tokens(test.generated + 1),
                          .context_depth = tokens(test.depth)};
  if (test.generated == 0) {
    observation.metric = Metric::ttft;
    observation.measured = Seconds::from_value(test.prompt / test.tokens_per_second);
  } else if (test.prompt == 0) {
    observation.metric = Metric::tpot;
    observation.measured = Seconds::from_value(1 / test.tokens_per_second);
  } else {
    observation.metric = Metric::end_to_end;
    observation.measured = Seconds::from_value((test.prompt + test.generated) / test.tokens_per_second);
  }
  return observation;
}

Names names_in(const Record& record, const ReadOptions& options) {
  const std::string stem = stem_of(record.text("model_filename"));
  const TypeText type = split_type(record.text("model_type"));
  const std::string gpu = record.text("gpu_info");
  return {.networks = {stem, type.network},
          .weights = {type.weights},
          .kv = kv_of(record),
          .device = runs_on_cpu(*options.engine) || gpu.empty() ? record.text("cpu_info") : gpu};
}

} // namespace

bool is_llama_bench(const Record& record) {
  return record.has("avg_ts") && record.has("n_prompt") && record.has("n_gen") && record.has("model_type");
}

Understood understand_llama_bench(const Record& record, const ReadOptions& options) {
  const Test test{.prompt = record.number("n_prompt").value_or(0),
                  .generated = record.number("n_gen").value_or(0),
                  .depth = record.number("n_depth").value_or(0),
                  .tokens_per_second = record.number("avg_ts").value_or(0)};
  if (!(test.tokens_per_second > 0) || !(test.prompt + test.generated > 0)) {
    return {.reason = "no rate above 0 (avg_ts), or no tokens"};
  }
  NamedDeployment named = deployment_of(names_in(record, options), options);
  if (!named.reason.empty()) {
    return {.reason = named.reason};
  }
  set_split(record, options, named);
  if (const auto rows = record.number("n_ubatch"); rows && *rows >= 1) {
    named.deployment.settings.batched_tokens = Tokens::from_value(*rows);
  }
  for (const std::string& reason :
       {misplaced_layers(record, named.deployment), other_network(record, *named.deployment.network)}) {
    if (!reason.empty()) {
      return {.reason = reason};
    }
  }
  return {.observations = {observation_of(test, std::move(named.deployment))}};
}

} // namespace tokenroof::calibration
