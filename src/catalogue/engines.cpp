#include "tokenroof/catalogue/engines.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "catalogue/embedded_files.hpp"
#include "readers/engine_file.hpp"
#include "tokenroof/errors.hpp"
#include "tokenroof/nearest.hpp"

namespace tokenroof::catalogue {
namespace {

/// An engine in one version.
struct Entry {
  Shared<Engine> engine{};
  std::vector<std::string> spellings{}; ///< of id and aliases, normalised
  std::vector<readers::DeviceSelector> default_for{};
  std::string date{};
  std::string_view file{};
};

/// Letters and digits, in lower case: "TensorRT-LLM" is "tensorrtllm".
std::string normalised(std::string_view text) {
  constexpr std::size_t longest = 96; // an id is shorter; a hostile text must not cost more
  std::string result;
  for (const char written : text.substr(0, longest)) {
    const char c = written >= 'A' && written <= 'Z' ? static_cast<char>(written - 'A' + 'a') : written;
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      result += c;
    }
  }
  return result;
}

Entry parsed(const EmbeddedFile& file) {
  readers::EngineFile parts = readers::parse_engine_file(file.text, file.path);
  Entry entry{.default_for = std::move(parts.default_for), .date = std::move(parts.date), .file = file.text};
  entry.spellings.push_back(normalised(parts.engine.id));
  for (const std::string& alias : parts.aliases) {
    entry.spellings.push_back(normalised(alias));
  }
  entry.engine = std::move(parts.engine);
  return entry;
}

/// All of them, by id and then newest first; parsed when first asked for.
const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = [] {
    std::vector<Entry> result{{.engine = roofline_engine(), .spellings = {"roofline"}}};
    for (const EmbeddedFile& file : embedded_files("engines/")) {
      result.push_back(parsed(file));
    }
    std::stable_sort(result.begin(), result.end(), [](const Entry& a, const Entry& b) {
      const int order = a.engine->id.view().compare(b.engine->id.view());
      return order != 0 ? order < 0 : a.date > b.date;
    });
    return result;
  }();
  return all;
}

/// 0.19.1 belongs to 0.19, 0.190 does not.
bool belongs_to(std::string_view version, std::string_view known) {
  return version == known || (version.starts_with(known) && version[known.size()] == '.' && !known.empty());
}

[[noreturn]] void throw_unknown(std::string_view id, std::string_view name) {
  std::vector<Spelling> known;
  for (const Entry& entry : entries()) {
    for (const std::string& spelling : entry.spellings) {
      known.push_back({spelling, entry.engine->id.view()});
    }
  }
  throw UnknownEngine(std::string(id.substr(0, 128)), nearest_names(normalised(name), known));
}

const Entry& find(std::string_view id) {
  const std::size_t at = id.rfind('@');
  const std::string_view name = id.substr(0, at);
  const std::string spelling = normalised(name);
  std::string_view engine_id; // aliases stand in the newest version's file only
  for (const Entry& entry : entries()) {
    if (std::find(entry.spellings.begin(), entry.spellings.end(), spelling) != entry.spellings.end()) {
      engine_id = entry.engine->id;
      break;
    }
  }
  if (engine_id.empty()) {
    throw_unknown(id, name);
  }
  std::vector<std::string> versions;
  for (const Entry& entry : entries()) {
    if (entry.engine->id != engine_id) {
      continue;
    }
    if (at == std::string_view::npos || belongs_to(id.substr(at + 1), entry.engine->version)) {
      return entry;
    }
    versions.push_back(versioned_id(*entry.engine));
  }
  throw UnknownEngine(std::string(id.substr(0, 128)), std::move(versions));
}

} // namespace

std::string versioned_id(const Engine& engine) {
  const std::string id(engine.id.view());
  return engine.version.empty() ? id : id + "@" + std::string(engine.version.view());
}

Shared<Engine> engine(std::string_view id) { return find(id).engine; }

Shared<Engine> default_engine(const Device& device) {
  const Entry* best = nullptr;
  int most = 0;
  for (const Entry& entry : entries()) {
    for (const readers::DeviceSelector& selector : entry.default_for) {
      if (const int close = closeness(selector.family, selector.device_class, device); close > most) {
        most = close;
        best = &entry;
      }
    }
  }
  return best != nullptr ? best->engine : roofline_engine();
}

std::vector<std::string> engine_ids() {
  std::vector<std::string> ids;
  for (const Entry& entry : entries()) {
    ids.emplace_back(entry.engine->id.view());
  }
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

std::vector<std::string> engine_versions() {
  std::vector<std::string> names;
  for (const Entry& entry : entries()) {
    names.push_back(versioned_id(*entry.engine));
  }
  return names;
}

std::string_view engine_file(std::string_view id) { return find(id).file; }

} // namespace tokenroof::catalogue
