/// @file
/// An engine's file as a document that can be changed figure by figure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "calibration/constants.hpp"
#include "tokenroof/calibration.hpp"

namespace tokenroof::calibration {

/// A stated number; low and high are NaN where the file gives no interval.
struct Figure {
  double value = std::numeric_limits<double>::quiet_NaN();
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
};

/// Where a fitted figure comes from.
struct Origin {
  std::string source{};
  std::string date{}; ///< empty: not stated
  std::string rows{};
};

class EngineDocument {
public:
  /// Throws ParseError and InvalidSpec, as read_engine().
  EngineDocument(std::string_view text, std::string_view name);

  [[nodiscard]] const Engine& engine() const { return engine_; }
  [[nodiscard]] ProfileSelector selector(std::size_t profile) const;
  [[nodiscard]] std::optional<std::size_t> find_profile(const ProfileSelector& selector) const;

  /// What a profile itself states; of serving what the engine does.
  [[nodiscard]] std::optional<Figure> stated(std::size_t profile, const Constant& constant) const;

  /// Adds a profile that states nothing; returns its index.
  std::size_t add_profile(const ProfileSelector& selector);
  void state(std::size_t profile, const Constant& constant, const Figure& figure, const Origin& origin);

  /// Objects on one line each where they are short.
  [[nodiscard]] std::string text() const;

private:
  void read_again();

  std::string name_;
  nlohmann::ordered_json document_{};
  Engine engine_{};
};

} // namespace tokenroof::calibration
