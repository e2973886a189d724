/// @file
/// GoogleTest prints quantities and estimates as "230 ms [190, 280]", not as bytes. Include it in every file of a test
/// executable or in none: two files that print one type differently break the one-definition rule.
#pragma once

#include <ostream>

#include "tokenroof/text.hpp"

namespace tokenroof {

template <typename Quantity>
void PrintTo(const Estimate<Quantity>& estimate, std::ostream* out) {
  *out << to_text(estimate);
}

namespace dimensions {

// Here rather than in boost::units, which is not ours: the system of units is a template argument of every quantity, so
// argument-dependent look-up comes to its namespace too.
template <typename Dimension>
void PrintTo(const boost::units::quantity<boost::units::unit<Dimension, System>, double>& quantity, std::ostream* out) {
  if constexpr (Printable<boost::units::quantity<boost::units::unit<Dimension, System>, double>>) {
    *out << to_text(quantity);
  } else {
    *out << number_text(quantity.value()) << " (base units)";
  }
}

} // namespace dimensions
} // namespace tokenroof
