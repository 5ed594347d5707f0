// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/ptx/lines.h"

#include "runtime/environment.h"
#include "runtime/event_file.h"
#include "runtime/ptx/emitter.h"
#include "runtime/ptx/prelude.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace kg::ptx_run {
namespace {

struct Recorded {
  std::vector<SourceLine> lines;
  std::vector<u8> reached;
};
struct AllRecorded {
  std::mutex mutex;
  std::map<std::string, Recorded> kernels;
};
AllRecorded& recorded() {
  static auto& all = *new AllRecorded; // never destroyed: written when the process ends
  return all;
}

} // namespace

bool records_lines() {
  static const bool wanted = is_set("KERNELGRADE_LINES");
  return wanted;
}

void record_lines(const std::string& kernel, std::vector<SourceLine> lines) {
  const std::lock_guard lock(recorded().mutex);
  Recorded& one = recorded().kernels[kernel];
  if (!one.lines.empty()) return;
  one.reached.resize(lines.size());
  one.lines = std::move(lines);
}

void record_lines(std::string_view ptx, const std::vector<std::string>& kernels) {
  for (const std::string& kernel : kernels) {
    try {
      const Module module = Program(ptx, kernel).with(kernel);
      std::set<SourceLine> lines;
      for (const Statement& each : module.entries.at(0).statements) {
        const Place place = module.named(each.instruction.place);
        if (each.kind != Statement::Kind::instruction || !module.files.contains(place.file))
          continue;
        lines.emplace(module.files.at(place.file), place.line);
      }
      record_lines(kernel, {lines.begin(), lines.end()});
    } catch (const std::exception&) { // its launch reports why
    }
  }
}

u8* reached_lines(const char* kernel) {
  const std::lock_guard lock(recorded().mutex);
  return recorded().kernels.at(kernel).reached.data();
}

void write_lines() {
  const std::lock_guard lock(recorded().mutex);
  std::map<SourceLine, bool> all;
  for (const auto& [name, kernel] : recorded().kernels)
    for (std::size_t i = 0; i < kernel.lines.size(); ++i)
      all[kernel.lines[i]] |= kernel.reached[i] != 0;
  std::string text;
  for (const auto& [line, reached] : all)
    text += fmt::format("{:d} {} {}\n", reached, line.second, line.first);
  if (!text.empty()) write_note(kLinesEvent, text);
}

// Placed before the first instruction of a line in straight-line code.
void Emitter::mark_line() {
  if (!records_lines()) return;
  const Place place = module_.named(now_->place);
  const auto file = module_.files.find(place.file);
  if (file == module_.files.end()) return;
  const SourceLine here{file->second, place.line};
  if (std::exchange(marked_, here) == here) return;
  const auto known = std::find(lines_.begin(), lines_.end(), here);
  line(fmt::format("mark_line(kLines + {});", known - lines_.begin()));
  if (known == lines_.end()) lines_.push_back(here);
}

} // namespace kg::ptx_run
