// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/coverage/notes.h"

#include "runtime/event_file.h"

#include <charconv>

namespace kg::coverage {
namespace {

// Removes and returns the text up to the next newline.
std::string take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string line(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

template <class Integer>
Integer number(std::string_view text) {
  Integer value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

} // namespace

void Notes::add(const Notes& other) {
  for (const auto& [key, kernel] : other.kernels) {
    const auto [known, fresh] = kernels.try_emplace(key, kernel);
    known->second.ran |= kernel.ran;
  }
  for (const auto& [file, reached] : other.lines)
    for (const auto& [line, is_reached] : reached) lines[file][line] |= is_reached;
  inexact.insert(other.inexact.begin(), other.inexact.end());
  launches += other.launches;
  printed_fault |= other.printed_fault;
}

Notes read_notes(std::string_view file) {
  Notes notes;
  std::set<std::string> begun; // kernels that another process lists, perhaps later
  for (ProgramEvent event : events_in(file)) {
    if (event.kind == kKernelEvent) {
      Kernel& kernel = notes.kernels[take_line(event.text)];
      kernel.name = take_line(event.text);
      kernel.file = take_line(event.text);
      kernel.line = number<int>(take_line(event.text));
    } else if (event.kind == kBegunEvent) {
      begun.emplace(event.text);
    } else if (event.kind == kInexactEvent) {
      notes.inexact.emplace(event.text);
    } else if (event.kind == kLinesEvent) {
      while (!event.text.empty()) { // "1 17 /home/me/k.cu"
        const std::string text = take_line(event.text);
        const std::size_t file = std::min(text.find(' ', 2), text.size() - 1) + 1;
        notes.lines[text.substr(file)][number<int>(std::string_view(text).substr(2))] |=
            text[0] == '1';
      }
    } else if (event.kind == kLaunchesEvent) {
      notes.launches += number<std::uint64_t>(event.text);
    } else if (event.kind == kPrintedEvent) {
      notes.printed_fault = true;
    }
  }
  for (const std::string& key : begun)
    if (const auto kernel = notes.kernels.find(key); kernel != notes.kernels.end())
      kernel->second.ran = true;
  return notes;
}

} // namespace kg::coverage
