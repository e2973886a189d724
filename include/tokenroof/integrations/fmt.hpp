/// @file
/// Quantities and estimates in fmt: `{}` chooses a prefix ("39.59 GiB"), `{:.1GiB}`, `{:.2ms}` or `{:>12.0TFLOPS}` ask for one.
///
/// The specification is `[<|>|^][width][.decimals][unit]`. A unit that the quantity does not have is refused at compile time.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "tokenroof/text.hpp"

namespace tokenroof::integrations {

/// Parses and applies the specification for a `Quantity`, alone or within an Estimate.
template <typename Quantity>
class QuantityFormatter {
public:
  constexpr auto parse(fmt::format_parse_context& context) {
    const char* at = context.begin();
    const char* const end = context.end();
    if (at != end && (*at == '<' || *at == '>' || *at == '^')) {
      alignment_ = *at++;
    }
    width_ = number(at, end, 0);
    if (at != end && *at == '.') {
      ++at;
      style_.decimals = number(at, end, -1);
      if (style_.decimals < 0) {
        throw fmt::format_error("a precision needs digits after the point");
      }
    }
    const char* const unit = at;
    while (at != end && *at != '}') {
      ++at;
    }
    if (at != unit) {
      style_.symbol = find_symbol<Quantity>(std::string_view(unit, static_cast<std::size_t>(at - unit)));
      if (!style_.symbol) {
        throw fmt::format_error("the quantity has no such unit");
      }
    }
    return at;
  }

  template <typename Printed, typename Context>
  auto format(const Printed& printed, Context& context) const {
    const std::string text = to_text(printed, style_);
    const auto width = static_cast<std::size_t>(width_);
    const std::size_t padding = text.size() < width ? width - text.size() : 0;
    const std::size_t before = alignment_ == '>' ? padding : alignment_ == '^' ? padding / 2 : 0;
    auto out = context.out();
    for (std::size_t i = 0; i < before; ++i) {
      *out++ = ' ';
    }
    for (const char character : text) {
      *out++ = character;
    }
    for (std::size_t i = before; i < padding; ++i) {
      *out++ = ' ';
    }
    return out;
  }

private:
  static constexpr int number(const char*& at, const char* end, int otherwise) {
    constexpr int most = 1000; // wider than any table; keeps the sum below from overflowing
    int value = otherwise;
    while (at != end && *at >= '0' && *at <= '9') {
      value = (value < 0 ? 0 : value) * 10 + (*at++ - '0');
      if (value > most) {
        throw fmt::format_error("a width or precision above 1000");
      }
    }
    return value;
  }

  TextStyle style_{};
  int width_ = 0;
  char alignment_ = '>'; // numbers line up at the right
};

} // namespace tokenroof::integrations

namespace fmt {

/// Every quantity of our system of units.
template <typename Dimension>
struct formatter<boost::units::quantity<boost::units::unit<Dimension, tokenroof::dimensions::System>, double>>
    : tokenroof::integrations::QuantityFormatter<
          boost::units::quantity<boost::units::unit<Dimension, tokenroof::dimensions::System>, double>> {};

template <typename Quantity>
struct formatter<tokenroof::Estimate<Quantity>> : tokenroof::integrations::QuantityFormatter<Quantity> {};

} // namespace fmt
