// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/event_file.h"

#include "runtime/error.h"

#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace kg {
namespace {

const char* events_file() {
  const char* const name = std::getenv("KERNELGRADE_EVENTS");
  return name && *name ? name : nullptr;
}

const char* notes_file() {
  if (const char* const name = events_file()) return name;
  const char* const name = std::getenv("KERNELGRADE_NOTES");
  return name && *name ? name : nullptr;
}

bool append(const char* name, std::string_view kind, std::string_view text) {
  if (name == nullptr) return false;
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

} // namespace

bool write_event(std::string_view kind, std::string_view text) {
  return append(events_file(), kind, text);
}

bool write_note(std::string_view kind, std::string_view text) {
  return append(notes_file(), kind, text);
}

bool wants_notes() { return notes_file() != nullptr; }

std::vector<ProgramEvent> events_in(std::string_view file) {
  std::vector<ProgramEvent> events;
  while (!file.empty()) {
    const std::size_t end = file.find('\0'), line = file.find('\n');
    if (end == file.npos || line > end)
      fail("the program's file of events is damaged; did the program write to it, or the disk "
           "fill?");
    events.push_back({file.substr(0, line), file.substr(line + 1, end - line - 1)});
    file.remove_prefix(end + 1);
  }
  return events;
}

} // namespace kg
