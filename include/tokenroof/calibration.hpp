/// @file
/// Constants of an engine fitted to measured times. (tokenroof::tokenroof)
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenroof/deployment/deployment.hpp"
#include "tokenroof/engine/engine.hpp"
#include "tokenroof/hardware/device.hpp"
#include "tokenroof/inline_string.hpp"
#include "tokenroof/network/network.hpp"
#include "tokenroof/network/weight_scheme.hpp"
#include "tokenroof/precision/format.hpp"
#include "tokenroof/shared.hpp"
#include "tokenroof/units/quantity.hpp"
#include "tokenroof/workload/workload.hpp"

namespace tokenroof::calibration {

/// Which time of a prediction was measured.
enum class Metric : std::uint8_t { ttft, tpot, end_to_end };

inline constexpr std::size_t metric_count = 3;

[[nodiscard]] std::string_view name(Metric metric);

/// A measured time. The engine that is calibrated takes the place of the deployment's; if that has the same id, its habits
/// with memory stay.
struct Observation {
  Deployment deployment{};
  Workload workload{};
  Metric metric = Metric::tpot;
  Seconds measured{};
  std::string group{}; ///< rows of one group are left out together when the fit is tested
};

/// Observations without a part in the fit.
struct NotUsed {
  std::string reason{};
  std::uint64_t rows = 0;
};

/// What is said beside a file. Of a benchmark, in place of what it says or because it says nothing; of a CSV file of
/// measurements, which rows are read.
struct Given {
  std::optional<Shared<Network>> network{};
  std::optional<WeightScheme> weights{};
  std::optional<Format> kv{};
  std::optional<Device> device{};
  std::optional<Parallelism> parallelism{};
};

struct ReadOptions {
  Given given{};
  /// Only rows of this engine are read, where a file has rows of several. The measured program is taken to be this one where
  /// a file does not say.
  Shared<Engine> engine = roofline_engine();
  /// What makes a group: columns of a CSV file of measurements, or `network`, `device`, `weights`, `batch` and `metric`.
  std::vector<std::string> group_by = {"network"};
};

/// What was read, and why the rest was not: most rows first.
struct Measurements {
  std::vector<Observation> observations{};
  std::vector<NotUsed> not_used{};
};

/// Reads measured times: a CSV file of measurements as `validation::validate` reads it, what `llama-bench -o json|jsonl|csv`
/// writes, or what the serving benchmarks of vLLM (`vllm bench serve --save-result`) and SGLang (`bench_serving`,
/// `bench_one_batch`) write. Which of them it is, the file itself tells.
/// Throws ParseError for what is none of them, InvalidSpec for unknown groups.
[[nodiscard]] Measurements read_measurements(const std::filesystem::path& path, const ReadOptions& options);

/// The same for a text in memory; `name` stands for the file in messages.
[[nodiscard]] Measurements parse_measurements(std::string_view text, std::string_view name, const ReadOptions& options);

/// Which profile of an engine's file, by what it is for; with both empty, the one for any device.
struct ProfileSelector {
  InlineString<32> family{};
  std::optional<DeviceClass> device_class{};

  friend bool operator==(const ProfileSelector&, const ProfileSelector&) = default;
};

/// "ada consumer_gpu", "hopper", "any device".
[[nodiscard]] std::string text_of(const ProfileSelector& selector);

struct Options {
  /// Keys of the constants to fit, as in the engine's file; "gemm_utilisation" stands for all its arithmetics, "serving" for
  /// all that a server adds. Those named here are fitted even where the file states none; "stated", and an empty list, are
  /// all that it states.
  std::vector<std::string> fit{};
  /// The profile into which all constants go; it is added where the file has none like it. Rows of devices that other
  /// profiles are closer to are not used. None: that of the rows' devices, where it is one and the same; else each constant
  /// is fitted where the file states it, so that what profiles share is fitted to the rows of all of them.
  std::optional<ProfileSelector> profile{};
  std::string source = "calibration"; ///< what the figures' `source` says, and when they were fitted (YYYY-MM-DD)
  std::string date{};
  std::function<void(double part)> on_progress{}; ///< called now and then with the part of the work that is done
};

/// A constant of one profile, in the unit of the file.
struct FittedConstant {
  ProfileSelector profile{}; ///< under which it stands in the file; of serving, that of any device
  std::string key{};
  double prior = std::numeric_limits<double>::quiet_NaN(); ///< what the file said
  double prior_low = std::numeric_limits<double>::quiet_NaN();
  double prior_high = std::numeric_limits<double>::quiet_NaN();
  double value = std::numeric_limits<double>::quiet_NaN();
  double low = std::numeric_limits<double>::quiet_NaN(); ///< of the 80 % interval
  double high = std::numeric_limits<double>::quiet_NaN();
  bool identified = false; ///< false: the rows do not tell; value and interval are what the file said
  std::uint64_t rows = 0;  ///< whose times depend on it
};

/// Relative errors, |predicted - measured| / measured.
struct Errors {
  std::uint64_t rows = 0;
  double median = std::numeric_limits<double>::quiet_NaN();
  double p90 = std::numeric_limits<double>::quiet_NaN();
  double bias = std::numeric_limits<double>::quiet_NaN(); ///< geometric mean of predicted / measured, less 1
};

/// Errors before the fit, after it on the same rows, and of rows that a fit to the other groups alone predicts.
struct ErrorSet {
  Errors before{};
  Errors after{};
  Errors left_out{}; ///< NaN where there is one group only
};

struct GroupErrors {
  std::string group{};
  ErrorSet errors{};
};

struct Calibration {
  Engine engine{};
  std::string engine_file{}; ///< the engine as a file: what was identified is replaced, all else stays
  std::vector<FittedConstant> constants{};
  ErrorSet errors{};
  std::vector<GroupErrors> groups{}; ///< sorted by name
  std::vector<ErrorSet> by_metric{}; ///< one for each Metric
  std::vector<NotUsed> not_used{};   ///< most rows first
  double spread =
      std::numeric_limits<double>::quiet_NaN(); ///< of log(predicted / measured), as robust standard deviation
};

/// Fits constants of the engine that `engine_file` describes (format of models/engines/*.json) to measured times.
///
/// The best constants minimise `sum w rho(log(predicted / measured) / s) + sum ((x - prior) / width)^2`, where rho is quadratic
/// for rows that fit and linear for those that do not @cite hartley2003, `s` the own robust spread of a metric's rows, `w`
/// what a row tells beside the others of its group @cite kish1965, and prior and width
/// what the file states (`value`, `low`, `high`; without an interval a quarter of an efficiency, a factor of two of a cost).
/// Constants of which the rows do not tell as much as was known keep their value and are reported as not identified.
/// Intervals hold 80 %: from the curvature at the optimum or from the fits without one group each @cite efron1981, whichever is wider.
/// Deterministic; no input or output. `name` stands for the file in messages.
/// Throws ParseError and InvalidSpec for a faulty file, unknown keys, or where no observation can be used.
[[nodiscard]] Calibration calibrate(std::span<const Observation> observations, std::string_view engine_file,
                                    std::string_view name, const Options& options = {});

} // namespace tokenroof::calibration
