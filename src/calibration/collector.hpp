/// @file
/// Observations as they are read, and reasons for the rows that are none.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tokenroof/calibration.hpp"

namespace tokenroof::calibration {

/// How many rows had which reason, most rows first.
class Reasons {
public:
  void add(const std::string& reason) { ++counts_[reason]; }
  [[nodiscard]] std::vector<NotUsed> sorted() const;

private:
  std::map<std::string, std::uint64_t> counts_{};
};

/// Those names that stand for no trait of an observation and must be columns of its file.
[[nodiscard]] std::vector<std::string> columns_in(const std::vector<std::string>& group_by);

/// Throws InvalidSpec for what is no trait, for files whose rows have no columns.
void require_traits(const std::vector<std::string>& group_by);

/// What an observation has of `network`, `device`, `weights`, `batch` or `metric`; nothing for other names.
[[nodiscard]] std::optional<std::string> trait_of(const Observation& observation, std::string_view name);

/// One text for what an observation has of each of these; `column`: what its row has of one that is no trait.
template <class Column>
[[nodiscard]] std::string group_of(const Observation& observation, const std::vector<std::string>& group_by,
                                   Column&& column) {
  std::string group;
  for (const std::string& name : group_by) {
    const std::optional<std::string> trait = trait_of(observation, name);
    group += (group.empty() ? "" : ", ") + (trait ? *trait : column(name));
  }
  return group;
}

} // namespace tokenroof::calibration
