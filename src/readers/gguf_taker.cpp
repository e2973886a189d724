#include "readers/gguf_taker.hpp"

#include <algorithm>
#include <utility>

#include "tokenroof/errors.hpp"

namespace tokenroof::readers {

Count rows_of(const GgufTensor& tensor) { return tensor.elements / tensor.shape[0]; }

namespace {

bool is_matrix(const GgufTensor& tensor) { return rows_of(tensor) > 1; }

} // namespace

GgufTaker::GgufTaker(const GgufMetadata& metadata, const GgufTensors& tensors, std::optional<Count> layer,
                     GgufNetwork& result)
    : metadata_(metadata), tensors_(tensors), layer_(layer), result_(result) {}

Count GgufTaker::rows(GgufPart part) const {
  const GgufTensor* tensor = tensors_.find(part);
  return tensor == nullptr ? 0 : rows_of(*tensor);
}

Count GgufTaker::row_length(GgufPart part) const {
  const GgufTensor* tensor = tensors_.find(part);
  return tensor == nullptr ? 0 : tensor->shape[0];
}

Count GgufTaker::elements(GgufPart part) const {
  const auto found = tensors_.parts.find(part);
  Count sum = 0;
  if (found != tensors_.parts.end()) {
    for (const GgufTensor* tensor : found->second) {
      sum += tensor->elements;
    }
  }
  return sum;
}

const GgufTensor& GgufTaker::require(GgufPart part) const {
  const GgufTensor* tensor = tensors_.find(part);
  if (tensor == nullptr) {
    throw ParseError(metadata_.path(), tensors_.place + std::string(usual_name(part)), "the tensor is missing");
  }
  return *tensor;
}

void GgufTaker::expect(bool condition, GgufPart part, const std::string& reason) const {
  if (!condition) {
    const GgufTensor& tensor = require(part);
    std::string shape = std::to_string(tensor.shape[0]);
    for (std::size_t i = 1; i < tensor.shape.size() && tensor.shape[i] > 1; ++i) {
      shape += " x " + std::to_string(tensor.shape[i]);
    }
    throw InvalidSpec(tensor.name, shape, reason);
  }
}

void GgufTaker::take(GgufPart part, TensorRole role) {
  const auto found = tensors_.parts.find(part);
  if (found == tensors_.parts.end()) {
    return;
  }
  for (const GgufTensor* tensor : found->second) {
    take_rows(*tensor, role, rows_of(*tensor));
  }
  done(part);
}

Count GgufTaker::take_sized(GgufPart part, TensorRole role, Count elements) {
  const auto found = tensors_.parts.find(part);
  if (found == tensors_.parts.end()) {
    return 0;
  }
  Count taken = 0;
  for (const GgufTensor* tensor : found->second) {
    if (tensor->elements == elements) {
      take_rows(*tensor, role, rows_of(*tensor));
      ++taken;
    } else {
      result_.others.push_back({tensor, "norms of another width"});
    }
  }
  done(part);
  return taken;
}

void GgufTaker::take_rows(const GgufTensor& tensor, TensorRole role, Count rows) {
  result_.stored.push_back(
      {.role = role,
       .layer = layer_,
       .format = tensor.format,
       .elements = rows * tensor.shape[0],
       .bytes = storage(tensor.format, static_cast<double>(rows), static_cast<double>(tensor.shape[0])).value()});
}

void GgufTaker::set_aside(GgufPart part, const std::string& what) {
  const auto found = tensors_.parts.find(part);
  if (found == tensors_.parts.end()) {
    return;
  }
  for (const GgufTensor* tensor : found->second) {
    result_.others.push_back({tensor, what});
  }
  done(part);
}

void GgufTaker::finish() {
  std::vector<const GgufTensor*> left = tensors_.unknown;
  for (const auto& [part, tensors] : tensors_.parts) {
    if (std::find(taken_.begin(), taken_.end(), part) == taken_.end()) {
      left.insert(left.end(), tensors.begin(), tensors.end());
    }
  }
  for (const GgufTensor* tensor : left) {
    if (is_matrix(*tensor)) {
      throw ParseError(metadata_.path(), tensor->name.substr(0, 80),
                       "what this tensor is for in a network of the architecture '" + metadata_.architecture() +
                           "' is not known");
    }
    result_.others.push_back({tensor, "vectors whose use is not known"});
  }
}

void GgufTaker::assume(std::string note) {
  if (std::find(result_.assumptions.begin(), result_.assumptions.end(), note) == result_.assumptions.end()) {
    result_.assumptions.push_back(std::move(note));
  }
}

} // namespace tokenroof::readers
