#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/catalogue_json.hpp"
#include "cli/commands.hpp"
#include "cli/engine_facts.hpp"
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
using report::wrap;

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

std::string runs_on(const Engine& engine) { return engine.unit ? std::string(name(*engine.unit)) : "any"; }

EngineEntry catalogue_entry(const std::string& id) {
  const std::string_view text = catalogue::engine_file(id);
  return {.engine = catalogue::engine(id), .file = text.empty() ? json::object() : readers::parse_json(text, id)};
}

std::vector<EngineEntry> all() {
  std::vector<EngineEntry> entries;
  for (const std::string& id : catalogue::engine_versions()) {
    entries.push_back(catalogue_entry(id));
  }
  return entries;
}

EngineEntry find(const std::string& id) {
  if (!means_file(id)) {
    return catalogue_entry(id);
  }
  Shared<Engine> engine = find_engine(id, Device{}); // refuses what is no engine's file
  return {.engine = std::move(engine), .file = readers::read_json(id)};
}

void list(const std::vector<EngineEntry>& entries) {
  Table table({Align::left, Align::left, Align::left, Align::right, Align::left});
  table.add({"id", "date", "runs on", "profiles", "usual on"});
  for (const auto& [engine, file] : entries) {
    const bool neutral = is_neutral(*engine);
    table.add({catalogue::versioned_id(*engine), text_of(file, "date"), runs_on(*engine),
               neutral ? "" : fmt::format("{}", file.value("profiles", json::array()).size()),
               neutral ? "nothing: the lower bound" : usual_on(file)});
  }
  write(table.str());
}

std::string value_text(const json& figure) {
  const json& value = figure.at("value");
  if (value.is_number()) {
    return number_text(value.get<double>());
  }
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string interval_text(const json& figure) {
  const bool stated = figure.contains("low") && figure.contains("high");
  return stated ? fmt::format("[{}, {}]", number_text(figure["low"].get<double>()),
                              number_text(figure["high"].get<double>()))
                : "";
}

/// Why it was assumed, or the rows it was fitted on, else the source.
std::string origin(const json& figure) {
  if (text_of(figure, "basis") == "assumed") {
    return text_of(figure, "note");
  }
  const std::string rows = text_of(figure, "rows");
  return rows.empty() ? text_of(figure, "source") : rows;
}

/// A row for each figure stated here; those inherited in a line below.
void show_figures(std::string_view title, const std::vector<Figure>& figures) {
  constexpr std::size_t indent = 2;
  Table table({Align::left, Align::right, Align::left, Align::left, Align::left});
  std::string inherited;
  for (const auto& [field, stated, is_inherited] : figures) {
    if (is_inherited) {
      inherited += (inherited.empty() ? "" : ", ") + field + ' ' + value_text(stated);
    } else {
      table.add({field, value_text(stated), interval_text(stated), text_of(stated, "basis"), origin(stated)});
    }
  }
  if (!figures.empty()) {
    write(fmt::format("\n{}\n{}", title, table.str(indent, stdout_width())));
  }
  if (!inherited.empty()) {
    write("  " + wrap("inherited from any device: " + inherited, stdout_width() - 2 * indent, 2 * indent) + '\n');
  }
}

/// Where measurements lie, without the list of families.
std::vector<Figure> bands(const json& file) {
  json residuals = file.value("residuals", json::object());
  residuals.erase("families");
  return figures(residuals);
}

void show_neutral(const Engine& engine) {
  write(catalogue::versioned_id(engine) + "\n\n" + wrap(neutral_note, stdout_width(), 0) + '\n');
}

void show_facts(const Engine& engine, const json& file) {
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
  write(std::string(engine.id.view()) + "\n\n" + facts.str(0, stdout_width()));
}

void show(const EngineEntry& entry) {
  const auto& [engine, file] = entry;
  if (is_neutral(*engine)) {
    show_neutral(*engine);
    return;
  }
  show_facts(*engine, file);
  show_figures("memory", figures(file.value("memory", json::object())));
  show_figures("serving", figures(file.value("serving", json::object())));
  show_figures("measured over predicted, and between what 80 % lie", bands(file));
  for (const json& profile : file.value("profiles", json::array())) {
    show_figures("constants for " + meant_for(profile), constants(profile, file));
  }
}

} // namespace

int engines(const CatalogueOptions& options) { return show_catalogue("engines", options, all, find, list, show); }

} // namespace tokenroof::cli
