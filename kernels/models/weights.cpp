// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "models/weights.h"

#include "models/parts.h"
#include "models/safetensors.h"
#include "runtime/error.h"

#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace kg::models {
namespace {

std::string text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t extent : shape)
    text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text;
}

// Arrays in files that a model does not use: GPT-2's attention masks, and the number of batches
// that a batchnorm has seen.
bool is_no_number_of_a_model(const std::string& name) {
  return name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias") ||
         name.ends_with(".num_batches_tracked");
}

// Files that hold only the decoder, such as GPT-2's own, omit the prefix of its names.
std::string name_in(const SafetensorsReader& reader, const std::string& name) {
  constexpr std::string_view kDecoder = "transformer.";
  if (reader.arrays().contains(name) || !name.starts_with(kDecoder)) return name;
  const std::string shorter = name.substr(kDecoder.size());
  return reader.arrays().contains(shorter) ? shorter : name;
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
    const std::string name = name_in(reader, part.name);
    const StoredArray& stored = reader.array(name);
    const std::vector<std::int64_t> shape = shape_of(parameter, part);
    if (stored.shape != shape)
      throw Error(file.string() + ": array \"" + name + "\" is " + text(stored.shape) +
                  ", and the model's is " + text(shape));
    known.insert(name);
  });
  for (const auto& [name, array] : reader.arrays())
    if (!known.contains(name) && !is_no_number_of_a_model(name))
      throw Error(file.string() + ": array \"" + name + "\" is not part of this model");
  each_part(execution.tape(), [&](const Parameter& parameter, const Part& part, std::int64_t row) {
    write_part(execution, parameter, row, reader.floats(name_in(reader, part.name)));
  });
}

} // namespace kg::models
