#include <cstddef>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "readers/json_file.hpp"
#include "readers/network.hpp"
#include "readers/network_class.hpp"
#include "readers/network_facts.hpp"
#include "readers/network_layers.hpp"
#include "readers/stored_weights.hpp"
#include "tokenroof/errors.hpp"
#include "tokenroof/nearest.hpp"
#include "tokenroof/readers.hpp"

namespace tokenroof {

namespace {

using nlohmann::json;

constexpr readers::JsonLimits limits = {.bytes = std::size_t{4} << 20, .allow_non_finite = true};

/// The language model's part of a multi-modal configuration; the whole otherwise.
json language_part(const json& config) {
  for (const char* part : {"text_config", "language_config", "llm_config", "thinker_config"}) {
    if (!config.contains(part) || !config.at(part).is_object()) {
      continue;
    }
    json language = language_part(config.at(part));
    for (const char* shared : {"model_type", "tie_word_embeddings", "torch_dtype", "dtype", "quantization_config"}) {
      if (!language.contains(shared) && config.contains(shared)) {
        language[shared] = config.at(shared);
      }
    }
    return language;
  }
  return config;
}

std::string nearest_classes(std::string_view model_type) {
  std::string text;
  for (const std::string& name : nearest_names(model_type, readers::network_class_names())) {
    text += (text.empty() ? "; nearest: " : ", ") + name;
  }
  return text;
}

/// The class of a configuration; the general one where its model_type is not in the table.
struct ClassChoice {
  const readers::NetworkClass* network_class = nullptr;
  std::string assumption{};
};

ClassChoice class_of(const json& config, std::string_view path) {
  const auto found = config.find("model_type");
  if (found == config.end() || !found->is_string()) {
    throw ParseError(std::string(path), "model_type", "is missing, or not text");
  }
  const auto& model_type = found->get_ref<const std::string&>();
  if (const auto* network_class = readers::find_network_class(model_type)) {
    return {.network_class = network_class};
  }
  const std::string shown = model_type.substr(0, 64);
  return {.network_class = &readers::general_network_class(),
          .assumption = "model_type '" + shown + "' is not known: read as a decoder of the usual kind, by its keys" +
                        nearest_classes(shown)};
}

/// Features that change what a network is made of, and that we cannot describe yet.
void refuse_unsupported(readers::NetworkFacts& facts) {
  const std::string feature = facts.text("unsupported");
  if (!feature.empty()) {
    throw ParseError(facts.path(), feature, "this value is not supported");
  }
}

/// A configuration of no known class must not have keys whose meaning would change the network.
void refuse_unread_keys(const json& config, std::string_view path) {
  for (const auto& [key, value] : config.items()) {
    const bool set = !value.is_null() && value != false && value != 0;
    if (set && readers::is_unread_key(key)) {
      throw ParseError(std::string(path), key,
                       "is not understood in a model_type that is not known" +
                           nearest_classes(config.at("model_type").get<std::string>().substr(0, 64)));
    }
  }
}

/// What the class has to say about how far its description can be trusted.
void note_assumptions(readers::NetworkFacts& facts) {
  for (const char* fact : {"note", "another_note"}) {
    if (std::string note = facts.text(fact); !note.empty()) {
      facts.assume(std::move(note));
    }
  }
}

Network make_network(readers::NetworkFacts& facts, std::string_view name) {
  refuse_unsupported(facts);
  Network network;
  network.name = name;
  network.hidden = facts.count("hidden");
  network.vocabulary = facts.count("vocabulary");
  network.tied_embeddings = facts.flag("tied");
  network.context_limit = Tokens::from_value(static_cast<double>(facts.count_or_zero("context")));
  auto layers = readers::make_layers(facts);
  network.layers = std::move(layers.runs);
  network.normalisation = readers::make_normalisation(facts);
  network.learned_positions = facts.count_or_zero("learned_positions");
  network.embedding_width = facts.count_or_zero("embedding_width");
  network.embedding_norm = facts.flag("embedding_norm");
  network.final_norm = facts.flag("final_norm", true);
  network.head_bias = facts.flag("head_bias");
  network.prediction_heads = facts.count_or_zero("prediction_heads");
  if (network.prediction_heads > 0) {
    network.prediction_blocks = std::move(layers.prediction);
  }
  network.per_layer_width = facts.count_or_zero("per_layer_width");
  network.per_layer_vocabulary = network.per_layer_width > 0 ? facts.count("per_layer_vocabulary") : 0;
  network.residual_streams = facts.find_count("residual_streams").value_or(1);
  note_assumptions(facts);
  return network;
}

NetworkReading examine(std::string_view text, std::string_view path, std::string_view name) {
  return readers::examine_config(readers::parse_json(text, path, limits), path, name);
}

} // namespace

NetworkReading readers::examine_config(const json& document, std::string_view path, std::string_view name) {
  if (!document.is_object()) {
    throw ParseError(std::string(path), "", "is not a JSON object");
  }
  const json config = language_part(document);
  const ClassChoice choice = class_of(config, path);
  readers::NetworkFacts facts(config, *choice.network_class, std::string(path));
  if (!choice.assumption.empty()) {
    refuse_unread_keys(config, path);
    facts.assume(choice.assumption);
  }
  NetworkReading reading{.network = make_network(facts, name)};
  auto stored = readers::stored_weights(document, config, reading.network);
  reading.weights = stored.scheme;
  reading.kv = stored.kv;
  reading.weights_source = std::move(stored.source);
  for (std::string& note : stored.notes) {
    facts.assume(std::move(note));
  }
  if (document.contains("vision_config") || document.contains("audio_config")) {
    facts.assume("encoders of images and sound are left out");
  }
  reading.assumptions = facts.assumptions();
  return reading;
}

NetworkReading examine_network_text(std::string_view json, std::string_view name) { return examine(json, name, name); }

Network parse_network(std::string_view json, std::string_view name) { return examine_network_text(json, name).network; }

} // namespace tokenroof
