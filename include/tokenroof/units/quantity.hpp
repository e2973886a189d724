/// @file
/// The quantities of tokenroof: a number that knows its unit. Adding bytes to flops does not compile.
///
/// Base units: byte, floating-point operation, token, second, joule, US dollar. All values are double;
/// bytes and tokens are exact up to 2^53.
#pragma once

#include <boost/units/base_dimension.hpp>
#include <boost/units/base_unit.hpp>
#include <boost/units/derived_dimension.hpp>
#include <boost/units/make_system.hpp>
#include <boost/units/quantity.hpp>
#include <boost/units/unit.hpp>

namespace tokenroof {

namespace dimensions {

// The ordinals only have to be unique within a program; 73xx is ours.
struct Information : boost::units::base_dimension<Information, 7301> {};
struct Operation : boost::units::base_dimension<Operation, 7302> {};
struct Text : boost::units::base_dimension<Text, 7303> {};
struct Time : boost::units::base_dimension<Time, 7304> {};
struct Energy : boost::units::base_dimension<Energy, 7305> {};
struct Money : boost::units::base_dimension<Money, 7306> {};

struct Byte : boost::units::base_unit<Byte, Information::dimension_type, 7301> {};
struct Flop : boost::units::base_unit<Flop, Operation::dimension_type, 7302> {};
struct Token : boost::units::base_unit<Token, Text::dimension_type, 7303> {};
struct Second : boost::units::base_unit<Second, Time::dimension_type, 7304> {};
struct Joule : boost::units::base_unit<Joule, Energy::dimension_type, 7305> {};
struct UsDollar : boost::units::base_unit<UsDollar, Money::dimension_type, 7306> {};

using System = boost::units::make_system<Byte, Flop, Token, Second, Joule, UsDollar>::type;

template <typename Base>
using BaseQuantity = boost::units::quantity<boost::units::unit<typename Base::dimension_type, System>, double>;

template <typename Numerator, typename Denominator>
using Ratio = typename boost::units::divide_typeof_helper<Numerator, Denominator>::type;

} // namespace dimensions

using Bytes = dimensions::BaseQuantity<dimensions::Information>;
using Flops = dimensions::BaseQuantity<dimensions::Operation>;
using Tokens = dimensions::BaseQuantity<dimensions::Text>;
using Seconds = dimensions::BaseQuantity<dimensions::Time>;
using Joules = dimensions::BaseQuantity<dimensions::Energy>;
using UsDollars = dimensions::BaseQuantity<dimensions::Money>;

using Bandwidth = dimensions::Ratio<Bytes, Seconds>;   ///< bytes per second
using ComputeRate = dimensions::Ratio<Flops, Seconds>; ///< floating-point (or integer) operations per second
using TokenRate = dimensions::Ratio<Tokens, Seconds>;  ///< tokens per second
using Watts = dimensions::Ratio<Joules, Seconds>;      ///< joules per second
using Price = dimensions::Ratio<UsDollars, Seconds>;   ///< US dollars per second
using ArithmeticIntensity = dimensions::Ratio<Flops, Bytes>;
using BytesPerToken = dimensions::Ratio<Bytes, Tokens>;
using FlopsPerToken = dimensions::Ratio<Flops, Tokens>;
using SecondsPerByte = dimensions::Ratio<Seconds, Bytes>;
using SecondsPerFlop = dimensions::Ratio<Seconds, Flops>;

// Both work on the bare values: choosing between quantities would be a branch, which keeps loops from being vectorised.

/// The smaller of two quantities; the second where the first is absent.
template <typename Quantity>
[[nodiscard]] constexpr Quantity smaller(const Quantity& a, const Quantity& b) {
  return Quantity::from_value(a.value() < b.value() ? a.value() : b.value());
}

/// The larger of two quantities; the second where the first is absent.
template <typename Quantity>
[[nodiscard]] constexpr Quantity larger(const Quantity& a, const Quantity& b) {
  return Quantity::from_value(a.value() > b.value() ? a.value() : b.value());
}

} // namespace tokenroof
