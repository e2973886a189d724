#include <string>

#include "catalogue/embedded_files.hpp"
#include "cli/catalogue_json.hpp"
#include "cli/device_facts.hpp"
#include "readers/json_file.hpp"
#include "tokenroof/report.hpp"

namespace tokenroof::cli {

namespace {

using report::Json;
using report::number;
using report::text_or_null;

void add_memory(Json& object, const Device& device) {
  const auto sizes = memory_sizes(device);
  const MemoryVariant* const chosen = memory(device);
  const BandwidthSpan span = bandwidth_span(device);
  object["memory_capacity_bytes"] = chosen != nullptr ? number(chosen->capacity) : Json();
  object["usable_memory_bytes"] = chosen != nullptr ? number(chosen->usable) : Json();
  object["smallest_memory_bytes"] = sizes.empty() ? Json() : number(sizes.front().capacity);
  object["largest_memory_bytes"] = sizes.empty() ? Json() : number(sizes.back().capacity);
  object["bandwidth_bytes_per_second"] = number(memory_bandwidth(device));
  object["least_bandwidth_bytes_per_second"] = number(span.least);
  object["most_bandwidth_bytes_per_second"] = number(span.most);
}

void add_best_rate(Json& object, const std::string& name, const Rate* rate) {
  object[name + "_flops_per_second"] = rate != nullptr ? number(rate->value) : Json();
  object[name + "_basis"] = rate == nullptr ? Json() : Json(rate->basis == Basis::published ? "published" : "fitted");
}

void add_link(Json& object, const std::string& name, const std::optional<Link>& link) {
  object[name + "_name"] = link ? text_or_null(link->name.view()) : Json();
  object[name + "_bytes_per_second_per_direction"] = link ? number(link->bandwidth) : Json();
  object[name + "_devices"] = link ? number(link->devices) : Json();
}

Json file_of(const DeviceEntry& entry) {
  if (!entry.path.empty()) {
    return readers::read_json(entry.path);
  }
  const std::string path = "devices/" + std::string(entry.device.id.view()) + ".json";
  return readers::parse_json(catalogue::embedded_file(path).value_or("{}"), path);
}

} // namespace

Json columns(const DeviceEntry& entry) {
  const Device& device = entry.device;
  constexpr double seconds_an_hour = 3600;
  Json object = {{"schema_version", report::schema_version},
                 {"id", device.id.view()},
                 {"name", device.name.view()},
                 {"vendor", text_or_null(device.vendor.view())},
                 {"device_class", name(device.device_class)},
                 {"family", text_or_null(device.family.view())}};
  add_memory(object, device);
  add_best_rate(object, "best_16_bit", best_16_bit_rate(device));
  add_best_rate(object, "best_8_bit", best_8_bit_rate(device));
  object["l2_cache_bytes"] = number(device.l2_cache);
  object["last_level_cache_bytes"] = number(device.last_level_cache);
  add_link(object, "scale_up", device.scale_up);
  add_link(object, "pcie", device.pcie);
  add_link(object, "scale_out", device.scale_out);
  object["power_watts"] = number(device.power);
  object["storage_read_bytes_per_second"] = number(device.storage_read);
  object["list_price_usd"] = number(device.list_price);
  object["cloud_price_usd_per_hour"] =
      device.cloud_price ? number(device.cloud_price->value() * seconds_an_hour) : Json();
  return object;
}

Json document(const DeviceEntry& entry) {
  Json object = columns(entry);
  object.update(file_of(entry));
  return object;
}

} // namespace tokenroof::cli
