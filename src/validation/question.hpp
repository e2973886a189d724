/// @file
/// From a row of a measurements file to a question that can be answered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "validation/aliases.hpp"
#include "validation/measurement.hpp"
#include "validation/names.hpp"
#include "validation/quantities.hpp"

namespace tokenroof::validation {

/// What a key was resolved to, for the last few thousand keys: a file repeats its names, and may hold a million.
template <class Value>
class Cache {
public:
  template <class Make>
  const Value& get(const std::string& key, Make&& make) {
    if (const auto found = values_.find(key); found != values_.end()) {
      return found->second;
    }
    if (values_.size() == most) {
      values_.clear();
    }
    return values_.emplace(key, make()).first->second;
  }

private:
  static constexpr std::size_t most = 2048;
  std::unordered_map<std::string, Value> values_{};
};

/// What other rows of the same log state.
struct LogFacts {
  std::optional<Bytes> kv_pool{};
  std::optional<Bytes> file_weights{};
  Bytes device_weights{}; ///< of all devices together; 0: none is stated
};

/// A row as far as it was understood.
struct Understood {
  Question question{};
  std::string network{}; ///< ids of what the names mean; empty: not known
  std::string device{};
  std::string engine{};
  std::string reason{};  ///< why the question cannot be answered; empty: it can
  std::string assumed{}; ///< what was assumed where the row says nothing; empty: nothing
};

/// Resolves rows; remembers names.
class Resolver {
public:
  /// What `quantity` needs of a row; what it does not need may stay unresolved.
  [[nodiscard]] Understood understand(const Measurement& row, Quantity quantity, const LogFacts& log);

private:
  struct Names {
    NetworkName network{};
    Hardware hardware{};
    std::int64_t devices = 1;
    EngineName engine{};
  };

  /// Nothing where network or engine are not known.
  [[nodiscard]] std::optional<Names> resolve(const Measurement& row, const Needs& needed, Understood& understood);
  [[nodiscard]] const HardwareName& hardware(const std::string& text, const std::string& source);
  [[nodiscard]] const Resolved<NetworkName>& network(const std::string& text);
  [[nodiscard]] Nearest nearest();

  Cache<HardwareName> hardware_{};
  Cache<Resolved<NetworkName>> networks_{};
  std::size_t unknown_names_ = 0;
};

} // namespace tokenroof::validation
