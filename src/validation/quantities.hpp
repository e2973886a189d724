/// @file
/// What measurements measure, each with the function that predicts it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "tokenroof/deployment/deployment.hpp"
#include "tokenroof/workload/workload.hpp"

namespace tokenroof::validation {

/// In bytes, tokens, blocks, sequences, seconds or tokens a second.
enum class Quantity : std::uint8_t {
  file_weights,        ///< all weights of the file
  weights,             ///< on the fullest device
  device_weights,      ///< on the device of that index of a split by layers
  kv_cache,            ///< of all devices, as allocated
  kv_pool,             ///< what is left for the cache on one device of an engine that fills its memory
  kv_tokens,           ///< that such a pool holds
  kv_blocks,           ///< the same in the engine's blocks
  max_concurrency,     ///< sequences of the longest length that it holds
  activations,         ///< peak of a pass on one device
  graphs,              ///< captured graphs on one device
  non_torch,           ///< allocated beside the framework's own allocator on one device
  driver_context,      ///< of driver and libraries on one device
  non_kv_memory,       ///< weights, activations and what is allocated beside, on one device
  compute_buffer,      ///< for the operators' results on the device of that index
  all_compute_buffers, ///< of all devices and the host
  host_compute_buffer, ///< on the host
  allocated_peak,      ///< weights, cache and buffers on the fullest device, without the driver's context
  all_allocated_peaks, ///< the same of all devices together
  held_memory,         ///< weights and cache of all devices together: what stays allocated between passes
  process_peak,        ///< of all devices together, the driver's context included
  ttft,                ///< of the whole batch
  tpot,
  end_to_end,   ///< of the whole batch
  prefill_rate, ///< prompt tokens of the whole batch over TTFT
  decode_rate,  ///< tokens of the whole batch over TPOT
  output_rate,  ///< tokens generated for the whole batch over the end-to-end time
};

inline constexpr std::size_t quantity_count = 26;

/// The name by which aliases.json knows it.
[[nodiscard]] std::string_view name(Quantity quantity);
[[nodiscard]] std::optional<Quantity> find_quantity(std::string_view name);

/// Which parts of a row a quantity depends on: what it does not need may stay unresolved.
struct Needs {
  bool device = false;
  bool weights = false;
  bool kv = false;
  bool workload = false; ///< a short one is assumed where the row states none
  bool context = false;  ///< which must be stated
  bool batch = false;    ///< the number of sequences must be stated
  bool prefill = false;  ///< of a prompt, however many tokens are generated after it
  bool decode = false;   ///< of tokens after the prompt
};
[[nodiscard]] Needs needs(Quantity quantity);

/// Whether a quantity is a time, or a rate over one.
[[nodiscard]] bool is_time(Quantity quantity);
/// Whether it is a rate: the higher, the faster.
[[nodiscard]] bool is_rate(Quantity quantity);

/// Whose memory a quantity lies in.
enum class Extent : std::uint8_t { elsewhere, one_device, all_devices };
[[nodiscard]] Extent extent_of(Quantity quantity);

/// A row as a question.
struct Question {
  Deployment deployment{};
  Workload workload{};
  std::int64_t device_index = 0;
  std::optional<Bytes> visible{};      ///< memory of one device as the row states it
  std::optional<Tokens> longest{};     ///< context for which the engine is set up
  std::optional<Bytes> kv_pool{};      ///< as another row of the log states it
  std::optional<Bytes> file_weights{}; ///< the same of the file's size
  Bytes device_weights{};              ///< and of the weights on all devices; 0: none does
};

/// The prediction in bytes, tokens, blocks, sequences, seconds or tokens a second; NaN where there is none.
struct Answer {
  double value = std::numeric_limits<double>::quiet_NaN();
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
  std::string reason{}; ///< why there is none, or what was given to it
};

[[nodiscard]] Answer predict(Quantity quantity, const Question& question);

} // namespace tokenroof::validation
