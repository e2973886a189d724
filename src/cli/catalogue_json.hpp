/// @file
/// `--json` and `--csv` of models, devices, engines and formats.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/resolve.hpp"
#include "report/json_values.hpp"
#include "tokenroof/catalogue/networks.hpp"
#include "tokenroof/engine/engine.hpp"
#include "tokenroof/network/weight_scheme.hpp"

namespace tokenroof::cli {

struct DeviceEntry {
  Device device{};
  std::string path{}; ///< of a file; empty: built in
};

struct EngineEntry {
  Shared<Engine> engine{};
  nlohmann::json file{}; ///< an empty object for the neutral engine, which has none
};

/// Whether it is the lower bound, of which the catalogue has no file.
[[nodiscard]] inline bool is_neutral(const Engine& engine) { return engine == *roofline_engine(); }

inline constexpr const char* neutral_note =
    "The neutral engine: every efficiency 1, no overhead, nothing allocated beside "
    "weights, cache and activations. What physics allows at best.";

/// The columns of CSV and the first keys of JSON: the same for all of a kind, each with its unit, null where missing.
[[nodiscard]] report::Json columns(const catalogue::NetworkEntry& entry);
[[nodiscard]] report::Json columns(const DeviceEntry& entry);
[[nodiscard]] report::Json columns(const EngineEntry& entry);
[[nodiscard]] report::Json columns(const WeightScheme& scheme);

/// Those, then what else is known. Of devices and engines that is their file, whose keys have their units and whose
/// figures have their sources.
[[nodiscard]] report::Json document(const catalogue::NetworkEntry& entry);
[[nodiscard]] report::Json document(const Model& model);
[[nodiscard]] report::Json document(const DeviceEntry& entry);
[[nodiscard]] report::Json document(const EngineEntry& entry);
[[nodiscard]] report::Json document(const WeightScheme& scheme);

/// Rows of columns, under a header.
void write_csv(const std::vector<report::Json>& rows);

/// One object with the documents as an array under `name`.
void write_list(std::string_view name, report::Json documents);

void write_document(const report::Json& document);

template <class Entries>
void write_catalogue(std::string_view name, const Entries& entries, OutputForm form) {
  if (form == OutputForm::csv) {
    std::vector<report::Json> rows;
    rows.reserve(entries.size());
    for (const auto& entry : entries) {
      rows.push_back(columns(entry));
    }
    write_csv(rows);
  } else {
    report::Json documents = report::Json::array();
    for (const auto& entry : entries) {
      documents.push_back(document(entry));
    }
    write_list(name, std::move(documents));
  }
}

/// What the four commands have in common: all entries or one, in the form that was asked for.
template <class All, class Find, class List, class Show>
int show_catalogue(std::string_view name, const CatalogueOptions& options, All&& all, Find&& find, List&& list,
                   Show&& show) {
  const bool as_text = options.form == OutputForm::text;
  if (options.id.empty()) {
    const auto entries = all();
    as_text ? list(entries) : write_catalogue(name, entries, options.form);
  } else {
    const auto entry = find(options.id);
    as_text ? show(entry) : write_document(document(entry));
  }
  flush();
  return success;
}

} // namespace tokenroof::cli
