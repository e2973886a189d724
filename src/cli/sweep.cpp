#include "tokenroof/sweep/sweep.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/ranges.hpp"
#include "cli/resolve.hpp"
#include "tokenroof/report.hpp"
#include "tokenroof/text.hpp"

namespace tokenroof::cli {

namespace {

using Clock = std::chrono::steady_clock;

std::vector<Tokens> parse_tokens(std::string_view field, std::string_view text) {
  const std::vector<std::int64_t> values = parse_values(field, text);
  std::vector<Tokens> tokens(values.size());
  std::transform(values.begin(), values.end(), tokens.begin(),
                 [](std::int64_t value) { return Tokens::from_value(static_cast<double>(value)); });
  return tokens;
}

/// More points than anyone waits for. Each axis is bounded by itself, so that the product of four is exact enough here.
constexpr double most_points = 1e9;

SweepAxes axes_of(const SweepOptions& options) {
  SweepAxes axes{.batch = parse_values("batch", options.batch),
                 .prompt = parse_tokens("prompt", options.prompt),
                 .output = parse_tokens("output", options.output),
                 .context_depth = parse_tokens("context_depth", options.context_depth)};
  const double points = static_cast<double>(axes.batch.size()) * static_cast<double>(axes.prompt.size()) *
                        static_cast<double>(axes.output.size()) * static_cast<double>(axes.context_depth.size());
  if (points > most_points) {
    throw InvalidSpec("points", fmt::format("{:.3g}", points), fmt::format("a sweep has at most {:g}", most_points));
  }
  return axes;
}

Workload corner(const SweepAxes& axes, bool largest) {
  const auto pick = [largest](const auto& values) {
    return largest ? *std::max_element(values.begin(), values.end()) : *std::min_element(values.begin(), values.end());
  };
  return {.batch = pick(axes.batch),
          .prompt = pick(axes.prompt),
          .output = pick(axes.output),
          .context_depth = pick(axes.context_depth)};
}

/// A device of several sizes whose size was not chosen is fine as long as it does not matter. Memory grows along every
/// axis, so that the two corners decide for all points between, before the first row is out.
void require_same_fit(const Deployment& deployment, const SweepAxes& axes) {
  const Device& device = deployment.cluster.device;
  if (memory(device) != nullptr) {
    return;
  }
  const bool smallest_fits = tokenroof::predict(deployment, corner(axes, false)).fits;
  const bool largest_fits = tokenroof::predict(deployment, corner(axes, true)).fits;
  if (smallest_fits != largest_fits) {
    std::string sizes;
    for (std::size_t i = 0; i < device.memory_variant_count; ++i) {
      sizes += (sizes.empty() ? "" : ", ") + to_text(device.memory_variants[i].capacity);
    }
    throw InvalidSpec("device.memory", "not stated",
                      "which points fit depends on the memory size; state one of " + sizes);
  }
}

/// "… 1234567 of 100000000 points" on a terminal, from the second second on.
class Progress {
public:
  explicit Progress(std::size_t points)
      : points_(points), wanted_(stderr_is_terminal() && !stdout_is_terminal()), next_(Clock::now() + first_after) {}
  Progress(const Progress&) = delete;
  Progress(Progress&&) = delete;
  Progress& operator=(const Progress&) = delete;
  Progress& operator=(Progress&&) = delete;
  ~Progress() {
    if (shown_) {
      std::fputs("\r\x1b[K", stderr);
    }
  }

  void step() {
    ++done_;
    constexpr std::size_t between_looks = 1024; // reading the clock costs more than a point
    if (!wanted_ || done_ % between_looks != 0 || Clock::now() < next_) {
      return;
    }
    next_ = Clock::now() + between_updates;
    shown_ = true;
    fmt::print(stderr, "\r{} of {} points ({:.0f} %)\x1b[K", done_, points_,
               100 * static_cast<double>(done_) / static_cast<double>(points_));
  }

private:
  static constexpr auto first_after = std::chrono::seconds(1);
  static constexpr auto between_updates = std::chrono::milliseconds(200);

  std::size_t points_;
  std::size_t done_ = 0;
  bool wanted_;
  bool shown_ = false;
  Clock::time_point next_;
};

/// Gathers rows into writes of a sensible size.
class Buffer {
public:
  [[nodiscard]] std::string& text() { return text_; }
  void row_done() {
    if (text_.size() >= size) {
      empty();
    }
  }
  void empty() {
    write(text_);
    text_.clear();
  }

private:
  static constexpr std::size_t size = 1U << 16U;
  std::string text_{};
};

/// The table for people: columns as wide as the largest value of their axis, since rows are gone once they are written.
class TextRows {
public:
  TextRows(const Deployment& deployment, const SweepAxes& axes)
      : batch_(width("batch", static_cast<double>(corner(axes, true).batch))),
        prompt_(width("prompt", corner(axes, true).prompt.value())),
        depth_(width("depth", corner(axes, true).context_depth.value())),
        output_(width("output", corner(axes, true).output.value())),
        with_depth_(corner(axes, true).context_depth.value() > 0), deployment_(deployment) {}

  [[nodiscard]] std::string head() const {
    const std::int64_t devices = deployment_.cluster.devices;
    std::string out = fmt::format("{} ({}) on {}{}, {}\n\n", deployment_.network->name, deployment_.weights.name.view(),
                                  devices > 1 ? fmt::format("{} x ", devices) : "",
                                  deployment_.cluster.device.name.view(), deployment_.engine->id.view());
    axes_row(out, "batch", "prompt", "depth", "output");
    fmt::format_to(std::back_inserter(out), "{:>12}{:>12}{:>12}{:>12}{:>12}\n", "TTFT ms", "TPOT ms", "tok/s/user",
                   "tok/s", "memory GiB");
    return out;
  }

  void append(std::string& out, const Workload& w, const Prediction& p) const {
    axes_row(out, w.batch, w.prompt.value(), w.context_depth.value(), w.output.value());
    const auto to = std::back_inserter(out);
    cell(to, p.ttft.value.value() * 1e3, 2);
    cell(to, p.tpot.value.value() * 1e3, 2);
    cell(to, p.tokens_per_second_per_user.value.value(), 1);
    cell(to, p.tokens_per_second.value.value(), 1);
    cell(to, p.peak_memory.value.value() / 0x1p30, 2);
    out += p.fits ? "\n" : "  does not fit\n";
  }

private:
  static int width(std::string_view name, double largest) {
    return static_cast<int>(std::max(name.size(), fmt::formatted_size("{}", largest)));
  }
  template <class Batch, class Count>
  void axes_row(std::string& out, Batch batch, Count prompt, Count depth, Count output) const {
    const auto to = std::back_inserter(out);
    fmt::format_to(to, "{:>{}}  {:>{}}  ", batch, batch_, prompt, prompt_);
    if (with_depth_) {
      fmt::format_to(to, "{:>{}}  ", depth, depth_);
    }
    fmt::format_to(to, "{:>{}}", output, output_);
  }
  template <class Out>
  static void cell(Out to, double number, int decimals) {
    if (std::isfinite(number)) {
      fmt::format_to(to, "{:>12.{}f}", number, decimals);
    } else {
      fmt::format_to(to, "{:>12}", '-');
    }
  }

  int batch_;
  int prompt_;
  int depth_;
  int output_;
  bool with_depth_;
  const Deployment& deployment_;
};

/// Visits all points, writing what `head`, `row` and `tail` make of them. Returns how many do not fit.
template <class Row>
std::size_t stream(const Deployment& deployment, const SweepAxes& axes, std::string head, std::string_view tail,
                   Row&& row) {
  Progress progress(point_count(axes));
  Buffer buffer;
  std::size_t not_fitting = 0;
  buffer.text() = std::move(head);
  tokenroof::sweep(deployment, axes, [&](const Workload& workload, const Prediction& prediction) {
    row(buffer.text(), workload, prediction);
    buffer.row_done();
    progress.step();
    not_fitting += prediction.fits ? 0 : 1;
  });
  buffer.text() += tail;
  buffer.empty();
  flush();
  return not_fitting;
}

std::size_t stream(const Deployment& deployment, const SweepAxes& axes, OutputForm form) {
  switch (form) {
  case OutputForm::csv: {
    const report::CsvRows rows(deployment);
    return stream(deployment, axes, report::csv_header(), "",
                  [&](std::string& out, const Workload& w, const Prediction& p) { rows.append(out, w, p); });
  }
  case OutputForm::json: {
    const char* separator = "\n";
    return stream(deployment, axes, fmt::format(R"({{"schema_version": {}, "points": [)", report::schema_version),
                  "\n]}\n", [&](std::string& out, const Workload& w, const Prediction& p) {
                    out += std::exchange(separator, ",\n") + report::json_row(deployment, w, p);
                  });
  }
  case OutputForm::text:
    break;
  }
  const TextRows rows(deployment, axes);
  return stream(deployment, axes, rows.head(), "",
                [&](std::string& out, const Workload& w, const Prediction& p) { rows.append(out, w, p); });
}

} // namespace

int sweep(const SweepOptions& options) {
  const ResolvedDeployment resolved = resolve(options.deployment);
  const SweepAxes axes = axes_of(options);
  require_none(check(resolved.deployment));
  detail::check_axes(axes);
  require_same_fit(resolved.deployment, axes);
  const std::size_t not_fitting = stream(resolved.deployment, axes, options.form);
  if (options.require_fit && not_fitting > 0) {
    complain(fmt::format("{} of {} points do not fit", not_fitting, point_count(axes)));
    return does_not_fit;
  }
  return success;
}

} // namespace tokenroof::cli
