#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/catalogue_json.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "report/table.hpp"
#include "tokenroof/catalogue/networks.hpp"
#include "tokenroof/network/named_schemes.hpp"
#include "tokenroof/network/parameters.hpp"
#include "tokenroof/report.hpp"

namespace tokenroof::cli {

namespace {

using report::Align;
using report::Json;
using report::Table;
using report::wrap;

constexpr std::string_view usage_note = "Bits a weight are those of most matrices, scales included. --weights takes "
                                        "any of these names; --kv a format alone, as "
                                        "fp8 or Q8_0. 'tokenroof formats NAME' says which tensors are in which format.";

std::vector<WeightScheme> all() { return weight_schemes(); }

const Format& format_of_role(const WeightScheme& scheme, TensorRole role) {
  constexpr Count row = 4096; // a length that every format's blocks divide
  return format_of(scheme, SchemeFacts{}, role, row);
}

double whole_bits(const WeightScheme& scheme) {
  const Shared<Network> network = catalogue::network("llama-3.1-8b");
  return 8 * weight_bytes(*network, scheme).value() / static_cast<double>(count_parameters(*network).total());
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    text += (text.empty() ? "" : ", ") + part;
  }
  return text;
}

std::vector<std::string> aliases_of(const WeightScheme& scheme) {
  std::vector<std::string> aliases;
  for (const auto& [alias, meant] : scheme_aliases) {
    if (meant == scheme.name) {
      aliases.emplace_back(alias);
    }
  }
  return aliases;
}

void list(const std::vector<WeightScheme>& schemes) {
  Table table({Align::left, Align::right, Align::right, Align::left, Align::left});
  table.add({"name", "bits", "of Llama 8B", "head", "also called"});
  for (const WeightScheme& scheme : schemes) {
    table.add({std::string(scheme.name.view()), fmt::format("{:.4g}", bits_per_element(scheme.format)),
               fmt::format("{:.3f}", whole_bits(scheme)),
               std::string(format_of_role(scheme, TensorRole::lm_head).name.view()), joined(aliases_of(scheme))});
  }
  write(table.str(0, stdout_width()) + '\n' + wrap(usage_note, stdout_width(), 0) + '\n');
}

std::vector<std::string> names_of(RoleSet roles) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < tensor_role_count; ++i) {
    const auto role = static_cast<TensorRole>(i);
    if (roles.contains(role)) {
      names.emplace_back(name(role));
    }
  }
  return names;
}

std::string words_of(RoleSet roles) {
  std::string words = joined(names_of(roles));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string text_of(const LayerSelector& layers) {
  switch (layers.kind) {
  case LayerSelector::Kind::all:
    return "all";
  case LayerSelector::Kind::first:
    return fmt::format("first {}", layers.argument);
  case LayerSelector::Kind::first_part:
    return fmt::format("first 1/{}", layers.argument);
  case LayerSelector::Kind::middle_part:
    return fmt::format("all but 1/{} at each end", layers.argument);
  case LayerSelector::Kind::more_bits:
    return "1/8 at each end, every third between";
  }
  return {};
}

std::string_view text_of(SchemeCondition condition) {
  switch (condition) {
  case SchemeCondition::always:
    return "";
  case SchemeCondition::has_experts:
    return "with experts";
  case SchemeCondition::eight_experts:
    return "with 8 experts";
  case SchemeCondition::four_queries_per_key:
    return "4 query heads a key, or more";
  case SchemeCondition::four_queries_per_key_or_experts:
    return "4 query heads a key or 4 experts, or more";
  case SchemeCondition::eighty_layers_shared_keys:
    return "80 layers, keys shared";
  case SchemeCondition::falcon:
    return "Falcon";
  }
  return {};
}

void show(const WeightScheme& scheme) {
  Table table({Align::left, Align::left, Align::left, Align::left});
  table.add({"format", "in layers", "of networks", "tensors"});
  for (std::size_t i = 0; i < scheme.rule_count; ++i) {
    const SchemeRule& rule = scheme.rules[i];
    table.add({std::string(rule.format.name.view()), text_of(rule.layers), std::string(text_of(rule.condition)),
               words_of(rule.roles)});
  }
  table.add({std::string(scheme.format.name.view()), "all", "", "other matrices"});
  table.add({std::string(scheme.vectors.name.view()), "all", "", "norms, biases"});
  const std::vector<std::string> aliases = aliases_of(scheme);
  write(fmt::format("{}, {:.4g} bits a weight{}\n\n", scheme.name.view(), bits_per_element(scheme.format),
                    aliases.empty() ? "" : ", also called " + joined(aliases)) +
        table.str(0, stdout_width()) + "\nThe first line that applies decides.\n");
}

} // namespace

Json columns(const WeightScheme& scheme) {
  return {{"schema_version", report::schema_version},
          {"id", scheme.name.view()},
          {"matrices", scheme.format.name.view()},
          {"matrices_bits_per_weight", bits_per_element(scheme.format)},
          {"llama_3_1_8b_bits_per_weight", whole_bits(scheme)},
          {"head", format_of_role(scheme, TensorRole::lm_head).name.view()},
          {"token_embedding", format_of_role(scheme, TensorRole::token_embedding).name.view()},
          {"vectors", scheme.vectors.name.view()}};
}

Json document(const WeightScheme& scheme) {
  Json object = columns(scheme);
  object["aliases"] = aliases_of(scheme);
  Json rules = Json::array();
  for (std::size_t i = 0; i < scheme.rule_count; ++i) {
    const SchemeRule& rule = scheme.rules[i];
    rules.push_back({{"format", rule.format.name.view()},
                     {"layers", text_of(rule.layers)},
                     {"networks", report::text_or_null(text_of(rule.condition))},
                     {"tensors", names_of(rule.roles)}});
  }
  object["rules"] = std::move(rules);
  return object;
}

int formats(const CatalogueOptions& options) {
  return show_catalogue(
      "formats", options, all, [](const std::string& id) { return scheme(id); }, list, show);
}

} // namespace tokenroof::cli
