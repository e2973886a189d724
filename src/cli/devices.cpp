#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/catalogue_json.hpp"
#include "cli/commands.hpp"
#include "cli/device_facts.hpp"
#include "cli/output.hpp"
#include "cli/resolve.hpp"
#include "report/table.hpp"
#include "tokenroof/catalogue/devices.hpp"
#include "tokenroof/catalogue/provenance.hpp"
#include "tokenroof/text.hpp"

namespace tokenroof::cli {

namespace {

using report::Align;
using report::Table;
using report::wrap;

std::string sizes(const Device& device) {
  std::string text;
  for (const MemoryVariant& size : memory_sizes(device)) {
    text += (text.empty() ? "" : ", ") + number_text(size.capacity.value() / 0x1p30);
  }
  return text.empty() ? "any" : text + " GiB";
}

/// The bandwidth, or the span of it over the sizes.
std::string bandwidth(const Device& device) {
  const auto [least, most] = bandwidth_span(device);
  if (!is_present(least)) {
    return "";
  }
  return least == most ? to_text(least) : to_text(least) + " to " + to_text(most);
}

/// "~" before one inferred from measurements.
std::string rate_text(const Rate* rate) {
  return rate == nullptr ? "" : (rate->basis == Basis::fitted ? "~" : "") + to_text(rate->value);
}

std::vector<DeviceEntry> all() {
  std::vector<DeviceEntry> entries;
  for (const Device& device : catalogue::devices()) {
    entries.push_back({.device = device});
  }
  return entries;
}

DeviceEntry find(const std::string& id) { return {.device = find_device(id, ""), .path = means_file(id) ? id : ""}; }

void list(const std::vector<DeviceEntry>& entries) {
  Table table({Align::left, Align::left, Align::left, Align::left, Align::right, Align::right, Align::right});
  table.add({"id", "class", "family", "memory", "bandwidth", "16-bit", "8-bit"});
  for (const auto& [device, path] : entries) {
    table.add({std::string(device.id.view()), std::string(name(device.device_class)), std::string(device.family.view()),
               sizes(device), bandwidth(device), rate_text(best_16_bit_rate(device)),
               rate_text(best_8_bit_rate(device))});
  }
  write(table.str());
  write("\nDense rates of the fastest unit; ~ marks one inferred from measurements.\n");
}

void add(Table& table, const char* label, const std::optional<Link>& link) {
  if (link) {
    table.add({label, fmt::format("{}{}{} a direction, joins {}", link->name.view(), link->name.empty() ? "" : ", ",
                                  to_text(link->bandwidth), link->devices)});
  }
}

template <class Quantity>
void add(Table& table, const char* label, const std::optional<Quantity>& quantity) {
  if (quantity) {
    table.add({label, to_text(*quantity)});
  }
}

std::string memory_text(const Device& device) {
  std::string text;
  for (std::size_t i = 0; i < device.memory_variant_count; ++i) {
    const MemoryVariant& variant = device.memory_variants[i];
    const bool chosen = device.chosen_memory == i && device.memory_variant_count > 1;
    text += (i == 0 ? "" : ", ") + to_text(variant.capacity);
    text += variant.usable ? fmt::format(" ({} usable)", to_text(*variant.usable)) : "";
    text += chosen ? " *" : "";
  }
  return text.empty() ? "the buyer's choice" : text;
}

std::string rates(const ComputeUnit& unit) {
  std::string text;
  for (std::size_t i = 0; i < arithmetic_count; ++i) {
    if (const Rate* found = find_rate(unit, static_cast<Arithmetic>(i))) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", arithmetic_names[i], to_text(found->value));
      text += found->basis == Basis::fitted
                  ? fmt::format(" [{}, {}] inferred", to_text(found->low), to_text(found->high))
                  : "";
    }
  }
  text += unit.bandwidth ? fmt::format("{}draws {}", text.empty() ? "" : "; ", to_text(*unit.bandwidth)) : "";
  return text.empty() ? "no rates published" : text;
}

void show_facts(const Device& device) {
  Table facts({Align::left, Align::left});
  facts.add({"id", std::string(device.id.view())});
  facts.add({"class", fmt::format("{}, family {}", name(device.device_class), device.family.view())});
  facts.add({"memory", memory_text(device)});
  facts.add({"bandwidth", bandwidth(device)});
  for (const ComputeUnit& unit : compute_units(device)) {
    facts.add({std::string(name(unit.kind)), rates(unit)});
  }
  add(facts, "L2 cache", device.l2_cache);
  add(facts, "last-level cache", device.last_level_cache);
  add(facts, "scale-up", device.scale_up);
  add(facts, "PCIe", device.pcie);
  add(facts, "scale-out", device.scale_out);
  add(facts, "power", device.power);
  add(facts, "storage read", device.storage_read);
  add(facts, "list price", device.list_price);
  add(facts, "cloud price", device.cloud_price);
  write(std::string(device.name.view()) + "\n\n" + facts.str(0, stdout_width()));
}

void show_lines(const char* title, const std::vector<std::string>& lines) {
  if (!lines.empty()) {
    write(fmt::format("\n{}\n", title));
  }
  for (const std::string& line : lines) {
    write("  " + wrap(line, stdout_width() - 2, 4) + '\n');
  }
}

/// How a figure was come by, with its source where that is not the device's.
std::string origin(const catalogue::Provenance& figure, std::string_view shared_source) {
  const bool own = !figure.source.empty() && figure.source != shared_source;
  return figure.derivation + (own ? (figure.derivation.empty() ? "" : " ") + fmt::format("[{}]", figure.source) : "");
}

void show_provenance(const Device& device) {
  const std::vector<std::string> sources = catalogue::sources(device.id);
  const std::string shared_source = fmt::format("{}", fmt::join(sources, "; "));
  Table table({Align::left, Align::right, Align::left, Align::left}); // fields end in their units
  for (const catalogue::Provenance& p : catalogue::provenance(device.id)) {
    table.add({p.field, p.value ? number_text(*p.value) : "absent", p.confidence, origin(p, shared_source)});
  }
  write("\nfigures\n" + table.str(2, stdout_width()));
  show_lines("sources", sources);
  show_lines("conflicts", catalogue::conflicts(device.id));
}

void show(const DeviceEntry& entry) {
  show_facts(entry.device);
  if (entry.path.empty()) {
    show_provenance(entry.device);
  }
}

} // namespace

int devices(const CatalogueOptions& options) { return show_catalogue("devices", options, all, find, list, show); }

} // namespace tokenroof::cli
