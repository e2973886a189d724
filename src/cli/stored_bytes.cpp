#include "cli/stored_bytes.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace tokenroof::cli {

namespace {

using Sums = std::map<std::string, Bytes, std::less<>>;

std::vector<NamedBytes> sorted(const Sums& sums) {
  std::vector<NamedBytes> list;
  for (const auto& [name, bytes] : sums) {
    if (bytes.value() > 0) {
      list.push_back({name, bytes});
    }
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const NamedBytes& a, const NamedBytes& b) { return a.bytes > b.bytes; });
  return list;
}

} // namespace

StoredBytes stored_bytes(const Network& network, const WeightScheme& scheme) {
  Sums by_format;
  Sums by_role;
  const auto add = [&](std::string_view format, std::string_view role, Bytes bytes) {
    by_format[std::string(format)] += bytes;
    by_role[std::string(role)] += bytes;
  };
  const SchemeFacts facts = scheme_facts(network);
  for_each_run(network, [&](const LayerRun& run, const LayerSpan& span) {
    for_each_tensor(run.block, network, [&](const Tensor& tensor) {
      for_each_format(scheme, facts, tensor, span, [&](const Format& format, Count layers) {
        add(format.name.view(), name(tensor.role), storage(format, tensor) * static_cast<double>(layers));
      });
    });
  });
  for_each_outer_tensor(network, [&](const Tensor& tensor) {
    const Format& format = format_of(scheme, facts, tensor.role, tensor.row_length);
    add(format.name.view(), name(tensor.role), storage(format, tensor));
  });
  add("other", "other", other_bytes(scheme));
  return {.by_format = sorted(by_format), .by_role = sorted(by_role)};
}

} // namespace tokenroof::cli
