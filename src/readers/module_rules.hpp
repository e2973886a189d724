/// @file
/// Which matrices of a network a plan of quantisation means.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "readers/quantisation.hpp"
#include "tokenroof/network/network.hpp"
#include "tokenroof/network/tensors.hpp"
#include "tokenroof/network/weight_scheme.hpp"

namespace tokenroof::readers {

/// Refers to the plan, which must outlive it.
class ModuleRules {
public:
  /// Rules that are not understood go to `notes`.
  ModuleRules(const QuantisationPlan& plan, const Network& network, std::vector<std::string>& notes);

  /// How that tensor is stored, or nullptr where it is not quantised. Throws InvalidSpec where the rules take unreasonably
  /// long to apply.
  [[nodiscard]] const QuantisedLayout* layout(const Tensor& tensor, std::optional<Count> layer);

  /// Rules that no matrix of the network was named by, unless they are for what is never quantised.
  void note_unused(std::vector<std::string>& notes) const;

private:
  struct Rule {
    NamePattern pattern;
    const QuantisationRule* stated = nullptr;
    bool is_expression = false;
    bool numbered = false; ///< a number in it: what it matches may depend on the layer
    bool used = false;
    RoleSet asked{}; ///< roles whose answer is known, where it does not
    RoleSet named{};
  };

  void place(std::size_t rule, const std::string& pattern);
  [[nodiscard]] bool names(Rule& rule, TensorRole role, std::optional<Count> layer);
  [[nodiscard]] bool match(const Rule& rule, TensorRole role, std::optional<Count> layer);
  [[nodiscard]] const Rule* find(TensorRole role, std::optional<Count> layer);
  [[nodiscard]] bool within_reach(TensorRole role) const;

  const QuantisationPlan& plan_;
  bool has_experts_ = false;
  Count layers_ = 0;
  std::vector<Rule> rules_{};
  std::vector<std::size_t> everywhere_{};
  std::map<Count, std::vector<std::size_t>> by_layer_{};
  MatchBudget budget_{};
};

} // namespace tokenroof::readers
