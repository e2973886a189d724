#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "readers/checkpoint.hpp"
#include "readers/gguf.hpp"
#include "readers/json_file.hpp"
#include "readers/json_object.hpp"
#include "readers/network.hpp"
#include "readers/printable.hpp"
#include "readers/safetensors.hpp"
#include "tokenroof/errors.hpp"
#include "tokenroof/readers.hpp"

namespace tokenroof {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr readers::JsonLimits config_limits = {.bytes = std::size_t{4} << 20, .allow_non_finite = true};
constexpr std::size_t most_listed = 16384; // entries of a folder

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

double size_of(const fs::path& path) {
  std::error_code ignored;
  const auto size = fs::file_size(path, ignored);
  return ignored ? 0 : static_cast<double>(size);
}

std::string beginning_of(const fs::path& path, std::size_t bytes) {
  std::ifstream file(path, std::ios::binary);
  std::string text(bytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(bytes));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
}

/// Files of that ending in a folder, sorted.
std::vector<fs::path> files_ending(const fs::path& folder, std::string_view ending) {
  std::vector<fs::path> found;
  std::error_code error;
  std::size_t seen = 0;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (++seen > most_listed) {
      throw ParseError(folder.string(), "", "holds more than " + std::to_string(most_listed) + " files");
    }
    if (entry->path().filename().string().ends_with(ending) && is_file(entry->path())) {
      found.push_back(entry->path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// A folder's own name, a file's stem.
std::string name_of(const fs::path& path) {
  const fs::path whole = fs::absolute(path).lexically_normal();
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    return whole.filename().empty() ? whole.parent_path().filename().string() : whole.filename().string();
  }
  const std::string stem = whole.stem().string();
  const std::string parent = whole.parent_path().filename().string();
  const bool usual = stem == "config" || stem == "model" || stem == "model.safetensors.index";
  return usual && !parent.empty() ? parent : stem;
}

// ---- Quantisation stated in a file of its own ----------------------------------------------------------------------------

struct SideFile {
  const char* name;
  const char* method; ///< what its writers leave out, since the file's name says it
};

constexpr std::array side_files = {SideFile{"hf_quant_config.json", "modelopt"},
                                   SideFile{"quantize_config.json", "gptq"}, SideFile{"quant_config.json", "awq"}};

bool states_quantisation(const json& config) {
  for (const char* key : {"quantization_config", "compression_config", "quantization"}) {
    for (const json* part : {&config, config.contains("text_config") ? &config.at("text_config") : &config}) {
      if (part->is_object() && part->contains(key)) {
        return true;
      }
    }
  }
  return false;
}

/// Adds what a side file states to a configuration that states nothing; says which file it was.
std::string add_side_file(json& config, const fs::path& folder) {
  if (!config.is_object() || states_quantisation(config)) {
    return {};
  }
  for (const SideFile& side : side_files) {
    const fs::path path = folder / side.name;
    if (!is_file(path)) {
      continue;
    }
    json document = readers::read_json(path, config_limits);
    if (document.is_object() && document.contains("quantization")) {
      document = json(document.at("quantization"));
    }
    if (!document.is_object()) {
      throw ParseError(path.string(), "", "is not a JSON object");
    }
    if (!document.contains("quant_method")) {
      document["quant_method"] = side.method;
    }
    config["quantization_config"] = std::move(document);
    return path.string();
  }
  return {};
}

NetworkReading read_config(const fs::path& path, const std::string& name) {
  json config = readers::read_json(path, config_limits);
  const std::string side = add_side_file(config, path.parent_path());
  NetworkReading reading = readers::examine_config(config, path.string(), name);
  reading.kind = "config.json";
  reading.files.paths.push_back(path.string());
  if (!side.empty()) {
    reading.files.paths.push_back(side);
    reading.weights_source = fs::path(side).filename().string();
  }
  return reading;
}

// ---- safetensors ---------------------------------------------------------------------------------------------------------

std::vector<StoredType> types_of(const std::vector<readers::SafetensorsTensor>& tensors) {
  std::map<std::string, StoredType> by_name;
  for (const readers::SafetensorsTensor& tensor : tensors) {
    StoredType& type = by_name[tensor.type];
    type.name = tensor.type;
    ++type.tensors;
    type.bytes += Bytes::from_value(static_cast<double>(tensor.bytes));
  }
  std::vector<StoredType> types;
  types.reserve(by_name.size());
  for (auto& [name, type] : by_name) {
    types.push_back(std::move(type));
  }
  std::stable_sort(types.begin(), types.end(),
                   [](const StoredType& a, const StoredType& b) { return a.bytes > b.bytes; });
  return types;
}

/// The format that most bytes of the network's tensors are in, for a scheme that the configuration does not name.
Format commonest(const std::vector<readers::SafetensorsTensor>& tensors) {
  const std::string type = types_of(tensors).front().name;
  return std::find_if(tensors.begin(), tensors.end(), [&](const auto& tensor) { return tensor.type == type; })->format;
}

void add_files(NetworkReading& reading, const std::vector<fs::path>& paths,
               const std::vector<readers::SafetensorsTensor>& tensors) {
  for (const fs::path& path : paths) {
    reading.files.paths.push_back(path.string());
    reading.files.on_disk += Bytes::from_value(size_of(path));
  }
  reading.files.tensors = static_cast<Count>(tensors.size());
  reading.files.types = types_of(tensors);
  for (const StoredType& type : reading.files.types) {
    reading.files.tensor_bytes += type.bytes;
  }
}

/// Puts the tensors of files in the place of what the configuration makes of the weights.
void take_tensors(NetworkReading& reading, const std::vector<fs::path>& paths,
                  const std::vector<readers::SafetensorsTensor>& tensors) {
  if (tensors.empty()) {
    throw ParseError(paths.front().string(), "", "holds no tensors");
  }
  readers::StoredMatch match;
  try {
    match = readers::match_checkpoint(reading.network, tensors, reading.weights);
  } catch (const InvalidSpec& error) {
    throw ParseError(paths.front().string(), error.field(), error.value() + ": " + error.reason());
  }
  const Format common = reading.weights ? reading.weights->format : commonest(tensors);
  WeightScheme scheme{.name = reading.weights ? reading.weights->name : common.name,
                      .format = common,
                      .vectors = reading.weights ? reading.weights->vectors : common,
                      .stored = std::move(match.formats)};
  reading.weights = std::move(scheme);
  reading.kind = "safetensors";
  reading.weights_source =
      "the tables of tensors" + (reading.weights_source.empty() ? std::string() : ", " + reading.weights_source);
  add_files(reading, paths, tensors);
  std::move(match.assumptions.begin(), match.assumptions.end(), std::back_inserter(reading.assumptions));
}

std::vector<readers::SafetensorsTensor> tensors_of(const std::vector<fs::path>& paths) {
  std::map<std::string, std::string> seen;
  std::vector<readers::SafetensorsTensor> tensors;
  for (const fs::path& path : paths) {
    readers::SafetensorsFile file = readers::read_safetensors(path);
    for (readers::SafetensorsTensor& tensor : file.tensors) {
      if (const auto [first, is_new] = seen.emplace(tensor.name, file.path); !is_new) {
        throw ParseError(file.path, "tensor " + readers::shortened(tensor.name), "is in " + first->second + " too");
      }
      tensors.push_back(std::move(tensor));
    }
  }
  return tensors;
}

/// Without the parts, what an index states must do: its total, of which the configuration's bytes are the network's.
void take_total(NetworkReading& reading, const fs::path& path, const readers::SafetensorsIndex& index) {
  reading.files.paths.push_back(path.string());
  reading.files.tensors = static_cast<Count>(index.map.size());
  reading.assumptions.push_back("none of the " + std::to_string(index.files.size()) +
                                " files of the index is there: formats are those of the configuration");
  if (!index.total_bytes) {
    return;
  }
  const auto total = static_cast<double>(*index.total_bytes);
  reading.files.tensor_bytes = Bytes::from_value(total);
  if (!reading.weights) {
    return;
  }
  const double difference = total - weight_bytes(reading.network, *reading.weights).value();
  if (difference < 0) {
    reading.assumptions.push_back("the index states " + std::to_string(static_cast<Count>(-difference)) +
                                  " bytes fewer than the configuration makes");
  } else if (difference > 0) {
    StoredFormats stored = reading.weights->stored ? *reading.weights->stored : StoredFormats{};
    stored.other += Bytes::from_value(difference);
    reading.weights->stored = std::move(stored);
    reading.assumptions.push_back("the index states " + std::to_string(static_cast<Count>(difference)) +
                                  " bytes beyond the network's, taken as stored and never read");
  }
}

void note_total(NetworkReading& reading, const readers::SafetensorsIndex& index) {
  const double found = reading.files.tensor_bytes.value();
  if (index.total_bytes && static_cast<double>(*index.total_bytes) != found) {
    reading.assumptions.push_back("the index states " + std::to_string(*index.total_bytes) + " bytes, its files hold " +
                                  std::to_string(static_cast<Count>(found)) + ": these are taken");
  }
}

void take_index(NetworkReading& reading, const fs::path& path) {
  const readers::SafetensorsIndex index = readers::read_safetensors_index(path);
  std::vector<fs::path> parts;
  std::string missing;
  for (const std::string& name : index.files) {
    const fs::path part = path.parent_path() / name;
    missing = missing.empty() && !is_file(part) ? name : missing;
    parts.push_back(part);
  }
  const auto there = static_cast<std::size_t>(std::count_if(parts.begin(), parts.end(), is_file));
  if (there == 0) {
    take_total(reading, path, index);
    return;
  }
  if (there < parts.size()) {
    throw ParseError(path.string(), missing,
                     "is missing: " + std::to_string(there) + " of " + std::to_string(parts.size()) +
                         " files are there");
  }
  const auto tensors = tensors_of(parts);
  take_tensors(reading, parts, tensors);
  reading.files.paths.insert(reading.files.paths.begin() + 1, path.string());
  note_total(reading, index);
}

fs::path config_beside(const fs::path& path) {
  fs::path config = path.parent_path() / "config.json";
  if (!is_file(config)) {
    throw ParseError(path.string(), "",
                     "needs a config.json beside it: its tensors alone do not say what network it is");
  }
  return config;
}

NetworkReading read_gguf_file(const fs::path& path) {
  NetworkReading reading = readers::read_gguf(path);
  reading.kind = "GGUF";
  reading.weights_source = "the table of tensors";
  reading.files.paths.push_back(path.string());
  reading.files.on_disk = Bytes::from_value(size_of(path));
  reading.files.tensor_bytes = weight_bytes(reading.network, *reading.weights);
  return reading;
}

/// Which index or files of a folder hold the weights: the usual names first.
void take_weights_of_folder(NetworkReading& reading, const fs::path& folder) {
  const fs::path whole = folder / "model.safetensors";
  const auto indexes = files_ending(folder, ".safetensors.index.json");
  if (is_file(folder / "model.safetensors.index.json")) {
    take_index(reading, folder / "model.safetensors.index.json");
  } else if (is_file(whole)) {
    take_tensors(reading, {whole}, tensors_of({whole}));
  } else if (indexes.size() == 1) {
    take_index(reading, indexes.front());
  } else if (const auto files = files_ending(folder, ".safetensors"); !files.empty()) {
    take_tensors(reading, files, tensors_of(files));
  }
}

/// Whether all are parts of one split file.
bool are_parts_of_one(const std::vector<fs::path>& files) {
  const auto stem = [](const fs::path& path) {
    const std::string name = path.filename().string();
    return name.substr(0, name.rfind("-of-") - std::min<std::size_t>(name.rfind("-of-"), 5));
  };
  const bool split = files.front().filename().string().find("-of-") != std::string::npos;
  return split &&
         std::all_of(files.begin(), files.end(), [&](const fs::path& p) { return stem(p) == stem(files.front()); });
}

NetworkReading read_folder(const fs::path& folder) {
  const fs::path config = folder / "config.json";
  const auto gguf = files_ending(folder, ".gguf");
  const bool safetensors =
      !files_ending(folder, ".safetensors").empty() || !files_ending(folder, ".safetensors.index.json").empty();
  if (is_file(config) && (safetensors || gguf.empty())) {
    NetworkReading reading = read_config(config, name_of(folder));
    take_weights_of_folder(reading, folder);
    return reading;
  }
  if (gguf.empty()) {
    throw ParseError(folder.string(), "", "holds neither a config.json nor a .gguf file");
  }
  if (gguf.size() > 1 && !are_parts_of_one(gguf)) {
    throw ParseError(folder.string(), "",
                     "holds several .gguf files; name one, as " + gguf.front().filename().string());
  }
  return read_gguf_file(gguf.front());
}

NetworkReading read_file(const fs::path& path) {
  const std::string beginning = beginning_of(path, readers::gguf_magic.size());
  const std::string name = path.filename().string();
  if (beginning == readers::gguf_magic || name.ends_with(".gguf")) {
    return read_gguf_file(path);
  }
  if (name.ends_with(".safetensors")) {
    NetworkReading reading = read_config(config_beside(path), name_of(path));
    take_tensors(reading, {path}, tensors_of({path}));
    return reading;
  }
  if (name.ends_with(".index.json")) {
    NetworkReading reading = read_config(config_beside(path), name_of(path));
    take_index(reading, path);
    return reading;
  }
  return read_config(path, name_of(path));
}

} // namespace

NetworkReading examine_network(const std::filesystem::path& path) {
  std::error_code ignored;
  const bool folder = fs::is_directory(path, ignored);
  if (!folder && !is_file(path)) { // a pipe would wait for a second writer: a model's file is opened more than once
    throw ParseError(path.string(), "",
                     fs::exists(path, ignored) ? "is no regular file" : "cannot be opened as a file");
  }
  NetworkReading reading = folder ? read_folder(path) : read_file(path);
  for (std::string& assumption : reading.assumptions) { // they quote names out of the files
    assumption = readers::printable(assumption);
  }
  return reading;
}

Network read_network(const std::filesystem::path& path) { return examine_network(path).network; }

} // namespace tokenroof
