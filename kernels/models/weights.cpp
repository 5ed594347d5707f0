// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "models/weights.h"

#include "models/safetensors.h"
#include "runtime/error.h"

#include <set>
#include <utility>

namespace kg::models {
namespace {

std::vector<std::int64_t> shape_of(const Parameter& parameter, const Part& part) {
  if (parameter.is_vector) return {part.rows};
  return {part.rows, parameter.value.cols};
}

std::string text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t extent : shape)
    text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text;
}

// Calls `visit(parameter, part, first row)` for every part of every parameter.
template <class Visit>
void each_part(const Tape& tape, const Visit& visit) {
  for (const Parameter& parameter : tape.parameters()) {
    std::int64_t row = 0;
    for (const Part& part : parameter.parts) {
      visit(parameter, part, row);
      row += part.rows;
    }
  }
}

} // namespace

void save_weights(const Execution& execution, const std::filesystem::path& file) {
  std::vector<NamedArray> arrays;
  each_part(execution.tape(), [&](const Parameter& parameter, const Part& part, std::int64_t row) {
    const std::vector<float> all = execution.read(parameter.value);
    const auto begin = all.begin() + row * parameter.value.cols;
    arrays.push_back({part.name, shape_of(parameter, part),
                      std::vector<float>(begin, begin + part.rows * parameter.value.cols)});
  });
  write_safetensors(file, arrays);
}

void load_weights(Execution& execution, const std::filesystem::path& file) {
  SafetensorsReader reader(file);
  std::set<std::string> known;
  each_part(execution.tape(), [&](const Parameter& parameter, const Part& part, std::int64_t) {
    const StoredArray& stored = reader.array(part.name);
    const std::vector<std::int64_t> shape = shape_of(parameter, part);
    if (stored.shape != shape)
      throw Error(file.string() + ": array \"" + part.name + "\" is " + text(stored.shape) +
                  ", and the model's is " + text(shape));
    known.insert(part.name);
  });
  for (const auto& [name, array] : reader.arrays())
    if (!known.contains(name))
      throw Error(file.string() + ": array \"" + name + "\" is no part of this model");
  each_part(execution.tape(), [&](const Parameter& parameter, const Part& part, std::int64_t row) {
    execution.write_rows(parameter.value, row, reader.floats(part.name));
  });
}

} // namespace kg::models
