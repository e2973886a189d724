/// @file
/// A configuration seen through its class: facts about a network, whatever keys they are spelt with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "readers/network_class.hpp"
#include "tokenroof/network/network.hpp"

namespace tokenroof::readers {

/// Looks facts up, checks them, and notes what was assumed where the configuration is silent.
class NetworkFacts {
public:
  /// Both references must outlive the object; `path` names the file in messages.
  NetworkFacts(const nlohmann::json& config, const NetworkClass& network_class, std::string path);

  /// A whole number within its bounds, or nothing where the fact is absent or null. Throws InvalidSpec.
  [[nodiscard]] std::optional<Count> find_count(std::string_view fact);
  /// The same, 0 where absent.
  [[nodiscard]] Count count_or_zero(std::string_view fact) { return find_count(fact).value_or(0); }
  /// A positive whole number. Throws InvalidSpec; ParseError where it is absent.
  [[nodiscard]] Count count(std::string_view fact);
  /// Whether the fact is true; `absent` where the class does not speak of it.
  [[nodiscard]] bool flag(std::string_view fact, bool absent = false);
  /// A word, empty where absent.
  [[nodiscard]] std::string text(std::string_view fact);
  /// An array, or nothing.
  [[nodiscard]] std::optional<nlohmann::json> list(std::string_view fact);

  /// The key that the fact was last read from, for messages.
  [[nodiscard]] std::string key_of(std::string_view fact) const;
  [[nodiscard]] const std::string& path() const { return path_; }

  void assume(std::string note);
  [[nodiscard]] const std::vector<std::string>& assumptions() const { return assumptions_; }

private:
  struct Value {
    nlohmann::json value{};
    std::string key{};
  };

  [[nodiscard]] const nlohmann::json* in_config(std::string_view key) const;
  [[nodiscard]] Value lookup(const std::string& key);
  [[nodiscard]] bool holds(const nlohmann::json& condition);
  [[nodiscard]] Value resolve(const nlohmann::json& spec);
  [[nodiscard]] Value find(std::string_view fact);

  const nlohmann::json& config_;
  const NetworkClass& class_;
  std::string path_;
  std::vector<std::string> assumptions_{};
};

} // namespace tokenroof::readers
