/// @file
/// Predictions as text for people, as JSON and CSV for programs. Part of the compiled library.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenroof/deployment/deployment.hpp"
#include "tokenroof/explain.hpp"
#include "tokenroof/memory/capacity.hpp"
#include "tokenroof/planning/remedies.hpp"
#include "tokenroof/predict.hpp"
#include "tokenroof/workload/workload.hpp"

namespace tokenroof::report {

/// Version of the JSON and CSV forms. It moves when a name or a meaning does, not when a name is added.
inline constexpr int schema_version = 1;

/// A question with its answer.
struct Answer {
  Deployment deployment{};
  Workload workload{};
  Prediction prediction{};
  Explanation explanation{};
  std::optional<Capacity> capacity{};                      ///< none while the memory size of the device is open
  std::optional<std::vector<planning::Remedy>> remedies{}; ///< none: not looked for; empty: nothing helps
  std::vector<std::string> assumptions{};                  ///< what a reader had to assume about the network, as text
};

/// Predicts and explains. Throws InvalidSpec, naming the field, for a faulty deployment or workload.
[[nodiscard]] Answer answer(Deployment deployment, const Workload& workload);

struct TextStyle {
  bool styled = false; ///< bold and dim by escape sequences, for a terminal that understands them
};

/// A report of some thirty lines: what was understood, times, memory, why, and how far to trust it. Ends with a newline.
[[nodiscard]] std::string text(const Answer& answer, TextStyle style = {});

/// One JSON object, indented. Its first keys are the columns of the CSV form; each name ends in its unit. What is absent
/// is null, with the reason under `reasons`. Never holds NaN or infinities.
[[nodiscard]] std::string json(const Answer& answer);

/// The CSV form's header line, newline included.
[[nodiscard]] std::string csv_header();

/// Rows of the CSV form for one deployment. What is absent is an empty field.
class CsvRows {
public:
  explicit CsvRows(const Deployment& deployment);

  /// Appends one row, newline included.
  void append(std::string& out, const Workload& workload, const Prediction& prediction) const;

private:
  std::string prefix_{};
};

/// The CSV form's columns as one JSON object on one line, without a newline.
[[nodiscard]] std::string json_row(const Deployment& deployment, const Workload& workload,
                                   const Prediction& prediction);

/// Why the time, or a rate made from it, is absent: one of absence_names, or "single_output_token" for the TPOT of one
/// token. Empty where it is present.
[[nodiscard]] std::string_view reason_without_ttft(const Prediction& prediction);
[[nodiscard]] std::string_view reason_without_tpot(const Prediction& prediction);
[[nodiscard]] std::string_view reason_without_end_to_end(const Prediction& prediction);

} // namespace tokenroof::report
