#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "readers/json_file.hpp"
#include "readers/json_object.hpp"
#include "tokenroof/catalogue/device_entry.hpp"
#include "tokenroof/errors.hpp"
#include "tokenroof/readers.hpp"

namespace tokenroof {
namespace {

using namespace catalogue::entry;
using nlohmann::json;
using readers::JsonObject;
using readers::JsonPlace;

// A device file is a few kilobytes and nests seven levels deep.
constexpr readers::JsonLimits limits{.bytes = std::size_t{1} << 20, .depth = 16, .values = 100'000};

// No device comes near: a figure beyond is in the wrong unit.
constexpr double most_gigabytes_per_second = 1e6;
constexpr double most_teraflops = 1e6;
constexpr double most_gibibytes = 1e5;
constexpr double most_mebibytes = 1e5;
constexpr double most_megahertz = 1e5;
constexpr double most_cores = 1e6;
constexpr double most_devices = 1e6;
constexpr double most_watts = 1e6;
constexpr double most_dollars = 1e8;
constexpr std::size_t most_note_bytes = 10'000;

// aliases, status, release_year, power_range_W, measured, thermal and provenance are for people: not read here.
constexpr std::array<std::string_view, 20> device_keys = {
    "schema_version", "id",      "name",     "aliases",   "vendor",  "device_class",  "family",  "status",
    "release_year",   "memory",  "caches",   "links",     "storage", "compute_units", "power_W", "power_range_W",
    "price",          "thermal", "measured", "provenance"};
constexpr std::array<std::string_view, 5> memory_keys = {"kind", "unified", "bandwidth_GBps", "bus_width_bits",
                                                         "variants"};
constexpr std::array<std::string_view, 3> variant_keys = {"capacity_GiB", "usable_GiB", "bandwidth_GBps"};
constexpr std::array<std::string_view, 9> unit_keys = {
    "kind",          "name",      "matrix_TFLOPS",      "vector_fp32_TFLOPS",
    "cores",         "clock_MHz", "vector_fp16_TFLOPS", "vector_fp64_TFLOPS",
    "bandwidth_GBps"};
constexpr std::array<std::string_view, 5> fitted_keys = {"value", "low", "high", "basis", "rows"};
constexpr std::array<std::string_view, 3> cache_keys = {"l2_MiB", "last_level_MiB", "on_chip_sram_MiB"};
constexpr std::array<std::string_view, 3> link_kinds = {"scale_up", "pcie", "scale_out"};
constexpr std::array<std::string_view, 5> link_keys = {"name", "generation", "lanes", "bandwidth_GBps_per_direction",
                                                       "devices"};
constexpr std::array<std::string_view, 2> storage_keys = {"kind", "read_GBps"};
constexpr std::array<std::string_view, 3> price_keys = {"list_USD", "basis", "cloud_USD_per_hour"};
constexpr std::array<std::string_view, 4> quote_keys = {"provider", "USD_per_hour", "date", "source"};

struct Figure {
  double value;
  double low;
  double high;
  bool is_fitted;
};

/// A number, or an object that says from which measured rows it was inferred.
std::optional<Figure> read_figure(const JsonObject& object, std::string_view key, double most) {
  const json* value = object.find(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (!value->is_object()) {
    const double number = *object.positive(key, most);
    return Figure{number, number, number, false};
  }
  const JsonObject fit(*value, object.place().key(key), fitted_keys);
  const Figure figure{fit.required_positive("value", most), fit.required_positive("low", most),
                      fit.required_positive("high", most), true};
  (void)fit.one_of("basis", std::array<std::string_view, 1>{"fitted"});
  (void)fit.required_text("rows", most_note_bytes);
  if (!(figure.low <= figure.value && figure.value <= figure.high)) {
    throw InvalidSpec(fit.place().keys, std::to_string(figure.value), "must lie between its low and its high");
  }
  return figure;
}

std::optional<Bandwidth> read_bandwidth(const JsonObject& object, std::string_view key) {
  const std::optional<double> value = object.positive(key, most_gigabytes_per_second);
  return value ? std::optional(gigabytes_per_second(*value)) : std::nullopt;
}

MemoryVariant read_variant(const json& value, JsonPlace place) {
  const JsonObject object(value, std::move(place), variant_keys);
  const double capacity = object.required_positive("capacity_GiB", most_gibibytes);
  MemoryVariant variant{.capacity = gibibytes(capacity), .bandwidth = read_bandwidth(object, "bandwidth_GBps")};
  if (object.find("usable_GiB") != nullptr) {
    variant.usable = gibibytes(*object.positive("usable_GiB", capacity));
  }
  return variant;
}

void read_memory(const JsonObject& device_object, Device& device) {
  const JsonObject object(device_object.at("memory"), device_object.place().key("memory"), memory_keys);
  if (const json* unified = object.find("unified"); unified != nullptr && !unified->is_boolean()) {
    readers::throw_not("true or false", *unified, object.place().key("unified"));
  }
  (void)object.text("kind", most_note_bytes);
  (void)object.count("bus_width_bits", 1e6);
  device.bandwidth = read_bandwidth(object, "bandwidth_GBps");
  const JsonPlace place = object.place().key("variants");
  for (const json& value : object.array("variants", most_memory_variants)) {
    const MemoryVariant variant = read_variant(value, place.element(device.memory_variant_count));
    if (device.memory_variant_count > 0 &&
        !(variant.capacity > device.memory_variants[device.memory_variant_count - 1].capacity)) {
      throw InvalidSpec(place.element(device.memory_variant_count).key("capacity_GiB").keys,
                        readers::shortened(value["capacity_GiB"]), "sizes must ascend");
    }
    device.memory_variants[device.memory_variant_count++] = variant;
  }
}

ComputeUnit read_unit(const json& value, JsonPlace place) {
  const JsonObject object(value, std::move(place), unit_keys);
  ComputeUnit unit{.kind = static_cast<ComputeUnitKind>(object.one_of("kind", compute_unit_names))};
  if (const json* rates = object.find("matrix_TFLOPS")) {
    const JsonObject matrix(*rates, object.place().key("matrix_TFLOPS"), arithmetic_names);
    for (std::size_t i = 0; i < arithmetic_count; ++i) {
      if (const std::optional<Figure> rate = read_figure(matrix, arithmetic_names[i], most_teraflops)) {
        unit.matrix[i] = rate->is_fitted ? fitted(rate->value, rate->low, rate->high) : published(rate->value);
      }
    }
  }
  if (const std::optional<double> vector = object.positive("vector_fp32_TFLOPS", most_teraflops)) {
    unit.vector_fp32 = teraflops(*vector);
  }
  if (const std::optional<double> cores = object.count("cores", most_cores)) {
    unit.cores = static_cast<std::int32_t>(*cores);
  }
  if (const std::optional<double> clock = object.positive("clock_MHz", most_megahertz)) {
    unit.clock_hertz = megahertz(*clock);
  }
  if (const std::optional<Figure> bandwidth = read_figure(object, "bandwidth_GBps", most_gigabytes_per_second)) {
    unit.bandwidth = gigabytes_per_second(bandwidth->value);
  }
  (void)object.text("name", most_note_bytes);
  (void)object.positive("vector_fp16_TFLOPS", most_teraflops);
  (void)object.positive("vector_fp64_TFLOPS", most_teraflops);
  return unit;
}

void read_units(const JsonObject& object, Device& device) {
  const JsonPlace place = object.place().key("compute_units");
  for (const json& value : object.array("compute_units", most_compute_units)) {
    const ComputeUnit unit = read_unit(value, place.element(device.compute_unit_count));
    if (compute_unit(device, unit.kind) != nullptr) {
      throw InvalidSpec(place.element(device.compute_unit_count).key("kind").keys, std::string(name(unit.kind)),
                        "a device has one unit of a kind");
    }
    device.compute_units[device.compute_unit_count++] = unit;
  }
  if (device.compute_unit_count == 0) {
    throw ParseError(place.file, place.keys, "missing or empty");
  }
}

std::optional<Link> read_link(const JsonObject& links, std::string_view kind, std::string_view default_name) {
  const json* value = links.find(kind);
  if (value == nullptr) {
    return std::nullopt;
  }
  const JsonObject object(*value, links.place().key(kind), link_keys);
  Link link{.name = object.text("name", 32).value_or(default_name),
            .bandwidth = gigabytes_per_second(
                object.required_positive("bandwidth_GBps_per_direction", most_gigabytes_per_second))};
  if (const std::optional<double> devices = object.count("devices", most_devices)) {
    link.devices = static_cast<std::int32_t>(*devices);
  }
  (void)object.count("generation", 100);
  (void)object.count("lanes", 1000);
  return link;
}

void read_links(const JsonObject& device_object, Device& device) {
  const json* value = device_object.find("links");
  if (value == nullptr) {
    return;
  }
  const JsonObject object(*value, device_object.place().key("links"), link_kinds);
  device.scale_up = read_link(object, "scale_up", "");
  device.pcie = read_link(object, "pcie", "PCIe");
  device.scale_out = read_link(object, "scale_out", "network");
}

void read_caches(const JsonObject& device_object, Device& device) {
  const json* value = device_object.find("caches");
  if (value == nullptr) {
    return;
  }
  const JsonObject object(*value, device_object.place().key("caches"), cache_keys);
  if (const std::optional<double> size = object.positive("l2_MiB", most_mebibytes)) {
    device.l2_cache = mebibytes(*size);
  }
  if (const std::optional<double> size = object.positive("last_level_MiB", most_mebibytes)) {
    device.last_level_cache = mebibytes(*size);
  }
  (void)object.positive("on_chip_sram_MiB", most_mebibytes);
}

void read_storage(const JsonObject& device_object, Device& device) {
  const json* value = device_object.find("storage");
  if (value == nullptr) {
    return;
  }
  const JsonObject object(*value, device_object.place().key("storage"), storage_keys);
  (void)object.text("kind", most_note_bytes);
  device.storage_read = read_bandwidth(object, "read_GBps");
}

void read_price(const JsonObject& device_object, Device& device) {
  const json* value = device_object.find("price");
  if (value == nullptr) {
    return;
  }
  const JsonObject object(*value, device_object.place().key("price"), price_keys);
  (void)object.text("basis", most_note_bytes);
  if (const std::optional<double> price = object.positive("list_USD", most_dollars)) {
    device.list_price = dollars(*price);
  }
  std::vector<double> quotes;
  const JsonPlace place = object.place().key("cloud_USD_per_hour");
  for (const json& quote : object.array("cloud_USD_per_hour", 1000)) {
    const JsonObject quote_object(quote, place.element(quotes.size()), quote_keys);
    quotes.push_back(quote_object.required_positive("USD_per_hour", most_dollars));
  }
  if (!quotes.empty()) {
    std::sort(quotes.begin(), quotes.end());
    device.cloud_price = dollars_per_hour(median_of_sorted(quotes));
  }
}

Device read_device_object(const json& document, std::string_view file) {
  const JsonObject object(document, {std::string(file), ""}, device_keys);
  if (object.required_positive("schema_version", std::numeric_limits<double>::max()) != 1) {
    throw InvalidSpec("schema_version", readers::shortened(object.at("schema_version")), "this version reads 1");
  }
  Device device;
  device.id = object.required_text("id", 48);
  device.name = object.required_text("name", 96);
  device.vendor = object.text("vendor", 32).value_or("");
  device.family = object.text("family", 32).value_or("");
  device.device_class = static_cast<DeviceClass>(object.one_of("device_class", device_class_names));
  read_memory(object, device);
  read_units(object, device);
  read_caches(object, device);
  read_links(object, device);
  if (const std::optional<double> power = object.positive("power_W", most_watts)) {
    device.power = watts(*power);
  }
  read_storage(object, device);
  read_price(object, device);
  return device;
}

} // namespace

Device parse_device(std::string_view json, std::string_view name) {
  return read_device_object(readers::parse_json(json, name, limits), name);
}

Device read_device(const std::filesystem::path& path) {
  return read_device_object(readers::read_json(path, limits), path.string());
}

} // namespace tokenroof
