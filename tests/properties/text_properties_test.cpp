#include "tokenroof/text.hpp"

#include <cmath>
#include <cstdlib>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace {

using namespace tokenroof;

/// Positive numbers from 1e-12 to 1e15, each order of magnitude equally often.
rc::Gen<double> magnitudes() {
  return rc::gen::map(rc::gen::inRange(-12000, 15000),
                      [](int thousandths) { return std::pow(10.0, thousandths / 1000.0); });
}

RC_GTEST_PROP(NumberText, KeepsFourSignificantDigits, ()) {
  const double number = *magnitudes();
  const double read_back = std::strtod(number_text(number).c_str(), nullptr);
  RC_ASSERT(std::abs(read_back - number) <= 0.5001e-3 * number);
}

RC_GTEST_PROP(ToText, ReadsBackThroughItsOwnSymbol, ()) {
  const Seconds seconds = Seconds::from_value(*magnitudes());
  const std::string text = to_text(seconds);
  const std::optional<Symbol> symbol = find_symbol<Seconds>(text.substr(text.find(' ') + 1));
  RC_ASSERT(symbol.has_value());
  const double read_back = std::strtod(text.c_str(), nullptr) * symbol->factor;
  RC_ASSERT(std::abs(read_back - seconds.value()) <= 0.5001e-3 * seconds.value());
}

RC_GTEST_PROP(ToText, IsShort, ()) {
  const Bytes bytes = Bytes::from_value(std::floor(*magnitudes()));
  RC_ASSERT(to_text(bytes).size() <= 12U);
}

} // namespace
