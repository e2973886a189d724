/// @file
/// The names closest to a misspelt one, for error messages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tokenroof {

/// Insertions, deletions and replacements of a character that turn one text into the other.
[[nodiscard]] inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]; // what row[j] held for the previous character of `a`
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

/// A way to write a name.
struct Spelling {
  std::string_view spelling;
  std::string_view name;
};

namespace detail {

/// Edits that turn `text` into the beginning of a name: "lama" is one from "llama-2-7b".
[[nodiscard]] inline std::size_t edits_to_beginning(std::string_view text, std::string_view name) {
  return std::min(edit_distance(text, name.substr(0, text.size())),
                  edit_distance(text, name.substr(0, text.size() + 1)));
}

/// The names of few edits by some measure, best first, each once.
template <class Edits>
[[nodiscard]] std::vector<std::string> names_within_edits(std::string_view text, std::span<const Spelling> known,
                                                          std::size_t most, Edits edits) {
  struct Found {
    std::size_t distance = 0;
    std::string_view name{};
  };
  std::vector<Found> found;
  const std::size_t most_edits = text.size() < 4 ? text.size() / 2 : std::max<std::size_t>(2, text.size() / 3);
  for (const Spelling& candidate : known) {
    const std::size_t distance = edits(candidate.spelling);
    if (distance <= most_edits && !text.empty()) {
      found.push_back({distance, candidate.name});
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.distance < b.distance; });
  std::vector<std::string> names;
  for (const Found& candidate : found) {
    if (names.size() < most && std::find(names.begin(), names.end(), candidate.name) == names.end()) {
      names.emplace_back(candidate.name);
    }
  }
  return names;
}

} // namespace detail

/// The names whose spellings come closest to `text`, best first: those that begin with it, then those of few edits; where
/// there is none, those that begin with something of few edits. None that differs in more than a third of the text, or in
/// two characters of a short one.
[[nodiscard]] inline std::vector<std::string> nearest_names(std::string_view text, std::span<const Spelling> known,
                                                            std::size_t most = 5) {
  constexpr std::size_t longest = 128; // a name is shorter; a hostile text must not cost more
  text = text.substr(0, longest);
  std::vector<std::string> names = detail::names_within_edits(text, known, most, [&](std::string_view spelling) {
    return text.size() > 1 && spelling.starts_with(text) ? 0 : edit_distance(text, spelling);
  });
  if (names.empty()) {
    names = detail::names_within_edits(
        text, known, most, [&](std::string_view spelling) { return detail::edits_to_beginning(text, spelling); });
  }
  return names;
}

/// The same where each name is its own and only spelling.
[[nodiscard]] inline std::vector<std::string>
nearest_names(std::string_view text, std::span<const std::string_view> known, std::size_t most = 5) {
  std::vector<Spelling> spellings;
  spellings.reserve(known.size());
  for (const std::string_view name : known) {
    spellings.push_back({name, name});
  }
  return nearest_names(text, spellings, most);
}

/// The end of a message: "; nearest: a, b", or nothing where there is none.
[[nodiscard]] inline std::string nearest_as_text(std::span<const std::string> names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "; nearest: " : ", ") + name;
  }
  return text;
}

} // namespace tokenroof
