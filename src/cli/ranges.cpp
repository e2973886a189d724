#include "cli/ranges.hpp"

#include <charconv>
#include <limits>
#include <string>
#include <system_error>

#include "tokenroof/errors.hpp"

namespace tokenroof::cli {

namespace {

using Value = std::int64_t;

/// How one value of a range leads to the next.
struct Progression {
  Value step = 1;
  bool multiplies = false;

  /// The value after `value`, or nothing sensible above `last`: one beyond it where it would overflow.
  [[nodiscard]] Value after(Value value, Value last) const {
    if (multiplies) {
      return value > last / step ? last + 1 : value * step;
    }
    return value > last - step ? last + 1 : value + step;
  }
};

class List {
public:
  List(std::string_view field, std::string_view text) : field_(field), text_(text) {}

  [[nodiscard]] std::vector<Value> values() && {
    std::string_view rest = text_;
    while (true) {
      const std::size_t comma = rest.find(',');
      item(rest.substr(0, comma));
      if (comma == std::string_view::npos) {
        return std::move(values_);
      }
      rest.remove_prefix(comma + 1);
    }
  }

private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw InvalidSpec(std::string(field_), '\'' + std::string(text_.substr(0, 80)) + '\'', reason);
  }

  [[nodiscard]] Value number(std::string_view text) const {
    Value value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (text.empty() || stop != end || error != std::errc()) {
      fail('\'' + std::string(text.substr(0, 40)) + "' is not a whole number; lists look like 1,2,4..64, ranges like " +
           "512..131072*2 or 0..4096+512");
    }
    // Far above any axis's own limit; keeps the arithmetic below from overflowing.
    constexpr Value most = std::numeric_limits<Value>::max() / 2;
    if (value < -most || value > most) {
      fail("'" + std::string(text) + "' is out of range");
    }
    return value;
  }

  void push(Value value) {
    if (values_.size() == most_values) {
      fail("has more than " + std::to_string(most_values) + " values");
    }
    values_.push_back(value);
  }

  void item(std::string_view text) {
    const std::size_t dots = text.find("..");
    if (dots == std::string_view::npos) {
      push(number(text));
      return;
    }
    const std::string_view upper = text.substr(dots + 2);
    const std::size_t sign = upper.find_first_of("+*");
    const Value first = number(text.substr(0, dots));
    const Value last = number(upper.substr(0, sign));
    const Progression progression = sign == std::string_view::npos
                                        ? continued(first)
                                        : Progression{number(upper.substr(sign + 1)), upper[sign] == '*'};
    range(first, last, progression);
  }

  /// The progression that the values before a range are in.
  [[nodiscard]] Progression continued(Value first) const {
    if (values_.empty()) {
      return {};
    }
    if (values_.size() >= 2) {
      const Value second = values_.back();
      const Value start = values_[values_.size() - 2];
      if (second > start && first - second == second - start) {
        return {.step = second - start};
      }
      if (start > 0 && second > start && second % start == 0 && first % second == 0 &&
          first / second == second / start) {
        return {.step = second / start, .multiplies = true};
      }
    }
    fail("the values before '" + std::to_string(first) +
         "..' neither grow by one step nor by one whole ratio; write it out: A..B+STEP or A..B*RATIO");
  }

  void range(Value first, Value last, const Progression& progression) {
    if (last < first) {
      fail("the range from " + std::to_string(first) + " to " + std::to_string(last) + " is empty");
    }
    if (progression.step < (progression.multiplies ? 2 : 1)) {
      fail(progression.multiplies ? "a ratio must be 2 or more" : "a step must be 1 or more");
    }
    if (progression.multiplies && first < 1) {
      fail("a range that multiplies must start at 1 or above");
    }
    for (Value value = first; value <= last; value = progression.after(value, last)) {
      push(value);
    }
  }

  std::string_view field_;
  std::string_view text_;
  std::vector<Value> values_{};
};

} // namespace

std::vector<std::int64_t> parse_values(std::string_view field, std::string_view text) {
  return List(field, text).values();
}

} // namespace tokenroof::cli
