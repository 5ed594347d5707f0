// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/journal.h"

#include "perf/judge/atomic_file.h"
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

Journaled read_journal(const std::filesystem::path& path) {
  const std::string contents = judge::read_file(path).value_or("");
  Journaled result;
  std::size_t begin = 0;
  for (std::size_t end; (end = contents.find('\n', begin)) != contents.npos; begin = end + 1) {
    if (end == begin) continue;
    judge::Results line = judge::results_from_json(
        std::string_view(contents).substr(begin, end - begin), path.string());
    result.ended.environment = std::move(line.environment);
    if (result.begun) {
      result.ended.rows.push_back(std::move(line.rows.at(0)));
      result.begun.reset();
    } else {
      result.begun = std::move(line.rows.at(0));
    }
  }
  return result;
}

} // namespace kg::cli
