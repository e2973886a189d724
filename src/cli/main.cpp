#include <charconv>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>
#include <type_traits>

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "tokenroof/errors.hpp"
#include "tokenroof/version.hpp"

namespace {

using namespace tokenroof::cli;

/// CLI11 reads "" as 0 and cuts what is too large; both are slips of the pen.
std::string check_whole_number(const std::string& text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return stop != end || error != std::errc() ? "'" + text + "' is not a whole number" : "";
}

/// An empty value is a variable that was not set, not a wish for the default.
std::string check_not_empty(const std::string& text) { return text.empty() ? "the value is empty" : ""; }

/// CLI11's help without what the texts say themselves ("Excludes: --csv").
class HelpFormatter : public CLI::Formatter {
public:
  HelpFormatter() { column_width(36); }
  [[nodiscard]] std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = option->get_type_name().empty() ? "" : " " + option->get_type_name();
    const std::string initial = option->get_default_str().empty() ? "" : " [" + option->get_default_str() + "]";
    return type + initial + (option->get_required() ? " (required)" : "");
  }
};

void add_deployment(CLI::App& command, DeploymentOptions& options) {
  command.add_option("--model", options.model, "catalogue id, or a folder, config.json, .safetensors or .gguf file")
      ->type_name("ID|PATH")
      ->required()
      ->group("Network");
  command
      .add_option("--weights", options.weights,
                  "one of 'tokenroof formats': bf16, fp8, Q4_K_M, ... (default: as stored, else bf16)")
      ->type_name("FORMAT")
      ->group("Network");
  command.add_option("--kv", options.kv, "format of the KV cache (default: 16 bits)")
      ->type_name("FORMAT")
      ->group("Network");
  command.add_option("--device", options.device, "catalogue id, with @SIZE where it is sold in several, or a file")
      ->type_name("ID[@SIZE]|FILE")
      ->required()
      ->group("Device");
  command.add_option("--memory", options.memory, "memory size of the device, as in 64GiB")
      ->type_name("SIZE")
      ->group("Device");
  command
      .add_option("--usable-memory", options.usable_memory,
                  "what one process may fill of it: an app's limit, a raised working set (default: the catalogue's)")
      ->type_name("SIZE")
      ->group("Device");
  command
      .add_option("--engine", options.engine, "catalogue id or a file; auto: the usual one; roofline: the lower bound")
      ->type_name("ID|FILE")
      ->capture_default_str()
      ->group("Device");
  const auto add_limit = [&](const char* name, auto& value, const char* text) {
    return command.add_option(name, value, text)->group("Engine's limits (default: its own)");
  };
  add_limit("--batch-tokens", options.batch_tokens, "most tokens in one pass")
      ->check(check_whole_number, "")
      ->type_name("N");
  add_limit("--max-sequences", options.most_sequences, "most sequences served at once")
      ->check(check_whole_number, "")
      ->type_name("N");
  add_limit("--memory-fraction", options.memory_fraction, "part of the usable memory to fill, above 0, at most 1")
      ->type_name("X");
  const auto add_number = [&](const char* name, auto& value, const char* text) {
    command.add_option(name, value, text)->check(check_whole_number, "")->type_name("N")->group("Split");
  };
  add_number("--devices", options.devices, "devices in all (default: tp x pp x dp, which it must equal)");
  add_number("--tp", options.tensor, "tensor parallel degree");
  add_number("--pp", options.pipeline, "pipeline parallel degree");
  add_number("--ep", options.expert, "expert parallel degree, within tp x dp");
  add_number("--dp", options.data, "data parallel degree: replicas that share the batch");
}

/// What lies outside the devices' memory, and the machine that holds it.
void add_offload(CLI::App& command, DeploymentOptions& options) {
  const auto add = [&](const char* name, auto& value, const char* type, const char* text) {
    return command.add_option(name, value, text)->type_name(type)->group("Offload");
  };
  add("--device-layers", options.device_layers, "N",
      "layers in the device's memory, the last ones (default: all); the others lie in host memory")
      ->check(check_whole_number, "");
  add("--host-experts", options.host_experts, "N", "layers, the first ones, whose experts lie in host memory")
      ->check(check_whole_number, "");
  command.add_flag("--cache-on-host", options.cache_on_host, "the KV cache lies in host memory")->group("Offload");
  command
      .add_flag(
          "--map-from-storage", options.map_from_storage,
          "weights in host memory, or on a device without memory of its own, are mapped from their file: what does "
          "not fit is read again in every pass")
      ->group("Offload");
  add("--host", options.host, "ID[@SIZE]|FILE", "processor of the host, from the catalogue");
  add("--host-memory", options.host_memory, "SIZE", "memory of the host, as in 128GiB");
  add("--host-bandwidth", options.host_bandwidth, "RATE", "bandwidth of that memory, as in 83GB/s");
  add("--storage", options.storage, "RATE", "sequential read of the drive, as in 7GB/s");
}

template <class Options>
void add_workload(CLI::App& command, Options& options, const char* type) {
  const auto add = [&](const char* name, auto& value, const char* text) {
    CLI::Option* const option = command.add_option(name, value, text);
    option->type_name(type)->capture_default_str()->group("Workload");
    if constexpr (std::is_integral_v<std::remove_reference_t<decltype(value)>>) {
      option->check(check_whole_number, "");
    }
  };
  add("--batch", options.batch, "sequences that start together, over all replicas");
  add("--prompt", options.prompt, "tokens of each prompt");
  add("--output", options.output, "tokens generated for each sequence");
  add("--context-depth", options.context_depth, "tokens of each sequence cached before its prompt");
}

void add_closed_loop(CLI::App& command, PredictOptions& options) {
  const auto add = [&](const char* name, std::optional<std::int64_t>& value, const char* text) {
    return command.add_option(name, value, text)->type_name("N")->check(check_whole_number, "")->group("Workload");
  };
  CLI::Option* const clients = add("--concurrency", options.concurrency,
                                   "clients that each send their next request when the last one is answered");
  clients->excludes(command.get_option("--batch"));
  add("--requests", options.requests, "of a benchmark whose clients all start together (default: steady state)")
      ->needs(clients);
}

template <class Options>
CLI::Option* add_form(CLI::App& command, Options& options, OutputForm form, const char* name, const char* text) {
  return command
      .add_flag_callback(
          name, [&options, form] { options.form = form; }, text)
      ->group("Output");
}

/// Returns --csv.
template <class Options>
CLI::Option* add_forms(CLI::App& command, Options& options, const char* csv_text) {
  CLI::Option* const json = add_form(command, options, OutputForm::json, "--json", "write JSON, the unit in each name");
  CLI::Option* const csv = add_form(command, options, OutputForm::csv, "--csv", csv_text);
  json->excludes(csv);
  return csv;
}

template <class Options>
void add_output(CLI::App& command, Options& options, const char* require_fit_text) {
  command.add_flag("--require-fit", options.require_fit, require_fit_text)->group("Output");
  add_forms(command, options, "write CSV, the unit in each name");
}

CLI::App* add_validate(CLI::App& app, ValidateOptions& options) {
  CLI::App* const command = app.add_subcommand("validate", "Predictions against measured rows of a CSV file.");
  command->add_option("measurements", options.path, "CSV file with a header; docs/validation.md lists its columns")
      ->type_name("FILE")
      ->required();
  command
      ->add_option(
          "--group-by", options.group_by,
          "columns of the file by which errors are grouped; network, device, engine and quantity are what names mean")
      ->type_name("COLUMNS")
      ->capture_default_str();
  command->add_option("--rows", options.rows, "write one line a row, with its prediction, to this file")
      ->type_name("FILE")
      ->group("Output");
  add_forms(*command, options, "write the groups as CSV, the unit in each name");
  return command;
}

CLI::App* add_calibrate(CLI::App& app, CalibrateOptions& options) {
  CLI::App* const command = app.add_subcommand("calibrate", "Fits an engine's constants to measured times.");
  command
      ->add_option(
          "measurements", options.paths,
          "CSV files of measurements (docs/validation.md), or what llama-bench or a serving benchmark of vLLM or "
          "SGLang wrote")
      ->type_name("FILE...")
      ->required();
  command->add_option("--engine", options.engine, "engine to start from: catalogue id or a file")
      ->type_name("ID|FILE")
      ->required();
  command->add_option("-o,--output", options.output, "write the engine to this file, for --engine of other commands")
      ->type_name("FILE")
      ->group("Output");
  add_form(*command, options, OutputForm::json, "--json", "write JSON, the unit in each name");
  const auto add_given = [&](const char* name, std::string& value, const char* type, const char* text) {
    command->add_option(name, value, text)
        ->type_name(type)
        ->group("What was measured (default: what the files say; of CSV files other rows are left out)");
  };
  add_given("--model", options.model, "ID|PATH", "network of a benchmark; of a CSV file, rows of it alone");
  add_given("--device", options.device, "ID[@SIZE]|FILE", "device, likewise");
  add_given("--weights", options.weights, "FORMAT", "format of the weights");
  add_given("--kv", options.kv, "FORMAT", "format of the KV cache");
  const auto add_degree = [&](const char* name, auto& value, const char* text) {
    command->add_option(name, value, text)
        ->check(check_whole_number, "")
        ->type_name("N")
        ->group("What was measured (default: what the files say; of CSV files other rows are left out)");
  };
  add_degree("--tp", options.tensor, "tensor parallel degree");
  add_degree("--pp", options.pipeline, "pipeline parallel degree");
  add_degree("--ep", options.expert, "expert parallel degree, within tp x dp");
  add_degree("--dp", options.data, "data parallel degree");
  command
      ->add_option("--fit", options.fit,
                   "constants to fit, as in the engine's file; stated: those that it states for such devices, which is "
                   "the default")
      ->type_name("KEY,KEY...")
      ->group("Fit");
  command
      ->add_option(
          "--profile", options.profile,
          "write all into this profile: family=NAME, device_class=NAME, both, or any; added where it is missing")
      ->type_name("PROFILE")
      ->group("Fit");
  command
      ->add_option(
          "--group-by", options.group_by,
          "what is left out together to test the fit: network, device, weights, batch, metric, or columns of a "
          "CSV file")
      ->type_name("COLUMNS")
      ->capture_default_str()
      ->group("Fit");
  return command;
}

/// Runs a command; what it throws becomes a message and an exit code.
template <class Command>
int guarded(Command&& command) {
  try {
    return command();
  } catch (const tokenroof::UnknownId& error) {
    complain(error.what());
    return unknown_id;
  } catch (const tokenroof::InvalidSpec& error) {
    complain(error.what());
    return usage;
  } catch (const tokenroof::ParseError& error) {
    complain(error.what());
    return bad_file;
  } catch (const std::exception& error) {
    complain(error.what());
    return failure;
  }
}

constexpr const char* exit_codes = "Exit codes: 0 ok, 1 cannot write, 2 usage, 3 unknown id, 4 bad file, "
                                   "5 does not fit under --require-fit.";

constexpr const char* range_help = "Lists and ranges:\n"
                                   "  1,2,8           these values\n"
                                   "  1..8            1 to 8 in steps of 1\n"
                                   "  1,2,4..64       goes on as it began: by the same ratio or the same step\n"
                                   "  512..131072*2   each twice the one before\n"
                                   "  0..4096+512     in steps of 512\n";

} // namespace

int main(int argc, char** argv) {
  CLI::App app{"Predicts TTFT, TPOT, throughput and memory of language models on any device.", "tokenroof"};
  app.set_version_flag("--version", std::string(tokenroof::linked_version()));
  app.require_subcommand(0, 1); // none is found out below, after CLI11 has named what it did not understand
  app.formatter(std::make_shared<HelpFormatter>());
  app.failure_message([](const CLI::App* command, const CLI::Error& error) {
    return "tokenroof: " + std::string(error.what()) + "\nSee " +
           (command->get_parent() != nullptr ? "tokenroof " + command->get_name() : command->get_name()) + " --help.\n";
  });
  app.footer(exit_codes);

  PredictOptions predict_options;
  CLI::App* const predict_command = app.add_subcommand("predict", "Times and memory of one workload, and why.");
  add_deployment(*predict_command, predict_options.deployment);
  add_offload(*predict_command, predict_options.deployment);
  add_workload(*predict_command, predict_options, "N");
  add_closed_loop(*predict_command, predict_options);
  add_output(*predict_command, predict_options, "exit 5 if it does not fit");

  SweepOptions sweep_options;
  CLI::App* const sweep_command = app.add_subcommand("sweep", "The same for every combination of lists and ranges.");
  add_deployment(*sweep_command, sweep_options.deployment);
  add_offload(*sweep_command, sweep_options.deployment);
  add_workload(*sweep_command, sweep_options, "LIST");
  add_output(*sweep_command, sweep_options, "exit 5 if any point does not fit");
  sweep_command->footer(range_help);

  ValidateOptions validate_options;
  CLI::App* const validate_command = add_validate(app, validate_options);

  CalibrateOptions calibrate_options;
  CLI::App* const calibrate_command = add_calibrate(app, calibrate_options);

  CatalogueOptions catalogue_options;
  const auto add_catalogue = [&](const char* name, const char* text, const char* type) {
    CLI::App* const command = app.add_subcommand(name, text);
    CLI::Option* const id =
        command->add_option("id", catalogue_options.id, "show this one in detail (default: list all)")->type_name(type);
    add_forms(*command, catalogue_options, "write the list as CSV, the unit in each name")->excludes(id);
    return command;
  };
  CLI::App* const models_command =
      add_catalogue("models", "Networks of the catalogue, or what a file means.", "ID|PATH");
  CLI::App* const devices_command = add_catalogue("devices", "Devices, with the source of each figure.", "ID|FILE");
  CLI::App* const engines_command = add_catalogue("engines", "Engines, with the source of each constant.", "ID|FILE");
  add_catalogue("formats", "Formats of weights by name, and which tensors are in which.", "NAME");

  for (CLI::App* const command : app.get_subcommands({})) {
    for (CLI::Option* const option : command->get_options()) {
      if (option->get_expected_max() > 0 && !option->get_required()) {
        option->check(check_not_empty, "");
      }
    }
  }

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error, std::cout, std::cerr) == 0 ? success : usage;
  }
  if (app.get_subcommands().empty()) {
    complain("a command is missing: predict, sweep, validate, calibrate, models, devices, engines or formats\nSee "
             "tokenroof --help.");
    return usage;
  }
  return guarded([&] {
    if (*predict_command) {
      return predict(predict_options);
    }
    if (*sweep_command) {
      return sweep(sweep_options);
    }
    if (*validate_command) {
      return validate(validate_options);
    }
    if (*calibrate_command) {
      return calibrate(calibrate_options);
    }
    if (*models_command) {
      return models(catalogue_options);
    }
    if (*devices_command) {
      return devices(catalogue_options);
    }
    return *engines_command ? engines(catalogue_options) : formats(catalogue_options);
  });
}
