#include "tokenroof/catalogue/provenance.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include <nlohmann/json.hpp>

#include "catalogue/embedded_files.hpp"
#include "readers/json_file.hpp"
#include "tokenroof/catalogue/devices.hpp"
#include "tokenroof/errors.hpp"
#include "tokenroof/nearest.hpp"

namespace tokenroof::catalogue {
namespace {

// Keeps the order of the file's keys.
using Json = nlohmann::ordered_json;

Json document_of(std::string_view id) {
  const Device* device = find_device(id);
  if (device == nullptr) {
    detail::throw_unknown_device(id);
  }
  // The catalogue's own files need none of the limits of readers::parse_json.
  return Json::parse(*embedded_file("devices/" + std::string(device->id.view()) + ".json"));
}

/// What tells an element of a list apart, for its place in a field's name.
std::string element_name(const Json& element) {
  if (element.contains("kind")) {
    return element["kind"];
  }
  if (element.contains("provider")) {
    return element["provider"];
  }
  return element["capacity_GiB"].dump();
}

/// The unit that a key ends in: "GBps_per_direction" of "bandwidth_GBps_per_direction". Units begin with a capital.
std::string unit_of(std::string_view field) {
  while (!field.empty()) {
    const std::size_t dot = field.rfind('.');
    const std::string_view key = dot == std::string_view::npos ? field : field.substr(dot + 1);
    for (std::size_t i = 1; i < key.size(); ++i) {
      if (key[i - 1] == '_' && std::isupper(static_cast<unsigned char>(key[i])) != 0) {
        return std::string(key.substr(i));
      }
    }
    field = field.substr(0, dot == std::string_view::npos ? 0 : dot);
  }
  return {};
}

/// Takes from an entry of "fields" what it says beyond the device's defaults.
void apply(const Json& origin, Provenance& figure) {
  figure.derivation = origin.value("derived", figure.derivation);
  figure.source = origin.value("source", figure.source);
  figure.date = origin.value("date", figure.date);
  figure.confidence = origin.value("confidence", figure.confidence);
}

class Figures {
public:
  explicit Figures(const Json& document) : document_(document), origin_(document.at("provenance")) {
    for (const Json& source : origin_.at("sources")) {
      sources_ += (sources_.empty() ? "" : "; ") + source.get<std::string>();
    }
  }

  [[nodiscard]] std::vector<Provenance> all() {
    for (const std::string_view part : {"memory", "compute_units", "caches", "links", "storage", "price", "power_W"}) {
      if (document_.contains(part)) {
        visit(document_[std::string(part)], std::string(part), std::string(part));
      }
    }
    if (origin_.contains("absent")) {
      for (const auto& [field, reason] : origin_["absent"].items()) {
        Provenance absent = with_defaults(field);
        absent.derivation = reason;
        absent.source.clear();
        found_.push_back(std::move(absent));
      }
    }
    return std::move(found_);
  }

private:
  /// `field` names each element of a list; `shared` does not, as entries that hold for all of them.
  void visit(const Json& value, const std::string& field, const std::string& shared) {
    if (value.is_array()) {
      visit_elements(value, field, shared);
    } else if (value.is_number() || (value.is_object() && value.contains("value"))) {
      add(value, field, shared);
    } else if (value.is_object()) {
      for (const auto& [key, member] : value.items()) {
        const std::string step = "." + key;
        visit(member, field + step, shared + step);
      }
    }
  }

  void visit_elements(const Json& list, const std::string& field, const std::string& shared) {
    for (const Json& element : list) {
      if (!element.is_object()) {
        continue;
      }
      // Units have entries of their own; the sizes of a memory share theirs.
      const std::string name = "." + element_name(element);
      quote_ = element.contains("provider") ? &element : nullptr;
      visit(element, field + name, element.contains("kind") ? shared + name : shared);
      quote_ = nullptr;
    }
  }

  void add(const Json& value, const std::string& field, const std::string& shared) {
    Provenance figure = with_defaults(field);
    if (value.is_object()) {
      figure.value = value["value"].get<double>();
      figure.derivation = value["rows"];
      figure.source.clear();
    } else {
      figure.value = value.get<double>();
    }
    if (quote_ != nullptr) {
      apply(*quote_, figure);
    }
    if (const Json* own = origin_of(shared)) {
      apply(*own, figure);
    }
    found_.push_back(std::move(figure));
  }

  [[nodiscard]] Provenance with_defaults(const std::string& field) const {
    return {field, std::nullopt, unit_of(field), "", sources_, origin_.at("date"), origin_.at("confidence")};
  }

  [[nodiscard]] const Json* origin_of(const std::string& field) const {
    const auto fields = origin_.find("fields");
    if (fields == origin_.end()) {
      return nullptr;
    }
    const auto entry = fields->find(field);
    return entry == fields->end() ? nullptr : &*entry;
  }

  const Json& document_;
  const Json& origin_;
  std::string sources_;
  const Json* quote_ = nullptr;
  std::vector<Provenance> found_;
};

} // namespace

std::vector<Provenance> provenance(std::string_view id) { return Figures(document_of(id)).all(); }

Provenance provenance(std::string_view id, std::string_view field) {
  std::vector<Provenance> figures = provenance(id);
  const auto found = std::ranges::find(figures, field, &Provenance::field);
  if (found != figures.end()) {
    return std::move(*found);
  }
  std::vector<std::string_view> known;
  known.reserve(figures.size());
  for (const Provenance& figure : figures) {
    known.push_back(figure.field);
  }
  throw InvalidSpec("field", std::string(field), "no such figure" + nearest_as_text(nearest_names(field, known)));
}

std::vector<std::string> sources(std::string_view id) {
  return document_of(id).at("provenance").at("sources").get<std::vector<std::string>>();
}

std::vector<std::string> conflicts(std::string_view id) {
  return document_of(id).at("provenance").value("conflicts", std::vector<std::string>());
}

} // namespace tokenroof::catalogue
