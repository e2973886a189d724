#include "readers/name_pattern.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tokenroof::readers {
namespace {

using Instruction = NamePattern::Instruction;
using Kind = Instruction::Kind;
using Program = std::vector<Instruction>;
using Characters = std::bitset<256>;

constexpr int deepest_group = 32;

std::int32_t length(const Program& program) { return static_cast<std::int32_t>(program.size()); }

void append(Program& program, const Program& more) { program.insert(program.end(), more.begin(), more.end()); }

std::size_t code(char c) { return static_cast<unsigned char>(c); }

Characters one(char c) {
  Characters set;
  set.set(code(c));
  return set;
}

Characters range(char first, char last) {
  Characters set;
  for (std::size_t c = code(first); c <= code(last); ++c) {
    set.set(c);
  }
  return set;
}

Program of(const Characters& set) {
  return {Instruction{.kind = Kind::set, .set = std::make_shared<const Characters>(set)}};
}

Program of(Kind kind) { return {Instruction{.kind = kind}}; }

Program of(char c) { return {Instruction{.kind = Kind::character, .character = c}}; }

Program either(const Program& a, const Program& b) {
  Program program = {Instruction{.kind = Kind::split, .to = length(a) + 2}};
  append(program, a);
  program.push_back({.kind = Kind::jump, .to = length(b) + 1});
  append(program, b);
  return program;
}

Program optional(const Program& body) {
  Program program = {Instruction{.kind = Kind::split, .to = length(body) + 1}};
  append(program, body);
  return program;
}

Program repeated(Program body) {
  body.push_back({.kind = Kind::split, .to = -length(body)});
  return body;
}

Program any_number(const Program& body) { return optional(repeated(body)); }

Program literal(std::string_view text) {
  Program program;
  for (const char c : text) {
    append(program, of(c));
  }
  return program;
}

/// Recursive descent over the regular expressions that files use; nothing where there is more to one.
class Expression {
public:
  explicit Expression(std::string_view text) : text_(text) {}

  std::optional<Program> parse() {
    auto program = alternatives(0);
    return program && at_ == text_.size() ? std::move(program) : std::nullopt;
  }

private:
  [[nodiscard]] bool more() const { return at_ < text_.size(); }
  [[nodiscard]] bool next_is(char c) const { return more() && text_[at_] == c; }
  bool take(char c) {
    const bool taken = next_is(c);
    at_ += taken ? 1 : 0;
    return taken;
  }

  std::optional<Program> alternatives(int depth) {
    auto program = sequence(depth);
    while (program && take('|')) {
      const auto other = sequence(depth);
      program = other ? std::optional(either(*program, *other)) : std::nullopt;
    }
    return program;
  }

  std::optional<Program> sequence(int depth) {
    Program program;
    while (more() && !next_is('|') && !next_is(')')) {
      auto item = atom(depth);
      if (!item) {
        return std::nullopt;
      }
      append(program, quantified(std::move(*item)));
    }
    return program;
  }

  Program quantified(Program body) {
    if (take('*')) {
      body = any_number(body);
    } else if (take('+')) {
      body = repeated(std::move(body));
    } else if (take('?')) {
      return optional(body);
    } else {
      return body;
    }
    take('?'); // whether it matches does not depend on greed
    return body;
  }

  std::optional<Program> atom(int depth) {
    const char c = text_[at_++];
    switch (c) {
    case '(':
      return group(depth);
    case '[':
      return bracket();
    case '\\':
      return escaped();
    case '.':
      return of(Kind::any);
    case '^':
      return of(Kind::at_start);
    case '$':
      return of(Kind::at_end);
    case '*':
    case '+':
    case '?':
    case '{':
      return std::nullopt;
    default:
      return of(c);
    }
  }

  std::optional<Program> group(int depth) {
    if (depth >= deepest_group || (take('?') && !take(':'))) {
      return std::nullopt;
    }
    auto program = alternatives(depth + 1);
    return program && take(')') ? std::move(program) : std::nullopt;
  }

  std::optional<Characters> escape() {
    if (!more()) {
      return std::nullopt;
    }
    const char c = text_[at_++];
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (c == 'd') {
      return range('0', '9');
    }
    if (c == 'w') {
      return range('a', 'z') | range('A', 'Z') | range('0', '9') | one('_');
    }
    return word ? std::nullopt : std::optional(one(c));
  }

  std::optional<Program> escaped() {
    const auto set = escape();
    return set ? std::optional(of(*set)) : std::nullopt;
  }

  std::optional<Program> bracket() {
    Characters set;
    const bool negated = take('^');
    do {
      if (!more()) {
        return std::nullopt;
      }
      const char first = text_[at_++];
      const auto member = first == '\\' ? escape() : std::optional(one(first));
      if (!member) {
        return std::nullopt;
      }
      set |= *member;
      if (next_is('-') && at_ + 1 < text_.size() && text_[at_ + 1] != ']') {
        set |= range(first, text_[at_ + 1]);
        at_ += 2;
      }
    } while (!take(']'));
    return of(negated ? ~set : set);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Program glob(std::string_view text) {
  Program program;
  for (const char c : text) {
    append(program, c == '*' ? any_number(of(Kind::any)) : c == '?' ? of(Kind::any) : of(c));
  }
  append(program, of(Kind::at_boundary));
  return program;
}

/// The name at the beginning, or after a dot.
Program plain(std::string_view text) {
  Program within = any_number(of(Kind::any));
  append(within, of('.'));
  Program program = optional(within);
  append(program, literal(text));
  append(program, of(Kind::at_boundary));
  return program;
}

/// All states that a name has led to so far.
class States {
public:
  States(const Program& program, std::string_view name) : program_(program), name_(name), seen_(program.size()) {}

  /// Adds a state and those that follow from it without a character; true if the program accepts.
  bool add(std::size_t state, std::size_t at) {
    pending_.push_back(state);
    while (!pending_.empty()) {
      const std::size_t next = pending_.back();
      pending_.pop_back();
      if (seen_[next] == at + 1) {
        continue;
      }
      seen_[next] = at + 1;
      if (follow(next, at)) {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] std::vector<std::size_t> take() { return std::exchange(waiting_, {}); }

private:
  bool follow(std::size_t state, std::size_t at) {
    const Instruction& instruction = program_[state];
    const auto target = [&] { return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(state) + instruction.to); };
    switch (instruction.kind) {
    case Kind::accept:
      return true;
    case Kind::any:
    case Kind::character:
    case Kind::set:
      waiting_.push_back(state);
      return false;
    case Kind::jump:
      pending_.push_back(target());
      return false;
    case Kind::split:
      pending_.push_back(target());
      pending_.push_back(state + 1);
      return false;
    default:
      if (holds(instruction.kind, at)) {
        pending_.push_back(state + 1);
      }
      return false;
    }
  }

  [[nodiscard]] bool holds(Kind kind, std::size_t at) const {
    if (kind == Kind::at_start) {
      return at == 0;
    }
    return at == name_.size() || (kind == Kind::at_boundary && name_[at] == '.');
  }

  const Program& program_;
  std::string_view name_;
  std::vector<std::size_t> seen_;
  std::vector<std::size_t> pending_{};
  std::vector<std::size_t> waiting_{};
};

bool takes(const Instruction& instruction, char c) {
  switch (instruction.kind) {
  case Kind::any:
    return true;
  case Kind::character:
    return instruction.character == c;
  default:
    return instruction.set->test(code(c));
  }
}

bool spend(MatchBudget& budget, std::size_t steps) {
  const bool enough = budget.steps >= steps;
  budget.steps -= enough ? steps : budget.steps;
  return enough;
}

} // namespace

std::optional<NamePattern> NamePattern::parse(std::string_view text) {
  constexpr std::string_view expression = "re:";
  if (text.empty() || text.size() > most_bytes) {
    return std::nullopt;
  }
  std::optional<Program> program;
  if (text.starts_with(expression)) {
    program = Expression(text.substr(expression.size())).parse();
  } else {
    program = text.find_first_of("*?") == std::string_view::npos ? plain(text) : glob(text);
  }
  if (!program) {
    return std::nullopt;
  }
  program->push_back({.kind = Kind::accept});
  return NamePattern(std::move(*program));
}

bool NamePattern::matches(std::string_view name, MatchBudget& budget) const {
  States states(program_, name);
  if (!spend(budget, program_.size())) {
    return false;
  }
  if (states.add(0, 0)) {
    return true;
  }
  for (std::size_t at = 0; at < name.size(); ++at) {
    const std::vector<std::size_t> waiting = states.take();
    if (waiting.empty() || !spend(budget, waiting.size() + 1)) {
      return false;
    }
    for (const std::size_t state : waiting) {
      if (takes(program_[state], name[at]) && states.add(state + 1, at + 1)) {
        return true;
      }
    }
  }
  return false;
}

} // namespace tokenroof::readers
