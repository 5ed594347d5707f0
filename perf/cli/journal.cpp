// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/journal.h"

#include "runtime/error.h"

#include <string>
#include <string_view>
#include <utility>

namespace kg::cli {
namespace {

constexpr std::string_view kBegins = "begins ";

} // namespace

Journal::Journal(const std::filesystem::path& path)
    : path_(path), file_(path, std::ios::binary | std::ios::app) {
  require(file_.good(), path.string() + ": cannot write the journal of this process");
}

void Journal::begins(const judge::Results& row) { write(kBegins, row); }
void Journal::ends(const judge::Results& row) { write("", row); }

void Journal::write(std::string_view before, const judge::Results& row) {
  std::string line = judge::to_json(row);
  std::erase(line, '\n'); // JSON strings contain no raw newlines
  // Flushed at once: data that a process has written survives its crash.
  file_ << std::string(before) + line + '\n' << std::flush;
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
    const bool begins = line.starts_with(kBegins);
    judge::Results row = judge::results_from_json(
        std::string_view(line).substr(begins ? kBegins.size() : 0), path.string());
    require(row.rows.size() == 1, path.string() + ": a line of a journal holds one row");
    if (begins) {
      result.begun = std::move(row);
      continue;
    }
    if (result.begun && result.begun->rows[0].key == row.rows[0].key) result.begun.reset();
    result.ended.push_back(std::move(row));
    result.after_ended = result.after_lines;
  }
  return result;
}

} // namespace kg::cli
