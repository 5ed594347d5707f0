// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "models/weights.h"

#include "models/parts.h"
#include "models/safetensors.h"
#include "runtime/error.h"

#include <set>
#include <utility>

namespace kg::models {
namespace {

std::string text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t extent : shape)
    text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text;
}

} // namespace

void save_weights(const Execution& execution, const std::filesystem::path& file) {
  std::vector<NamedArray> arrays;
  each_part(execution.tape(), [&](const Parameter& parameter, const Part& part, std::int64_t row) {
    const std::vector<float> all = read_parts(execution, parameter);
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
    write_part(execution, parameter, row, reader.floats(part.name));
  });
}

} // namespace kg::models
