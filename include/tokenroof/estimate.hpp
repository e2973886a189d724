/// @file
/// A predicted quantity with its interval.
#pragma once

#include <limits>

#include "tokenroof/units/quantity.hpp"

namespace tokenroof {

/// A quantity that does not exist (not published, not applicable). Every comparison with it is false.
template <typename Quantity>
[[nodiscard]] constexpr Quantity absent() {
  return Quantity::from_value(std::numeric_limits<double>::quiet_NaN());
}

/// Whether a quantity holds a number.
template <typename Quantity>
[[nodiscard]] constexpr bool is_present(const Quantity& quantity) {
  return quantity.value() == quantity.value(); // false for NaN only
}

/// A prediction: the value and its 80 % interval. Any of the three may be absent.
/// Comparisons use `value` and are false when it is absent, so `p.ttft < 500.0_ms` never holds for what cannot run.
template <typename Quantity>
struct Estimate {
  Quantity value = absent<Quantity>();
  Quantity low = absent<Quantity>();
  Quantity high = absent<Quantity>();

  [[nodiscard]] constexpr bool has_value() const { return is_present(value); }
  [[nodiscard]] constexpr bool has_interval() const { return is_present(low) && is_present(high); }

  friend constexpr bool operator<(const Estimate& a, const Quantity& b) { return a.value < b; }
  friend constexpr bool operator>(const Estimate& a, const Quantity& b) { return a.value > b; }
  friend constexpr bool operator<=(const Estimate& a, const Quantity& b) { return a.value <= b; }
  friend constexpr bool operator>=(const Estimate& a, const Quantity& b) { return a.value >= b; }
  friend constexpr bool operator<(const Quantity& a, const Estimate& b) { return a < b.value; }
  friend constexpr bool operator>(const Quantity& a, const Estimate& b) { return a > b.value; }
  friend constexpr bool operator<=(const Quantity& a, const Estimate& b) { return a <= b.value; }
  friend constexpr bool operator>=(const Quantity& a, const Estimate& b) { return a >= b.value; }
  friend constexpr bool operator<(const Estimate& a, const Estimate& b) { return a.value < b.value; }
  friend constexpr bool operator>(const Estimate& a, const Estimate& b) { return a.value > b.value; }
  friend constexpr bool operator<=(const Estimate& a, const Estimate& b) { return a.value <= b.value; }
  friend constexpr bool operator>=(const Estimate& a, const Estimate& b) { return a.value >= b.value; }
};

} // namespace tokenroof
