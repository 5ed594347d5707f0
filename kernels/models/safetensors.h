// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Files of named arrays in the safetensors format (github.com/huggingface/safetensors, "Format"):
// eight bytes with the length of a JSON header, the header, and the elements of all arrays in
// sequence. Files are untrusted: the reader checks every extent and offset against the file's size
// before it allocates or reads anything.
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
  std::string dtype; // the format's name, such as "F32"
  std::vector<std::int64_t> shape;
  std::int64_t begin = 0; // bytes from the beginning of the file
  std::int64_t end = 0;
  std::int64_t count() const; // elements
};

// Throws Error naming the file if the header is longer than the file or 100 MB, is not JSON or
// repeats a name. Throws Error naming the file and the array if the array has an unknown type, a
// negative extent or a size of 2^63 bytes or more; if its offsets are out of order, outside the
// file or do not match its size; or if it overlaps another array or leaves a gap.
class SafetensorsReader {
 public:
  explicit SafetensorsReader(const std::filesystem::path& file);

  const std::map<std::string, StoredArray>& arrays() const { return arrays_; }
  // Throws Error if the file has no array of this name.
  const StoredArray& array(const std::string& name) const;

  // Reads F32, F16 and BF16, all of which f32 represents exactly. Throws Error for any other type.
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

// Writes a temporary file next to `file`, then renames it to `file`. Throws Error if two arrays
// have the same name, if a shape does not match its values, or if the file cannot be written.
void write_safetensors(const std::filesystem::path& file, std::span<const NamedArray> arrays);

} // namespace kg::models
