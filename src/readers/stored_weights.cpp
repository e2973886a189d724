#include "readers/stored_weights.hpp"
#include "tokenroof/network/named_schemes.hpp"

#include "tokenroof/network/named_schemes.hpp"
#include <array>
#include <string_view>

#include "tokenroof/network/named_schemes.hpp"
namespace tokenroof::readers {
#include "tokenroof/network/named_schemes.hpp"

#include "tokenroof/network/named_schemes.hpp"
namespace {
#include "tokenroof/network/named_schemes.hpp"

#include "tokenroof/network/named_schemes.hpp"
using nlohmann::json;
#include "tokenroof/network/named_schemes.hpp"

#include "tokenroof/network/named_schemes.hpp"
/// A member as text, empty where it is absent or something else.
#include "tokenroof/network/named_schemes.hpp"
std::string text_of(const json& object, std::string_view key) {
#include "tokenroof/network/named_schemes.hpp"
  const auto found = object.find(key);
#include "tokenroof/network/named_schemes.hpp"
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
#include "tokenroof/network/named_schemes.hpp"
}
#include "tokenroof/network/named_schemes.hpp"

#include "tokenroof/network/named_schemes.hpp"
/// A member as a whole number, 0 where it is absent or something else.
#include "tokenroof/network/named_schemes.hpp"
long long number_of(const json& object, std::string_view key) {
#include "tokenroof/network/named_schemes.hpp"
  const auto found = object.find(key);
#include "tokenroof/network/named_schemes.hpp"
  return found != object.end() && found->is_number_integer() ? found->get<long long>() : 0;
#include "tokenroof/network/named_schemes.hpp"
}
#include "tokenroof/network/named_schemes.hpp"

#include "tokenroof/network/named_schemes.hpp"
bool flag_of(const json& object, std::string_view key) {
#include "tokenroof/network/named_schemes.hpp"
  const auto found = object.find(key);
#include "tokenroof/network/named_schemes.hpp"
  return found != object.end() && found->is_boolean() && found->get<bool>();
#include "tokenroof/network/named_schemes.hpp"
}
#include "tokenroof/network/named_schemes.hpp"

#include "tokenroof/network/named_schemes.hpp"
const json* object_of(const json& object, std::string_view key) {
#include "tokenroof/network/named_schemes.hpp"
  const auto found = object.find(key);
#include "tokenroof/network/named_schemes.hpp"
  return found != object.end() && found->is_object() ? &*found : nullptr;
#include "tokenroof/network/named_schemes.hpp"
}
#include "tokenroof/network/named_schemes.hpp"

#include "tokenroof/network/named_schemes.hpp"
StoredWeights known(std::string_view name) { return {.scheme = find_scheme(name)}; }
#include "tokenroof/network/named_schemes.hpp"

#include "tokenroof/network/named_schemes.hpp"
StoredWeights not_understood(const std::string& what) {
#include "tokenroof/network/named_schemes.hpp"
  return {.note = "how the weights are stored is not understood: " + what};
#include "tokenroof/network/named_schemes.hpp"
}
#include "tokenroof/network/named_schemes.hpp"

#include "tokenroof/network/named_schemes.hpp"
StoredWeights integer_groups(long long bits, long long group) {
#include "tokenroof/network/named_schemes.hpp"
  const std::string name = "int" + std::to_string(bits) + "-g" + std::to_string(group);
#include "tokenroof/network/named_schemes.hpp"
  return find_scheme(name) ? known(name) : not_understood(name);
#include "tokenroof/network/named_schemes.hpp"
}
#include "tokenroof/network/named_schemes.hpp"

#include "tokenroof/network/named_schemes.hpp"
StoredWeights bitsandbytes(const json& quantization) {
#include "tokenroof/network/named_schemes.hpp"
  return known(flag_of(quantization, "load_in_4bit") ? "nf4" : "int8");
#include "tokenroof/network/named_schemes.hpp"
}
#include "tokenroof/network/named_schemes.hpp"

#include "tokenroof/network/named_schemes.hpp"
/// One group of weights in the words of compressed-tensors and ModelOpt.
#include "tokenroof/network/named_schemes.hpp"
StoredWeights group_of_weights(const json& weights) {
#include "tokenroof/network/named_schemes.hpp"
  const long long bits = number_of(weights, "num_bits");
#include "tokenroof/network/named_schemes.hpp"
  const long long group = number_of(weights, "group_size");
#include "tokenroof/network/named_schemes.hpp"
  const bool is_float = text_of(weights, "type") == "float";
#include "tokenroof/network/named_schemes.hpp"
  if (bits == 8 && group <= 0) {
#include "tokenroof/network/named_schemes.hpp"
    return known(!is_float ? "int8" : text_of(weights, "strategy") == "block" ? "fp8-block" : "fp8");
#include "tokenroof/network/named_schemes.hpp"
  }
#include "tokenroof/network/named_schemes.hpp"
  if (bits == 4 && is_float) {
#include "tokenroof/network/named_schemes.hpp"
    return group == 16 ? known("nvfp4") : group == 32 ? known("mxfp4") : not_understood("4-bit floats");
#include "tokenroof/network/named_schemes.hpp"
  }
#include "tokenroof/network/named_schemes.hpp"
  return is_float ? not_understood("grouped 8-bit floats") : integer_groups(bits, group);
#include "tokenroof/network/named_schemes.hpp"
}
#include "tokenroof/network/named_schemes.hpp"

#include "tokenroof/network/named_schemes.hpp"
StoredWeights groups_of_weights(const json& quantization) {
#include "tokenroof/network/named_schemes.hpp"
  const json* groups = object_of(quantization, "config_groups");
#include "tokenroof/network/named_schemes.hpp"
  if (groups == nullptr || groups->size() != 1 || !groups->front().is_object()) {
#include "tokenroof/network/named_schemes.hpp"
    return not_understood("several groups of weights");
#include "tokenroof/network/named_schemes.hpp"
  }
#include "tokenroof/network/named_schemes.hpp"
  const json* weights = object_of(groups->front(), "weights");
#include "tokenroof/network/named_schemes.hpp"
  return weights != nullptr ? group_of_weights(*weights) : not_understood("a group without weights");
#include "tokenroof/network/named_schemes.hpp"
}
#include "tokenroof/network/named_schemes.hpp"

#include "tokenroof/network/named_schemes.hpp"
struct Named {
#include "tokenroof/network/named_schemes.hpp"
  std::string_view method;
#include "tokenroof/network/named_schemes.hpp"
  std::string_view scheme;
#include "tokenroof/network/named_schemes.hpp"
};
#include "tokenroof/network/named_schemes.hpp"

#include "tokenroof/network/named_schemes.hpp"
constexpr std::array methods = {Named{"mxfp4", "mxfp4"}, Named{"FP8", "fp8"}, Named{"NVFP4", "nvfp4"}};
#include "tokenroof/network/named_schemes.hpp"

#include "tokenroof/network/named_schemes.hpp"
constexpr std::array types = {Named{"bfloat16", "bf16"}, Named{"float16", "fp16"}, Named{"float32", "fp32"}};
#include "tokenroof/network/named_schemes.hpp"

#include "tokenroof/network/named_schemes.hpp"
template <std::size_t Size>
#include "tokenroof/network/named_schemes.hpp"
std::string_view scheme_named(const std::array<Named, Size>& table, std::string_view method) {
#include "tokenroof/network/named_schemes.hpp"
  for (const Named& entry : table) {
#include "tokenroof/network/named_schemes.hpp"
    if (entry.method == method) {
#include "tokenroof/network/named_schemes.hpp"
      return entry.scheme;
#include "tokenroof/network/named_schemes.hpp"
    }
#include "tokenroof/network/named_schemes.hpp"
  }
#include "tokenroof/network/named_schemes.hpp"
  return {};
#include "tokenroof/network/named_schemes.hpp"
}
#include "tokenroof/network/named_schemes.hpp"

#include "tokenroof/network/named_schemes.hpp"
StoredWeights quantised(const json& quantization) {
#include "tokenroof/network/named_schemes.hpp"
  const std::string method = text_of(quantization, "quant_method");
#include "tokenroof/network/named_schemes.hpp"
  const std::string algorithm = text_of(quantization, "quant_algo");
#include "tokenroof/network/named_schemes.hpp"
  if (const auto name = scheme_named(methods, algorithm.empty() ? method : algorithm); !name.empty()) {
#include "tokenroof/network/named_schemes.hpp"
    return known(name);
#include "tokenroof/network/named_schemes.hpp"
  }
#include "tokenroof/network/named_schemes.hpp"
  if (method == "fp8" || method == "fbgemm_fp8") {
#include "tokenroof/network/named_schemes.hpp"
    const auto block = quantization.find("weight_block_size");
#include "tokenroof/network/named_schemes.hpp"
    return known(block != quantization.end() && block->is_array() ? "fp8-block" : "fp8");
#include "tokenroof/network/named_schemes.hpp"
  }
#include "tokenroof/network/named_schemes.hpp"
  if (method == "gptq" || method == "awq") {
#include "tokenroof/network/named_schemes.hpp"
    return integer_groups(number_of(quantization, "bits"), number_of(quantization, "group_size"));
#include "tokenroof/network/named_schemes.hpp"
  }
#include "tokenroof/network/named_schemes.hpp"
  if (method == "bitsandbytes") {
#include "tokenroof/network/named_schemes.hpp"
    return bitsandbytes(quantization);
#include "tokenroof/network/named_schemes.hpp"
  }
#include "tokenroof/network/named_schemes.hpp"
  return method == "compressed-tensors" ? groups_of_weights(quantization)
#include "tokenroof/network/named_schemes.hpp"
                                        : not_understood(method.empty() ? "quantization_config" : method);
#include "tokenroof/network/named_schemes.hpp"
}
#include "tokenroof/network/named_schemes.hpp"

#include "tokenroof/network/named_schemes.hpp"
StoredWeights plain(const json& config) {
#include "tokenroof/network/named_schemes.hpp"
  const std::string type = text_of(config, config.contains("torch_dtype") ? "torch_dtype" : "dtype");
#include "tokenroof/network/named_schemes.hpp"
  const auto name = scheme_named(types, type);
#include "tokenroof/network/named_schemes.hpp"
  return name.empty() ? not_understood(type.empty() ? "torch_dtype is absent" : type) : known(name);
#include "tokenroof/network/named_schemes.hpp"
}
#include "tokenroof/network/named_schemes.hpp"

#include "tokenroof/network/named_schemes.hpp"
} // namespace
#include "tokenroof/network/named_schemes.hpp"

#include "tokenroof/network/named_schemes.hpp"
StoredWeights stored_weights(const json& config) {
#include "tokenroof/network/named_schemes.hpp"
  for (const std::string_view key : {"quantization_config", "compression_config", "quantization"}) {
#include "tokenroof/network/named_schemes.hpp"
    if (const json* quantization = object_of(config, key)) {
#include "tokenroof/network/named_schemes.hpp"
      return quantised(*quantization);
#include "tokenroof/network/named_schemes.hpp"
    }
#include "tokenroof/network/named_schemes.hpp"
  }
#include "tokenroof/network/named_schemes.hpp"
  return plain(config);
#include "tokenroof/network/named_schemes.hpp"
}
#include "tokenroof/network/named_schemes.hpp"

#include "tokenroof/network/named_schemes.hpp"
} // namespace tokenroof::readers
