// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes whole files. Even if the writing program is killed, a reader sees either the old
// contents or the new contents, never a mixture.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace kg {

// Returns the file's contents, or nothing if the file does not exist. Throws kg::Error if the file
// cannot be read, is not a regular file (reading a pipe or a device may never end), or is a
// dangling link.
std::optional<std::string> read_file(const std::filesystem::path& path);

// Maps the file instead of copying it: only the pages that are accessed are read.
class MappedFile {
 public:
  // Throws kg::Error like read_file, and also if the file does not exist.
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::string_view contents() const { return contents_; }

 private:
  std::string_view contents_;
};

// Throws kg::Error unless `path` is a regular file or does not exist yet: a rename would replace a
// device or a link by a regular file.
void require_writable(const std::filesystem::path& path);

// Calls require_writable(), writes a temporary file next to `path` and renames it to `path`.
// Creates missing folders. On failure throws kg::Error, leaves `path` unchanged and removes the
// temporary file.
void write_file(const std::filesystem::path& path, std::string_view contents);

} // namespace kg
