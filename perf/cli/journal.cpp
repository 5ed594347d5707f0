// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/journal.h"

#include "runtime/error.h"

#include <string>
#include <string_view>
#include <utility>

namespace kg::cli {

Journal::Journal(const std::filesystem::path& path)
    : path_(path), file_(path, std::ios::binary | std::ios::app) {
  require(file_.good(), path.string() + ": cannot write the journal of this process");
}

void Journal::write(const judge::Results& row) {
  std::string line = judge::to_json(row);
  std::erase(line, '\n'); // within a string JSON has no line ends
  // Handed to the system at once: what a process has written survives its crash.
  file_ << line + '\n' << std::flush;
  require(file_.good(), path_.string() + ": cannot write the journal of this process");
}

void Journal::waits() { file_ << '\n' << std::flush; }

Journaled read_journal(const std::filesystem::path& path, std::uintmax_t from) {
  Journaled result;
  result.after_ended = result.after_lines = from;
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(from));
  for (std::string line; std::getline(file, line) && !file.eof();) {
    result.after_lines += line.size() + 1;
    if (line.empty()) continue;
    judge::Results row = judge::results_from_json(line, path.string());
    require(row.rows.size() == 1, path.string() + ": a line of a journal holds one row");
    if (result.begun) {
      result.ended.push_back(std::move(row));
      result.begun.reset();
      result.after_ended = result.after_lines;
    } else {
      result.begun = std::move(row);
    }
  }
  return result;
}

} // namespace kg::cli
