/// @file
/// Quantities as text: "39.59 GiB", "230 ms [190, 280]", "2048 tok". The one table of unit symbols, for whoever prints or parses.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "tokenroof/estimate.hpp"
#include "tokenroof/units/quantity.hpp"

namespace tokenroof {

/// A symbol and how many base units it stands for: GiB is 2^30 bytes.
struct Symbol {
  std::string_view text;
  double factor = 1;
  bool automatic = true; ///< whether it is chosen when nobody asks for a unit
};

/// The symbols of each quantity, by ascending factor. Bytes print in binary prefixes, since capacities are sold and
/// filled in them; rates in decimal ones, since datasheets state them so.
template <typename Quantity>
inline constexpr std::array<Symbol, 0> symbols_of{};

template <>
inline constexpr std::array symbols_of<Bytes> = {
    Symbol{"B", 1},           Symbol{"kB", 1e3, false},  Symbol{"KiB", 0x1p10},
    Symbol{"MB", 1e6, false}, Symbol{"MiB", 0x1p20},     Symbol{"GB", 1e9, false},
    Symbol{"GiB", 0x1p30},    Symbol{"TB", 1e12, false}, Symbol{"TiB", 0x1p40}};
template <>
inline constexpr std::array symbols_of<Flops> = {Symbol{"FLOP", 1},     Symbol{"MFLOP", 1e6},  Symbol{"GFLOP", 1e9},
                                                 Symbol{"TFLOP", 1e12}, Symbol{"PFLOP", 1e15}, Symbol{"EFLOP", 1e18}};
template <>
inline constexpr std::array symbols_of<Tokens> = {Symbol{"tok", 1}};
template <>
inline constexpr std::array symbols_of<Seconds> = {
    Symbol{"ns", 1e-9},       Symbol{"us", 1e-6},       Symbol{"ms", 1e-3},       Symbol{"s", 1},
    Symbol{"min", 60, false}, Symbol{"h", 3600, false}, Symbol{"d", 86400, false}};
template <>
inline constexpr std::array symbols_of<Joules> = {Symbol{"mJ", 1e-3}, Symbol{"J", 1}, Symbol{"kJ", 1e3},
                                                  Symbol{"MJ", 1e6}, Symbol{"kWh", 3.6e6, false}};
template <>
inline constexpr std::array symbols_of<UsDollars> = {Symbol{"USD", 1}};
template <>
inline constexpr std::array symbols_of<Bandwidth> = {
    Symbol{"B/s", 1},    Symbol{"kB/s", 1e3}, Symbol{"MB/s", 1e6}, Symbol{"GB/s", 1e9}, Symbol{"GiB/s", 0x1p30, false},
    Symbol{"TB/s", 1e12}};
template <>
inline constexpr std::array symbols_of<ComputeRate> = {Symbol{"FLOPS", 1},          Symbol{"MFLOPS", 1e6},
                                                       Symbol{"GFLOPS", 1e9},       Symbol{"TFLOPS", 1e12},
                                                       Symbol{"TOPS", 1e12, false}, Symbol{"PFLOPS", 1e15}};
template <>
inline constexpr std::array symbols_of<TokenRate> = {Symbol{"tok/s", 1}};
template <>
inline constexpr std::array symbols_of<Watts> = {Symbol{"mW", 1e-3}, Symbol{"W", 1}, Symbol{"kW", 1e3},
                                                 Symbol{"MW", 1e6}};
template <>
inline constexpr std::array symbols_of<Price> = {Symbol{"USD/h", 1.0 / 3600}, Symbol{"USD/s", 1, false}};
template <>
inline constexpr std::array symbols_of<ArithmeticIntensity> = {Symbol{"FLOP/B", 1}};
template <>
inline constexpr std::array symbols_of<BytesPerToken> = {Symbol{"B/tok", 1}, Symbol{"KiB/tok", 0x1p10},
                                                         Symbol{"MiB/tok", 0x1p20}, Symbol{"GiB/tok", 0x1p30}};
template <>
inline constexpr std::array symbols_of<FlopsPerToken> = {Symbol{"FLOP/tok", 1}, Symbol{"MFLOP/tok", 1e6},
                                                         Symbol{"GFLOP/tok", 1e9}, Symbol{"TFLOP/tok", 1e12}};
template <>
inline constexpr std::array symbols_of<SecondsPerByte> = {Symbol{"s/B", 1}};
template <>
inline constexpr std::array symbols_of<SecondsPerFlop> = {Symbol{"s/FLOP", 1}};

/// A quantity that has symbols, thus can be printed.
template <typename Quantity>
concept Printable = !symbols_of<Quantity>.empty();

/// The symbol of that text, or nothing where the quantity has none such (`ms` of a quantity of bytes).
template <Printable Quantity>
[[nodiscard]] constexpr std::optional<Symbol> find_symbol(std::string_view text) {
  for (const Symbol& symbol : symbols_of<Quantity>) {
    if (symbol.text == text) {
      return symbol;
    }
  }
  return std::nullopt;
}

/// The largest automatic symbol that leaves the number at 1 or above; the smallest where none does. The base unit for 0.
template <Printable Quantity>
[[nodiscard]] constexpr Symbol natural_symbol(const Quantity& quantity) {
  const double value = quantity.value() < 0 ? -quantity.value() : quantity.value();
  std::optional<Symbol> chosen;
  for (const Symbol& symbol : symbols_of<Quantity>) {
    // Half a unit of the fourth digit below: 999.96 ms reads 1 s, not 1000 ms.
    const bool reached = value >= symbol.factor * (1 - 0.5e-4) || (value == 0 && symbol.factor <= 1);
    if (symbol.automatic && (!chosen || reached)) {
      chosen = symbol;
    }
  }
  return *chosen;
}

/// How to print a quantity. Left alone: the natural symbol and four significant digits.
struct TextStyle {
  std::optional<Symbol> symbol{};
  int decimals = -1; ///< digits after the point; negative: four significant digits, trailing zeros dropped
};

/// A number in the given style; independent of the locale, which a report's reader does not share.
[[nodiscard]] inline std::string number_text(double number, int decimals = -1) {
  std::array<char, 400> buffer{}; // the longest fixed double has 309 digits before the point
  const double magnitude = std::abs(number);
  const bool significant = decimals < 0;
  const bool extreme = significant && magnitude != 0 && !(magnitude >= 1e-4 && magnitude < 1e15);
  if (extreme) {
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::general, 4).ptr;
    return {buffer.data(), end};
  }
  if (significant) {
    decimals = 3;
    for (double limit = 10; decimals > 0 && magnitude >= limit; limit *= 10) {
      --decimals;
    }
    for (double limit = 1; decimals < 7 && magnitude != 0 && magnitude < limit; limit /= 10) {
      ++decimals;
    }
  }
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::fixed,
                                 decimals < 60 ? decimals : 60)
                       .ptr;
  std::string text(buffer.data(), end);
  if (significant && text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') {
      text.pop_back();
    }
  }
  return text;
}

/// "39.59 GiB"; "absent" where there is none.
template <Printable Quantity>
[[nodiscard]] std::string to_text(const Quantity& quantity, TextStyle style = {}) {
  if (!is_present(quantity)) {
    return "absent";
  }
  const Symbol symbol = style.symbol ? *style.symbol : natural_symbol(quantity);
  return number_text(quantity.value() / symbol.factor, style.decimals) + ' ' + std::string(symbol.text);
}

/// "230 ms [190, 280]", the interval in the unit of the value; "230 ms" without one; "absent" without a value.
template <Printable Quantity>
[[nodiscard]] std::string to_text(const Estimate<Quantity>& estimate, TextStyle style = {}) {
  if (estimate.has_value() && !style.symbol) {
    style.symbol = natural_symbol(estimate.value);
  }
  std::string text = to_text(estimate.value, style);
  if (estimate.has_value() && estimate.has_interval()) {
    text += " [" + number_text(estimate.low.value() / style.symbol->factor, style.decimals) + ", " +
            number_text(estimate.high.value() / style.symbol->factor, style.decimals) + "]";
  }
  return text;
}

} // namespace tokenroof
