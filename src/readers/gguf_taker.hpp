/// @file
/// The tensors of one block of a GGUF file, taken one after the other for what they are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "readers/gguf_metadata.hpp"
#include "readers/gguf_network.hpp"
#include "readers/gguf_tensors.hpp"
#include "tokenroof/network/tensors.hpp"

namespace tokenroof::readers {

/// Rows of a tensor, those of all its matrices together.
[[nodiscard]] Count rows_of(const GgufTensor& tensor);

/// Takes the tensors of one block, or of all outside the blocks, out of the table and gives them roles.
class GgufTaker {
public:
  /// All references must outlive it. `layer`: none outside the layers.
  GgufTaker(const GgufMetadata& metadata, const GgufTensors& tensors, std::optional<Count> layer, GgufNetwork& result);

  [[nodiscard]] bool has(GgufPart part) const { return tensors_.find(part) != nullptr; }
  /// Rows of a part, 0 where it is absent.
  [[nodiscard]] Count rows(GgufPart part) const;
  /// Elements in a row of a part, 0 where it is absent.
  [[nodiscard]] Count row_length(GgufPart part) const;
  /// Elements of a part, 0 where it is absent.
  [[nodiscard]] Count elements(GgufPart part) const;
  /// The tensor of that part. Throws ParseError where it is missing.
  [[nodiscard]] const GgufTensor& require(GgufPart part) const;
  /// Throws InvalidSpec, naming the tensor, unless the condition holds.
  void expect(bool condition, GgufPart part, const std::string& reason) const;

  /// Gives all tensors of a part that role; none where there are none.
  void take(GgufPart part, TensorRole role);
  /// Takes those tensors of a part that have so many elements; yields how many. The others are set aside.
  Count take_sized(GgufPart part, TensorRole role, Count elements);
  /// Gives so many of a tensor's rows that role.
  void take_rows(const GgufTensor& tensor, TensorRole role, Count rows);
  /// Marks a part as taken where its rows went to several roles.
  void done(GgufPart part) { taken_.push_back(part); }
  /// Sets a part aside as one that no step reads, and says why.
  void set_aside(GgufPart part, const std::string& what);
  /// Sets aside what is left. Throws ParseError for a matrix that nobody has taken: it must mean something.
  void finish();

  [[nodiscard]] const GgufMetadata& metadata() const { return metadata_; }
  [[nodiscard]] Count layer() const { return layer_.value_or(0); }
  void assume(std::string note);

private:
  const GgufMetadata& metadata_;
  const GgufTensors& tensors_;
  std::optional<Count> layer_;
  GgufNetwork& result_;
  std::vector<GgufPart> taken_{};
};

} // namespace tokenroof::readers
