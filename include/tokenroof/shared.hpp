/// @file
/// An immutable value that many deployments hold at once.
#pragma once

#include <memory>
#include <utility>

namespace tokenroof {

/// Shares one constant `T`; copies cost a reference count, never a `T`. Equality compares what is held.
/// A default-constructed handle is empty: `check(deployment)` reports it, dereferencing it is a programming error.
template <typename T>
class Shared {
public:
  Shared() = default;
  Shared(T value) : value_(std::make_shared<const T>(std::move(value))) {} // NOLINT(google-explicit-constructor)

  [[nodiscard]] const T& operator*() const noexcept { return *value_; }
  [[nodiscard]] const T* operator->() const noexcept { return value_.get(); }
  [[nodiscard]] explicit operator bool() const noexcept { return value_ != nullptr; }

  friend bool operator==(const Shared& a, const Shared& b) {
    return a.value_ == b.value_ || (a.value_ && b.value_ && *a.value_ == *b.value_);
  }

private:
  std::shared_ptr<const T> value_;
};

} // namespace tokenroof
