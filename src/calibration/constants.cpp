#include "calibration/constants.hpp"

#include "tokenroof/precision/arithmetic.hpp"

namespace tokenroof::calibration {

std::vector<Constant> all_constants() {
  std::vector<Constant> all;
  all.reserve(readers::constant_fields().size() + arithmetic_count + readers::serving_fields().size());
  for (const readers::ConstantField& field : readers::constant_fields()) {
    all.push_back({.key = std::string(field.key), .range = field.range, .field = &field});
  }
  for (std::size_t i = 0; i < arithmetic_count; ++i) {
    all.push_back({.group = "gemm_utilisation", .key = std::string(arithmetic_names[i]), .arithmetic = i});
  }
  for (const readers::ServingField& field : readers::serving_fields()) {
    all.push_back({.group = "serving", .key = std::string(field.key), .range = field.range, .serving = &field});
  }
  return all;
}

double value_of(const Engine& engine, std::size_t profile, const Constant& constant) {
  if (constant.serving != nullptr) {
    return readers::value_of(engine.serving, *constant.serving);
  }
  const EngineConstants& constants = engine.profiles[profile].constants;
  return constant.field != nullptr ? readers::value_of(constants, *constant.field)
                                   : constants.gemm_utilisation[constant.arithmetic];
}

void set_value(Engine& engine, std::size_t profile, const Constant& constant, double value) {
  if (constant.serving != nullptr) {
    readers::set_value(engine.serving, *constant.serving, value);
  } else if (constant.field != nullptr) {
    readers::set_value(engine.profiles[profile].constants, *constant.field, value);
  } else {
    engine.profiles[profile].constants.gemm_utilisation[constant.arithmetic] = value;
  }
}

bool is_meant(const Constant& constant, std::string_view key) {
  return key == constant.name() || (!constant.group.empty() && key == constant.group);
}

} // namespace tokenroof::calibration
