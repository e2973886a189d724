#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "cli/catalogue_json.hpp"
#include "cli/commands.hpp"
#include "cli/network_facts.hpp"
#include "cli/output.hpp"
#include "cli/resolve.hpp"
#include "cli/stored_bytes.hpp"
#include "report/table.hpp"
#include "tokenroof/catalogue/networks.hpp"
#include "tokenroof/memory/kv_cache.hpp"
#include "tokenroof/network/parameters.hpp"
#include "tokenroof/text.hpp"

namespace tokenroof::cli {

namespace {

using catalogue::NetworkEntry;
using report::Align;
using report::count_text;
using report::Table;

std::string count(Count value) { return count_text(static_cast<double>(value)); }

/// "32/8": query heads and key/value heads.
struct HeadsText {
  std::string operator()(const GroupedQueryAttention& a) const {
    return a.heads == a.kv_heads ? fmt::format("{}", a.heads) : fmt::format("{}/{}", a.heads, a.kv_heads);
  }
  std::string operator()(const LatentAttention& a) const { return fmt::format("{} latent", a.heads); }
  std::string operator()(const StateSpace& m) const { return fmt::format("{} state-space", m.heads); }
  std::string operator()(const LinearAttention& m) const { return fmt::format("{} linear", m.value_heads); }
  std::string operator()(const CompressedAttention& a) const { return fmt::format("{} compressed", a.heads); }
  std::string operator()(const SelectiveScan& m) const { return fmt::format("{} scanned", m.inner); }
  std::string operator()(const LinearMap&) const { return "linear"; }
  std::string operator()(const ShortConvolution&) const { return "convolution"; }
};

std::string heads(const Network& network) {
  const Mixer* const mixer = main_mixer(network);
  return mixer != nullptr ? std::visit(HeadsText{}, *mixer) : "";
}

std::string cache_per_token(const Network& network) { return to_text(kv_cache_per_token(network, cache_format())); }

std::vector<NetworkEntry> all() {
  std::vector<std::string> ids = catalogue::network_ids();
  std::sort(ids.begin(), ids.end());
  std::vector<NetworkEntry> entries;
  entries.reserve(ids.size());
  for (const std::string& id : ids) {
    entries.push_back(catalogue::network_entry(id));
  }
  return entries;
}

void list(const std::vector<NetworkEntry>& entries) {
  Table table({Align::left, Align::right, Align::right, Align::right, Align::right, Align::left, Align::right,
               Align::right, Align::left});
  table.add({"id", "parameters", "active", "layers", "hidden", "heads", "KV cache", "context", "confidence"});
  for (const NetworkEntry& entry : entries) {
    const Network& network = *entry.network;
    const ParameterCount parameters = count_parameters(network);
    table.add({entry.id, count(parameters.total()),
               parameters.active() == parameters.total() ? "" : count(parameters.active()),
               fmt::format("{}", layer_count(network)), fmt::format("{}", network.hidden), heads(network),
               cache_per_token(network),
               network.context_limit.value() > 0 ? number_text(network.context_limit.value(), 0) : "",
               entry.confidence});
  }
  write(table.str());
}

void add_part(Table& table, const char* name, Count parameters) {
  if (parameters > 0) {
    table.add({name, fmt::format("{}", parameters), count(parameters)});
  }
}

void parts(const ParameterCount& parameters) {
  Table table({Align::left, Align::right, Align::right});
  add_part(table, "embedding", parameters.embedding);
  add_part(table, "attention", parameters.attention);
  add_part(table, "feed-forward", parameters.feed_forward);
  add_part(table, "experts", parameters.experts);
  add_part(table, "shared experts", parameters.shared_experts);
  add_part(table, "router", parameters.router);
  add_part(table, "norms", parameters.norms);
  add_part(table, "head", parameters.head);
  add_part(table, "other", parameters.other);
  add_part(table, "total", parameters.total());
  add_part(table, "active a token", parameters.active());
  add_part(table, "active without looked-up tables", parameters.active_without_embeddings());
  add_part(table, "multi-token prediction, not in the total", parameters.prediction);
  write("parameters\n" + table.str(2) + "\n");
}

std::string verdict(const NetworkEntry& entry, Count total) {
  if (!entry.published_parameters) {
    return "no published count to compare with";
  }
  const Count difference = total - *entry.published_parameters;
  return difference == 0 ? fmt::format("equals the published {}", *entry.published_parameters)
                         : fmt::format("{:+} against the published {}", difference, *entry.published_parameters);
}

struct FeedForwardText {
  std::string operator()(const DenseFeedForward& f) const {
    return fmt::format("{} width {}", f.gated ? "gated" : "plain", f.width);
  }
  std::string operator()(const MixtureOfExperts& f) const {
    return fmt::format("{} of {} experts of width {}", f.active, f.experts, f.width) +
           (f.shared_width > 0 ? fmt::format(", {} shared", f.shared_width) : "");
  }
  std::string operator()(const LinearMap&) const { return "linear"; }
};

std::string layers(const Network& network) {
  Table table({Align::right, Align::left, Align::left});
  for (const LayerRun& run : kinds_of_layers(network)) {
    std::string mixers;
    for (const Mixer& mixer : run.block.mixers) {
      mixers += (mixers.empty() ? "" : " + ") + std::visit(HeadsText{}, mixer) + " heads";
      if (const auto* attention = std::get_if<GroupedQueryAttention>(&mixer)) {
        mixers += fmt::format(" of {}", attention->head_dim);
        mixers += attention->window ? ", window " + to_text(*attention->window) : "";
        mixers += attention->shares_cache ? ", sharing a cache" : "";
      }
    }
    const auto& feed_forward = run.block.feed_forward;
    const std::string text = feed_forward ? std::visit(FeedForwardText{}, *feed_forward) : "no feed-forward";
    table.add({fmt::format("{} x", run.count), mixers.empty() ? "no attention" : mixers, text});
  }
  return table.str(2);
}

void table_of_bytes(const char* title, const std::vector<NamedBytes>& list) {
  Table table({Align::left, Align::right, Align::right});
  for (const NamedBytes& entry : list) {
    table.add({entry.name, fmt::format("{:.0f}", entry.bytes.value()), to_text(entry.bytes)});
  }
  write(fmt::format("{}\n", title) + table.str(2) + "\n");
}

/// What was read and how large it is on disk.
void add_files(Table& facts, const Model& model) {
  const ModelFiles& files = model.files;
  if (model.kind.empty()) {
    return;
  }
  facts.add({"read as", model.kind});
  if (files.tensors > 0) {
    facts.add({"tensors", fmt::format("{}, {:.0f} bytes", files.tensors, files.tensor_bytes.value())});
  }
  for (const StoredType& type : files.types) {
    facts.add({"", fmt::format("{}: {} tensors, {}", type.name, type.tensors, to_text(type.bytes))});
  }
  if (files.on_disk.value() > 0) {
    facts.add({"on disk", fmt::format("{:.0f} bytes", files.on_disk.value())});
  }
}

void show(const Model& model) {
  const NetworkEntry& entry = model.entry;
  const Network& network = *entry.network;
  const ParameterCount parameters = count_parameters(network);
  Table facts({Align::left, Align::left});
  facts.add({"hidden width", fmt::format("{}", network.hidden)});
  facts.add(
      {"vocabulary", fmt::format("{}{}", network.vocabulary, network.tied_embeddings ? ", head tied to it" : "")});
  if (network.context_limit.value() > 0) {
    facts.add({"context limit", to_text(network.context_limit)});
  }
  facts.add({"KV cache", cache_per_token(network) + " in 16 bits"});
  if (const Bytes state = kv_cache(network, cache_format(), Tokens()); state.value() > 0) {
    facts.add({"", to_text(state) + " a sequence whatever its length"});
  }
  if (model.kv) {
    facts.add({"", fmt::format("{} as the files state it", model.kv->name.view())});
  }
  if (entry.weights) {
    facts.add({"stored as",
               fmt::format("{}, {}", entry.weights->name.view(), to_text(weight_bytes(network, *entry.weights)))});
  }
  if (!model.weights_source.empty()) {
    facts.add({"", "told by " + model.weights_source});
  }
  add_files(facts, model);
  facts.add({"source", entry.source + (entry.date.empty() ? "" : ", " + entry.date)});
  if (!entry.confidence.empty()) {
    facts.add({"confidence", entry.confidence});
  }
  facts.add({"parameters", verdict(entry, parameters.total())});
  if (!entry.published_parameters_source.empty()) {
    facts.add({"", entry.published_parameters_source});
  }
  write((network.name.empty() ? entry.id : network.name) + "\n\n" + facts.str(0, stdout_width()) + "\nlayers\n" +
        layers(network) + "\n");
  parts(parameters);
  if (entry.weights) {
    const StoredBytes stored = stored_bytes(network, *entry.weights);
    table_of_bytes("bytes by format", stored.by_format);
    table_of_bytes("bytes by role", stored.by_role);
  }
  for (const std::string& assumption : entry.assumptions) {
    write(report::wrap("Assumed: " + assumption, stdout_width() - 2, 2) + '\n');
  }
}

} // namespace

int models(const CatalogueOptions& options) { return show_catalogue("models", options, all, find_model, list, show); }

} // namespace tokenroof::cli
