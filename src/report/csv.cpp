#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "report/csv_text.hpp"
#include "report/fields.hpp"
#include "tokenroof/report.hpp"

namespace tokenroof::report {

namespace {

class CsvFields {
public:
  explicit CsvFields(std::string& out) : out_(out) {}

  void operator()(std::string_view, double value) {
    if (std::isfinite(value)) {
      fmt::format_to(std::back_inserter(out_), "{}", value);
    }
    out_ += ',';
  }
  void operator()(std::string_view, std::int64_t value) { fmt::format_to(std::back_inserter(out_), "{},", value); }
  void operator()(std::string_view, bool value) { out_ += value ? "true," : "false,"; }
  void operator()(std::string_view, std::string_view value) {
    append_csv_text(out_, value);
    out_ += ',';
  }

private:
  std::string& out_;
};

} // namespace

void append_csv_text(std::string& out, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    out += c;
    if (c == '"') {
      out += c;
    }
  }
  out += '"';
}

std::string csv_header() {
  std::string out;
  const auto add = [&](std::string_view name, const auto&) {
    out += name;
    out += ',';
  };
  Deployment any;
  any.network = Network{};
  for_each_deployment_field(any, add);
  for_each_prediction_field(Workload{}, Prediction{}, add);
  out.back() = '\n';
  return out;
}

CsvRows::CsvRows(const Deployment& deployment) { for_each_deployment_field(deployment, CsvFields(prefix_)); }

void CsvRows::append(std::string& out, const Workload& workload, const Prediction& prediction) const {
  out += prefix_;
  for_each_prediction_field(workload, prediction, CsvFields(out));
  out.back() = '\n';
}

} // namespace tokenroof::report
