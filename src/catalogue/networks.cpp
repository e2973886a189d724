#include "tokenroof/catalogue/networks.hpp"

#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include <nlohmann/json.hpp>

#include "catalogue/embedded_files.hpp"
#include "readers/json_file.hpp"
#include "readers/network.hpp"
#include "tokenroof/errors.hpp"
#include "tokenroof/nearest.hpp"

namespace tokenroof::catalogue {

namespace {

using nlohmann::json;

/// A file of the catalogue; the network itself is made when it is first asked for.
struct Slot {
  NetworkEntry entry{};
  json config{};
  std::once_flag read{};
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Letters and digits in lower case, and points between digits: "Llama-3.1-8B" is not "Llama-31-8B".
std::string normalised(std::string_view text) {
  std::string kept;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] - 'A' + 'a') : text[i];
    const bool inner = i > 0 && i + 1 < text.size() && is_digit(text[i - 1]) && is_digit(text[i + 1]);
    if (is_digit(c) || (c >= 'a' && c <= 'z') || (c == '.' && inner)) {
      kept += c;
    }
  }
  return kept;
}

/// The name of a repository without its owner.
std::string_view without_owner(std::string_view name) { return name.substr(name.find_last_of('/') + 1); }

class Index {
public:
  Index() {
    for (const EmbeddedFile& file : embedded_files("networks/")) {
      add(file);
    }
  }

  [[nodiscard]] const std::deque<Slot>& slots() const { return slots_; }

  [[nodiscard]] Slot* find(std::string_view id) {
    for (const std::string_view text : {id, without_owner(id)}) {
      const auto found = spellings_.find(normalised(text));
      if (found != spellings_.end()) {
        return found->second;
      }
    }
    return nullptr;
  }

  [[noreturn]] void throw_unknown(std::string_view id) const { throw UnknownNetwork(std::string(id), nearest_to(id)); }

private:
  void add(const EmbeddedFile& file) {
    const json document = readers::parse_json(file.text, file.path);
    Slot& slot = slots_.emplace_back();
    slot.config = document.at("config");
    NetworkEntry& entry = slot.entry;
    entry.id = document.at("id");
    entry.aliases = document.at("aliases").get<std::vector<std::string>>();
    entry.source = document.at("source");
    entry.date = document.at("date");
    entry.confidence = document.at("confidence");
    if (const auto published = document.find("parameters"); published != document.end()) {
      entry.published_parameters = published->at("total").get<Count>();
      entry.published_parameters_source = published->at("source");
    }
    spell(slot, entry.id);
    for (const std::string& alias : entry.aliases) {
      spell(slot, alias);
      spell(slot, without_owner(alias));
    }
  }

  void spell(Slot& slot, std::string_view name) { spellings_.emplace(normalised(name), &slot); }

  [[nodiscard]] std::vector<std::string> nearest_to(std::string_view id) const {
    std::vector<Spelling> known;
    for (const auto& [spelling, slot] : spellings_) {
      known.push_back({spelling, slot->entry.id});
    }
    return nearest_names(normalised(without_owner(id)), known);
  }

  std::deque<Slot> slots_{};
  std::map<std::string, Slot*, std::less<>> spellings_{};
};

/// Built at first use; afterwards only `Slot::read` changes what it holds, once each.
Index& index() {
  static Index built;
  return built;
}

void read(Slot& slot) {
  NetworkReading reading = readers::examine_config(slot.config, "networks/" + slot.entry.id + ".json", slot.entry.id);
  slot.entry.network = std::move(reading.network);
  slot.entry.weights = reading.weights;
  slot.entry.assumptions = std::move(reading.assumptions);
}

} // namespace

const NetworkEntry* find_network_entry(std::string_view id) {
  Slot* const slot = index().find(id);
  if (slot == nullptr) {
    return nullptr;
  }
  std::call_once(slot->read, read, *slot);
  return &slot->entry;
}

const NetworkEntry& network_entry(std::string_view id) {
  const NetworkEntry* const entry = find_network_entry(id);
  if (entry == nullptr) {
    index().throw_unknown(id);
  }
  return *entry;
}

Shared<Network> network(std::string_view id) { return network_entry(id).network; }

std::vector<std::string> network_ids() {
  std::vector<std::string> ids;
  for (const Slot& slot : index().slots()) {
    ids.push_back(slot.entry.id);
  }
  return ids;
}

} // namespace tokenroof::catalogue
