#include "report/table.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "tokenroof/text.hpp"

namespace tokenroof::report {

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  bool escaped = false;
  for (const char c : text) {
    const bool continues = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
    if (c == '\x1b') {
      escaped = true;
    } else if (escaped) {
      escaped = c != 'm';
    } else if (!continues) {
      ++width;
    }
  }
  return width;
}

namespace {

void trim_end(std::string& text) { text.erase(text.find_last_not_of(' ') + 1); }

/// Appends a cell that begins in column `start`, wrapped to end at `width`; further in than `indent` below the line so far
/// where too little is left of it.
void append_wrapped(std::string& out, std::string_view cell, std::size_t start, std::size_t indent, std::size_t width) {
  constexpr std::size_t least_room = 30;
  constexpr std::size_t step = 4;
  const std::size_t room = width > start ? width - start : 0;
  if (room >= least_room || display_width(cell) <= room) {
    out += wrap(cell, room, start);
    return;
  }
  trim_end(out);
  const std::size_t below = indent + step;
  out += '\n' + std::string(below, ' ') + wrap(cell, width > below ? width - below : 0, below);
}

} // namespace

std::string wrap(std::string_view text, std::size_t room, std::size_t indent) {
  std::string out;
  std::size_t used = 0;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const std::size_t wide = display_width(word);
    const bool breaks = used > 0 && used + 1 + wide > room;
    if (breaks) {
      out += '\n' + std::string(indent, ' ');
    } else if (used > 0) {
      out += ' ';
    }
    out += word;
    used = breaks ? wide : used + (used > 0 ? 1 : 0) + wide;
  }
  return out;
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths(columns_.size());
  for (const Row& row : rows_) {
    for (std::size_t i = 0; i < std::min(row.size(), widths.size()); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  }
  return widths;
}

/// A cell as wide as its column, with the gap to the next.
std::string Table::padded(const Row& row, std::size_t column, std::size_t width) const {
  const std::string padding(width - display_width(row[column]), ' ');
  const bool before_unit = column + 1 < columns_.size() && columns_[column + 1] == Align::unit;
  const std::string gap(before_unit ? 1 : 2, ' ');
  return (columns_[column] == Align::right ? padding + row[column] : row[column] + padding) + gap;
}

std::string Table::str(std::size_t indent, std::size_t width) const {
  const std::vector<std::size_t> column_widths = widths();
  std::string out;
  for (const Row& row : rows_) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < std::min(row.size(), column_widths.size()); ++i) {
      if (width > 0 && i + 1 == column_widths.size()) {
        append_wrapped(line, row[i], display_width(line), indent, width);
      } else {
        line += padded(row, i, column_widths[i]);
      }
    }
    trim_end(line);
    out += line + '\n';
  }
  return out;
}

std::string count_text(double count) {
  struct Prefix {
    double factor;
    std::string_view symbol;
  };
  constexpr std::array prefixes = {Prefix{1e12, " T"}, Prefix{1e9, " B"}, Prefix{1e6, " M"}, Prefix{1e3, " k"}};
  for (const Prefix& prefix : prefixes) {
    if (count >= prefix.factor * (1 - 0.5e-4)) {
      return number_text(count / prefix.factor) + std::string(prefix.symbol);
    }
  }
  return number_text(count);
}

std::string percent_text(double share) {
  const double percent = 100 * share;
  if (!std::isfinite(percent)) {
    return "absent";
  }
  if (percent > 0 && percent < 0.5) {
    return "< 1 %";
  }
  return number_text(percent, 0) + " %";
}

} // namespace tokenroof::report
