#include "cli/catalogue_json.hpp"

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "catalogue/embedded_files.hpp"
#include "cli/output.hpp"
#include "cli/resolve.hpp"
#include "readers/json_file.hpp"
#include "tokenroof/catalogue/devices.hpp"
#include "tokenroof/catalogue/engines.hpp"
#include "tokenroof/catalogue/networks.hpp"
#include "tokenroof/memory/kv_cache.hpp"
#include "tokenroof/network/parameters.hpp"

namespace tokenroof::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr int schema_version = 1;

void write_json(const Json& value) { write(value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"); }

void write_list(const char* name, Json entries) {
  write_json({{"schema_version", schema_version}, {name, std::move(entries)}});
}

Json parsed(std::string_view text, std::string_view name) { return readers::parse_json(text, name); }

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json parameters_by_part(const ParameterCount& count) {
  return {{"embedding", count.embedding},
          {"attention", count.attention},
          {"feed_forward", count.feed_forward},
          {"experts", count.experts},
          {"shared_experts", count.shared_experts},
          {"router", count.router},
          {"norms", count.norms},
          {"head", count.head},
          {"other", count.other},
          {"total", count.total()},
          {"active", count.active()},
          {"active_without_embeddings", count.active_without_embeddings()},
          {"prediction_modules", count.prediction}};
}

Json model(const catalogue::NetworkEntry& entry) {
  const Network& network = *entry.network;
  const double context = network.context_limit.value();
  Json result{{"id", text_or_null(entry.id)},
              {"name", network.name},
              {"aliases", entry.aliases},
              {"layers", layer_count(network)},
              {"hidden", network.hidden},
              {"vocabulary", network.vocabulary},
              {"tied_embeddings", network.tied_embeddings},
              {"context_limit_tokens", context > 0 ? Json(context) : Json()},
              {"parameters", parameters_by_part(count_parameters(network))},
              {"published_parameters", entry.published_parameters ? Json(*entry.published_parameters) : Json()},
              {"published_parameters_source", text_or_null(entry.published_parameters_source)},
              {"kv_cache_bytes_per_token_at_16_bit", kv_cache_per_token(network, Format{}).value()}};
  result["stored_as"] = entry.weights ? Json(entry.weights->name.view()) : Json();
  result["stored_bytes"] = entry.weights ? Json(weight_bytes(network, *entry.weights).value()) : Json();
  result["source"] = text_or_null(entry.source);
  result["date"] = text_or_null(entry.date);
  result["confidence"] = text_or_null(entry.confidence);
  result["assumptions"] = entry.assumptions;
  return result;
}

/// The neutral engine has no file: it is the absence of constants.
Json engine(std::string_view id) {
  const std::string_view text = catalogue::engine_file(id);
  return text.empty() ? Json{{"schema_version", schema_version}, {"id", "roofline"}, {"profiles", Json::array()}}
                      : parsed(text, id);
}

} // namespace

void write_models_json(const CatalogueOptions& options) {
  if (!options.id.empty()) {
    Json one = model(find_network(options.id));
    one["schema_version"] = schema_version;
    write_json(one);
    return;
  }
  Json entries = Json::array();
  for (const std::string& id : catalogue::network_ids()) {
    entries.push_back(model(catalogue::network_entry(id)));
  }
  write_list("models", std::move(entries));
}

void write_devices_json(const CatalogueOptions& options) {
  if (!options.id.empty()) {
    const Device device = find_device(options.id, ""); // refuses what is no device
    const std::string path = "devices/" + std::string(device.id.view()) + ".json";
    write_json(means_file(options.id) ? Json(readers::read_json(options.id))
                                      : parsed(catalogue::embedded_file(path).value_or("null"), path));
    return;
  }
  Json entries = Json::array();
  for (const catalogue::EmbeddedFile& file : catalogue::embedded_files("devices/")) {
    entries.push_back(parsed(file.text, file.path));
  }
  write_list("devices", std::move(entries));
}

void write_engines_json(const CatalogueOptions& options) {
  if (!options.id.empty()) {
    const Shared<Engine> known = find_engine(options.id, Device{}); // refuses what is no engine
    write_json(means_file(options.id) ? Json(readers::read_json(options.id)) : engine(options.id));
    return;
  }
  Json entries = Json::array();
  for (const std::string& id : catalogue::engine_versions()) {
    entries.push_back(engine(id));
  }
  write_list("engines", std::move(entries));
}

} // namespace tokenroof::cli
