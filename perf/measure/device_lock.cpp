// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/device_lock.h"

#include "runtime/error.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kg::perf {
namespace {

// Opens the file for reading, so that one user's file serves all users. flock needs no write
// permission, and in a sticky temporary folder Linux refuses O_CREAT on another user's file
// (fs.protected_regular).
int open_lock_file(const std::filesystem::path& path) {
  constexpr mode_t kReadableByAll = 0644;
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 && errno == ENOENT)
    file = open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, kReadableByAll);
  return file;
}

} // namespace

std::filesystem::path device_lock_path(const std::string& device) {
  return std::filesystem::temp_directory_path() / fmt::format("kernelgrade-{}.lock", device);
}

DeviceLock::DeviceLock(const std::filesystem::path& path, const std::function<void()>& waiting)
    : file_(open_lock_file(path)) {
  require(file_ >= 0, fmt::format("{}: cannot open the device's lock file: {}; set TMPDIR to a "
                                  "folder that can be written",
                                  path.string(), system_error_text(errno)));
  if (flock(file_, LOCK_EX | LOCK_NB) == 0) return;
  if (errno == EWOULDBLOCK) waiting();
  while (flock(file_, LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    const std::string why = system_error_text(errno);
    close(file_);
    fail(fmt::format("{}: cannot lock it: {}; set TMPDIR to a folder on a local disk",
                     path.string(), why));
  }
}

DeviceLock::~DeviceLock() {
  if (file_ >= 0) close(file_);
}

} // namespace kg::perf
