// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes through a file descriptor, for files whose contents must reach the disk.
#pragma once

#include "runtime/error.h"

#include <cerrno>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <unistd.h>

namespace kg {

// Throws Error with the text of errno.
[[noreturn]] inline void fail_with_errno(std::string_view doing,
                                         const std::filesystem::path& path) {
  const std::string reason = system_error_text(errno);
  throw Error(fmt::format("{}: cannot {} it: {}; check the path and its permissions", path.string(),
                          doing, reason));
}

// Throws Error that names `path` if not all bytes can be written.
inline void write_all(int descriptor, std::string_view contents,
                      const std::filesystem::path& path) {
  while (!contents.empty()) {
    const ssize_t written = ::write(descriptor, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_with_errno("write", path);
    contents.remove_prefix(static_cast<std::size_t>(written));
  }
}

} // namespace kg
