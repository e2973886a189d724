#include "validation/names.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "tokenroof/catalogue/devices.hpp"
#include "tokenroof/catalogue/engines.hpp"
#include "tokenroof/errors.hpp"
#include "tokenroof/nearest.hpp"
#include "tokenroof/network/named_schemes.hpp"
#include "validation/aliases.hpp"

namespace tokenroof::validation {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trimmed(std::string_view text, std::string_view spaces = " \t") {
  const std::size_t begin = text.find_first_not_of(spaces);
  return begin == std::string_view::npos ? std::string_view{}
                                         : text.substr(begin, text.find_last_not_of(spaces) - begin + 1);
}

/// The text for a message.
std::string quoted(std::string_view text) {
  constexpr std::size_t most = 128;
  return '\'' + std::string(text.substr(0, most)) + '\'';
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The message of a look-up that fails; it names what is nearest.
template <class LookUp>
std::string message_of(LookUp&& look_up) {
  try {
    look_up();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

/// What a name means by a list of aliases; null: nothing.
const Alias* find_alias(const std::vector<Alias>& aliases, std::string_view text, std::string_view network = {},
                        std::string_view source = {}) {
  const std::string spelling = normalised(text);
  const auto alias = std::find_if(aliases.begin(), aliases.end(), [&](const Alias& candidate) {
    return contains(candidate.names, spelling) &&
           (candidate.networks.empty() || contains(candidate.networks, network)) &&
           is_of_source(candidate.sources, source);
  });
  return alias != aliases.end() ? &*alias : nullptr;
}

/// "a (b, c)" is "a" with the remarks "b" and "c".
struct Remarked {
  std::string_view text{};
  std::vector<std::string_view> remarks{};
};

Remarked split_remarks(std::string_view text) {
  constexpr std::size_t most_remarks = 8;
  const std::size_t open = text.find_first_of("([");
  if (open == std::string_view::npos || open == 0) {
    return {.text = text};
  }
  Remarked result{.text = trimmed(text.substr(0, open))};
  std::string_view rest = text.substr(open);
  while (!rest.empty() && result.remarks.size() < most_remarks) {
    const std::size_t end = std::min(rest.find_first_of("([,)]"), rest.size());
    if (const std::string_view remark = trimmed(rest.substr(0, end)); !remark.empty()) {
      result.remarks.push_back(remark);
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return result;
}

/// "2x Tesla T4" is two of "Tesla T4".
struct Counted {
  std::string_view text{};
  std::int64_t count = 1;
};

Counted split_count(std::string_view text) {
  constexpr std::size_t most_digits = 6;
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view rest = trimmed(text.substr(digits));
  const bool counted = digits > 0 && digits <= most_digits && rest.size() > 1 && (rest[0] == 'x' || rest[0] == 'X') &&
                       !(rest[1] >= 'a' && rest[1] <= 'z');
  if (!counted) {
    return {.text = text};
  }
  Counted result{.text = trimmed(rest.substr(1))};
  std::from_chars(text.data(), text.data() + digits, result.count);
  return result;
}

/// Parts between separators, each once: "A + B, C" are three.
std::vector<std::string_view> kinds_of_hardware(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1U : 0U;
    depth -= text[i] == ')' && depth > 0 ? 1U : 0U;
    const bool is_plus = text.substr(i, 3) == " + "; // "Ryzen AI Max+ 395" has none
    if (depth == 0 && (text[i] == ',' || is_plus)) {
      parts.push_back(trimmed(text.substr(begin, i - begin)));
      i += is_plus ? 2U : 0U;
      begin = i + 1;
    }
  }
  parts.push_back(trimmed(text.substr(begin)));
  return parts;
}

std::optional<Device> find_known_device(std::string_view text, std::string_view source) {
  const Alias* const alias = find_alias(aliases().devices, text, {}, source);
  const auto found = catalogue::detail::find_sized(alias != nullptr ? std::string_view(alias->means) : text);
  if (!found.index) {
    return std::nullopt;
  }
  const Device& device = catalogue::devices()[*found.index];
  if (!found.size) {
    return device;
  }
  return find_memory(device, *found.size) || device.memory_variant_count == 0
             ? std::optional(with_memory(device, *found.size))
             : std::nullopt;
}

/// The size that a remark states: "128GB", "79.19 GiB visible".
std::optional<Bytes> size_in(std::string_view remark) {
  const std::size_t end = remark.find(" visible");
  const std::string_view size = remark.substr(0, end);
  const bool has_unit = !size.empty() && !is_digit(size.back());
  return has_unit ? parse_bytes(size) : std::nullopt;
}

/// What the driver shows is a little less than what is sold; a size in a name is a whole number.
bool is_visible_size(std::string_view remark) {
  return remark.find("visible") != std::string_view::npos || remark.find('.') != std::string_view::npos;
}

void apply_remarks(Hardware& hardware, const std::vector<std::string_view>& remarks) {
  for (const std::string_view remark : remarks) {
    const std::optional<Bytes> size = size_in(remark);
    if (!size) {
      continue;
    }
    if (is_visible_size(remark)) {
      hardware.visible = size;
    }
    if (memory(hardware.device) == nullptr && find_memory(hardware.device, *size)) {
      hardware.device = with_memory(hardware.device, *size);
    }
  }
}

Resolved<Hardware> resolve_kind(std::string_view text, std::string_view source, Nearest nearest) {
  const Remarked parts = split_remarks(text);
  std::vector<std::string_view> candidates = {text, parts.text};
  candidates.insert(candidates.end(), parts.remarks.begin(), parts.remarks.end());
  for (const std::string_view candidate : candidates) {
    if (const auto device = find_known_device(candidate, source)) {
      Hardware hardware{.device = *device};
      apply_remarks(hardware, parts.remarks);
      return {.meaning = hardware};
    }
  }
  return {.reason = nearest == Nearest::yes ? message_of([&] { (void)catalogue::device(parts.text); })
                                            : "unknown device " + quoted(parts.text)};
}

/// The entry of that exact spelling or alias.
const catalogue::NetworkEntry* find_known_network(std::string_view text) {
  const Alias* const alias = find_alias(aliases().networks, text);
  return catalogue::find_network_entry(alias != nullptr ? std::string_view(alias->means) : text);
}

bool separates_words(char c) { return c == '-' || c == '_' || c == '.' || c == ' ' || c == '/'; }

/// The alias that ends a text behind a separator, and what stands before it.
struct Suffix {
  const Alias* alias = nullptr;
  std::string_view rest{};
};

std::optional<Suffix> split_suffix(std::string_view text) {
  for (std::size_t i = text.size(); i-- > 1;) {
    if (!separates_words(text[i])) {
      continue;
    }
    const std::string_view tail = text.substr(i + 1);
    if (const Alias* const alias = find_alias(aliases().network_suffixes, tail)) {
      return Suffix{alias, text.substr(0, i)};
    }
    if (find_scheme(tail) || find_alias(aliases().weight_formats, tail) != nullptr) {
      return Suffix{nullptr, text.substr(0, i)};
    }
  }
  return std::nullopt;
}

std::string_view without_prefix(std::string_view text) {
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if (separates_words(text[i]) && find_alias(aliases().network_prefixes, text.substr(0, i)) != nullptr) {
      return text.substr(i + 1);
    }
  }
  return text;
}

/// The network that a name means when what may be left out behind it is left out.
std::optional<NetworkName> find_by_words(std::string_view text) {
  NetworkName name;
  while (true) {
    name.entry = find_known_network(text);
    if (name.entry != nullptr) {
      return name;
    }
    const std::optional<Suffix> suffix = split_suffix(text);
    if (!suffix) {
      return std::nullopt;
    }
    if (suffix->alias == nullptr) {
      name.weight_format = text.substr(suffix->rest.size() + 1);
    } else if (!suffix->alias->means.empty()) {
      name.weight_format = suffix->alias->means;
    }
    text = suffix->rest;
  }
}

/// "IQ4_KSS - 4.0 bpw" without its bits, and those.
struct StatedBits {
  std::string_view text{};
  std::optional<double> bits{};
};

StatedBits split_bits(std::string_view text) {
  const std::size_t unit = text.rfind(" bpw");
  const std::size_t dash = text.rfind(" - ", unit);
  if (unit == std::string_view::npos || dash == std::string_view::npos) {
    return {.text = text};
  }
  const std::string_view number = trimmed(text.substr(dash + 3, unit - dash - 3));
  double bits = 0;
  const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), bits);
  constexpr double most_bits = 64;
  const bool valid = error == std::errc() && stop == number.data() + number.size() && bits > 0 && bits <= most_bits;
  return valid ? StatedBits{trimmed(text.substr(0, dash)), bits} : StatedBits{.text = text};
}

/// ggml's own layout with matrices of that many bits, whichever blocks they are in.
WeightScheme scheme_of_bits(std::string_view name, double bits) {
  WeightScheme scheme = *find_scheme("Q4_0");
  constexpr std::size_t longest_name = 48;
  scheme.name = name.substr(0, longest_name);
  scheme.format = {.name = scheme.name,
                   .block_elements = 1,
                   .block_bytes = bits / 8,
                   .arithmetic = Arithmetic::int8,
                   .encoding = Encoding::weight_only};
  return scheme;
}

std::optional<WeightScheme> find_known_scheme(std::string_view text, std::string_view network) {
  const Alias* const alias = find_alias(aliases().weight_formats, text, network);
  return find_scheme(alias != nullptr ? std::string_view(alias->means) : text);
}

std::optional<Format> find_known_format(std::string_view text) {
  const Alias* const alias = find_alias(aliases().kv_formats, text);
  return find_format(alias != nullptr ? std::string_view(alias->means) : text);
}

/// Some elements in one format, the others in another.
Format mean_format(std::string_view name, const Format& keys, const Format& values, double share_of_keys) {
  constexpr std::size_t longest_name = 48;
  return {.name = name.substr(0, longest_name),
          .block_elements = 1,
          .block_bytes = bytes_per_element(keys) * share_of_keys + bytes_per_element(values) * (1 - share_of_keys),
          .arithmetic = values.arithmetic,
          .encoding = Encoding::weight_only};
}

bool is_meant(const EngineAlias& alias, std::string_view framework, std::string_view backend, std::string_view version,
              std::string_view source, const Device* device) {
  const bool named = contains(alias.frameworks, normalised(framework));
  const bool on_backend = alias.backends.empty() || contains(alias.backends, normalised(backend));
  const bool on_class =
      alias.device_classes.empty() || (device != nullptr && contains(alias.device_classes, name(device->device_class)));
  const std::vector<double> numbers = version_numbers(version);
  const bool in_time = alias.before.empty() || (!numbers.empty() && numbers < alias.before);
  return named && on_backend && on_class && in_time && is_of_source(alias.sources, source);
}

} // namespace

HardwareName resolve_hardware(std::string_view text, std::string_view source, Nearest nearest) {
  HardwareName result;
  result.devices = 0;
  std::string first;
  bool mixed = false;
  for (const std::string_view part : kinds_of_hardware(text)) {
    const Counted counted = split_count(part);
    result.devices += counted.count;
    mixed = mixed || (!first.empty() && first != counted.text);
    first = counted.text;
  }
  result.hardware = mixed ? Resolved<Hardware>{.reason = "devices of several kinds: " + quoted(text)}
                          : resolve_kind(first, source, nearest);
  return result;
}

Resolved<NetworkName> resolve_network(std::string_view text, Nearest nearest) {
  const Remarked parts = split_remarks(text);
  for (const std::string_view candidate : {text, parts.text, without_prefix(parts.text)}) {
    if (const auto found = find_by_words(candidate)) {
      return {.meaning = found};
    }
  }
  return {.reason = nearest == Nearest::yes ? message_of([&] { (void)catalogue::network_entry(parts.text); })
                                            : "unknown network " + quoted(parts.text)};
}

Resolved<WeightScheme> resolve_weights(std::string_view text, const NetworkName& network) {
  const StatedBits stated = split_bits(text);
  const std::string_view id = network.entry != nullptr ? std::string_view(network.entry->id) : std::string_view{};
  const Alias* const alias = find_alias(aliases().weight_formats, stated.text, id);
  if (stated.text.empty() || (alias != nullptr && alias->means.empty())) {
    if (!network.weight_format.empty()) {
      return resolve_weights(network.weight_format, {.entry = network.entry});
    }
    return {.meaning = network.entry != nullptr ? network.entry->weights.value_or(WeightScheme{}) : WeightScheme{}};
  }
  if (const auto known = find_known_scheme(stated.text, id)) {
    return {.meaning = known};
  }
  return stated.bits ? Resolved<WeightScheme>{.meaning = scheme_of_bits(stated.text, *stated.bits)}
                     : Resolved<WeightScheme>{.reason = message_of([&] { (void)scheme(text); })};
}

Resolved<Format> resolve_kv(std::string_view text, const Format& usual, double share_of_keys) {
  if (text.empty() || normalised(text) == "auto") {
    return {.meaning = usual};
  }
  const std::size_t slash = text.find('/');
  const std::optional<Format> keys = find_known_format(text.substr(0, slash));
  const std::optional<Format> values =
      slash == std::string_view::npos ? keys : find_known_format(text.substr(slash + 1));
  if (!keys || !values) {
    return {.reason = "unknown format of the KV cache " + quoted(text)};
  }
  return {.meaning = *keys == *values ? *keys : mean_format(text, *keys, *values, share_of_keys)};
}

Resolved<EngineName> resolve_engine(std::string_view framework, std::string_view backend, std::string_view version,
                                    std::string_view source, const Device* device) {
  for (const EngineAlias& alias : aliases().engines) {
    if (is_meant(alias, framework, backend, version, source, device)) {
      return {.meaning = EngineName{catalogue::engine(alias.means), alias.reserves_context}};
    }
  }
  return {.reason =
              "unknown engine " + quoted(std::string(framework) + (backend.empty() ? "" : " ") + std::string(backend))};
}

} // namespace tokenroof::validation
