#include <cmath>
#include <iterator>

#include <fmt/format.h>

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

  /// Quoted where it holds what CSV gives a meaning to (RFC 4180): names of networks come from files.
  void operator()(std::string_view, std::string_view value) {
    if (value.find_first_of(",\"\r\n") == std::string_view::npos) {
      out_ += value;
    } else {
      out_ += '"';
      for (const char c : value) {
        out_ += c;
        if (c == '"') {
          out_ += c;
        }
      }
      out_ += '"';
    }
    out_ += ',';
  }

private:
  std::string& out_;
};

} // namespace

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
