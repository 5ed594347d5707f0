// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Files of named arrays in the format safetensors (github.com/huggingface/safetensors, "Format"):
// eight bytes with the length of a JSON header, the header, and the elements of all arrays one
// after another. A file may come from anywhere, so that nothing in it is believed: every extent and
// offset is checked against the file's size before anything is allocated or read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace kg::models {

struct StoredArray {
  std::string dtype; // as the format names it: "F32"
  std::vector<std::int64_t> shape;
  std::int64_t begin = 0; // bytes from the beginning of the file
  std::int64_t end = 0;
  std::int64_t count() const; // elements
};

// Throws Error naming the file, and the array, where the header is longer than the file or than 100
// MB, no JSON, or has a name twice; where an array has an unknown type, a negative extent or more
// elements than 2^63 can count, offsets that are out of order, outside of the file, or not as far
// apart as its elements need; where arrays overlap or leave a gap.
class SafetensorsReader {
 public:
  explicit SafetensorsReader(const std::filesystem::path& file);

  const std::map<std::string, StoredArray>& arrays() const { return arrays_; }
  // Throws Error where there is none of this name.
  const StoredArray& array(const std::string& name) const;

  // F32, and F16 and BF16, which f32 holds exactly; of F64 nothing. Throws Error for another type.
  std::vector<float> floats(const std::string& name);
  std::vector<std::int32_t> integers(const std::string& name); // I32

 private:
  std::string bytes(const StoredArray& array);

  const std::string path_;
  std::ifstream file_;
  std::map<std::string, StoredArray> arrays_;
};

struct NamedArray {
  std::string name;
  std::vector<std::int64_t> shape;
  std::variant<std::vector<float>, std::vector<std::int32_t>> values;
};

// Writes a new file beside `file` and renames it over it. Throws Error where two have one name, a
// shape is not that of the values, or the file cannot be written.
void write_safetensors(const std::filesystem::path& file, std::span<const NamedArray> arrays);

} // namespace kg::models
