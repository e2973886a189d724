/// @file
/// A configuration seen through its class: facts about a network, whatever keys they are spelt with.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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
  /// Whether the fact is text.
  [[nodiscard]] bool is_text(std::string_view fact);
  /// Text, or a number as it is written; empty where absent.
  [[nodiscard]] std::string word(std::string_view fact);
  /// A word, empty where absent.
  [[nodiscard]] std::string text(std::string_view fact);
  /// An array within the configuration, or null.
  [[nodiscard]] const nlohmann::json* list(std::string_view fact);
  /// Whether the fact is there and not null, whatever it is.
  [[nodiscard]] bool has(std::string_view fact);

  /// From here on facts are those of one layer: of a list, the entry for that layer counts, and where a key leads through a
  /// list of objects, the object for that layer.
  void enter_layer(Count layer, Count layers);
  /// Something about the layer that conditions may ask for, as a key `layer.<word>`.
  void describe_layer(const std::string& word, bool holds) { words_["layer." + word] = holds; }
  void leave_layers();

  /// The key that the fact was last read from, for messages.
  [[nodiscard]] std::string key_of(std::string_view fact) const;
  [[nodiscard]] const std::string& path() const { return path_; }

  void assume(std::string note);
  [[nodiscard]] const std::vector<std::string>& assumptions() const { return assumptions_; }

private:
  /// A value of the configuration or of the class, or one made of such.
  class Value {
  public:
    Value() = default;
    Value(const nlohmann::json* at, std::string from) : key(std::move(from)), at_(at) {}

    [[nodiscard]] const nlohmann::json& get() const { return at_ != nullptr ? *at_ : made_; }
    void replace(nlohmann::json made) {
      made_ = std::move(made);
      at_ = nullptr;
    }

    std::string key{};

  private:
    const nlohmann::json* at_ = nullptr; ///< lives as long as the configuration, or for ever
    nlohmann::json made_{};
  };

  [[nodiscard]] const nlohmann::json* in_config(std::string_view key) const;
  [[nodiscard]] Value lookup(const std::string& key);
  [[nodiscard]] const nlohmann::json* of_layer(const nlohmann::json* value, const std::string& key) const;
  [[nodiscard]] std::optional<double> operand(const nlohmann::json& spec);
  [[nodiscard]] double product(const nlohmann::json& spec);
  void modify(Value& value, const nlohmann::json& spec);
  [[nodiscard]] bool holds(const nlohmann::json& condition);
  [[nodiscard]] Value resolve(const nlohmann::json& spec);
  [[nodiscard]] Value find(std::string_view fact);

  const nlohmann::json& config_;
  const NetworkClass& class_;
  std::string path_;
  std::vector<std::string> assumptions_{};
  std::optional<std::size_t> layer_{};
  std::size_t layers_ = 0;
  std::map<std::string, nlohmann::json, std::less<>> words_{};
};

} // namespace tokenroof::readers
