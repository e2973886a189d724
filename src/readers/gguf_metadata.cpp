#include "readers/gguf_metadata.hpp"

#include <algorithm>

#include "tokenroof/errors.hpp"

namespace tokenroof::readers {
namespace {

constexpr std::int64_t most = std::int64_t{1} << 40;
constexpr std::size_t longest_architecture = 64;

bool is_word(std::string_view text) {
  return !text.empty() && text.size() <= longest_architecture &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

} // namespace

GgufMetadata::GgufMetadata(const GgufFile& file) : file_(file) {
  architecture_ = text("general.architecture");
  if (!is_word(architecture_)) {
    throw ParseError(file.path, "general.architecture", "is missing, or no word");
  }
}

const GgufValue* GgufMetadata::find(std::string_view whole_key) const {
  const auto found = file_.metadata.find(whole_key);
  return found == file_.metadata.end() ? nullptr : &found->second;
}

std::optional<Count> GgufMetadata::find_count(std::string_view fact, Count layer) const {
  const GgufValue* value = find(key(fact));
  if (value == nullptr) {
    return std::nullopt;
  }
  std::int64_t number = 0;
  if (const auto* one = std::get_if<std::int64_t>(value)) {
    number = *one;
  } else if (const auto* list = std::get_if<GgufArray>(value); list != nullptr && !list->flags) {
    if (layer >= static_cast<Count>(list->integers.size())) {
      throw InvalidSpec(key(fact), std::to_string(list->count) + " values",
                        "has none for layer " + std::to_string(layer));
    }
    number = list->integers[static_cast<std::size_t>(layer)];
  } else {
    throw ParseError(path(), key(fact), "is neither a whole number nor a list of them");
  }
  if (number < 0 || number > most) {
    throw InvalidSpec(key(fact), std::to_string(number), "must lie between 0 and 2^40");
  }
  return number;
}

Count GgufMetadata::count(std::string_view fact, Count layer) const {
  const std::optional<Count> found = find_count(fact, layer);
  if (!found) {
    throw ParseError(path(), key(fact), "is missing");
  }
  if (*found == 0) {
    throw InvalidSpec(key(fact), "0", "must be positive");
  }
  return *found;
}

std::optional<std::vector<bool>> GgufMetadata::flags(std::string_view fact, Count layers) const {
  const GgufValue* value = find(key(fact));
  const auto* list = value == nullptr ? nullptr : std::get_if<GgufArray>(value);
  if (list == nullptr) {
    return std::nullopt;
  }
  if (static_cast<Count>(list->integers.size()) < layers) {
    throw InvalidSpec(key(fact), std::to_string(list->count) + " values",
                      "must have one for each of " + std::to_string(layers) + " layers");
  }
  std::vector<bool> result;
  for (Count layer = 0; layer < layers; ++layer) {
    result.push_back(list->integers[static_cast<std::size_t>(layer)] != 0);
  }
  return result;
}

std::optional<bool> GgufMetadata::flag(std::string_view fact) const {
  const GgufValue* value = find(key(fact));
  if (value == nullptr) {
    return std::nullopt;
  }
  const auto* flag = std::get_if<bool>(value);
  if (flag == nullptr) {
    throw ParseError(path(), key(fact), "is no flag");
  }
  return *flag;
}

std::string GgufMetadata::text(std::string_view whole_key) const {
  const GgufValue* value = find(whole_key);
  const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(value);
  return text == nullptr ? std::string() : *text;
}

std::uint64_t GgufMetadata::list_length(std::string_view whole_key) const {
  const GgufValue* value = find(whole_key);
  const auto* list = value == nullptr ? nullptr : std::get_if<GgufArray>(value);
  return list == nullptr ? 0 : list->count;
}

std::optional<std::int64_t> GgufMetadata::number(std::string_view whole_key) const {
  const GgufValue* value = find(whole_key);
  const auto* number = value == nullptr ? nullptr : std::get_if<std::int64_t>(value);
  return number == nullptr ? std::nullopt : std::optional(*number);
}

} // namespace tokenroof::readers
