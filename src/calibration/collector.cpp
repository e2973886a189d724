#include "calibration/collector.hpp"

#include <algorithm>
#include <array>

#include "tokenroof/errors.hpp"
#include "tokenroof/nearest.hpp"

namespace tokenroof::calibration {

namespace {

constexpr std::array<std::string_view, 5> traits = {"network", "device", "weights", "batch", "metric"};

} // namespace

std::vector<NotUsed> Reasons::sorted() const {
  std::vector<NotUsed> result;
  result.reserve(counts_.size());
  for (const auto& [reason, rows] : counts_) {
    result.push_back({.reason = reason, .rows = rows});
  }
  std::stable_sort(result.begin(), result.end(), [](const NotUsed& a, const NotUsed& b) { return a.rows > b.rows; });
  return result;
}

std::vector<std::string> columns_in(const std::vector<std::string>& group_by) {
  std::vector<std::string> columns;
  std::copy_if(group_by.begin(), group_by.end(), std::back_inserter(columns),
               [](const std::string& name) { return std::find(traits.begin(), traits.end(), name) == traits.end(); });
  return columns;
}

void require_traits(const std::vector<std::string>& group_by) {
  for (const std::string& name : columns_in(group_by)) {
    throw InvalidSpec("group-by", '\'' + name.substr(0, 128) + '\'',
                      "must be one of network, device, weights, batch and metric for such a file" +
                          nearest_as_text(nearest_names(name, traits)));
  }
}

std::optional<std::string> trait_of(const Observation& observation, std::string_view name) {
  const Deployment& deployment = observation.deployment;
  if (name == traits[0]) {
    return deployment.network->name;
  }
  if (name == traits[1]) {
    return std::string(deployment.cluster.device.id.view());
  }
  if (name == traits[2]) {
    return std::string(deployment.weights.name.view());
  }
  if (name == traits[3]) {
    return std::to_string(observation.workload.batch);
  }
  return name == traits[4] ? std::optional(std::string(calibration::name(observation.metric))) : std::nullopt;
}

} // namespace tokenroof::calibration
