#include "validation/question.hpp"

#include <cmath>
#include <vector>

#include "tokenroof/catalogue/engines.hpp"
#include "tokenroof/deployment/check.hpp"
#include "tokenroof/errors.hpp"

namespace tokenroof::validation {

namespace {

/// Tokens of a sequence where a row does not say how many, and few of them weigh nothing beside the weights.
constexpr double assumed_context = 512;

/// What a row says of requests that come one after another.
constexpr const char* closed_loop = "inflight";

/// The first complaint stays.
void complain(Understood& understood, std::string reason) {
  if (understood.reason.empty()) {
    understood.reason = std::move(reason);
  }
}

/// More tokens than any context has, and small enough that three numbers of devices can be multiplied.
constexpr double most_of_anything = 1e8;

std::optional<std::int64_t> whole(double number, double most) {
  const bool valid = number >= 0 && number <= most && number == std::floor(number);
  return valid ? std::optional(static_cast<std::int64_t>(number)) : std::nullopt;
}

/// A whole number of devices, sequences or tokens; nothing where the column is empty.
std::optional<std::int64_t> whole_number(const Measurement& row, Column column, Understood& understood,
                                         double most = most_of_anything) {
  const std::string& text = row[column];
  if (text.empty()) {
    return std::nullopt;
  }
  const std::optional<double> number = number_in(text);
  const std::optional<std::int64_t> result = number ? whole(*number, most) : std::nullopt;
  if (!result) {
    complain(understood, "'" + text.substr(0, 64) + "' is no number of devices, sequences or tokens");
  }
  return result;
}

std::int64_t setting_or(const Settings& settings, Setting setting, std::int64_t otherwise,
                        double most = most_of_anything) {
  const std::optional<double>& stated = settings[static_cast<std::size_t>(setting)];
  return stated ? whole(*stated, most).value_or(otherwise) : otherwise;
}

/// A degree from its column, else from the notes, else 1.
std::int64_t degree(const Measurement& row, Column column, std::int64_t noted, Understood& understood) {
  return whole_number(row, column, understood, most_devices).value_or(noted);
}

/// The degrees that the row states; devices beyond them share the layers out, as engines do that are told nothing else.
void set_split(Understood& understood, const Measurement& row, const Settings& settings, std::int64_t devices) {
  const auto noted = [&](Setting setting) { return setting_or(settings, setting, 1, most_devices); };
  Parallelism& split = understood.question.deployment.parallelism;
  split.tensor = degree(row, Column::tensor, noted(Setting::tensor), understood);
  split.pipeline = degree(row, Column::pipeline, noted(Setting::pipeline), understood);
  split.data = degree(row, Column::data, noted(Setting::data), understood);
  split.expert = degree(row, Column::expert, 1, understood);
  const bool stated = split.tensor > 1 || split.pipeline > 1 || split.data > 1;
  if (!stated) {
    split.pipeline = degree(row, Column::devices, devices, understood);
  }
}

/// A network whose latent attention caches keys and values of each head, as engines do that do not know it. What its
/// projections weigh is another's: such a network serves for its cache alone.
Network with_expanded_cache(Network network) {
  for (LayerRun& run : network.layers) {
    for (Mixer& mixer : run.block.mixers) {
      if (const auto* latent = std::get_if<LatentAttention>(&mixer)) {
        mixer = GroupedQueryAttention{.heads = latent->heads,
                                      .kv_heads = latent->heads,
                                      .head_dim = latent->nope_head_dim + latent->rope_head_dim,
                                      .value_head_dim = latent->value_head_dim};
      }
    }
  }
  return network;
}

/// The part of a token's cached elements that are keys, by the network's first attention.
double share_of_keys(const Network& network) {
  for (const LayerRun& run : network.layers) {
    for (const Mixer& mixer : run.block.mixers) {
      if (const auto* attention = std::get_if<GroupedQueryAttention>(&mixer)) {
        return static_cast<double>(attention->head_dim) /
               static_cast<double>(attention->head_dim + attention->value_head_dim);
      }
    }
  }
  return 0.5;
}

/// How the row says that the engine was started.
void set_limits(Understood& understood, const Measurement& row, const Settings& settings) {
  Deployment& deployment = understood.question.deployment;
  const auto tokens = [](std::int64_t count) { return Tokens::from_value(static_cast<double>(count)); };
  if (const std::int64_t batched = setting_or(settings, Setting::batched_tokens, 0); batched > 0) {
    deployment.settings.batched_tokens = tokens(batched);
  }
  if (const auto sequences = whole_number(row, Column::sequences, understood); sequences.value_or(0) > 0) {
    deployment.settings.most_sequences = sequences;
  }
  if (const auto fraction = number_in(row[Column::memory_fraction]); fraction && *fraction > 0 && *fraction <= 1) {
    deployment.settings.memory_fraction = fraction;
  }
  MemoryHabits habits = deployment.engine->memory;
  if (const std::int64_t block = setting_or(settings, Setting::kv_block, 0); block > 0) {
    habits.kv_block = tokens(block);
  }
  habits.attention_scores = setting_or(settings, Setting::attention_scores, habits.attention_scores ? 1 : 0) == 1;
  if (habits != deployment.engine->memory) {
    Engine engine = *deployment.engine;
    engine.memory = habits;
    deployment.engine = std::move(engine);
  }
}

struct StatedTokens {
  std::optional<std::int64_t> prompt{};
  std::optional<std::int64_t> output{};
  std::optional<std::int64_t> depth{};
  std::optional<std::int64_t> longest{};
};

StatedTokens stated_tokens(const Measurement& row, const Settings& settings, Understood& understood) {
  StatedTokens stated{.prompt = whole_number(row, Column::prompt, understood),
                      .output = whole_number(row, Column::output, understood),
                      .depth = whole_number(row, Column::context_depth, understood)};
  if (const auto limit = number_in(row[Column::context_limit]); limit && whole(*limit, most_of_anything)) {
    stated.longest = whole(*limit, most_of_anything);
  } else if (const std::int64_t context = setting_or(settings, Setting::context, 0); context > 0) {
    stated.longest = context;
  }
  return stated;
}

/// The tokens of a time. Sources state of decoding what is cached when it starts as prompt, as depth, or as both.
void set_timed_tokens(Understood& understood, const StatedTokens& stated, const Needs& needed, double length) {
  Workload& workload = understood.question.workload;
  const double prompt = std::round(static_cast<double>(stated.prompt.value_or(0)) * length);
  const double depth = static_cast<double>(stated.depth.value_or(0));
  const double output = std::round(static_cast<double>(stated.output.value_or(0)) * length);
  constexpr double some_steps = 2; // the first token is of the prefill
  if (!stated.prompt && !stated.output && !stated.depth) {
    complain(understood, "the row states no prompt and no output");
  }
  if (needed.prefill && prompt < 1) {
    complain(understood, "the row states no prompt");
  }
  if (needed.prefill && needed.decode && output < 1) {
    complain(understood, "the row states no output");
  }
  const bool decode_alone = !needed.prefill;
  workload.prompt = Tokens::from_value(std::max(decode_alone ? std::max(prompt, depth) : prompt, 1.0));
  workload.context_depth = Tokens::from_value(decode_alone ? 0 : depth);
  workload.output = Tokens::from_value(needed.decode ? std::max(output, decode_alone ? some_steps : 1) : 1);
}

/// A context that is stated alone is a prompt of that length. `reserved`: buffers are as for all of it at once.
void set_workload(Understood& understood, const Measurement& row, const Settings& settings, const Needs& needed,
                  bool reserved) {
  const StatedTokens stated = stated_tokens(row, settings, understood);
  Workload& workload = understood.question.workload;
  const auto tokens = [](std::int64_t count) { return Tokens::from_value(static_cast<double>(count)); };
  const std::optional<std::int64_t> batch = whole_number(row, Column::batch, understood);
  const std::optional<std::int64_t> clients = whole_number(row, Column::concurrency, understood);
  workload.batch = batch.value_or(clients.value_or(1));
  if (needed.batch && !batch && !clients) {
    complain(understood, "the row states no batch");
  }
  if (needed.prefill || needed.decode) {
    Needs timed = needed;
    if (row[Column::batching] == closed_loop) { // prompts and answers share steps
      timed.prefill = timed.decode = true;
    }
    set_timed_tokens(understood, stated, timed, settings[static_cast<std::size_t>(Setting::mean_length)].value_or(1));
    return;
  }
  const bool any = stated.prompt || stated.output || stated.depth || stated.longest;
  if (!any) {
    understood.assumed = needed.workload ? "context not stated: 512 tok assumed" : "";
    if (needed.context) {
      complain(understood, "the row states no context");
    }
  }
  const std::int64_t run = stated.prompt.value_or(0) + stated.output.value_or(0) + stated.depth.value_or(0);
  const bool alone = !stated.prompt && !stated.output;
  if (alone || reserved) {
    const auto whole = static_cast<double>(std::max(run, stated.longest.value_or(0)));
    workload.prompt = Tokens::from_value(any ? std::max(whole, 1.0) : assumed_context);
    workload.output = tokens(1);
    workload.context_depth = Tokens();
  } else {
    workload.prompt = tokens(std::max<std::int64_t>(stated.prompt.value_or(1), 1));
    workload.output = tokens(std::max<std::int64_t>(stated.output.value_or(1), 1));
    workload.context_depth = tokens(stated.depth.value_or(0));
  }
  if (stated.longest) {
    understood.question.longest = tokens(*stated.longest);
  }
}

/// Which requests run at once is not always a batch that starts together.
void set_arrivals(Understood& understood, const Measurement& row, const Settings& settings, const Needs& needed) {
  if (!needed.batch) {
    return;
  }
  const std::string& batching = row[Column::batching];
  if (batching == closed_loop) {
    Workload& workload = understood.question.workload;
    const auto stated = [&](Setting setting) { return settings[static_cast<std::size_t>(setting)]; };
    workload.arrival = Arrival::closed_loop;
    workload.requests_per_client = stated(Setting::requests_per_client).value_or(0);
    workload.equal_lengths = !stated(Setting::mean_length);
  } else if (batching == "disaggregated") {
    complain(understood, "prefill and decode on devices of their own");
  }
}

/// Faults other than of links, which memory does not depend on, and of a device that nobody knows.
void check_question(Understood& understood) {
  const bool known_device = !understood.device.empty();
  std::vector<Issue> issues = check(understood.question.workload);
  const std::vector<Issue> of_deployment = check(understood.question.deployment);
  issues.insert(issues.end(), of_deployment.begin(), of_deployment.end());
  for (const Issue& issue : issues) {
    if (issue.field != "cluster.link" && (issue.field != "engine" || known_device)) {
      complain(understood, issue.field + " = " + issue.value + ": " + issue.reason);
    }
  }
}

template <class Meaning>
Meaning take(const Resolved<Meaning>& resolved, bool needed, Understood& understood) {
  if (!resolved && needed) {
    complain(understood, resolved.reason);
  }
  return resolved.meaning.value_or(Meaning{});
}

void set_formats(Understood& understood, const Measurement& row, const NetworkName& name, const Needs& needed) {
  Deployment& deployment = understood.question.deployment;
  deployment.network = name.entry->network;
  deployment.weights = take(resolve_weights(row[Column::weight_format], name), needed.weights, understood);
  deployment.activations = sixteen_bits(deployment.weights);
}

void set_kv_format(Understood& understood, const Measurement& row, const Needs& needed) {
  Deployment& deployment = understood.question.deployment;
  deployment.kv = take(resolve_kv(row[Column::kv_format], deployment.activations, share_of_keys(*deployment.network)),
                       needed.kv, understood);
}

} // namespace

Nearest Resolver::nearest() {
  constexpr std::size_t most = 200; // the rest of a file that knows no name must not cost a millisecond each
  return ++unknown_names_ <= most ? Nearest::yes : Nearest::no;
}

const HardwareName& Resolver::hardware(const std::string& text, const std::string& source) {
  return hardware_.get(text + '\n' + source, [&] {
    HardwareName name = resolve_hardware(text, source, Nearest::no);
    return name.hardware ? name : resolve_hardware(text, source, nearest());
  });
}

const Resolved<NetworkName>& Resolver::network(const std::string& text) {
  return networks_.get(text, [&] {
    Resolved<NetworkName> name = resolve_network(text, Nearest::no);
    return name ? name : resolve_network(text, nearest());
  });
}

Understood Resolver::understand(const Measurement& row, Quantity quantity, const LogFacts& log) {
  Understood understood;
  Question& question = understood.question;
  const Needs needed = needs(quantity);
  const Settings settings = settings_in(row[Column::notes]);
  const std::optional<Names> names = resolve(row, needed, understood);
  if (!names) {
    return understood;
  }
  question.visible = names->hardware.visible;
  question.device_index = setting_or(settings, Setting::device_index, 0);
  question.kv_pool = log.kv_pool;
  question.file_weights = log.file_weights;
  question.device_weights = log.device_weights;
  question.deployment.cluster.device = names->hardware.device;
  question.deployment.engine = names->engine.engine;
  set_formats(understood, row, names->network, needed);
  if (quantity == Quantity::kv_cache && setting_or(settings, Setting::expanded_cache, 0) == 1) {
    question.deployment.network = with_expanded_cache(*question.deployment.network);
  }
  set_kv_format(understood, row, needed);
  set_split(understood, row, settings, names->devices);
  set_limits(understood, row, settings);
  set_workload(understood, row, settings, needed, names->engine.reserves_context);
  set_arrivals(understood, row, settings, needed);
  if (understood.reason.empty()) {
    question.deployment.cluster.devices = device_count(question.deployment.parallelism);
    check_question(understood);
  }
  return understood;
}

std::optional<Resolver::Names> Resolver::resolve(const Measurement& row, const Needs& needed, Understood& understood) {
  const HardwareName& hardware_name = hardware(row[Column::hardware], row[Column::source]);
  Names names{.network = take(network(row[Column::model]), true, understood),
              .hardware = take(hardware_name.hardware, needed.device, understood),
              .devices = hardware_name.devices};
  const Device* const device = hardware_name.hardware ? &names.hardware.device : nullptr;
  names.engine = take(
      resolve_engine(row[Column::framework], row[Column::backend], row[Column::version], row[Column::source], device),
      true, understood);
  if (names.network.entry == nullptr || !names.engine.engine) {
    return std::nullopt;
  }
  understood.network = names.network.entry->id;
  understood.device = names.hardware.device.id.view();
  understood.engine = catalogue::versioned_id(*names.engine.engine);
  return names;
}

} // namespace tokenroof::validation
