#include "validation/aliases.hpp"

#include <algorithm>
#include <charconv>

#include <nlohmann/json.hpp>

#include "catalogue/embedded_files.hpp"
#include "readers/json_file.hpp"
#include "tokenroof/errors.hpp"

namespace tokenroof::validation {

namespace {

using nlohmann::json;

constexpr std::string_view path = "aliases.json";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::vector<std::string> texts(const json& object, const char* key) {
  return object.value(key, json::array()).get<std::vector<std::string>>();
}

std::vector<std::string> normalised_texts(const json& object, const char* key) {
  std::vector<std::string> all = texts(object, key);
  std::transform(all.begin(), all.end(), all.begin(), normalised);
  return all;
}

std::optional<double> number(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() ? std::optional(found->get<double>()) : std::nullopt;
}

Alias alias_of(const json& object) {
  return {.means = object.value("means", ""),
          .names = normalised_texts(object, "names"),
          .networks = texts(object, "networks"),
          .sources = texts(object, "sources")};
}

EngineAlias engine_of(const json& object) {
  return {.means = object.at("means"),
          .frameworks = normalised_texts(object, "frameworks"),
          .backends = normalised_texts(object, "backends"),
          .device_classes = texts(object, "device_classes"),
          .sources = texts(object, "sources"),
          .before = version_numbers(object.value("before", "")),
          .reserves_context = object.value("reserves_context", false)};
}

template <std::size_t Count>
std::size_t index_of(std::string_view name, const std::array<std::string_view, Count>& names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw ParseError(std::string(path), std::string(name), "is not known");
  }
  return static_cast<std::size_t>(found - names.begin());
}

SettingText setting_of(const json& object) {
  constexpr std::array<std::string_view, setting_count> names = {
      "batched_tokens", "kv_block",       "context",          "tensor",      "pipeline",           "data",
      "device_index",   "expanded_cache", "attention_scores", "mean_length", "requests_per_client"};
  return {.text = object.at("text"),
          .setting = static_cast<Setting>(index_of(object.at("means").get<std::string>(), names)),
          .value = number(object, "value"),
          .equals = number(object, "equals")};
}

double unit_of(std::string_view name) {
  constexpr std::array<std::string_view, 10> names = {"", "B", "KiB", "MiB", "MB", "GiB", "GB", "ms", "s", "tok/s"};
  constexpr std::array<double, 10> factors = {1, 1, 0x1p10, 0x1p20, 1e6, 0x1p30, 1e9, 1e-3, 1, 1};
  return factors[index_of(name, names)];
}

Reading reading_of(const json& object) {
  Reading reading{.metric = object.at("metric"),
                  .notes = object.value("notes", ""),
                  .frameworks = normalised_texts(object, "frameworks"),
                  .unit = unit_of(object.value("unit", "")),
                  .unit_is_certain = object.value("unit_is_certain", false),
                  .reason = object.value("reason", "")};
  if (const auto means = object.find("means"); means != object.end()) {
    reading.quantity = find_quantity(means->get<std::string>());
    if (!reading.quantity) {
      throw ParseError(std::string(path), means->get<std::string>(), "is no quantity");
    }
  }
  return reading;
}

template <class Of>
auto list(const json& document, const char* key, Of&& of) {
  std::vector<decltype(of(document))> all;
  for (const json& object : document.at(key)) {
    all.push_back(of(object));
  }
  return all;
}

Aliases parsed() {
  const json document = readers::parse_json(catalogue::embedded_file(path).value(), path);
  return {.devices = list(document, "devices", alias_of),
          .networks = list(document, "networks", alias_of),
          .weight_formats = list(document, "weight_formats", alias_of),
          .kv_formats = list(document, "kv_formats", alias_of),
          .network_prefixes = list(document, "network_prefixes", alias_of),
          .network_suffixes = list(document, "network_suffixes", alias_of),
          .engines = list(document, "engines", engine_of),
          .settings = list(document, "settings", setting_of),
          .readings = list(document, "readings", reading_of)};
}

/// The number with which a text begins, spaces in front allowed.
std::optional<double> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

/// The number behind the first place where the notes hold a text at the beginning of a word.
std::optional<double> number_behind(std::string_view notes, std::string_view text) {
  for (std::size_t at = notes.find(text); at != std::string_view::npos; at = notes.find(text, at + 1)) {
    const char before = at > 0 ? notes[at - 1] : ' ';
    if (!is_letter(before) && !is_digit(before) && before != '_') {
      if (const auto number = leading_number(notes.substr(at + text.size()))) {
        return number;
      }
    }
  }
  return std::nullopt;
}

std::optional<double> stated_by(const SettingText& known, std::string_view notes) {
  if (known.value) {
    return notes.find(known.text) != std::string_view::npos ? known.value : std::nullopt;
  }
  const std::optional<double> number = number_behind(notes, known.text);
  return number && known.equals ? std::optional<double>(*number == *known.equals ? 1 : 0) : number;
}

} // namespace

std::string normalised(std::string_view text) {
  std::string kept;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool between_digits = i > 0 && i + 1 < text.size() && is_digit(text[i - 1]) && is_digit(text[i + 1]);
    if (is_letter(text[i])) {
      kept += static_cast<char>(text[i] | 0x20); // in lower case
    } else if (is_digit(text[i]) || text[i] == '+' || (text[i] == '.' && between_digits)) {
      kept += text[i];
    }
  }
  return kept;
}

bool is_of_source(const std::vector<std::string>& sources, std::string_view source) {
  return sources.empty() || std::any_of(sources.begin(), sources.end(), [&](const std::string& text) {
           return source.find(text) != std::string_view::npos;
         });
}

const Aliases& aliases() {
  static const Aliases all = parsed();
  return all;
}

std::vector<double> version_numbers(std::string_view text) {
  std::vector<double> numbers;
  std::size_t at = text.find_first_of("0123456789");
  while (at < text.size() && is_digit(text[at])) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
    double number = 0;
    std::from_chars(text.data() + at, text.data() + end, number, std::chars_format::fixed);
    numbers.push_back(number);
    at = end < text.size() && text[end] == '.' ? end + 1 : text.size();
  }
  return numbers;
}

Settings settings_in(std::string_view notes) {
  Settings settings{};
  for (const SettingText& known : aliases().settings) {
    std::optional<double>& setting = settings[static_cast<std::size_t>(known.setting)];
    if (!setting) {
      setting = stated_by(known, notes);
    }
  }
  return settings;
}

const Reading* find_reading(std::string_view metric, std::string_view notes, std::string_view framework) {
  const std::string engine = normalised(framework);
  for (const Reading& reading : aliases().readings) {
    const bool same_engine =
        reading.frameworks.empty() ||
        std::find(reading.frameworks.begin(), reading.frameworks.end(), engine) != reading.frameworks.end();
    if (reading.metric == metric && same_engine && notes.find(reading.notes) != std::string_view::npos) {
      return &reading;
    }
  }
  return nullptr;
}

} // namespace tokenroof::validation
