// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "models/parts.h"

namespace kg::models {
namespace {

// Transposes each consecutive `rows` x `cols` matrix of `all`.
std::vector<float> transposed(std::span<const float> all, std::int64_t rows, std::int64_t cols) {
  std::vector<float> result(all.size());
  for (std::size_t begin = 0; begin < all.size(); begin += static_cast<std::size_t>(rows * cols))
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t col = 0; col < cols; ++col)
        result[begin + static_cast<std::size_t>(col * rows + row)] =
            all[begin + static_cast<std::size_t>(row * cols + col)];
  return result;
}

} // namespace

void each_part(const Tape& tape,
               const std::function<void(const Parameter&, const Part&, std::int64_t row)>& visit) {
  for (const Parameter& parameter : tape.parameters()) {
    std::int64_t row = 0;
    for (const Part& part : parameter.parts) {
      visit(parameter, part, row);
      row += part.rows;
    }
  }
}

std::vector<std::int64_t> shape_of(const Parameter& parameter, const Part& part) {
  if (parameter.by_inputs) return {parameter.value.cols, part.rows};
  std::vector<std::int64_t> shape = {part.rows};
  shape.insert(shape.end(), parameter.inner.begin(), parameter.inner.end());
  return shape;
}

std::vector<float> with_channels_last(std::span<const float> rows, std::int64_t channels,
                                      std::int64_t places) {
  return transposed(rows, channels, places);
}

std::vector<float> with_channels_first(std::span<const float> rows, std::int64_t channels,
                                       std::int64_t places) {
  return transposed(rows, places, channels);
}

void write_part(Execution& execution, const Parameter& parameter, std::int64_t row,
                std::span<const float> values) {
  if (parameter.by_inputs)
    return execution.write(parameter.value,
                           transposed(values, parameter.value.cols, parameter.value.rows));
  const std::int64_t channels = parameter.channels_last;
  if (channels == 0) return execution.write_rows(parameter.value, row, values);
  execution.write_rows(parameter.value, row,
                       with_channels_last(values, channels, parameter.value.cols / channels));
}

std::vector<float> read_parts(const Execution& execution, const Parameter& parameter) {
  return in_file_order(parameter, execution.read(parameter.value));
}

std::vector<float> in_file_order(const Parameter& parameter, std::vector<float> values) {
  if (parameter.by_inputs) return transposed(values, parameter.value.rows, parameter.value.cols);
  const std::int64_t channels = parameter.channels_last;
  return channels == 0 ? values
                       : with_channels_first(values, channels, parameter.value.cols / channels);
}

} // namespace kg::models
