// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Whole-file reading and writing. A reader sees the old contents or the new, never a part, even
// across a crash.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace kg {

// The file's contents, or nothing when there is no such file. Throws kg::Error when there is one
// that cannot be read.
std::optional<std::string> read_file(const std::filesystem::path& path);

// Writes a temporary file beside `path`, flushes it to the disk and renames it over `path`. On
// failure throws kg::Error, leaves what was at `path` as it was, and removes the temporary file.
// Makes missing folders.
void write_file(const std::filesystem::path& path, std::string_view contents);

} // namespace kg
