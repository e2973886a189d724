#include "readers/json_file.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <system_error>
#include <vector>

#include "tokenroof/errors.hpp"

namespace tokenroof::readers {
namespace {

std::string at_byte(std::size_t position) { return "byte " + std::to_string(position); }

/// Index after the string that opens at `open`, or the text's length if it never closes.
std::size_t end_of_string(std::string_view text, std::size_t open) {
  for (std::size_t i = open + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return text.size();
}

/// Rejects what would be too large as a tree. Looks at brackets, commas and quotes only: the parser does the rest.
void check_shape(std::string_view text, std::string_view name, const JsonLimits& limits) {
  std::size_t depth = 0;
  std::size_t values = 1;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"') {
      i = end_of_string(text, i);
      continue;
    }
    if (c == '[' || c == '{') {
      ++depth;
      ++values;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    } else if (c == ',') {
      ++values;
    }
    if (depth > limits.depth) {
      throw ParseError(std::string(name), at_byte(i), "nested deeper than " + std::to_string(limits.depth) + " levels");
    }
    if (values > limits.values) {
      throw ParseError(std::string(name), at_byte(i), "more than " + std::to_string(limits.values) + " values");
    }
    ++i;
  }
}

/// A text whose bare NaN and infinities are in quotes, and the way back from its positions to the original's.
struct StandardText {
  std::string text;
  std::vector<std::size_t> inserted{}; ///< positions in `text` where a quote was added

  [[nodiscard]] std::size_t original(std::size_t position) const {
    const auto added = std::lower_bound(inserted.begin(), inserted.end(), position) - inserted.begin();
    return position - static_cast<std::size_t>(added);
  }
};

StandardText without_non_finite(std::string_view text) {
  constexpr std::array<std::string_view, 3> tokens = {"NaN", "Infinity", "-Infinity"};
  StandardText result;
  result.text.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const auto token =
        std::find_if(tokens.begin(), tokens.end(), [&](std::string_view t) { return text.substr(i, t.size()) == t; });
    if (token != tokens.end()) {
      result.inserted.push_back(result.text.size());
      result.text += '"' + std::string(*token) + '"';
      result.inserted.push_back(result.text.size() - 1);
      i += token->size();
      continue;
    }
    const std::size_t end = text[i] == '"' ? end_of_string(text, i) : i + 1;
    result.text += text.substr(i, end - i);
    i = end;
  }
  return result;
}

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// The parser's message without its own name and position: "[json.exception…] parse error at line 1, column 2: <this>".
/// It quotes what was read last, which may be all of the file.
std::string reason(const nlohmann::json::exception& error) {
  constexpr std::size_t most = 200;
  const std::string_view what = error.what();
  const std::size_t column = what.find("column ");
  const std::size_t start = column == std::string_view::npos ? what.find("] ") : what.find(": ", column);
  const std::string_view text = start == std::string_view::npos ? what : what.substr(start + 2);
  if (text.size() <= most) {
    return std::string(text);
  }
  std::size_t end = most;
  while (end > 0 && continues_character(text[end])) {
    --end;
  }
  return std::string(text.substr(0, end)) + "...";
}

} // namespace

std::string read_text(const std::filesystem::path& path, std::size_t most_bytes) {
  std::error_code ignored;
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path, ignored)) {
    throw ParseError(path.string(), "", "cannot be opened as a file");
  }
  std::string text;
  std::array<char, 65536> chunk{};
  while (file.read(chunk.data(), chunk.size()), file.gcount() > 0) {
    text.append(chunk.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > most_bytes) {
      throw ParseError(path.string(), at_byte(most_bytes), "larger than " + std::to_string(most_bytes) + " bytes");
    }
  }
  if (file.bad()) {
    throw ParseError(path.string(), at_byte(text.size()), "cannot be read");
  }
  return text;
}

nlohmann::json parse_json(std::string_view text, std::string_view name, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    throw ParseError(std::string(name), at_byte(limits.bytes),
                     "larger than " + std::to_string(limits.bytes) + " bytes");
  }
  check_shape(text, name, limits);
  StandardText standard;
  if (limits.allow_non_finite) {
    standard = without_non_finite(text);
    text = standard.text;
  }
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    throw ParseError(std::string(name), at_byte(standard.original(error.byte)), reason(error));
  } catch (const nlohmann::json::exception& error) {
    throw ParseError(std::string(name), "", reason(error));
  }
}

nlohmann::json read_json(const std::filesystem::path& path, const JsonLimits& limits) {
  return parse_json(read_text(path, limits.bytes), path.string(), limits);
}

} // namespace tokenroof::readers
