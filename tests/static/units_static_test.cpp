// Quantities: what may be added, what a ratio is, what a literal means.
#include <concepts>
#include <type_traits>

#include "tokenroof/estimate.hpp"
#include "tokenroof/units/literals.hpp"
#include "tokenroof/units/quantity.hpp"

namespace {

using namespace tokenroof;
using namespace tokenroof::literals;

template <typename A, typename B>
concept Addable = requires(A a, B b) { a + b; };
template <typename A, typename B>
concept Comparable = requires(A a, B b) { a < b; };

static_assert(Addable<Bytes, Bytes>);
static_assert(!Addable<Bytes, Flops>);
static_assert(!Addable<Bytes, Tokens>);
static_assert(!Addable<Seconds, Tokens>);
static_assert(!Addable<Bandwidth, ComputeRate>);
static_assert(!Addable<Bytes, double>);
static_assert(!Comparable<Seconds, Bytes>);
static_assert(!Comparable<Estimate<Seconds>, Bytes>);
static_assert(Comparable<Estimate<Seconds>, Seconds>);

static_assert(!std::convertible_to<double, Seconds>, "a bare number does not say whether it is seconds or milliseconds");
static_assert(!std::convertible_to<Seconds, double>);
static_assert(!std::convertible_to<Bytes, Flops>);

static_assert(std::same_as<decltype(Bytes() / Seconds()), Bandwidth>);
static_assert(std::same_as<decltype(Bytes() / Bandwidth()), Seconds>);
static_assert(std::same_as<decltype(Flops() / ComputeRate()), Seconds>);
static_assert(std::same_as<decltype(Flops() * SecondsPerFlop()), Seconds>);
static_assert(std::same_as<decltype(Bytes() * SecondsPerByte()), Seconds>);
static_assert(std::same_as<decltype(BytesPerToken() * Tokens()), Bytes>);
static_assert(std::same_as<decltype(FlopsPerToken() * Tokens()), Flops>);
static_assert(std::same_as<decltype(ComputeRate() / Bandwidth()), ArithmeticIntensity>, "the ridge point");
static_assert(std::same_as<decltype(Tokens() / Seconds()), TokenRate>);
static_assert(std::same_as<decltype(Watts() * Seconds()), Joules>);

static_assert((1_kB).value() == 1000 && (1_KiB).value() == 1024);
static_assert((1_GB).value() == 1e9 && (1_GiB).value() == 1073741824);
static_assert(1_TiB == 1024.0 * 1_GiB);
static_assert(80_GB < 80_GiB);
static_assert(1.5_s == 1500_ms && 1_ms == 1000.0_us);
static_assert((3.35_TBps).value() == 3.35e12);
static_assert(1_TOPS == 1_TFLOPS);

static_assert(sizeof(Bytes) == sizeof(double), "a unit costs nothing");

static_assert(!is_present(absent<Seconds>()) && is_present(Seconds()));
static_assert(smaller(1_s, 2_s) == 1_s && larger(1_s, 2_s) == 2_s);
static_assert(smaller(absent<Seconds>(), 2_s) == 2_s && larger(absent<Seconds>(), 2_s) == 2_s);
static_assert(!(Estimate<Seconds>{} < 1_s) && !(Estimate<Seconds>{} >= 1_s));

} // namespace
