#include "readers/engine_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "readers/engine_constants.hpp"
#include "readers/json_file.hpp"
#include "readers/json_object.hpp"
#include "tokenroof/errors.hpp"
#include "tokenroof/readers.hpp"

namespace tokenroof {
namespace readers {
namespace {

using nlohmann::json;

// An engine file is some twenty kilobytes and nests six levels deep.
constexpr JsonLimits limits{.bytes = std::size_t{1} << 20, .depth = 16, .values = 100'000};

constexpr std::size_t most_entries = 100;
constexpr std::size_t most_note_bytes = 10'000;
constexpr double least_ratio = 1e-3;     // of measured to predicted
constexpr double most_of_a_figure = 1e9; // microseconds, tokens, MiB: beyond, it is in the wrong unit

constexpr std::array<std::string_view, 15> engine_keys = {
    "schema_version", "id",     "version", "date",    "note",    "aliases",         "unit",     "default_for",
    "profiles",       "memory", "offload", "loading", "serving", "overlaps_stages", "residuals"};
constexpr std::array<std::string_view, 4> profile_keys = {"family", "device_class", "note", "constants"};
constexpr std::array<std::string_view, 2> selector_keys = {"family", "device_class"};
constexpr std::array<std::string_view, 9> figure_keys = {"value", "low",  "high", "basis",     "source",
                                                         "date",  "rows", "note", "confidence"};
constexpr std::array<std::string_view, 4> bases = {"datasheet", "measured", "fitted", "assumed"};
constexpr std::array<std::string_view, 3> confidences = {"high", "medium", "low"};

struct Allowed {
  bool (*contains)(double) = nullptr;
  std::string_view text;
};

constexpr std::array<Allowed, 6> ranges = {{
    {[](double x) { return x > 0 && x <= 1; }, "must be above 0 and at most 1"},
    {[](double x) { return x >= 0 && x <= 1; }, "must be 0 to 1"},
    {[](double x) { return x >= 0 && x <= most_of_a_figure; }, "must not be negative, nor above 1e9"},
    {[](double x) { return x >= 1 && x <= most_of_a_figure && x == std::floor(x); }, "must be a whole number above 0"},
    {[](double x) { return x >= 1 && x <= most_of_a_figure; }, "must be 1 or more"},
    {[](double x) { return x >= least_ratio && x <= 1 / least_ratio; }, "must be 0.001 to 1000"},
}};

Seconds microseconds(double value) { return Seconds::from_value(value * 1e-6); }
Bytes mebibytes(double value) { return Bytes::from_value(value * 1048576.0); }
Tokens tokens(double value) { return Tokens::from_value(value); }

/// A number that a file may state, and where it goes.
template <typename Target>
struct Field {
  std::string_view key;
  Range range = Range::efficiency;
  void (*set)(Target&, double) = nullptr;
};

using M = MemoryHabits;
constexpr std::array<Field<M>, 18> memory_fields = {{
    {"memory_fraction", Range::efficiency, [](M& m, double x) { m.memory_fraction = x; }},
    {"kv_block_tokens", Range::whole, [](M& m, double x) { m.kv_block = tokens(x); }},
    {"batched_tokens", Range::whole, [](M& m, double x) { m.batched_tokens = tokens(x); }},
    {"most_sequences", Range::whole, [](M& m, double x) { m.most_sequences = static_cast<std::int64_t>(x); }},
    {"hidden_vectors", Range::cost, [](M& m, double x) { m.hidden_vectors = x; }},
    {"feed_forward_vectors", Range::whole, [](M& m, double x) { m.feed_forward_vectors = x; }},
    {"activation_element_bytes", Range::whole, [](M& m, double x) { m.activation_element_bytes = x; }},
    {"hidden_vectors_while_sampling", Range::cost, [](M& m, double x) { m.hidden_vectors_while_sampling = x; }},
    {"logit_bytes", Range::cost, [](M& m, double x) { m.logit_bytes = x; }},
    {"workspace_MiB", Range::cost, [](M& m, double x) { m.workspace = mebibytes(x); }},
    {"context_MiB", Range::cost, [](M& m, double x) { m.context = mebibytes(x); }},
    {"context_before_MiB", Range::cost, [](M& m, double x) { m.context_before = mebibytes(x); }},
    {"graphs_MiB", Range::cost, [](M& m, double x) { m.graphs = mebibytes(x); }},
    {"graphs_per_layer_MiB", Range::cost, [](M& m, double x) { m.graphs_per_layer = mebibytes(x); }},
    {"graphs_per_channel_MiB", Range::cost, [](M& m, double x) { m.graphs_per_channel = mebibytes(x); }},
    {"graphs_of_experts_MiB", Range::cost, [](M& m, double x) { m.graphs_of_experts = mebibytes(x); }},
    {"communication_MiB", Range::cost, [](M& m, double x) { m.communication = mebibytes(x); }},
    {"fragmentation", Range::share, [](M& m, double x) { m.fragmentation = x; }},
}};

using O = OffloadHabits;
constexpr std::array<Field<O>, 4> offload_fields = {{
    {"streamed_from_rows", Range::whole, [](O& o, double x) { o.streamed_from_rows = x; }},
    {"link_efficiency", Range::efficiency, [](O& o, double x) { o.link_efficiency = x; }},
    {"handover_us", Range::cost, [](O& o, double x) { o.handover = microseconds(x); }},
    {"storage_efficiency", Range::efficiency, [](O& o, double x) { o.storage_efficiency = x; }},
}};

using L = LoadHabits;
constexpr std::array<Field<L>, 3> load_fields = {{
    {"shard_MiB", Range::cost, [](L& l, double x) { l.shard = mebibytes(x); }},
    {"copies", Range::whole, [](L& l, double x) { l.copies = x; }},
    {"storage_efficiency", Range::efficiency, [](L& l, double x) { l.storage_efficiency = x; }},
}};

struct Truth {
  std::string_view key;
  bool MemoryHabits::*member = nullptr;
};

constexpr std::array<Truth, 5> memory_truths = {{
    {"reserves_for_largest_pass", &M::reserves_for_largest_pass},
    {"attention_scores", &M::attention_scores},
    {"expert_workspace_stays", &M::expert_workspace_stays},
    {"logits_for_every_row", &M::logits_for_every_row},
    {"graphs_outside_fraction", &M::graphs_outside_fraction},
}};

template <typename Target, std::size_t Count>
std::vector<std::string_view> keys_of(const std::array<Field<Target>, Count>& fields,
                                      std::vector<std::string_view> others) {
  for (const Field<Target>& field : fields) {
    others.push_back(field.key);
  }
  return others;
}

JsonObject member(const JsonObject& object, std::string_view key, std::span<const std::string_view> known) {
  return {object.at(key), object.place().key(key), known};
}

/// A figure's origin: what was fitted names its rows, what was assumed its reason, all else a source.
void check_origin(const JsonObject& figure) {
  const std::string_view basis = bases[figure.one_of("basis", bases)];
  for (const std::string_view key : {"source", "date", "rows", "note"}) {
    (void)figure.text(key, most_note_bytes);
  }
  if (figure.find("confidence") != nullptr) {
    (void)figure.one_of("confidence", confidences);
  }
  (void)figure.required_text(basis == "assumed" ? "note" : "source", most_note_bytes);
  if (basis == "fitted") {
    (void)figure.required_text("rows", most_note_bytes);
  }
}

double number_in(const JsonObject& figure, std::string_view key, Range range) {
  const Allowed& allowed = ranges[static_cast<std::size_t>(range)];
  const json& stated = figure.at(key);
  const double number = *figure.number(key);
  if (!allowed.contains(number)) {
    throw InvalidSpec(figure.place().key(key).keys, shortened(stated), std::string(allowed.text));
  }
  return number;
}

double number_of(const JsonObject& object, std::string_view key, Range range) {
  const JsonObject figure = member(object, key, figure_keys);
  const double value = number_in(figure, "value", range);
  const double low = figure.find("low") != nullptr ? number_in(figure, "low", range) : value;
  const double high = figure.find("high") != nullptr ? number_in(figure, "high", range) : value;
  if (low > value || value > high) {
    throw InvalidSpec(figure.place().key("value").keys, shortened(figure.at("value")), "must lie within low and high");
  }
  check_origin(figure);
  return value;
}

std::size_t choice_of(const JsonObject& object, std::string_view key, std::span<const std::string_view> names) {
  const JsonObject figure = member(object, key, figure_keys);
  check_origin(figure);
  return figure.one_of("value", names);
}

std::optional<Arithmetic> arithmetic_of(const JsonObject& object, std::string_view key) {
  if (object.find(key) == nullptr) {
    return std::nullopt;
  }
  return static_cast<Arithmetic>(choice_of(object, key, arithmetic_names));
}

bool truth_of(const JsonObject& object, std::string_view key) {
  const JsonObject figure = member(object, key, figure_keys);
  check_origin(figure);
  const json& value = figure.at("value");
  if (!value.is_boolean()) {
    throw_not("true or false", value, figure.place().key("value"));
  }
  return value.get<bool>();
}

template <typename Target, std::size_t Count>
void set_stated(const JsonObject& object, const std::array<Field<Target>, Count>& fields, Target& target) {
  for (const Field<Target>& field : fields) {
    if (object.find(field.key) != nullptr) {
      field.set(target, number_of(object, field.key, field.range));
    }
  }
}

/// Replaces those constants that an object under `key` states.
void set_constants(const JsonObject& parent, std::string_view key, EngineConstants& constants) {
  std::vector<std::string_view> known = {"gemm_utilisation", "half_arithmetic", "quantised_arithmetic"};
  for (const ConstantField& field : constant_fields()) {
    known.push_back(field.key);
  }
  const JsonObject object = member(parent, key, known);
  for (const ConstantField& field : constant_fields()) {
    if (object.find(field.key) != nullptr) {
      set_value(constants, field, number_of(object, field.key, field.range));
    }
  }
  if (object.find("gemm_utilisation") != nullptr) {
    const JsonObject by_arithmetic = member(object, "gemm_utilisation", arithmetic_names);
    for (std::size_t i = 0; i < arithmetic_count; ++i) {
      if (by_arithmetic.find(arithmetic_names[i]) != nullptr) {
        constants.gemm_utilisation[i] = number_of(by_arithmetic, arithmetic_names[i], Range::efficiency);
      }
    }
  }
  if (const auto arithmetic = arithmetic_of(object, "half_arithmetic")) {
    constants.half_arithmetic = arithmetic;
  }
  if (const auto arithmetic = arithmetic_of(object, "quantised_arithmetic")) {
    constants.quantised_arithmetic = arithmetic;
  }
}

MemoryHabits memory_habits(const JsonObject& engine) {
  MemoryHabits habits;
  if (engine.find("memory") == nullptr) {
    return habits;
  }
  std::vector<std::string_view> known = keys_of(memory_fields, {"cache_layout"});
  for (const Truth& truth : memory_truths) {
    known.push_back(truth.key);
  }
  const JsonObject object = member(engine, "memory", known);
  set_stated(object, memory_fields, habits);
  for (const Truth& truth : memory_truths) {
    if (object.find(truth.key) != nullptr) {
      habits.*truth.member = truth_of(object, truth.key);
    }
  }
  if (object.find("cache_layout") != nullptr) {
    habits.cache_layout = static_cast<CacheLayout>(choice_of(object, "cache_layout", cache_layout_names));
  }
  return habits;
}

OffloadStyle style_of(const JsonObject& offload) {
  const JsonObject figure = member(offload, "style", figure_keys);
  check_origin(figure);
  constexpr std::size_t of_engines = 3; // the fastest of two ways is no engine's
  return static_cast<OffloadStyle>(figure.one_of("value", std::span(offload_style_names).first(of_engines)));
}

/// What an engine's file says nothing of, the engine does not do.
OffloadHabits offload_habits(const JsonObject& engine) {
  OffloadHabits habits{.style = OffloadStyle::none};
  if (engine.find("offload") == nullptr) {
    return habits;
  }
  const std::vector<std::string_view> known = keys_of(offload_fields, {"style", "overlapped", "host"});
  const JsonObject object = member(engine, "offload", known);
  habits.style = style_of(object);
  set_stated(object, offload_fields, habits);
  if (object.find("overlapped") != nullptr) {
    habits.overlapped = truth_of(object, "overlapped");
  }
  if (object.find("host") != nullptr) {
    set_constants(object, "host", habits.host);
  }
  return habits;
}

/// An engine whose file says nothing reads each tensor to where it belongs.
LoadHabits load_habits(const JsonObject& engine) {
  LoadHabits habits{.style = LoadStyle::read};
  if (engine.find("loading") == nullptr) {
    return habits;
  }
  const std::vector<std::string_view> known = keys_of(load_fields, {"style"});
  const JsonObject object = member(engine, "loading", known);
  const JsonObject style = member(object, "style", figure_keys);
  check_origin(style);
  habits.style = static_cast<LoadStyle>(style.one_of("value", load_style_names));
  set_stated(object, load_fields, habits);
  return habits;
}

ServingHabits serving_habits(const JsonObject& engine) {
  ServingHabits habits;
  if (engine.find("serving") == nullptr) {
    return habits;
  }
  std::vector<std::string_view> known;
  for (const ServingField& field : serving_fields()) {
    known.push_back(field.key);
  }
  const JsonObject object = member(engine, "serving", known);
  for (const ServingField& field : serving_fields()) {
    if (object.find(field.key) != nullptr) {
      set_value(habits, field, number_of(object, field.key, field.range));
    }
  }
  return habits;
}

struct BandField {
  std::string_view key;
  ResidualBand Residuals::*member = nullptr;
};

constexpr std::array<BandField, 5> band_fields = {{
    {"ttft", &Residuals::ttft},
    {"tpot", &Residuals::tpot},
    {"end_to_end", &Residuals::end_to_end},
    {"closed_loop_ttft", &Residuals::closed_loop_ttft},
    {"closed_loop_tpot", &Residuals::closed_loop_tpot},
}};

ResidualBand band_of(const JsonObject& object, std::string_view key) {
  (void)number_of(object, key, Range::ratio);
  const JsonObject figure = member(object, key, figure_keys);
  return {number_in(figure, "low", Range::ratio), number_in(figure, "high", Range::ratio)};
}

Residuals residuals_of(const JsonObject& engine) {
  Residuals residuals;
  if (engine.find("residuals") == nullptr) {
    return residuals;
  }
  std::vector<std::string_view> known = {"families"};
  for (const BandField& field : band_fields) {
    known.push_back(field.key);
  }
  const JsonObject object = member(engine, "residuals", known);
  for (const BandField& field : band_fields) {
    if (object.find(field.key) != nullptr) {
      residuals.*field.member = band_of(object, field.key);
    }
  }
  for (const json& family : object.array("families", most_measured_families)) {
    const JsonPlace place = object.place().key("families").element(residuals.family_count);
    if (!family.is_string() || family.get_ref<const std::string&>().size() > 32) {
      throw_not("a family of devices, of at most 32 letters", family, place);
    }
    residuals.families[residuals.family_count++] = std::string_view(family.get_ref<const std::string&>());
  }
  return residuals;
}

DeviceSelector selector_of(const JsonObject& object) {
  DeviceSelector selector{.family = object.text("family", 32).value_or("")};
  if (object.find("device_class") != nullptr) {
    selector.device_class = static_cast<DeviceClass>(object.one_of("device_class", device_class_names));
  }
  return selector;
}

/// The objects of a list.
std::vector<JsonObject> objects(const JsonObject& parent, std::string_view key,
                                std::span<const std::string_view> known) {
  std::vector<JsonObject> result;
  for (const json& value : parent.array(key, most_entries)) {
    result.emplace_back(value, parent.place().key(key).element(result.size()), known);
  }
  return result;
}

/// What a profile leaves out it takes from the one that names no device, wherever in the list that stands.
std::vector<EngineProfile> profiles_of(const JsonObject& engine) {
  std::vector<EngineProfile> profiles;
  const std::vector<JsonObject> entries = objects(engine, "profiles", profile_keys);
  EngineConstants general;
  for (const JsonObject& entry : entries) {
    const DeviceSelector selector = selector_of(entry);
    const bool repeated = std::any_of(profiles.begin(), profiles.end(), [&](const EngineProfile& profile) {
      return DeviceSelector{profile.family, profile.device_class} == selector;
    });
    if (repeated) {
      throw ParseError(entry.place().file, entry.place().keys, "an earlier profile is for the same devices");
    }
    if (selector == DeviceSelector{}) {
      set_constants(entry, "constants", general);
    }
    (void)entry.text("note", most_note_bytes);
    profiles.push_back({.family = selector.family, .device_class = selector.device_class});
  }
  if (entries.empty() && engine.find("memory") == nullptr) {
    throw ParseError(engine.place().file, "profiles", "at least one is needed where no memory is described");
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    profiles[i].constants = general;
    set_constants(entries[i], "constants", profiles[i].constants);
  }
  return profiles;
}

std::string_view checked_text(const JsonObject& object, std::string_view key, std::size_t most,
                              bool (*valid)(std::string_view), std::string_view reason) {
  const std::string_view text = object.required_text(key, most);
  if (!valid(text)) {
    throw InvalidSpec(object.place().key(key).keys, shortened(object.at(key)), std::string(reason));
  }
  return text;
}

bool is_word(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
  });
}

bool is_free_id(std::string_view text) { return is_word(text) && text != roofline_engine()->id; }

bool is_date(std::string_view text) {
  constexpr std::string_view pattern = "dddd-dd-dd";
  const bool whole = text.size() == 4 || text.size() == 7 || text.size() == 10;
  return whole && std::equal(text.begin(), text.end(), pattern.begin(),
                             [](char c, char p) { return p == '-' ? c == '-' : c >= '0' && c <= '9'; });
}

std::vector<std::string> aliases_of(const JsonObject& engine) {
  std::vector<std::string> aliases;
  for (const json& alias : engine.array("aliases", most_entries)) {
    if (!alias.is_string()) {
      throw_not("a text", alias, engine.place().key("aliases").element(aliases.size()));
    }
    aliases.push_back(alias.get<std::string>());
  }
  return aliases;
}

} // namespace

EngineFile parse_engine_file(std::string_view json, std::string_view name) {
  const nlohmann::json document = parse_json(json, name, limits);
  const JsonObject object(document, {std::string(name), ""}, engine_keys);
  if (object.at("schema_version") != 1) {
    throw InvalidSpec("schema_version", shortened(object.at("schema_version")), "must be 1");
  }
  EngineFile file;
  file.engine.id = checked_text(object, "id", 48, is_free_id, "must be of a-z, 0-9, '.', '-', '_', and not roofline");
  file.engine.version = checked_text(object, "version", 32, is_word, "must be of a-z, 0-9, '.', '-' and '_'");
  file.date = checked_text(object, "date", 10, is_date, "must be YYYY, YYYY-MM or YYYY-MM-DD");
  (void)object.text("note", most_note_bytes);
  file.aliases = aliases_of(object);
  file.engine.unit = static_cast<ComputeUnitKind>(object.one_of("unit", compute_unit_names));
  file.engine.profiles = profiles_of(object);
  file.engine.overlaps_stages = object.find("overlaps_stages") != nullptr && truth_of(object, "overlaps_stages");
  file.engine.memory = memory_habits(object);
  file.engine.offload = offload_habits(object);
  file.engine.load = load_habits(object);
  file.engine.serving = serving_habits(object);
  file.engine.residuals = residuals_of(object);
  for (const JsonObject& entry : objects(object, "default_for", selector_keys)) {
    file.default_for.push_back(selector_of(entry));
  }
  return file;
}

} // namespace readers

Engine read_engine(const std::filesystem::path& path) {
  return parse_engine(readers::read_text(path, readers::limits.bytes), path.string());
}

Engine parse_engine(std::string_view json, std::string_view name) {
  return readers::parse_engine_file(json, name).engine;
}

} // namespace tokenroof
