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

std::string Table::str(std::size_t indent) const {
  std::vector<std::size_t> widths(columns_.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < std::min(row.size(), widths.size()); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  }
  std::string out;
  for (const auto& row : rows_) {
    out.append(indent, ' ');
    for (std::size_t i = 0; i < std::min(row.size(), widths.size()); ++i) {
      const std::size_t padding = widths[i] - display_width(row[i]);
      const bool before_unit = i + 1 < columns_.size() && columns_[i + 1] == Align::unit;
      out.append(columns_[i] == Align::right ? padding : 0, ' ');
      out += row[i];
      out.append((columns_[i] == Align::right ? 0 : padding) + (before_unit ? 1 : 2), ' ');
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
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
