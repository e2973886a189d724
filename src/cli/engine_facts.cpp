#include "cli/engine_facts.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tokenroof::cli {

namespace {

using nlohmann::json;

void append_figures(std::vector<Figure>& all, const json& object, const std::string& prefix) {
  for (const auto& [key, value] : object.items()) {
    if (value.contains("value")) {
      all.push_back({.field = prefix + key, .stated = value});
    } else {
      append_figures(all, value, prefix + key + ".");
    }
  }
}

/// What is stated for any device; empty where nothing is.
std::vector<Figure> general_constants(const json& file) {
  for (const json& profile : file.value("profiles", json::array())) {
    if (!profile.contains("family") && !profile.contains("device_class")) {
      return figures(profile.value("constants", json::object()));
    }
  }
  return {};
}

} // namespace

std::string text_of(const json& object, const char* key) { return object.value(key, std::string()); }

std::string usual_on(const json& file) {
  std::vector<std::string> kinds;
  for (const json& selector : file.value("default_for", json::array())) {
    const std::string of_class = text_of(selector, "device_class");
    const std::string kind = of_class.empty() ? text_of(selector, "family") : of_class;
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
      kinds.push_back(kind);
    }
  }
  return fmt::format("{}", fmt::join(kinds, ", "));
}

std::vector<Figure> figures(const json& object) {
  std::vector<Figure> all;
  append_figures(all, object, "");
  return all;
}

std::vector<Figure> constants(const json& profile, const json& file) {
  const std::vector<Figure> own = figures(profile.value("constants", json::object()));
  std::vector<Figure> all = own;
  for (Figure& general : general_constants(file)) {
    const auto same = [&](const Figure& figure) { return figure.field == general.field; };
    if (std::none_of(own.begin(), own.end(), same)) {
      all.push_back({.field = std::move(general.field), .stated = std::move(general.stated), .inherited = true});
    }
  }
  return all;
}

} // namespace tokenroof::cli
