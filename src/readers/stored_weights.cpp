#include "readers/stored_weights.hpp"

#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "readers/json_object.hpp"
#include "readers/module_rules.hpp"
#include "readers/quantisation.hpp"
#include "readers/stored_formats.hpp"
#include "tokenroof/network/named_schemes.hpp"

namespace tokenroof::readers {
namespace {

using nlohmann::json;

struct Named {
  std::string_view type;
  std::string_view scheme;
};

constexpr std::array types = {Named{"bfloat16", "bf16"}, Named{"float16", "fp16"}, Named{"float32", "fp32"}};

/// The text of the first of those keys that one of the objects has.
std::string type_of(const json& document, const json& language) {
  for (const json* object : {&language, &document}) {
    for (const char* key : {"torch_dtype", "dtype"}) {
      const auto found = object->find(key);
      if (found != object->end() && found->is_string()) {
        return found->get<std::string>();
      }
    }
  }
  return {};
}

std::string not_understood(const std::string& what) { return "how the weights are stored is not understood: " + what; }

std::optional<WeightScheme> scheme_of_type(std::string type) {
  constexpr std::string_view module = "torch.";
  type = type.starts_with(module) ? type.substr(module.size()) : type;
  for (const Named& named : types) {
    if (named.type == type) {
      return find_scheme(named.scheme);
    }
  }
  return std::nullopt;
}

StoredWeights plain(const json& document, const json& language) {
  const std::string type = type_of(document, language);
  if (auto scheme = scheme_of_type(type)) {
    return {.scheme = std::move(scheme), .source = "torch_dtype"};
  }
  return {.notes = {not_understood(type.empty() ? "torch_dtype is absent" : type.substr(0, 64))}};
}

/// What is not quantised: as `torch_dtype` says.
Format format_of_rest(const json& document, const json& language, std::vector<std::string>& notes) {
  const std::string type = type_of(document, language);
  if (const auto scheme = scheme_of_type(type)) {
    return scheme->format;
  }
  notes.push_back("what is not quantised is taken to be in bf16, since torch_dtype " +
                  (type.empty() ? "is absent" : "'" + type.substr(0, 64) + "' is not understood"));
  return find_format("bf16").value();
}

/// Every tensor of the network as a checkpoint of that plan would hold it.
class PlannedTensors {
public:
  PlannedTensors(const Network& network, ModuleRules& rules, const Format& rest)
      : rules_(rules), rest_(unquantised(rest)) {
    for_each_run(network, [&](const LayerRun& run, const LayerSpan& span) {
      for (Count layer = span.first; layer < span.first + span.count; ++layer) {
        for_each_tensor(run.block, network, [&](const Tensor& tensor) { add(tensor, layer); });
      }
    });
    for_each_outer_tensor(network, [&](const Tensor& tensor) { add(tensor, std::nullopt); });
  }

  [[nodiscard]] const std::vector<StoredTensor>& all() const { return tensors_; }
  [[nodiscard]] double bytes() const { return bytes_; }

private:
  void add(const Tensor& tensor, std::optional<Count> layer) {
    const QuantisedLayout* const chosen = rules_.layout(tensor, layer);
    const QuantisedLayout& layout = chosen != nullptr ? *chosen : rest_;
    tensors_.push_back({.role = tensor.role,
                        .layer = layer,
                        .format = layout.format,
                        .elements = elements(tensor),
                        .bytes = bytes_of(layout, tensor)});
    bytes_ += tensors_.back().bytes;
  }

  ModuleRules& rules_;
  QuantisedLayout rest_;
  std::vector<StoredTensor> tensors_{};
  double bytes_ = 0;
};

StoredWeights quantised(const json& quantisation, const Format& rest, const Network& network) {
  StoredWeights result;
  QuantisationReading reading = read_quantisation(quantisation);
  if (!reading.plan) {
    result.notes.push_back(not_understood(reading.not_understood));
    return result;
  }
  const QuantisationPlan& plan = *reading.plan;
  result.notes = plan.notes;
  ModuleRules rules(plan, network, result.notes);
  const PlannedTensors tensors(network, rules, rest);
  rules.note_unused(result.notes);
  StoredMatch match = match_formats(network, tensors.all(), tensors.bytes());
  std::move(match.assumptions.begin(), match.assumptions.end(), std::back_inserter(result.notes));
  result.scheme = WeightScheme{.name = plan.layout.format.name,
                               .format = plan.layout.format,
                               .vectors = rest,
                               .stored = std::move(match.formats)};
  result.kv = plan.kv;
  return result;
}

} // namespace

StoredWeights stored_weights(const json& document, const json& language, const Network& network) {
  for (const char* key : {"quantization_config", "compression_config", "quantization"}) {
    for (const json* object : {&language, &document}) {
      const auto found = object->find(key);
      if (found == object->end() || !found->is_object()) {
        continue;
      }
      std::vector<std::string> notes;
      const Format rest = format_of_rest(document, language, notes);
      json stated = *found;
      if (const auto experts = object->find("expert_dtype"); experts != object->end()) {
        stated["expert_dtype"] = *experts; // DeepSeek V4 says it beside
      }
      StoredWeights result = quantised(stated, rest, network);
      std::move(notes.begin(), notes.end(), std::back_inserter(result.notes));
      result.source = key;
      return result;
    }
  }
  StoredWeights result = plain(document, language);
  for (const char* key : {"quantization_config", "compression_config", "quantization"}) {
    if (const auto found = document.find(key); found != document.end() && !found->is_object() && !found->is_null()) {
      result.notes.push_back(std::string(key) + " is " + shortened(*found) + " and no object: it is not applied");
    }
  }
  return result;
}

} // namespace tokenroof::readers
