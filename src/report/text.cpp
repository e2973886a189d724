#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/remedy_text.hpp"
#include "report/table.hpp"
#include "tokenroof/network/parameters.hpp"
#include "tokenroof/report.hpp"
#include "tokenroof/text.hpp"

namespace tokenroof::report {

namespace {

constexpr std::size_t line_width = 110; // of a report in a terminal

/// What an identifier such as kv_cache reads like.
std::string spoken(std::string_view identifier) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> acronyms = {{{"kv_cache", "KV cache"},
                                                                                      {"kv_padding", "KV padding"},
                                                                                      {"kv_append", "KV append"},
                                                                                      {"lm_head", "LM head"},
                                                                                      {"all_reduce", "all-reduce"},
                                                                                      {"context", "driver context"},
                                                                                      {"all_gather", "all-gather"}}};
  for (const auto& [name, text] : acronyms) {
    if (name == identifier) {
      return std::string(text);
    }
  }
  std::string text(identifier);
  for (char& c : text) {
    c = c == '_' ? ' ' : c;
  }
  return text;
}

/// "GiB" and its number apart, so that numbers line up at the right and units at the left.
struct NumberAndUnit {
  std::string number;
  std::string unit;
};

template <class Printed>
NumberAndUnit apart(const Printed& printed, tokenroof::TextStyle style = {}) {
  const std::string text = to_text(printed, style);
  const std::size_t space = text.find(' ');
  if (space == std::string::npos) {
    return {text, ""};
  }
  return {text.substr(0, space), text.substr(space + 1)};
}

std::string in_gibibytes(Bytes bytes) {
  constexpr double gibi = 0x1p30;
  constexpr double visible = 0.005;
  const double number = bytes.value() / gibi;
  return number > 0 && number < visible ? "< 0.01" : number_text(number, 2);
}

class Report {
public:
  Report(const Answer& answer, TextStyle style)
      : answer_(answer), deployment_(answer.deployment), device_(answer.deployment.cluster.device),
        prediction_(answer.prediction), explanation_(answer.explanation), style_(style) {}

  [[nodiscard]] std::string text() && {
    title();
    question();
    times();
    memory();
    if (prediction_.fits) {
      phase("prefill", explanation_.prefill);
      if (explanation_.decode) {
        phase("decode step", *explanation_.decode);
      }
      crossings();
    } else {
      remedies();
    }
    trust();
    return std::move(out_);
  }

private:
  [[nodiscard]] std::string bold(std::string_view text) const { return escaped("\x1b[1m", text); }
  [[nodiscard]] std::string dim(std::string_view text) const { return escaped("\x1b[2m", text); }
  [[nodiscard]] std::string escaped(std::string_view start, std::string_view text) const {
    return style_.styled && !text.empty() ? std::string(start) + std::string(text) + "\x1b[0m" : std::string(text);
  }

  void line(std::string_view text = {}) {
    out_ += text;
    out_ += '\n';
  }

  void title() {
    const std::int64_t devices = deployment_.cluster.devices;
    const std::string count = devices > 1 ? fmt::format("{} x ", devices) : "";
    line(bold(fmt::format("{} on {}{}", deployment_.network->name, count, device_.name.view())));
    line();
  }

  void question() {
    Table table({Align::left, Align::left});
    table.add({"network", network()});
    table.add({"weights", weights()});
    table.add({"device", device()});
    table.add({"engine", engine()});
    if (deployment_.cluster.devices > 1 || deployment_.parallelism.expert > 1) {
      table.add({"split", split()});
    }
    if (uses_host(deployment_.offload) || deployment_.offload.mapped) {
      table.add({"offload", offload()});
    }
    table.add({"workload", workload()});
    out_ += table.str();
    line();
  }

  /// What lies elsewhere, and who computes with it.
  [[nodiscard]] std::string offload() const {
    const Offload& offload = deployment_.offload;
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    if (offload.host_layers > 0) {
      add(fmt::format("{} of {} layers on the host", offload.host_layers, layer_count(*deployment_.network)));
    }
    if (offload.host_expert_layers > offload.host_layers) {
      add(fmt::format("experts of {} layers on the host", offload.host_expert_layers));
    }
    if (offload.host_cache) {
      add("KV cache on the host");
    }
    if (uses_host(offload)) {
      add(host_style());
    }
    if (offload.mapped) {
      add("weights mapped from storage");
    }
    return text + host();
  }

  [[nodiscard]] std::string host_style() const {
    switch (deployment_.engine->offload.style) {
    case OffloadStyle::host_computes:
      return deployment_.engine->offload.streamed_from_rows > 0
                 ? fmt::format("which computes; passes of {} tokens and more stream weights to the device",
                               number_text(deployment_.engine->offload.streamed_from_rows))
                 : "which computes";
    case OffloadStyle::streamed:
      return "streamed to the device in every pass";
    case OffloadStyle::fastest:
      return "computed there or streamed, whichever is faster";
    case OffloadStyle::none:
      break;
    }
    return "";
  }

  [[nodiscard]] std::string host() const {
    const std::optional<Host>& host = deployment_.cluster.host;
    if (!host) {
      return "";
    }
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    if (!host->id.empty()) {
      add(std::string(host->id.view()));
    }
    if (host->memory) {
      add(to_text(*host->memory));
    }
    if (host->bandwidth) {
      add(to_text(*host->bandwidth));
    }
    if (host->storage_read) {
      add("drive " + to_text(*host->storage_read));
    }
    return text.empty() ? "" : " (" + text + ")";
  }

  [[nodiscard]] std::string network() const {
    const ParameterCount count = count_parameters(*deployment_.network);
    const Count layers = layer_count(*deployment_.network);
    std::string text = fmt::format("{} parameters", count_text(static_cast<double>(count.total())));
    if (count.active() != count.total()) {
      text += fmt::format(", {} active", count_text(static_cast<double>(count.active())));
    }
    return text + fmt::format(" in {} layer{}", layers, layers == 1 ? "" : "s");
  }

  [[nodiscard]] std::string weights() const {
    return fmt::format("{}, {}; KV cache {}, {}", deployment_.weights.name.view(),
                       to_text(weight_bytes(*deployment_.network, deployment_.weights)), deployment_.kv.name.view(),
                       to_text(kv_cache_per_token(*deployment_.network, deployment_.kv)));
  }

  [[nodiscard]] std::string device() const {
    std::string text(device_.id.view());
    if (const MemoryVariant* chosen = tokenroof::memory(device_)) {
      text += ", " + to_text(chosen->capacity);
    }
    if (is_present(explanation_.bandwidth)) {
      text += ", " + to_text(explanation_.bandwidth);
    }
    if (explanation_.peak) {
      text += fmt::format(", {} {} dense", to_text(explanation_.peak->value), name(explanation_.arithmetic));
      text += explanation_.peak->basis == Basis::fitted ? " (inferred from measurements)" : "";
    }
    return text;
  }

  [[nodiscard]] std::string engine() const {
    const Engine& engine = *deployment_.engine;
    std::string text(engine.id.view());
    if (!engine.version.empty() && text.find('@') == std::string::npos) {
      text += " " + std::string(engine.version.view());
    }
    return engine.id == "roofline" ? text + ", the lower bound: full rates, no overhead" : text;
  }

  [[nodiscard]] std::string split() const {
    const Parallelism& p = deployment_.parallelism;
    std::string text;
    const auto add = [&](const char* kind, std::int64_t degree) {
      if (degree > 1) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kind, degree);
      }
    };
    add("tensor", p.tensor);
    add("pipeline", p.pipeline);
    add("expert", p.expert);
    add("data", p.data);
    return text + " parallel";
  }

  [[nodiscard]] std::string workload() const {
    const Workload& w = answer_.workload;
    const bool loop = w.arrival == Arrival::closed_loop;
    const std::string who =
        loop ? fmt::format("{} clients in a closed loop", w.batch) : fmt::format("batch {}", w.batch);
    std::string text = fmt::format("{}, prompt {}, output {}", who, to_text(w.prompt), to_text(w.output));
    if (w.requests_per_client > 0) {
      text += fmt::format(", {:.4g} requests each, all starting together", w.requests_per_client);
    }
    return w.context_depth.value() > 0 ? text + fmt::format(", {} cached before", to_text(w.context_depth)) : text;
  }

  /// Why a time is absent. The unit is named, since another one of the device may have a rate.
  [[nodiscard]] std::string speak(std::string_view reason) const {
    if (reason == name(Absence::no_compute_rate)) {
      const ComputeUnit* unit = unit_for(*deployment_.engine, device_);
      const ComputeUnitKind listed = unit != nullptr ? unit->kind : ComputeUnitKind::gpu;
      return fmt::format("no compute rate of its {} is published or inferred",
                         name(deployment_.engine->unit.value_or(listed)));
    }
    if (reason == name(Absence::no_bandwidth)) {
      return device_.memory_variant_count > 1 && tokenroof::memory(device_) == nullptr
                 ? "the memory bandwidth depends on the size; state it"
                 : "its memory bandwidth is not published";
    }
    if (reason == name(Absence::no_host_compute_rate)) {
      return "no compute rate of the host's processor is known; state a host that has one";
    }
    if (reason == name(Absence::no_host_bandwidth)) {
      return "the bandwidth of the host's memory is not stated";
    }
    if (reason == name(Absence::no_host_link)) {
      return "no bandwidth of its link to the host is published";
    }
    if (reason == name(Absence::no_storage_bandwidth)) {
      return "the bandwidth of the storage that weights are read from is not stated";
    }
    return "a single token has no interval to the next";
  }

  template <class Quantity>
  void time_row(Table& table, const char* label, const Estimate<Quantity>& estimate,
                std::string_view definition) const {
    if (estimate.has_value()) {
      const NumberAndUnit value = apart(estimate);
      table.add({label, bold(value.number), value.unit, dim(definition)});
    }
  }

  void absence_row(Table& table, const char* label, std::string_view reason) const {
    if (!reason.empty()) {
      table.add({label, "-", "", dim(speak(reason))});
    }
  }

  void times() {
    if (!prediction_.fits) {
      return; // what does not fit does not run
    }
    Table table({Align::left, Align::right, Align::unit, Align::left});
    const Prediction& p = prediction_;
    const bool loop = answer_.workload.arrival == Arrival::closed_loop;
    const bool several = answer_.workload.batch > 1;
    time_row(table, "TTFT", p.ttft,
             std::string("from arrival to the first token out") + (loop      ? ", mean of all requests"
                                                                   : several ? ", of the whole batch"
                                                                             : ""));
    absence_row(table, "TTFT", reason_without_ttft(p));
    time_row(table, "TPOT", p.tpot, "(end to end - TTFT) / (output - 1)");
    absence_row(table, "TPOT", reason_without_tpot(p));
    // What follows from those two is absent for the same reasons, which need no repeating.
    time_row(table, "end to end", p.end_to_end, "from arrival to the last token out");
    time_row(table, "per user", p.tokens_per_second_per_user, "1 / TPOT");
    time_row(table, "throughput", p.tokens_per_second,
             several ? "output of all sequences / end to end" : "output / end to end");
    time_row(table, "prefill", p.prefill_tokens_per_second,
             loop      ? "prompts of all clients / end to end"
             : several ? "prompts of all sequences / TTFT"
                       : "prompt / TTFT");
    out_ += table.str();
    line();
  }

  [[nodiscard]] std::string verdict() const {
    const bool every_size = !is_present(prediction_.memory_budget);
    if (prediction_.fits) {
      return every_size ? "fits in every size it is sold in" : "fits";
    }
    if (prediction_.shortfall.value() <= 0) {
      return "fits, but not the host; no times";
    }
    return fmt::format("does not fit{}, {} GiB short, most of it {}; no times",
                       every_size ? " in any size it is sold in" : "", in_gibibytes(prediction_.shortfall),
                       spoken(name(dominant(prediction_.ledger))));
  }

  void memory() {
    const Ledger& ledger = prediction_.ledger;
    const Bytes peak = prediction_.peak_memory.value;
    const std::string budget =
        is_present(prediction_.memory_budget) ? fmt::format(" of {}", in_gibibytes(prediction_.memory_budget)) : "";
    line(fmt::format("memory  {}{} GiB{}: {}", bold(in_gibibytes(peak)), budget,
                     deployment_.cluster.devices > 1 ? " on the fullest device" : "", bold(verdict())));
    Table table({Align::left, Align::right, Align::right});
    for (std::size_t i = 0; i < ledger.items.size(); ++i) {
      if (ledger.items[i].value() > 0) {
        table.add({spoken(ledger_item_names[i]), in_gibibytes(ledger.items[i]) + " GiB",
                   percent_text(ledger.items[i] / peak)});
      }
    }
    out_ += table.str(2);
    capacity();
    host_memory();
    loading();
    line();
  }

  /// The fullest moment before the first request, and how long it takes to get there.
  void loading() {
    const LoadPhase& load = prediction_.load;
    const auto clean = [&](Bytes pages) { return fmt::format("{} GiB clean pages of the file", in_gibibytes(pages)); };
    std::string text = in_gibibytes(load.device) + " GiB on the device";
    if (load.device_clean.value() > 0) {
      text += ", of which " + clean(load.device_clean);
    }
    if (load.host.value() > 0) {
      text += fmt::format("; {} GiB on the host", in_gibibytes(load.host));
    }
    if (load.host_clean.value() > 0) {
      text += "; on the host " + clean(load.host_clean);
    }
    text += is_present(load.cold_start)
                ? fmt::format("; {} from a cold drive", to_text(load.cold_start))
                : "; no time from a cold drive: " + speak(name(cold_start_absence(deployment_)));
    line("loading " + wrap(text, line_width - 8, 8));
  }

  void host_memory() {
    const HostLedger& host = prediction_.host;
    if (peak(host).value() > 0) {
      const std::string budget =
          is_present(prediction_.host_budget) ? fmt::format(" of {}", in_gibibytes(prediction_.host_budget)) : "";
      const std::string verdict =
          prediction_.host_shortfall.value() > 0
              ? fmt::format("does not fit, {} GiB short", in_gibibytes(prediction_.host_shortfall))
              : "";
      line(fmt::format("host    {}{} GiB{}{}", bold(in_gibibytes(peak(host))), budget, verdict.empty() ? "" : ": ",
                       bold(verdict)));
      Table table({Align::left, Align::right});
      table.add({"weights", in_gibibytes(host.weights) + " GiB"});
      if (host.kv_cache.value() > 0) {
        table.add({"KV cache", in_gibibytes(host.kv_cache) + " GiB"});
      }
      out_ += table.str(2);
    }
    if (prediction_.in_storage.value() > 0) {
      line(fmt::format("storage {} GiB of weights that memory does not hold", in_gibibytes(prediction_.in_storage)));
    }
  }

  /// "Room for 476016 tok of cache: 58.1 sequences of 8192 tok, or one of 131072."
  void capacity() {
    if (!answer_.capacity || !(answer_.capacity->cache > Bytes())) {
      return;
    }
    const Capacity& room = *answer_.capacity;
    const double length = final_context(answer_.workload).value();
    const Parallelism& split = answer_.deployment.parallelism;
    std::string text = fmt::format("Beside the rest {} room for {} GiB of cache",
                                   split.data > 1 ? "each replica has" : "there is", in_gibibytes(room.cache));
    if (room.tokens) {
      text += fmt::format(", {} tok", number_text(room.tokens->value(), 0));
    }
    text += fmt::format(": {} sequences of {} tok", number_text(room.sequences, 1), number_text(length, 0));
    if (room.context) {
      const Count batch = batch_per_replica(answer_.workload.batch, split);
      text += fmt::format(", or {} of {}", batch == 1 ? "one" : std::to_string(batch),
                          number_text(room.context->value(), 0));
      const Tokens limit = answer_.deployment.network->context_limit;
      if (limit.value() > 0 && *room.context > limit) {
        text += fmt::format(", beyond the {} that the network is made for", number_text(limit.value(), 0));
      }
    }
    line("  " + wrap(text + '.', line_width - 2, 2));
  }

  void phase(std::string_view label, const PhaseExplanation& phase) {
    const std::string intensity =
        is_present(phase.ridge)
            ? fmt::format("{} FLOP/B, ridge {}", number_text(phase.intensity.value()), number_text(phase.ridge.value()))
            : fmt::format("{} FLOP/B", number_text(phase.intensity.value()));
    if (phase.absence != Absence::none) {
      line(fmt::format("{}  {}; {}", label, speak(name(phase.absence)), intensity));
      line();
      return;
    }
    std::string heading = fmt::format("{}  {}, {}: ", label, bold(to_text(phase.cost.time)), bound_by(phase.roof));
    if (std::isfinite(phase.mfu)) {
      heading += fmt::format("MFU {} of {}, ", percent_text(phase.mfu), to_text(phase.peak));
    }
    line(heading + fmt::format("MBU {}, {}", percent_text(phase.mbu), intensity));
    operators(phase);
    line();
  }

  [[nodiscard]] static std::string bound_by(Roof roof) {
    return roof == Roof::fixed ? "bound by fixed costs" : spoken(name(roof)) + "-bound";
  }

  /// What makes up most of a phase, the rest in one line.
  void operators(const PhaseExplanation& phase) {
    struct Part {
      std::string name;
      double share;
      Roof roof;
    };
    std::vector<Part> parts;
    for (const OperatorCost& op : phase.cost.operators) {
      parts.push_back({spoken(name(op.name)), share(phase.cost, op), op.roof});
    }
    if (phase.cost.overhead.value() > 0) {
      parts.push_back({"launch and scheduling", phase.cost.overhead / phase.cost.time, Roof::fixed});
    }
    std::stable_sort(parts.begin(), parts.end(), [](const Part& x, const Part& y) { return x.share > y.share; });
    constexpr std::size_t most = 6;
    constexpr double smallest = 0.02;
    Table table({Align::left, Align::right, Align::left});
    double rest = 1;
    std::size_t shown = 0;
    for (; shown < parts.size() && shown < most && parts[shown].share >= smallest; ++shown) {
      const Part& part = parts[shown];
      rest -= part.share;
      table.add({part.name, percent_text(part.share), spoken(name(part.roof))});
    }
    if (shown < parts.size() && rest > 0) {
      table.add({fmt::format("{} other{}", parts.size() - shown, shown + 1 == parts.size() ? "" : "s"),
                 percent_text(rest), ""});
    }
    out_ += table.str(2);
  }

  /// The changes that would make it fit, with what each costs.
  void remedies() {
    if (!answer_.remedies) {
      return;
    }
    if (answer_.remedies->empty()) {
      line("No single change makes it fit.");
      line();
      return;
    }
    line("What would fit, the least loss first:");
    Table table({Align::left, Align::right, Align::right, Align::right});
    table.add({"", "TTFT", "TPOT", "free"});
    const auto ratio = [](double value) {
      return std::isfinite(value) ? fmt::format("x {}", number_text(value, 2)) : std::string("-");
    };
    for (const planning::Remedy& remedy : *answer_.remedies) {
      table.add({change_text(remedy), ratio(remedy.ttft_ratio), ratio(remedy.tpot_ratio),
                 is_present(remedy.margin) ? in_gibibytes(remedy.margin) + " GiB" : ""});
    }
    out_ += table.str(2);
    line();
  }

  void crossings() {
    if (const auto matrices = explanation_.compute_bound_batch_of_matrices) {
      const auto step = explanation_.compute_bound_batch;
      line(fmt::format("In decode the weights' matrices turn compute-bound at batch {}, the whole step {}.", *matrices,
                       step ? fmt::format("at {}", *step) : "never: the cache outweighs it"));
    }
    if (is_present(explanation_.cache_exceeds_weights)) {
      line(fmt::format("The KV cache outgrows the weights at {} of context{}.",
                       to_text(explanation_.cache_exceeds_weights),
                       answer_.workload.batch > 1 ? " in each sequence" : ""));
    }
  }

  void trust() {
    line(fmt::format("Trust: {}, {}.", bold(name(prediction_.trust)), reason()));
    for (const std::string& assumption : answer_.assumptions) {
      line("Assumed: " + assumption);
    }
  }

  [[nodiscard]] std::string_view reason() const {
    switch (prediction_.trust) {
    case Trust::calibrated:
      return "the engine was measured on devices of this family; the interval holds 80 %";
    case Trust::transferred:
      if (prediction_.ttft.has_interval() || prediction_.tpot.has_interval()) {
        return "the engine's constants come from other devices; the interval is theirs, widened";
      }
      return has_profile(*deployment_.engine, device_)
                 ? "the engine's constants were stated for like devices; no interval: too few measurements"
                 : "the engine's general constants, stated for no device like this; no interval: too few measurements";
    case Trust::datasheet:
      break;
    }
    return deployment_.engine->id == "roofline"
               ? "physics and published rates alone; times are lower bounds"
               : "physics and published rates; the engine says nothing of such devices";
  }

  const Answer& answer_;
  const Deployment& deployment_;
  const Device& device_;
  const Prediction& prediction_;
  const Explanation& explanation_;
  TextStyle style_;
  std::string out_{};
};

} // namespace

std::string text(const Answer& answer, TextStyle style) { return Report(answer, style).text(); }

} // namespace tokenroof::report
