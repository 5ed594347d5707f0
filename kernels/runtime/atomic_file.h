// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Whole-file reading and writing. A reader sees the old contents or the new, never a part, whenever
// the program that writes is killed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace kg {

// The file's contents, or nothing when there is no such file. Throws kg::Error when there is one
// that cannot be read, or that is no regular file: a pipe would wait, a device never end; and at a
// link to nothing.
std::optional<std::string> read_file(const std::filesystem::path& path);

// The same without a copy: of a long file only what is looked at is read.
class MappedFile {
 public:
  // Throws kg::Error where read_file does, and where there is no file.
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::string_view contents() const { return contents_; }

 private:
  std::string_view contents_;
};

// Throws kg::Error where `path` is neither a regular file nor a new name: a rename would put a file
// in the place of a device or a link.
void require_writable(const std::filesystem::path& path);

// Unless require_writable() objects, writes a temporary file beside `path` and renames it over
// `path`. On failure throws kg::Error, leaves what was at `path` as it was, and removes the
// temporary file. Makes missing folders.
void write_file(const std::filesystem::path& path, std::string_view contents);

} // namespace kg
