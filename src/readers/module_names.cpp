#include "readers/module_names.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <variant>

#include "catalogue/embedded_files.hpp"
#include "readers/json_file.hpp"
#include "tokenroof/errors.hpp"

namespace tokenroof::readers {
namespace {

using Part = TensorMeaning::Part;
using Roles = std::vector<TensorRole>;
using Meaning = std::variant<Roles, std::string>;
using Meanings = std::map<std::string, Meaning, std::less<>>;
using Texts = std::map<std::string, std::string, std::less<>>;
using Words = std::set<std::string, std::less<>>;

constexpr std::string_view unknown_name = "tensors of unknown use";

struct NameTable {
  Words layers{};
  Words companions{};
  Words packed{};
  Texts others{};
  Texts joined{};
  Texts same_as{};
  Meanings outer{};
  Meanings layer{};
  Meanings vectors{};
  std::map<TensorRole, TensorRole> biases{};
  std::array<std::vector<std::string>, tensor_role_count> modules{};
};

TensorRole role_named(const std::string& name) {
  const auto* const found = std::find(tensor_role_names.begin(), tensor_role_names.end(), name);
  if (found == tensor_role_names.end()) {
    throw ParseError("module_names.json", name, "is no role of a tensor");
  }
  return static_cast<TensorRole>(found - tensor_role_names.begin());
}

Meanings meanings(const nlohmann::json& section) {
  Meanings result;
  for (const auto& [name, value] : section.items()) {
    if (value.is_object()) {
      result.emplace(name, value.at("other").get<std::string>());
      continue;
    }
    Roles roles;
    for (const nlohmann::json& role : value) {
      roles.push_back(role_named(role.get<std::string>()));
    }
    result.emplace(name, std::move(roles));
  }
  return result;
}

NameTable parse_table() {
  constexpr std::string_view file = "module_names.json";
  const nlohmann::json document = parse_json(catalogue::embedded_file(file).value(), file);
  NameTable table{.layers = document.at("layers").get<Words>(),
                  .companions = document.at("companions").get<Words>(),
                  .packed = document.at("packed").get<Words>(),
                  .others = document.at("others").get<Texts>(),
                  .joined = document.at("joined").get<Texts>(),
                  .same_as = document.at("same_as").get<Texts>(),
                  .outer = meanings(document.at("outer")),
                  .layer = meanings(document.at("layer")),
                  .vectors = meanings(document.at("vectors"))};
  for (const auto& [role, bias] : document.at("biases").items()) {
    table.biases.emplace(role_named(role), role_named(bias.get<std::string>()));
  }
  for (const auto& [role, names] : document.at("modules").items()) {
    table.modules[static_cast<std::size_t>(role_named(role))] = names.get<std::vector<std::string>>();
  }
  return table;
}

const NameTable& table() {
  static const NameTable parsed = parse_table();
  return parsed;
}

using Components = std::vector<std::string_view>;

Components split(std::string_view name) {
  Components parts;
  for (std::size_t start = 0; start <= name.size();) {
    const std::size_t end = std::min(name.find('.', start), name.size());
    parts.push_back(name.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// The layer's number, and the name within the layer in place of the whole; nothing outside the layers.
std::optional<Count> take_layer(Components& parts) {
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (is_number(parts[i]) && table().layers.contains(parts[i - 1])) {
      Count layer = 0;
      const auto parsed = std::from_chars(parts[i].data(), parts[i].data() + parts[i].size(), layer);
      parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      return parsed.ec == std::errc() ? layer : -1;
    }
  }
  return std::nullopt;
}

std::string joined(const Components& parts, std::size_t from) {
  std::string name;
  for (std::size_t i = from; i < parts.size(); ++i) {
    name += i == from ? "" : ".";
    name += is_number(parts[i]) ? "%d" : parts[i];
  }
  return name;
}

const Meaning* find_ending(const Meanings& names, const Components& parts) {
  for (std::size_t from = 0; from < parts.size(); ++from) {
    if (const auto found = names.find(joined(parts, from)); found != names.end()) {
      return &found->second;
    }
  }
  return nullptr;
}

/// Norms have many names, which all end alike.
const Meaning* find_vector(const Components& parts) {
  const auto named = [&](const auto& entry) { return parts.back().ends_with(entry.first); };
  const auto found = std::find_if(table().vectors.begin(), table().vectors.end(), named);
  return parts.empty() || found == table().vectors.end() ? nullptr : &found->second;
}

const Meaning* find_module(const Components& parts, bool in_layer) {
  if (parts.empty()) {
    return nullptr;
  }
  const Meaning* known = find_ending(in_layer ? table().layer : table().outer, parts);
  return known != nullptr ? known : find_vector(parts);
}

/// The name of the module and what the tensor is to it.
struct Parameter {
  Components module{};
  Part part = Part::whole;
  bool bias = false;
};

Parameter parameter_of(Components parts) {
  Parameter result;
  while (parts.size() > 1 && (table().companions.contains(parts.back()) || parts.back() == "quant_state")) {
    parts.pop_back();
    result.part = Part::companion;
  }
  if (parts.size() > 1 && table().packed.contains(parts.back())) {
    parts.pop_back();
    result.part = Part::packed;
  } else if (parts.size() > 1 && (parts.back() == "weight" || parts.back() == "bias")) {
    result.bias = parts.back() == "bias";
    parts.pop_back();
  }
  result.module = std::move(parts);
  return result;
}

/// "gate_up_proj_blocks" in place of "gate_up_proj.blocks".
Parameter unjoined(Parameter parameter) {
  if (parameter.module.empty()) {
    return parameter;
  }
  for (const auto& [ending, part] : table().joined) {
    std::string_view& last = parameter.module.back();
    if (last.ends_with(ending)) {
      last.remove_suffix(ending.size());
      parameter.bias = part == "bias";
      parameter.part = part == "packed" ? Part::packed : part == "companion" ? Part::companion : Part::whole;
      break;
    }
  }
  return parameter;
}

Roles roles_of_bias(const Roles& roles) {
  Roles result;
  for (const TensorRole role : roles) {
    const auto found = table().biases.find(role);
    const TensorRole bias = found == table().biases.end() ? role : found->second;
    if (std::find(result.begin(), result.end(), bias) == result.end()) {
      result.push_back(bias);
    }
  }
  return result;
}

const std::string* other_part(const Components& parts) {
  for (const std::string_view part : parts) {
    if (const auto found = table().others.find(part); found != table().others.end()) {
      return &found->second;
    }
  }
  return nullptr;
}

} // namespace

TensorMeaning meaning_of_tensor(std::string_view name) {
  Components parts = split(name);
  if (const std::string* other = other_part(parts)) {
    return {.other = *other};
  }
  TensorMeaning result{.layer = take_layer(parts)};
  Parameter parameter{.module = parts};
  const Meaning* meaning = find_ending(result.layer ? table().layer : table().outer, parts);
  if (meaning == nullptr) {
    parameter = parameter_of(std::move(parts));
    meaning = find_module(parameter.module, result.layer.has_value());
  }
  if (meaning == nullptr) {
    parameter = unjoined(std::move(parameter));
    meaning = find_module(parameter.module, result.layer.has_value());
  }
  result.part = parameter.part;
  if (meaning == nullptr) {
    result.other = unknown_name;
  } else if (const auto* roles = std::get_if<Roles>(meaning)) {
    result.roles = parameter.bias ? roles_of_bias(*roles) : *roles;
  } else {
    result.other = std::get<std::string>(*meaning);
  }
  return result;
}

const std::vector<std::string>& module_spellings(TensorRole role) {
  return table().modules[static_cast<std::size_t>(role)];
}

std::string usual_spelling(std::string_view module) {
  for (const auto& [beginning, usual] : table().same_as) {
    if (module.starts_with(beginning)) {
      return usual + std::string(module.substr(beginning.size()));
    }
  }
  return std::string(module);
}

bool is_beside_matrices(std::string_view module) {
  const std::string within = "layers.0." + std::string(module); // lists may leave out where a module lies
  const std::array meanings = {meaning_of_tensor(module), meaning_of_tensor(within)};
  return std::any_of(meanings.begin(), meanings.end(), [](const TensorMeaning& meaning) {
    const bool vectors = !meaning.roles.empty() && std::all_of(meaning.roles.begin(), meaning.roles.end(), is_vector);
    return vectors || (meaning.roles.empty() && meaning.other != unknown_name);
  });
}

} // namespace tokenroof::readers
