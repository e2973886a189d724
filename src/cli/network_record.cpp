#include <variant>

#include "cli/catalogue_json.hpp"
#include "cli/network_facts.hpp"
#include "cli/stored_bytes.hpp"
#include "tokenroof/memory/kv_cache.hpp"
#include "tokenroof/memory/weights.hpp"
#include "tokenroof/network/parameters.hpp"
#include "tokenroof/report.hpp"

namespace tokenroof::cli {

namespace {

using catalogue::NetworkEntry;
using report::Json;
using report::number;
using report::text_or_null;

struct MixerRecord {
  Json operator()(const GroupedQueryAttention& a) const {
    return {{"kind", "attention"},
            {"heads", a.heads},
            {"kv_heads", a.kv_heads},
            {"head_width", a.head_dim},
            {"window_tokens", number(a.window)}};
  }
  Json operator()(const LatentAttention& a) const { return {{"kind", "latent_attention"}, {"heads", a.heads}}; }
  Json operator()(const StateSpace& m) const { return {{"kind", "state_space"}, {"heads", m.heads}}; }
  Json operator()(const LinearAttention& m) const { return {{"kind", "linear_attention"}, {"heads", m.value_heads}}; }
  Json operator()(const CompressedAttention& a) const { return {{"kind", "compressed_attention"}, {"heads", a.heads}}; }
  Json operator()(const SelectiveScan&) const { return {{"kind", "selective_scan"}, {"heads", nullptr}}; }
  Json operator()(const LinearMap&) const { return {{"kind", "linear_map"}, {"heads", nullptr}}; }
  Json operator()(const ShortConvolution&) const { return {{"kind", "convolution"}, {"heads", nullptr}}; }
};

struct FeedForwardRecord {
  Json operator()(const DenseFeedForward& f) const {
    return {{"kind", "dense"}, {"width", f.width}, {"gated", f.gated}};
  }
  Json operator()(const MixtureOfExperts& f) const {
    return {{"kind", "experts"},    {"width", f.width},           {"gated", f.gated},
            {"experts", f.experts}, {"active_experts", f.active}, {"shared_width", f.shared_width}};
  }
  Json operator()(const LinearMap&) const { return {{"kind", "linear_map"}}; }
};

Json layers(const Network& network) {
  Json list = Json::array();
  for (const LayerRun& run : kinds_of_layers(network)) {
    Json mixers = Json::array();
    for (const Mixer& mixer : run.block.mixers) {
      mixers.push_back(std::visit(MixerRecord{}, mixer));
    }
    const auto& feed_forward = run.block.feed_forward;
    list.push_back({{"layers", run.count},
                    {"mixers", mixers},
                    {"feed_forward", feed_forward ? std::visit(FeedForwardRecord{}, *feed_forward) : Json()}});
  }
  return list;
}

void add_heads(Json& object, const Network& network) {
  const Mixer* const mixer = main_mixer(network);
  const Json main = mixer != nullptr ? std::visit(MixerRecord{}, *mixer) : Json::object();
  object["mixer"] = main.value("kind", Json());
  object["heads"] = main.value("heads", Json());
  object["kv_heads"] = main.value("kv_heads", Json());
}

void add_source(Json& object, const NetworkEntry& entry, Count total) {
  const auto& published = entry.published_parameters;
  object["published_parameters"] = number(published);
  object["parameters_beyond_published"] = published ? number(total - *published) : Json();
  object["published_parameters_source"] = text_or_null(entry.published_parameters_source);
  object["source"] = text_or_null(entry.source);
  object["date"] = text_or_null(entry.date);
  object["confidence"] = text_or_null(entry.confidence);
}

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

Json named_bytes(const std::vector<NamedBytes>& list) {
  Json object = Json::object();
  for (const NamedBytes& entry : list) {
    object[entry.name] = number(entry.bytes);
  }
  return object;
}

Json stored_types(const ModelFiles& files) {
  Json list = Json::array();
  for (const StoredType& type : files.types) {
    list.push_back({{"type", type.name}, {"tensors", type.tensors}, {"bytes", number(type.bytes)}});
  }
  return list;
}

Json files_record(const Model& model) {
  const bool has_table = model.files.tensors > 0;
  return {{"kind", model.kind},
          {"paths", model.files.paths},
          {"bytes_on_disk", model.files.on_disk.value() > 0 ? number(model.files.on_disk) : Json()},
          {"tensors", has_table ? Json(model.files.tensors) : Json()},
          {"tensor_bytes", model.files.tensor_bytes.value() > 0 ? number(model.files.tensor_bytes) : Json()},
          {"types", stored_types(model.files)}};
}

} // namespace

Json columns(const NetworkEntry& entry) {
  const Network& network = *entry.network;
  const ParameterCount parameters = count_parameters(network);
  const bool limited = network.context_limit.value() > 0;
  Json object = {{"schema_version", report::schema_version},
                 {"id", text_or_null(entry.id)},
                 {"name", network.name.empty() ? entry.id : network.name},
                 {"total_parameters", parameters.total()},
                 {"active_parameters", parameters.active()},
                 {"layers", layer_count(network)},
                 {"hidden", network.hidden},
                 {"vocabulary", network.vocabulary},
                 {"tied_embeddings", network.tied_embeddings}};
  add_heads(object, network);
  object["kv_cache_bytes_per_token_at_16_bit"] = number(kv_cache_per_token(network, cache_format()));
  object["context_limit_tokens"] = limited ? number(network.context_limit) : Json();
  object["stored_as"] = entry.weights ? Json(entry.weights->name.view()) : Json();
  object["stored_bytes"] = entry.weights ? number(weight_bytes(network, *entry.weights)) : Json();
  add_source(object, entry, parameters.total());
  return object;
}

Json document(const NetworkEntry& entry) {
  Json object = columns(entry);
  object["aliases"] = entry.aliases;
  object["layer_kinds"] = layers(*entry.network);
  object["parameters"] = parameters_by_part(count_parameters(*entry.network));
  object["kv_state_bytes_per_sequence"] = number(kv_cache(*entry.network, cache_format(), Tokens()));
  const StoredBytes stored = entry.weights ? stored_bytes(*entry.network, *entry.weights) : StoredBytes{};
  object["stored_bytes_by_format"] = named_bytes(stored.by_format);
  object["stored_bytes_by_role"] = named_bytes(stored.by_role);
  object["assumptions"] = entry.assumptions;
  return object;
}

Json document(const Model& model) {
  Json object = document(model.entry);
  if (model.kind.empty()) {
    return object; // of the catalogue: no files
  }
  object["weights_source"] = text_or_null(model.weights_source);
  object["kv_cache_stored_as"] = model.kv ? Json(model.kv->name.view()) : Json();
  object["files"] = files_record(model);
  return object;
}

} // namespace tokenroof::cli
