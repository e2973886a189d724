/// @file
/// What the library throws. Each error names the field, the value and, where there is one, the nearest valid value.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tokenroof {

/// Base of every error that tokenroof throws.
class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// An identifier that no catalogue entry bears; `nearest()` holds the closest ones, best first.
class UnknownId : public Error {
public:
  UnknownId(std::string_view what, std::string id, std::vector<std::string> nearest)
      : Error(message(what, id, nearest)), id_(std::move(id)), nearest_(std::move(nearest)) {}

  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] const std::vector<std::string>& nearest() const noexcept { return nearest_; }

private:
  static std::string message(std::string_view what, std::string_view id, const std::vector<std::string>& nearest) {
    std::string text = "unknown " + std::string(what) + " '" + std::string(id) + "'";
    for (std::size_t i = 0; i < nearest.size(); ++i) {
      text += (i == 0 ? "; nearest: " : ", ") + nearest[i];
    }
    return text;
  }

  std::string id_;
  std::vector<std::string> nearest_;
};

class UnknownDevice : public UnknownId {
public:
  UnknownDevice(std::string id, std::vector<std::string> nearest)
      : UnknownId("device", std::move(id), std::move(nearest)) {}
};

class UnknownNetwork : public UnknownId {
public:
  UnknownNetwork(std::string id, std::vector<std::string> nearest)
      : UnknownId("network", std::move(id), std::move(nearest)) {}
};

class UnknownEngine : public UnknownId {
public:
  UnknownEngine(std::string id, std::vector<std::string> nearest)
      : UnknownId("engine", std::move(id), std::move(nearest)) {}
};

class UnknownFormat : public UnknownId {
public:
  UnknownFormat(std::string id, std::vector<std::string> nearest)
      : UnknownId("format", std::move(id), std::move(nearest)) {}
};

/// A description that contradicts itself or physics: which field, what it held, why that cannot be.
class InvalidSpec : public Error {
public:
  InvalidSpec(std::string field, std::string value, std::string reason)
      : Error(field + " = " + value + ": " + reason), field_(std::move(field)), value_(std::move(value)),
        reason_(std::move(reason)) {}

  [[nodiscard]] const std::string& field() const noexcept { return field_; }
  [[nodiscard]] const std::string& value() const noexcept { return value_; }
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

private:
  std::string field_;
  std::string value_;
  std::string reason_;
};

/// A file that cannot be read as what it claims to be. `position` is a byte offset or the path of a key.
class ParseError : public Error {
public:
  ParseError(std::string path, std::string position, std::string_view reason)
      : Error(path + (position.empty() ? "" : " (" + position + ")") + ": " + std::string(reason)),
        path_(std::move(path)), position_(std::move(position)) {}

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& position() const noexcept { return position_; }

private:
  std::string path_;
  std::string position_;
};

/// The latency of a deployment that does not fit its memory was asked for.
class DoesNotFit : public Error {
public:
  using Error::Error;
};

} // namespace tokenroof
