#include "readers/stored_weights.hpp"

#include <array>
#include <string_view>

namespace tokenroof::readers {

namespace {

using nlohmann::json;

/// A member as text, empty where it is absent or something else.
std::string text_of(const json& object, std::string_view key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// A member as a whole number, 0 where it is absent or something else.
long long number_of(const json& object, std::string_view key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<long long>() : 0;
}

bool flag_of(const json& object, std::string_view key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

const json* object_of(const json& object, std::string_view key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? &*found : nullptr;
}

StoredWeights known(std::string_view name) { return {.scheme = find_scheme(name)}; }

StoredWeights not_understood(const std::string& what) {
  return {.note = "how the weights are stored is not understood: " + what};
}

StoredWeights integer_groups(long long bits, long long group) {
  const std::string name = "int" + std::to_string(bits) + "-g" + std::to_string(group);
  return find_scheme(name) ? known(name) : not_understood(name);
}

StoredWeights bitsandbytes(const json& quantization) {
  return known(flag_of(quantization, "load_in_4bit") ? "nf4" : "int8");
}

/// One group of weights in the words of compressed-tensors and ModelOpt.
StoredWeights group_of_weights(const json& weights) {
  const long long bits = number_of(weights, "num_bits");
  const long long group = number_of(weights, "group_size");
  const bool is_float = text_of(weights, "type") == "float";
  if (bits == 8 && group <= 0) {
    return known(!is_float ? "int8" : text_of(weights, "strategy") == "block" ? "fp8-block" : "fp8");
  }
  if (bits == 4 && is_float) {
    return group == 16 ? known("nvfp4") : group == 32 ? known("mxfp4") : not_understood("4-bit floats");
  }
  return is_float ? not_understood("grouped 8-bit floats") : integer_groups(bits, group);
}

StoredWeights groups_of_weights(const json& quantization) {
  const json* groups = object_of(quantization, "config_groups");
  if (groups == nullptr || groups->size() != 1 || !groups->front().is_object()) {
    return not_understood("several groups of weights");
  }
  const json* weights = object_of(groups->front(), "weights");
  return weights != nullptr ? group_of_weights(*weights) : not_understood("a group without weights");
}

struct Named {
  std::string_view method;
  std::string_view scheme;
};

constexpr std::array methods = {Named{"mxfp4", "mxfp4"}, Named{"FP8", "fp8"}, Named{"NVFP4", "nvfp4"}};

constexpr std::array types = {Named{"bfloat16", "bf16"}, Named{"float16", "fp16"}, Named{"float32", "fp32"}};

template <std::size_t Size>
std::string_view scheme_named(const std::array<Named, Size>& table, std::string_view method) {
  for (const Named& entry : table) {
    if (entry.method == method) {
      return entry.scheme;
    }
  }
  return {};
}

StoredWeights quantised(const json& quantization) {
  const std::string method = text_of(quantization, "quant_method");
  const std::string algorithm = text_of(quantization, "quant_algo");
  if (const auto name = scheme_named(methods, algorithm.empty() ? method : algorithm); !name.empty()) {
    return known(name);
  }
  if (method == "fp8" || method == "fbgemm_fp8") {
    const auto block = quantization.find("weight_block_size");
    return known(block != quantization.end() && block->is_array() ? "fp8-block" : "fp8");
  }
  if (method == "gptq" || method == "awq") {
    return integer_groups(number_of(quantization, "bits"), number_of(quantization, "group_size"));
  }
  if (method == "bitsandbytes") {
    return bitsandbytes(quantization);
  }
  return method == "compressed-tensors" ? groups_of_weights(quantization)
                                        : not_understood(method.empty() ? "quantization_config" : method);
}

StoredWeights plain(const json& config) {
  const std::string type = text_of(config, config.contains("torch_dtype") ? "torch_dtype" : "dtype");
  const auto name = scheme_named(types, type);
  return name.empty() ? not_understood(type.empty() ? "torch_dtype is absent" : type) : known(name);
}

} // namespace

StoredWeights stored_weights(const json& config) {
  for (const std::string_view key : {"quantization_config", "compression_config", "quantization"}) {
    if (const json* quantization = object_of(config, key)) {
      return quantised(*quantization);
    }
  }
  return plain(config);
}

} // namespace tokenroof::readers
