// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/event_file.h"

#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace kg {

bool write_event(std::string_view kind, std::string_view text) {
  const char* const name = std::getenv("KERNELGRADE_EVENTS");
  if (name == nullptr || *name == '\0') return false;
  std::string event(kind);
  event += '\n';
  event += text;
  event += '\0';
  const int file = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return false;
  const ssize_t written = write(file, event.data(), event.size());
  close(file);
  return written == static_cast<ssize_t>(event.size());
}

} // namespace kg
