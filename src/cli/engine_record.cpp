#include <string>

#include "cli/catalogue_json.hpp"
#include "cli/engine_facts.hpp"
#include "tokenroof/catalogue/engines.hpp"
#include "tokenroof/report.hpp"

namespace tokenroof::cli {

namespace {

using nlohmann::json;
using report::Json;
using report::text_or_null;

/// What a profile takes from the constants for any device, as the file states it there.
Json inherited(const json& profile, const json& file) {
  Json object = Json::object();
  for (const Figure& figure : constants(profile, file)) {
    if (figure.inherited) {
      object[figure.field] = figure.stated;
    }
  }
  return object;
}

Json profiles(const json& file) {
  Json list = Json::array();
  for (const json& profile : file.value("profiles", json::array())) {
    list.push_back(Json(profile));
    list.back()["inherited"] = inherited(profile, file);
  }
  return list;
}

} // namespace

Json columns(const EngineEntry& entry) {
  const Engine& engine = *entry.engine;
  const bool neutral = is_neutral(engine);
  return {{"schema_version", report::schema_version},
          {"id", engine.id.view()},
          {"version", text_or_null(engine.version.view())},
          {"versioned_id", catalogue::versioned_id(engine)},
          {"date", text_or_null(text_of(entry.file, "date"))},
          {"unit", engine.unit ? Json(name(*engine.unit)) : Json()},
          {"lower_bound", neutral},
          {"profile_count", entry.file.value("profiles", json::array()).size()},
          {"usual_on", text_or_null(usual_on(entry.file))},
          {"note", text_or_null(neutral ? neutral_note : text_of(entry.file, "note"))}};
}

Json document(const EngineEntry& entry) {
  Json object = columns(entry);
  object["aliases"] = Json::array();
  object["default_for"] = Json::array();
  object["memory"] = Json::object();
  object.update(Json(entry.file));
  object["profiles"] = profiles(entry.file);
  return object;
}

} // namespace tokenroof::cli
