#include "readers/quantisation.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "readers/json_object.hpp"

namespace tokenroof::readers {
namespace {

using nlohmann::json;
using Layout = std::optional<QuantisedLayout>;

constexpr double bytes_16 = 2;
constexpr double bytes_32 = 4;
constexpr Count most_group = Count{1} << 20;

/// A member as text, empty where it is absent or something else.
std::string text_of(const json& object, std::string_view key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// A member as a whole number, 0 where it is absent or something else.
Count number_of(const json& object, std::string_view key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<Count>() : 0;
}

/// A count of elements that share something: 0 for none, whatever a file writes for it.
Count group_of(const json& object, std::string_view key) {
  const Count group = number_of(object, key);
  return group > 0 && group <= most_group ? group : 0;
}

bool flag_of(const json& object, std::string_view key, bool otherwise = false) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() ? found->get<bool>() : otherwise;
}

const json* object_of(const json& object, std::string_view key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? &*found : nullptr;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
  return text;
}

std::vector<std::string> texts_of(const json& object, std::string_view key) {
  std::vector<std::string> texts;
  const auto found = object.find(key);
  if (found != object.end() && found->is_array()) {
    for (const json& element : *found) {
      if (element.is_string()) {
        texts.push_back(element.get<std::string>());
      }
    }
  }
  return texts;
}

QuantisationReading nothing(std::string what) { return {.not_understood = std::move(what)}; }

QuantisationPlan plan_of(QuantisedLayout layout, QuantisationReach reach = QuantisationReach::layers) {
  return {.layout = layout, .reach = reach};
}

/// Modules that stay as they are, under any of the names that files list them by.
void add_ignored(QuantisationPlan& plan, const json& quantisation) {
  for (const char* key :
       {"modules_to_not_convert", "ignored_layers", "ignore", "exclude_modules", "exclude", "llm_int8_skip_modules"}) {
    for (std::string& pattern : texts_of(quantisation, key)) {
      plan.rules.push_back({.pattern = std::move(pattern)});
    }
  }
}

/// "FP8" or {"num_bits": 8, "type": "float"}.
std::optional<Format> cache_format(const json& quantisation) {
  for (const char* key : {"kv_cache_quant_algo", "kv_cache_scheme"}) {
    const std::string name = upper(text_of(quantisation, key));
    const json* scheme = object_of(quantisation, key);
    if (name == "FP8" ||
        (scheme != nullptr && number_of(*scheme, "num_bits") == 8 && text_of(*scheme, "type") == "float")) {
      return find_format("fp8");
    }
    if (name == "INT8" ||
        (scheme != nullptr && number_of(*scheme, "num_bits") == 8 && text_of(*scheme, "type") == "int")) {
      return find_format("int8");
    }
    if (name == "NVFP4") {
      return find_format("nvfp4");
    }
  }
  return std::nullopt;
}

QuantisationReading finished(QuantisationPlan plan, const json& quantisation) {
  add_ignored(plan, quantisation);
  plan.kv = plan.kv ? plan.kv : cache_format(quantisation);
  return {.plan = std::move(plan)};
}

/// A member as the file writes it, for messages.
std::string stated(const json& object, std::string_view key) {
  const auto found = object.find(key);
  return found == object.end() ? "no" : shortened(*found);
}

/// A group that cannot be is not silently none; -1 is how files write that there is none.
void note_group(QuantisationPlan& plan, const json& quantisation, const char* key) {
  const auto found = quantisation.find(key);
  const bool none = found == quantisation.end() || found->is_null() || *found == -1;
  if (!none && group_of(quantisation, key) == 0) {
    plan.notes.push_back(std::string(key) + " = " + stated(quantisation, key) +
                         " is no number of elements: a scale for each row is taken");
  }
}

// ---- GPTQ, AWQ ---------------------------------------------------------------------------------------------------------

bool is_integer_width(Count bits) { return bits == 2 || bits == 3 || bits == 4 || bits == 8; }

/// Beside codes, scales and zero points the order of columns is stored, whether it is another or not.
QuantisedLayout gptq_layout(Count bits, Count group) {
  QuantisedLayout layout = integer_layout(bits, group, static_cast<double>(bits));
  layout.column_bytes = bytes_32;
  return layout;
}

/// GPTQModel's exceptions: "-:" and an expression for modules left alone, "+:" for those with other numbers.
void add_dynamic(QuantisationPlan& plan, const json& quantisation, Count bits, Count group) {
  const json* dynamic = object_of(quantisation, "dynamic");
  if (dynamic == nullptr) {
    return;
  }
  for (const auto& [key, value] : dynamic->items()) {
    const bool signed_key = key.starts_with("-:") || key.starts_with("+:");
    const std::string pattern = "re:" + (signed_key ? key.substr(2) : key);
    if (key.starts_with("-:") || !value.is_object()) {
      plan.rules.push_back({.pattern = pattern});
      continue;
    }
    const Count own_bits = value.contains("bits") ? number_of(value, "bits") : bits;
    const Count own_group = value.contains("group_size") ? group_of(value, "group_size") : group;
    if (is_integer_width(own_bits)) {
      plan.rules.push_back({.pattern = pattern, .layout = gptq_layout(own_bits, own_group)});
    } else {
      plan.notes.push_back("dynamic: " + std::to_string(own_bits) + " bits are not understood, the others' are taken");
    }
  }
}

void add_listed_blocks(QuantisationPlan& plan, const json& quantisation) {
  const auto listed = quantisation.find("modules_in_block_to_quantize");
  if (listed == quantisation.end() || !listed->is_array()) {
    return;
  }
  plan.reach = QuantisationReach::rules;
  for (const json& element : *listed) {
    for (const json& name : element.is_array() ? element : json::array({element})) {
      if (name.is_string()) {
        plan.rules.push_back({.pattern = name.get<std::string>(), .layout = plan.layout});
      }
    }
  }
}

QuantisationReading gptq(const json& quantisation) {
  const Count bits = number_of(quantisation, "bits");
  if (!is_integer_width(bits)) {
    return nothing("GPTQ with " + stated(quantisation, "bits") + " bits");
  }
  const Count group = group_of(quantisation, "group_size");
  QuantisationPlan plan = plan_of(gptq_layout(bits, group));
  note_group(plan, quantisation, "group_size");
  add_dynamic(plan, quantisation, bits, group);
  add_listed_blocks(plan, quantisation);
  if (flag_of(quantisation, "lm_head")) {
    plan.rules.push_back({.pattern = "lm_head", .layout = plan.layout});
  }
  return finished(std::move(plan), quantisation);
}

QuantisationReading awq(const json& quantisation) {
  const char* const bits_key = quantisation.contains("bits") ? "bits" : "w_bit";
  const char* const group_key = quantisation.contains("group_size") ? "group_size" : "q_group_size";
  const Count bits = number_of(quantisation, bits_key);
  if (bits != 4) {
    return nothing("AWQ with " + stated(quantisation, bits_key) + " bits");
  }
  QuantisationPlan plan = plan_of(integer_layout(bits, group_of(quantisation, group_key), static_cast<double>(bits)));
  note_group(plan, quantisation, group_key);
  return finished(std::move(plan), quantisation);
}

// ---- 8 bits ------------------------------------------------------------------------------------------------------------

/// Two sides of a block, or nothing.
std::optional<std::array<Count, 2>> block_of(const json& object, std::string_view key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array() || found->size() != 2) {
    return std::nullopt;
  }
  std::array<Count, 2> sides{};
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const json& side = found->at(i);
    sides[i] = side.is_number_integer() ? side.get<Count>() : 0;
  }
  const bool possible = std::all_of(sides.begin(), sides.end(), [](Count s) { return s > 0 && s <= most_group; });
  return possible ? std::optional(sides) : std::nullopt;
}

/// A scale for each matrix; a second one, for activations, where it does not follow from them.
QuantisedLayout fp8_with_fixed_activations() {
  QuantisedLayout layout = fp8_matrix_layout();
  layout.matrix_bytes += bytes_32;
  return layout;
}

QuantisedLayout fp8_layout(const json& quantisation) {
  if (const auto block = block_of(quantisation, "weight_block_size")) {
    return fp8_block_layout((*block)[0], (*block)[1], bytes_32);
  }
  return text_of(quantisation, "activation_scheme") == "static" ? fp8_with_fixed_activations() : fp8_matrix_layout();
}

Layout layout_of_algorithm(const std::string& algorithm, Count group) {
  if (algorithm == "FP8") {
    return fp8_with_fixed_activations();
  }
  if (algorithm == "FP8_PER_CHANNEL_PER_TOKEN") {
    return fp8_row_layout(bytes_32);
  }
  if (algorithm == "FP8_PB_WO" || algorithm == "FP8_2D_BLOCKWISE_WEIGHT_ONLY") {
    constexpr Count side = 128;
    return fp8_block_layout(side, side, bytes_32);
  }
  if (algorithm == "NVFP4" || algorithm == "NVFP4_AWQ") {
    QuantisedLayout layout = nvfp4_layout();
    layout.matrix_bytes += bytes_32; // of activations
    return layout;
  }
  if (algorithm == "W4A16_NVFP4") {
    return nvfp4_layout();
  }
  if (algorithm == "MXFP4") {
    return mxfp4_layout();
  }
  if (algorithm == "W4A16_AWQ" || algorithm == "W4A8_AWQ") {
    return integer_layout(4, group > 0 ? group : 128, 0);
  }
  return std::nullopt;
}

/// ModelOpt's list of modules with an algorithm each.
void add_listed_layers(QuantisationPlan& plan, const json& quantisation) {
  const json* listed = object_of(quantisation, "quantized_layers");
  if (listed == nullptr) {
    return;
  }
  for (const auto& [name, value] : listed->items()) {
    const std::string algorithm = value.is_object() ? upper(text_of(value, "quant_algo")) : std::string();
    if (Layout layout = layout_of_algorithm(algorithm, group_of(value, "group_size"))) {
      plan.rules.push_back({.pattern = name, .layout = layout});
    } else {
      plan.notes.push_back("quantized_layers: '" + algorithm.substr(0, 48) + "' of " + name.substr(0, 96) +
                           " is not understood, taken as not quantised");
    }
  }
}

/// Formats by module: those listed, and 8-bit floats elsewhere where the file is one of them too.
QuantisationReading mixed_precision(const json& quantisation) {
  const bool among_fp8 = text_of(quantisation, "quant_method") == "fp8";
  QuantisationPlan plan =
      plan_of(fp8_layout(quantisation), among_fp8 ? QuantisationReach::layers : QuantisationReach::rules);
  add_listed_layers(plan, quantisation);
  plan.kv = cache_format(quantisation);
  if (plan.rules.empty()) {
    return nothing("MIXED_PRECISION without a list of layers");
  }
  if (among_fp8) {
    plan.notes.emplace_back("modules that quantized_layers does not list are taken as 8-bit floats");
  } else {
    plan.layout = plan.rules.front().layout.value();
  }
  return {.plan = std::move(plan)};
}

QuantisationReading algorithm_for_all(const json& quantisation, const std::string& algorithm) {
  if (algorithm == "MIXED_PRECISION") {
    return mixed_precision(quantisation);
  }
  Layout layout = layout_of_algorithm(algorithm, group_of(quantisation, "group_size"));
  return layout ? finished(plan_of(*layout), quantisation) : nothing("quant_algo " + algorithm.substr(0, 48));
}

QuantisationReading fp8(const json& quantisation) {
  QuantisationPlan plan = plan_of(fp8_layout(quantisation));
  const auto block = quantisation.find("weight_block_size");
  if (block != quantisation.end() && !block->is_null() && !block_of(quantisation, "weight_block_size")) {
    plan.notes.emplace_back("weight_block_size is no pair of sizes: a scale for the whole matrix is taken");
  }
  if (text_of(quantisation, "expert_dtype") == "fp4") {
    plan.rules.push_back({.pattern = "mlp.experts", .layout = mxfp4_layout()});
    plan.notes.emplace_back("expert_dtype fp4: experts are taken as MXFP4, with an 8-bit scale for 32 elements");
  }
  if (text_of(quantisation, "scale_fmt") == "ue8m0") {
    plan.notes.emplace_back("scale_fmt ue8m0: scales are taken as stored in 32 bits all the same");
  }
  return finished(std::move(plan), quantisation);
}

QuantisationReading bitsandbytes(const json& quantisation) {
  if (!flag_of(quantisation, "load_in_4bit") && !flag_of(quantisation, "_load_in_4bit")) {
    QuantisedLayout layout = int8_row_layout(bytes_32);
    layout.matrix_bytes = 1; // its order of elements
    return finished(plan_of(layout), quantisation);
  }
  QuantisationPlan plan = plan_of(bitsandbytes_layout(flag_of(quantisation, "bnb_4bit_use_double_quant")));
  if (flag_of(quantisation, "load_in_8bit")) {
    plan.notes.emplace_back("load_in_4bit and load_in_8bit are both stated: 4 bits are taken");
  }
  return finished(std::move(plan), quantisation);
}

// ---- compressed-tensors ------------------------------------------------------------------------------------------------

Layout float_layout(const json& weights, Count bits) {
  const Count group = group_of(weights, "group_size");
  if (bits == 4) {
    return group == 16 ? Layout(nvfp4_layout()) : group == 32 ? Layout(mxfp4_layout()) : std::nullopt;
  }
  if (bits != 8) {
    return std::nullopt;
  }
  const std::string strategy = text_of(weights, "strategy");
  if (strategy == "block") {
    const auto block = block_of(weights, "block_structure").value_or(std::array<Count, 2>{128, 128});
    return fp8_block_layout(block[0], block[1], bytes_16);
  }
  if (group == 32) {
    return QuantisedLayout{.format = find_format("mxfp8").value(), .code_bits = 8, .group = group, .group_bytes = 1};
  }
  return strategy == "channel" ? fp8_row_layout(bytes_16) : group > 0 ? Layout() : Layout(fp8_matrix_layout());
}

/// Codes of fewer than 8 bits are packed, and their true shape is stored beside them.
Layout integer_codes(const json& weights, Count bits) {
  constexpr double shape_bytes = 16;
  if (!is_integer_width(bits)) {
    return std::nullopt;
  }
  const Count group = group_of(weights, "group_size");
  const bool symmetric = flag_of(weights, "symmetric", true);
  if (bits == 8 && group == 0) {
    return text_of(weights, "strategy") == "tensor" ? int8_matrix_layout(bytes_16) : int8_row_layout(bytes_16);
  }
  QuantisedLayout layout = integer_layout(bits, group, symmetric ? 0 : static_cast<double>(bits));
  layout.matrix_bytes = shape_bytes;
  const std::string order = text_of(weights, "actorder");
  layout.column_bytes = order == "group" || flag_of(weights, "actorder") ? bytes_32 : 0;
  return layout;
}

Layout layout_of_weights(const json& weights) {
  const Count bits = number_of(weights, "num_bits");
  return text_of(weights, "type") == "float" ? float_layout(weights, bits) : integer_codes(weights, bits);
}

/// Classes of modules begin with a capital, names of modules do not.
bool is_class(std::string_view target) {
  return !target.empty() && target.front() >= 'A' && target.front() <= 'Z' &&
         target.find('.') == std::string_view::npos;
}

/// Adds one group; false where its weights are not understood.
bool add_group(QuantisationPlan& plan, const json& group) {
  const json* weights = group.is_object() ? object_of(group, "weights") : nullptr;
  Layout layout = weights != nullptr ? layout_of_weights(*weights) : std::nullopt;
  if (!layout) {
    return false;
  }
  const bool fixed_activations =
      object_of(group, "input_activations") != nullptr && !flag_of(*object_of(group, "input_activations"), "dynamic");
  if (fixed_activations && layout->matrix_bytes == bytes_32) {
    layout->matrix_bytes += bytes_32;
  }
  std::vector<std::string> targets = texts_of(group, "targets");
  if (targets.empty()) {
    targets.emplace_back("Linear"); // ModelOpt leaves it out where all are meant
  }
  for (std::string& target : targets) {
    if (is_class(target)) {
      plan.layout = *layout;
      plan.reach = QuantisationReach::layers;
    } else {
      plan.rules.push_back({.pattern = std::move(target), .layout = layout});
    }
  }
  return true;
}

QuantisationReading groups_of_weights(const json& quantisation) {
  const json* groups = object_of(quantisation, "config_groups");
  if (groups == nullptr || groups->empty()) {
    return nothing("compressed-tensors without groups of weights");
  }
  QuantisationPlan plan{.reach = QuantisationReach::rules};
  add_ignored(plan, quantisation);
  for (const auto& [name, group] : groups->items()) {
    if (!add_group(plan, group)) {
      return nothing("weights of the group '" + name.substr(0, 64) + "'");
    }
  }
  if (plan.reach == QuantisationReach::rules) {
    const auto first = std::find_if(plan.rules.begin(), plan.rules.end(), [](const auto& r) { return r.layout; });
    plan.layout = first->layout.value();
  }
  plan.kv = cache_format(quantisation);
  return {.plan = std::move(plan)};
}

// ---- Quark, MLX --------------------------------------------------------------------------------------------------------

Layout quark_layout(const json& config) {
  const json* weight = object_of(config, "weight");
  if (weight == nullptr) {
    return std::nullopt;
  }
  const std::string type = text_of(*weight, "dtype");
  const std::string scheme = text_of(*weight, "qscheme");
  const Count group = group_of(*weight, "group_size");
  if (type == "fp4" && group == 32) {
    return mxfp4_layout();
  }
  if (type.starts_with("fp8")) {
    return scheme == "per_tensor" ? fp8_matrix_layout() : scheme == "per_channel" ? fp8_row_layout(bytes_32) : Layout();
  }
  if (type == "int8") {
    return scheme == "per_tensor" ? int8_matrix_layout(bytes_32) : int8_row_layout(bytes_32);
  }
  return type.ends_with("int4") && group > 0 ? Layout(integer_layout(4, group, 4)) : Layout();
}

QuantisationReading quark(const json& quantisation) {
  const json* global = object_of(quantisation, "global_quant_config");
  const Layout layout = global != nullptr ? quark_layout(*global) : std::nullopt;
  if (!layout) {
    return nothing("Quark's global_quant_config");
  }
  QuantisationPlan plan = plan_of(*layout);
  add_ignored(plan, quantisation);
  if (const json* layers = object_of(quantisation, "layer_quant_config")) {
    for (const auto& [pattern, config] : layers->items()) {
      plan.rules.push_back({.pattern = pattern, .layout = config.is_object() ? quark_layout(config) : std::nullopt});
      const json* output = config.is_object() ? object_of(config, "output_tensors") : nullptr;
      const bool cached = pattern.ends_with("k_proj") || pattern.ends_with("v_proj");
      if (cached && output != nullptr && text_of(*output, "dtype").starts_with("fp8")) {
        plan.kv = find_format("fp8");
      }
    }
  }
  return {.plan = std::move(plan)};
}

Layout mlx_layout_of(const json& quantisation) {
  const std::string mode = text_of(quantisation, "mode");
  if (mode == "mxfp4") {
    return mxfp4_layout();
  }
  const Count bits = number_of(quantisation, "bits");
  const Count group = group_of(quantisation, "group_size");
  const bool affine = mode.empty() || mode == "affine";
  return affine && bits >= 2 && bits <= 8 && group > 0 ? Layout(mlx_layout(bits, group)) : Layout();
}

QuantisationReading mlx(const json& quantisation) {
  const Layout layout = mlx_layout_of(quantisation);
  if (!layout) {
    return nothing("MLX's quantization");
  }
  QuantisationPlan plan = plan_of(*layout, QuantisationReach::everything);
  for (const auto& [name, value] : quantisation.items()) {
    if (value.is_object()) {
      plan.rules.push_back({.pattern = name, .layout = mlx_layout_of(value)});
    } else if (value == false) {
      plan.rules.push_back({.pattern = name});
    }
  }
  return {.plan = std::move(plan)};
}

QuantisationReading by_method(const json& quantisation, const std::string& method) {
  if (method == "gptq") {
    return gptq(quantisation);
  }
  if (method == "awq") {
    return awq(quantisation);
  }
  if (method == "fp8") {
    return fp8(quantisation);
  }
  if (method == "fbgemm_fp8") {
    return finished(plan_of(fp8_row_layout(bytes_32)), quantisation);
  }
  if (method == "bitsandbytes") {
    return bitsandbytes(quantisation);
  }
  if (method == "mxfp4") {
    return finished(plan_of(mxfp4_layout(), QuantisationReach::experts), quantisation);
  }
  if (method == "quark") {
    return quark(quantisation);
  }
  if (method == "compressed-tensors" || quantisation.contains("config_groups")) {
    return groups_of_weights(quantisation);
  }
  if (method.empty() && quantisation.contains("bits") && quantisation.contains("group_size")) {
    return mlx(quantisation);
  }
  return nothing(method.empty() ? "quantization_config" : method.substr(0, 64));
}

} // namespace

QuantisationReading read_quantisation(const json& quantisation) {
  const std::string algorithm = upper(text_of(quantisation, "quant_algo"));
  return algorithm.empty() ? by_method(quantisation, text_of(quantisation, "quant_method"))
                           : algorithm_for_all(quantisation, algorithm);
}

} // namespace tokenroof::readers
