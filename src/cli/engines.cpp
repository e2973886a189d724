#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/catalogue_json.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/resolve.hpp"
#include "readers/json_file.hpp"
#include "report/table.hpp"
#include "tokenroof/catalogue/engines.hpp"
#include "tokenroof/text.hpp"

namespace tokenroof::cli {

namespace {

using nlohmann::json;
using report::Align;
using report::Table;

std::string text_of(const json& object, const char* key) { return object.value(key, std::string()); }

/// "family hopper, class consumer_gpu"; "any device" where neither is said.
std::string meant_for(const json& selector) {
  std::string text;
  if (const std::string family = text_of(selector, "family"); !family.empty()) {
    text = family;
  }
  if (const std::string of_class = text_of(selector, "device_class"); !of_class.empty()) {
    text += (text.empty() ? "" : ", ") + of_class;
  }
  return text.empty() ? "any device" : text;
}

/// The kinds of device that an engine is the usual one of: classes, and families where no class is said.
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

json catalogue_file(std::string_view id) {
  const std::string_view text = catalogue::engine_file(id);
  return text.empty() ? json::object() : readers::parse_json(text, id);
}

std::string runs_on(const Engine& engine) { return engine.unit ? std::string(name(*engine.unit)) : "any"; }

void list() {
  Table table({Align::left, Align::left, Align::left, Align::right, Align::left});
  table.add({"id", "date", "runs on", "profiles", "usual on"});
  for (const std::string& id : catalogue::engine_versions()) {
    const json file = catalogue_file(id);
    const bool neutral = id == roofline_engine()->id;
    table.add({id, text_of(file, "date"), runs_on(*catalogue::engine(id)),
               neutral ? "" : fmt::format("{}", file.value("profiles", json::array()).size()),
               neutral ? "nothing: the lower bound" : usual_on(file)});
  }
  write(table.str());
}

/// One row a figure; groups of figures ("gemm_utilisation") go before their members' names.
void add_figures(Table& table, const json& object, const std::string& prefix) {
  for (const auto& [key, value] : object.items()) {
    const std::string path = prefix + key;
    if (value.is_object() && !value.contains("value")) {
      add_figures(table, value, path + ".");
      continue;
    }
    const json figure = value.is_object() ? value : json{{"value", value}};
    const json& number = figure.at("value");
    const std::string interval = figure.contains("low") && figure.contains("high")
                                     ? fmt::format("[{}, {}]", number_text(figure["low"].get<double>()),
                                                   number_text(figure["high"].get<double>()))
                                     : "";
    const std::string rows = text_of(figure, "rows");
    table.add({path,
               number.is_number()   ? number_text(number.get<double>())
               : number.is_string() ? number.get<std::string>()
                                    : number.dump(),
               interval, text_of(figure, "basis"), rows.empty() ? text_of(figure, "source") : rows});
  }
}

void show_figures(std::string_view title, const json& figures) {
  if (!figures.empty()) {
    Table table({Align::left, Align::right, Align::left, Align::left, Align::left});
    add_figures(table, figures, "");
    write(fmt::format("\n{}\n{}", title, table.str(2)));
  }
}

void show(const Engine& engine, const json& file) {
  Table facts({Align::left, Align::left});
  const auto add = [&](const char* label, std::string text) {
    if (!text.empty()) {
      facts.add({label, std::move(text)});
    }
  };
  add("version", std::string(engine.version.view()));
  add("date", text_of(file, "date"));
  add("runs on", runs_on(engine));
  add("usual on", usual_on(file));
  add("note", text_of(file, "note"));
  write(std::string(engine.id.view()) + "\n\n" + facts.str());
  show_figures("memory", file.value("memory", json::object()));
  for (const json& profile : file.value("profiles", json::array())) {
    show_figures("constants for " + meant_for(profile), profile.value("constants", json::object()));
  }
}

void show_neutral() {
  write("roofline\n\nThe neutral engine: every efficiency 1, no overhead, nothing allocated beside weights, cache and\n"
        "activations. What physics allows at best.\n");
}

} // namespace

int engines(const CatalogueOptions& options) {
  if (options.json) {
    write_engines_json(options);
  } else if (options.id.empty()) {
    list();
  } else if (means_file(options.id)) {
    const Shared<Engine> engine = find_engine(options.id, Device{}); // refuses what is no engine's file
    show(*engine, readers::read_json(options.id));
  } else if (const Shared<Engine> engine = catalogue::engine(options.id); *engine == *roofline_engine()) {
    show_neutral();
  } else {
    show(*engine, catalogue_file(options.id));
  }
  flush();
  return success;
}

} // namespace tokenroof::cli
