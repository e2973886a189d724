#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/catalogue_json.hpp"
#include "cli/commands.hpp"
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

std::string sizes(const Device& device) {
  std::string text;
  for (std::size_t i = 0; i < device.memory_variant_count; ++i) {
    text += (i == 0 ? "" : ", ") + number_text(device.memory_variants[i].capacity.value() / 0x1p30);
  }
  return text.empty() ? "any" : text + " GiB";
}

/// The bandwidth, or the span of it over the sizes.
std::string bandwidth(const Device& device) {
  if (const auto one = memory_bandwidth(device)) {
    return to_text(*one);
  }
  Bandwidth least = absent<Bandwidth>();
  Bandwidth most = absent<Bandwidth>();
  for (std::size_t i = 0; i < device.memory_variant_count; ++i) {
    if (const auto of_size =
            device.memory_variants[i].bandwidth ? device.memory_variants[i].bandwidth : device.bandwidth) {
      least = smaller(least, *of_size);
      most = larger(most, *of_size);
    }
  }
  return is_present(least) ? to_text(least) + " to " + to_text(most) : "";
}

/// The best rate that any unit has for one of two arithmetics; "~" before one inferred from measurements.
std::string rate(const Device& device, std::initializer_list<Arithmetic> arithmetics) {
  const Rate* best = nullptr;
  for (std::size_t i = 0; i < device.compute_unit_count; ++i) {
    for (const Arithmetic arithmetic : arithmetics) {
      const Rate* const found = find_rate(device.compute_units[i], arithmetic);
      best = found != nullptr && (best == nullptr || found->value > best->value) ? found : best;
    }
  }
  return best == nullptr ? "" : (best->basis == Basis::fitted ? "~" : "") + to_text(best->value);
}

void list() {
  Table table({Align::left, Align::left, Align::left, Align::left, Align::right, Align::right, Align::right});
  table.add({"id", "class", "family", "memory", "bandwidth", "16-bit", "8-bit"});
  for (const Device& device : catalogue::devices()) {
    table.add({std::string(device.id.view()), std::string(name(device.device_class)), std::string(device.family.view()),
               sizes(device), bandwidth(device), rate(device, {Arithmetic::bf16, Arithmetic::fp16}),
               rate(device, {Arithmetic::fp8, Arithmetic::int8})});
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

void show(const Device& device) {
  Table facts({Align::left, Align::left});
  facts.add({"id", std::string(device.id.view())});
  facts.add({"class", fmt::format("{}, family {}", name(device.device_class), device.family.view())});
  facts.add({"memory", memory_text(device)});
  facts.add({"bandwidth", bandwidth(device)});
  for (std::size_t i = 0; i < device.compute_unit_count; ++i) {
    facts.add({std::string(name(device.compute_units[i].kind)), rates(device.compute_units[i])});
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
  write(std::string(device.name.view()) + "\n\n" + facts.str());
}

/// One source a line; files join them by semicolons.
std::string lines(std::string_view sources) {
  std::string text = "  ";
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const bool ends = sources.substr(i).starts_with("; ");
    text += ends ? std::string("\n  ") : std::string(1, sources[i]);
    i += ends ? 1 : 0;
  }
  return text + '\n';
}

void show_provenance(const Device& device) {
  std::string sources;
  Table table({Align::left, Align::right, Align::left, Align::left}); // fields end in their units
  for (const catalogue::Provenance& p : catalogue::provenance(device.id)) {
    table.add({p.field, p.value ? number_text(*p.value) : "absent", p.confidence, p.derivation});
    sources = sources.empty() ? p.source : sources;
  }
  write("\nfigures\n" + table.str(2) + "\nsources\n" + lines(sources));
  const std::vector<std::string> conflicts = catalogue::conflicts(device.id);
  if (!conflicts.empty()) {
    write("\nconflicts\n");
  }
  for (const std::string& conflict : conflicts) {
    write("  " + conflict + '\n');
  }
}

} // namespace

int devices(const CatalogueOptions& options) {
  if (options.json) {
    write_devices_json(options);
  } else if (options.id.empty()) {
    list();
  } else {
    const Device device = find_device(options.id, "");
    show(device);
    if (!means_file(options.id)) {
      show_provenance(device);
    }
  }
  flush();
  return success;
}

} // namespace tokenroof::cli
