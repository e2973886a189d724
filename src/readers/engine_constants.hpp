/// @file
/// The constants of the time laws by the keys under which engines' files state them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "tokenroof/engine/constants.hpp"
#include "tokenroof/engine/engine.hpp"

namespace tokenroof::readers {

/// What a number in an engine's file may be.
enum class Range : std::uint8_t {
  efficiency, ///< (0, 1]: with none at all a time would be infinite
  share,      ///< [0, 1]
  cost,       ///< not negative
  whole,      ///< 1, 2, 3, …
  multiple,   ///< 1 or more
  ratio,      ///< of measured to predicted
};

/// A constant that a file may state; `unit` is what one of the file's units is in ours.
struct ConstantField {
  std::string_view key;
  Range range = Range::efficiency;
  std::variant<double EngineConstants::*, Seconds EngineConstants::*, Tokens EngineConstants::*> member{};
  double unit = 1;
};

/// The same of what a server adds to requests.
struct ServingField {
  std::string_view key;
  Range range = Range::cost;
  std::variant<double ServingHabits::*, Seconds ServingHabits::*> member{};
  double unit = 1;
};

/// All of them but utilisations by arithmetic (`gemm_utilisation`) and choices of arithmetic.
[[nodiscard]] std::span<const ConstantField> constant_fields();

[[nodiscard]] std::span<const ServingField> serving_fields();

/// In the unit of the file.
[[nodiscard]] double value_of(const EngineConstants& constants, const ConstantField& field);
void set_value(EngineConstants& constants, const ConstantField& field, double value);
[[nodiscard]] double value_of(const ServingHabits& habits, const ServingField& field);
void set_value(ServingHabits& habits, const ServingField& field, double value);

} // namespace tokenroof::readers
