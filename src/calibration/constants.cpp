#include "calibration/constants.hpp"

#include "tokenroof/precision/arithmetic.hpp"

namespace tokenroof::calibration {

std::vector<Constant> all_constants() {
  std::vector<Constant> all;
  all.reserve(readers::constant_fields().size() + arithmetic_count);
  for (const readers::ConstantField& field : readers::constant_fields()) {
    all.push_back({.key = std::string(field.key), .range = field.range, .field = &field});
  }
  for (std::size_t i = 0; i < arithmetic_count; ++i) {
    all.push_back({.key = std::string(utilisation_key) + "." + std::string(arithmetic_names[i]), .arithmetic = i});
  }
  return all;
}

double value_of(const EngineConstants& constants, const Constant& constant) {
  return constant.field != nullptr ? readers::value_of(constants, *constant.field)
                                   : constants.gemm_utilisation[constant.arithmetic];
}

void set_value(EngineConstants& constants, const Constant& constant, double value) {
  if (constant.field != nullptr) {
    readers::set_value(constants, *constant.field, value);
  } else {
    constants.gemm_utilisation[constant.arithmetic] = value;
  }
}

bool is_meant(const Constant& constant, std::string_view key) {
  return key == constant.key || (constant.field == nullptr && key == utilisation_key);
}

} // namespace tokenroof::calibration
