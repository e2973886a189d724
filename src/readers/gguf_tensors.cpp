#include "readers/gguf_tensors.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <variant>

#include "catalogue/embedded_files.hpp"
#include "readers/json_file.hpp"
#include "tokenroof/errors.hpp"

namespace tokenroof::readers {
namespace {

constexpr std::size_t most_blocks = 4096;

constexpr std::array<std::string_view, 110> part_names = {
    "token_embedding",
    "embedding_norm",
    "embedding_norm_bias",
    "position_embedding",
    "final_norm",
    "final_norm_bias",
    "head",
    "head_bias",
    "mixer_norm",
    "norm",
    "norm_bias",
    "query",
    "key",
    "value",
    "query_key_value",
    "attention_output",
    "output_gate",
    "query_bias",
    "key_bias",
    "value_bias",
    "query_key_value_bias",
    "attention_output_bias",
    "query_norm",
    "key_norm",
    "sinks",
    "latent_query_down",
    "latent_query_down_bias",
    "latent_query_norm",
    "latent_query_up",
    "latent_kv_down",
    "latent_kv_down_bias",
    "latent_kv_norm",
    "latent_kv_up",
    "latent_key_up",
    "latent_value_up",
    "feed_forward_gate",
    "feed_forward_up",
    "feed_forward_down",
    "feed_forward_gate_bias",
    "feed_forward_up_bias",
    "feed_forward_down_bias",
    "router",
    "router_bias",
    "score_correction",
    "expert_gate",
    "expert_up",
    "expert_down",
    "expert_gate_up",
    "expert_gate_bias",
    "expert_up_bias",
    "expert_down_bias",
    "shared_expert_gate",
    "shared_expert_up",
    "shared_expert_down",
    "shared_expert_router",
    "state_in",
    "state_in_bias",
    "state_out",
    "state_out_bias",
    "state_convolution",
    "state_convolution_bias",
    "state_decay",
    "state_skip",
    "state_step_bias",
    "state_norm",
    "linear_gates",
    "short_convolution_in",
    "short_convolution",
    "short_convolution_out",
    "state_scan",
    "state_step",
    "state_step_norm",
    "query_convolution",
    "key_convolution",
    "value_convolution",
    "decay_down",
    "decay_up",
    "write_strength",
    "gate_down",
    "gate_up",
    "receptance",
    "receptance_key",
    "receptance_value",
    "receptance_gate",
    "receptance_output",
    "receptance_norm",
    "receptance_decay",
    "receptance_mix",
    "receptance_low_rank",
    "channel_key",
    "channel_value",
    "channel_receptance",
    "channel_mix",
    "indexer_query",
    "indexer_key",
    "indexer_weights",
    "indexer_key_norm",
    "indexer_key_norm_bias",
    "expert_latent_down",
    "expert_latent_up",
    "router_scale",
    "expert_scale",
    "layer_scale",
    "per_layer_embedding",
    "per_layer_input",
    "per_layer_input_norm",
    "per_layer_down",
    "per_layer_up",
    "per_layer_norm",
    "prediction",
};
static_assert(part_names.size() == static_cast<std::size_t>(GgufPart::prediction) + 1);

GgufPart part_named(std::string_view name) {
  const auto found = std::find(part_names.begin(), part_names.end(), name);
  if (found == part_names.end()) {
    throw std::logic_error("gguf_tensors.json: no part of a network is called " + std::string(name));
  }
  return static_cast<GgufPart>(found - part_names.begin());
}

/// What a name means: a part of the network, or a word for what is none.
using Meaning = std::variant<GgufPart, std::string>;
using Meanings = std::map<std::string, Meaning, std::less<>>;

struct NameTable {
  Meanings outer{};
  Meanings block{};
  Meanings prefixes{};
  Meanings endings{};
  std::map<GgufPart, std::string> usual_names{};
};

Meanings meanings(const nlohmann::json& section) {
  Meanings result;
  for (const auto& [name, value] : section.items()) {
    result.emplace(name, value.is_string() ? Meaning(part_named(value.get<std::string>()))
                                           : Meaning(value.at("other").get<std::string>()));
  }
  return result;
}

/// Names that number experts are old ones.
void add_usual_names(NameTable& table, const Meanings& names) {
  for (const auto& [name, meaning] : names) {
    const auto* part = std::get_if<GgufPart>(&meaning);
    if (part != nullptr && name.find('%') == std::string::npos) {
      table.usual_names.emplace(*part, name);
    }
  }
}

NameTable parse_table() {
  constexpr std::string_view file = "gguf_tensors.json";
  const nlohmann::json document = parse_json(catalogue::embedded_file(file).value(), file);
  NameTable table{.outer = meanings(document.at("outer")),
                  .block = meanings(document.at("block")),
                  .prefixes = meanings(document.at("prefixes")),
                  .endings = meanings(document.at("endings"))};
  add_usual_names(table, table.outer);
  add_usual_names(table, table.block);
  return table;
}

const NameTable& table() {
  static const NameTable parsed = parse_table();
  return parsed;
}

/// A name within its block, numbers in it replaced by %d, and the block's number.
struct NameInBlock {
  std::size_t block = 0;
  std::string rest{};
};

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<NameInBlock> name_in_block(const GgufFile& file, std::string_view name) {
  constexpr std::string_view prefix = "blk.";
  if (!name.starts_with(prefix)) {
    return std::nullopt;
  }
  const std::string_view after = name.substr(prefix.size());
  const std::size_t dot = after.find('.');
  const std::string_view digits = after.substr(0, dot);
  if (dot == std::string_view::npos || !is_number(digits)) {
    return std::nullopt;
  }
  NameInBlock result;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), result.block);
  if (parsed.ec != std::errc() || result.block >= most_blocks) {
    throw ParseError(file.path, std::string(name), "blocks are numbered up to " + std::to_string(most_blocks - 1));
  }
  std::string_view rest = after.substr(dot + 1);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('.'), rest.size());
    result.rest += is_number(rest.substr(0, end)) ? "%d" : rest.substr(0, end);
    result.rest += end < rest.size() ? "." : "";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return result;
}

const Meaning* find_name(const Meanings& names, std::string_view name) {
  const auto found = names.find(name);
  return found == names.end() ? nullptr : &found->second;
}

template <class Matches>
const Meaning* find_first(const Meanings& names, Matches matches) {
  const auto found = std::find_if(names.begin(), names.end(), [&](const auto& entry) { return matches(entry.first); });
  return found == names.end() ? nullptr : &found->second;
}

const Meaning* meaning_of(std::string_view name, const std::optional<NameInBlock>& in_block) {
  const Meaning* known = in_block ? find_name(table().block, in_block->rest) : find_name(table().outer, name);
  if (known == nullptr && !in_block) {
    known = find_first(table().prefixes, [name](std::string_view prefix) { return name.starts_with(prefix); });
  }
  return known != nullptr
             ? known
             : find_first(table().endings, [name](std::string_view ending) { return name.ends_with(ending); });
}

GgufTensors& block_of(GgufTensorTable& sorted, const std::optional<NameInBlock>& in_block) {
  if (!in_block) {
    return sorted.outer;
  }
  while (sorted.blocks.size() <= in_block->block) {
    sorted.blocks.push_back({.place = "blk." + std::to_string(sorted.blocks.size()) + "."});
  }
  return sorted.blocks[in_block->block];
}

} // namespace

const GgufTensor* GgufTensors::find(GgufPart part) const {
  const auto found = parts.find(part);
  return found == parts.end() ? nullptr : found->second.front();
}

GgufTensorTable sort_tensors(const GgufFile& file) {
  GgufTensorTable sorted;
  for (const GgufTensor& tensor : file.tensors) {
    const std::optional<NameInBlock> in_block = name_in_block(file, tensor.name);
    GgufTensors& tensors = block_of(sorted, in_block);
    const Meaning* meaning = meaning_of(tensor.name, in_block);
    if (meaning == nullptr) {
      tensors.unknown.push_back(&tensor);
    } else if (const auto* part = std::get_if<GgufPart>(meaning)) {
      tensors.parts[*part].push_back(&tensor);
    } else {
      sorted.others.push_back({&tensor, std::get<std::string>(*meaning)});
    }
  }
  return sorted;
}

std::string_view usual_name(GgufPart part) { return table().usual_names.at(part); }

} // namespace tokenroof::readers
