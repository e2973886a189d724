#include "calibration/engine_document.hpp"

#include <limits>

#include "tokenroof/readers.hpp"

namespace tokenroof::calibration {

namespace {

using Json = nlohmann::ordered_json;

const Json* member(const Json& object, std::string_view key) {
  const auto found = object.find(std::string(key));
  return found != object.end() ? &*found : nullptr;
}

/// The object of a document in which a constant's group, or the constant itself, stands.
const Json* home_of(const Json& document, std::size_t profile, const Constant& constant) {
  return constant.serving != nullptr ? &document : member(document.at("profiles").at(profile), "constants");
}

double number_in(const Json& figure, std::string_view key) {
  const Json* number = member(figure, key);
  return number != nullptr ? number->get<double>() : std::numeric_limits<double>::quiet_NaN();
}

std::string quoted(const std::string& text) { return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string on_one_line(const Json& value) {
  const bool object = value.is_object();
  if ((!object && !value.is_array()) || value.empty()) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  std::string text = object ? "{ " : "[";
  for (auto item = value.begin(); item != value.end(); ++item) {
    text += item == value.begin() ? "" : ", ";
    text += (object ? quoted(item.key()) + ": " : std::string()) + on_one_line(*item);
  }
  return text + (object ? " }" : "]");
}

/// `used`: columns that stand before the value on its line.
void append(std::string& out, const Json& value, std::size_t indent, std::size_t used) {
  constexpr std::size_t widest = 120;
  constexpr std::size_t step = 2;
  const bool nested = (value.is_object() || value.is_array()) && !value.empty();
  const std::string line = on_one_line(value);
  if (!nested || used + line.size() < widest) {
    out += line;
    return;
  }
  out += value.is_object() ? "{" : "[";
  for (auto item = value.begin(); item != value.end(); ++item) {
    out += item == value.begin() ? "\n" : ",\n";
    const std::string head =
        std::string(indent + step, ' ') + (value.is_object() ? quoted(item.key()) + ": " : std::string());
    out += head;
    append(out, *item, indent + step, head.size());
  }
  out += "\n" + std::string(indent, ' ') + (value.is_object() ? "}" : "]");
}

} // namespace

EngineDocument::EngineDocument(std::string_view text, std::string_view name)
    : name_(name), engine_(parse_engine(text, name)) {
  document_ = Json::parse(text); // well-formed and within limits, or the line above had thrown
}

ProfileSelector EngineDocument::selector(std::size_t profile) const {
  const EngineProfile& found = engine_.profiles[profile];
  return {.family = found.family, .device_class = found.device_class};
}

std::optional<std::size_t> EngineDocument::find_profile(const ProfileSelector& selector) const {
  for (std::size_t i = 0; i < engine_.profiles.size(); ++i) {
    if (this->selector(i) == selector) {
      return i;
    }
  }
  return std::nullopt;
}

std::optional<Figure> EngineDocument::stated(std::size_t profile, const Constant& constant) const {
  const Json* const home = home_of(document_, profile, constant);
  const Json* const holder = home == nullptr || constant.group.empty() ? home : member(*home, constant.group);
  const Json* const figure = holder != nullptr ? member(*holder, constant.key) : nullptr;
  if (figure == nullptr) {
    return std::nullopt;
  }
  return Figure{
      .value = number_in(*figure, "value"), .low = number_in(*figure, "low"), .high = number_in(*figure, "high")};
}

std::size_t EngineDocument::add_profile(const ProfileSelector& selector) {
  Json profile = Json::object();
  if (!selector.family.empty()) {
    profile["family"] = selector.family.view();
  }
  if (selector.device_class) {
    profile["device_class"] = name(*selector.device_class);
  }
  profile["constants"] = Json::object();
  document_["profiles"].push_back(std::move(profile));
  read_again();
  return engine_.profiles.size() - 1;
}

void EngineDocument::state(std::size_t profile, const Constant& constant, const Figure& figure, const Origin& origin) {
  Json stated = {{"value", figure.value},
                 {"low", figure.low},
                 {"high", figure.high},
                 {"basis", "fitted"},
                 {"source", origin.source}};
  if (!origin.date.empty()) {
    stated["date"] = origin.date;
  }
  stated["rows"] = origin.rows;
  Json& home = constant.serving != nullptr ? document_ : document_["profiles"][profile]["constants"];
  (constant.group.empty() ? home : home[constant.group])[constant.key] = std::move(stated);
  read_again();
}

void EngineDocument::read_again() { engine_ = parse_engine(document_.dump(), name_); }

std::string EngineDocument::text() const {
  std::string out;
  append(out, document_, 0, 0);
  return out + "\n";
}

} // namespace tokenroof::calibration
