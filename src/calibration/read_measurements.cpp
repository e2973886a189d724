#include <array>
#include <utility>

#include "calibration/benchmarks.hpp"
#include "calibration/collector.hpp"
#include "calibration/measurement_rows.hpp"
#include "readers/json_file.hpp"
#include "tokenroof/errors.hpp"

namespace tokenroof::calibration {

namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 20;

struct Benchmark {
  bool (*is)(const Record& record) = nullptr;
  Understood (*understand)(const Record& record, const ReadOptions& options) = nullptr;
};

constexpr std::array<Benchmark, 3> benchmarks = {{
    {is_llama_bench, understand_llama_bench},
    {is_serving_benchmark, understand_serving_benchmark},
    {is_one_batch, understand_one_batch},
}};

const Benchmark* benchmark_of(const Record& record) {
  for (const Benchmark& benchmark : benchmarks) {
    if (benchmark.is(record)) {
      return &benchmark;
    }
  }
  return nullptr;
}

Measurements measurements_of(const std::vector<Record>& records, std::string_view name, const ReadOptions& options) {
  require_traits(options.group_by);
  Measurements result;
  Reasons reasons;
  bool known = false;
  for (const Record& record : records) {
    const Benchmark* const benchmark = benchmark_of(record);
    known = known || benchmark != nullptr;
    Understood understood = benchmark != nullptr ? benchmark->understand(record, options)
                                                 : Understood{.reason = "no result of a benchmark that is known"};
    if (!understood.reason.empty()) {
      reasons.add(understood.reason);
    }
    for (Observation& observation : understood.observations) {
      observation.group = group_of(observation, options.group_by, [](const std::string&) { return std::string(); });
      result.observations.push_back(std::move(observation));
    }
  }
  if (!known) {
    throw ParseError(std::string(name), "",
                     "holds no results of llama-bench, of vLLM's or SGLang's benchmarks, and no measurements");
  }
  result.not_used = reasons.sorted();
  return result;
}

bool is_json(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return begin != std::string_view::npos && (text[begin] == '{' || text[begin] == '[');
}

} // namespace

/// Whether the first line has a column of measurements; benchmarks write other names.
bool has_column(std::string_view text, std::string_view column) {
  const std::string_view line = text.substr(0, text.find('\n'));
  const std::size_t at = line.find(column);
  return at != std::string_view::npos;
}

Measurements parse_measurements(std::string_view text, std::string_view name, const ReadOptions& options) {
  if (is_json(text)) {
    return measurements_of(records_in_json(text, name), name, options);
  }
  return has_column(text, "avg_ts") ? measurements_of(records_in_csv(text, name), name, options)
                                    : measurement_rows(text, name, options);
}

Measurements read_measurements(const std::filesystem::path& path, const ReadOptions& options) {
  return parse_measurements(readers::read_text(path, most_bytes), path.string(), options);
}

} // namespace tokenroof::calibration
