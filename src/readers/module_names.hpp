/// @file
/// What tensors and modules of checkpoints in the manner of Hugging Face are for, by name: models/module_names.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenroof/network/tensors.hpp"

namespace tokenroof::readers {

/// What a tensor of a checkpoint is.
struct TensorMeaning {
  enum class Part : std::uint8_t {
    whole,     ///< numbers as they are, or codes whose type says so
    packed,    ///< codes, several in one number
    companion, ///< scales, zero points and tables of a quantised tensor
  };
  std::vector<TensorRole> roles{}; ///< several where one tensor holds them all; none: no part of the network
  std::optional<Count> layer{};
  Part part = Part::whole;
  std::string other{}; ///< what it is where it is no part of the network
};

/// The meaning of a tensor's name; `other` says so of one that is not known.
[[nodiscard]] TensorMeaning meaning_of_tensor(std::string_view name);

/// Names of modules by which lists know a role, within the layer or, outside the layers, whole. Those after `=` are not for
/// regular expressions, which could mean something else.
[[nodiscard]] const std::vector<std::string>& module_spellings(TensorRole role);

/// The name with another beginning, where that means the same.
[[nodiscard]] std::string usual_spelling(std::string_view module);

/// Whether a name is of a module outside the language model, or of one that is never quantised.
[[nodiscard]] bool is_beside_matrices(std::string_view module);

} // namespace tokenroof::readers
