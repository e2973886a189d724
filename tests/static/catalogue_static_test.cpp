// Built-in devices are constants, look-ups included.
#include "tokenroof/catalogue/devices.hpp"
#include "tokenroof/units/literals.hpp"
#include "tokenroof/units/parse.hpp"

namespace {

using namespace tokenroof;
using namespace tokenroof::literals;

constexpr Device h100 = catalogue::device("h100_sxm");
static_assert(h100.bandwidth == 3350_GBps);
static_assert(find_rate(h100.compute_units[0], Arithmetic::bf16)->value == 989.4_TFLOPS);

constexpr Device mac = catalogue::device("apple_m3_max_40c@64GiB");
static_assert(memory(mac)->capacity == 64_GiB);
static_assert(memory(catalogue::device("Apple M3 Max 40-core 64GB"))->capacity == 64_GiB);
static_assert(memory(catalogue::device("epyc_9654", 768_GiB))->capacity == 768_GiB);
static_assert(catalogue::find_device("GeForce RTX 4090")->id == "rtx_4090");
static_assert(catalogue::find_device("h100_sxmm") == nullptr);

static_assert(parse_bytes("64GiB") == 64_GiB && parse_bytes("64") == 64_GiB && parse_bytes("64 g") == 64_GiB);
static_assert(parse_bytes("80GB") == 80_GB && parse_bytes("1.5TiB") == 1.5_TiB && parse_bytes("512 mib") == 512_MiB);
static_assert(!parse_bytes("") && !parse_bytes("GiB") && !parse_bytes("-1GiB") && !parse_bytes("1e3") &&
              !parse_bytes("1.") && !parse_bytes(".5") && !parse_bytes("64 GiBs") && !parse_bytes("1.2.3GB") &&
              !parse_bytes("1234567890123456"));

} // namespace
