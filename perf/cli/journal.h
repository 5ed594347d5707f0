// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The measuring processes' results so far, in a file that outlives them: if one of them, their
// parent or the machine is killed, only the row that was being measured is lost.
#pragma once

#include "perf/judge/result.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

namespace kg::cli {

// Lines of two kinds, each a run of one row in the format of result.h: "begins" for a row that is
// set up, and no word for a row that was measured. If rows are interleaved, several begin before
// the first ends.
class Journal {
 public:
  // Appends to the file. Throws Error if it cannot be written.
  explicit Journal(const std::filesystem::path& path);

  void begins(const judge::Results& row);
  void ends(const judge::Results& row);

  // Appends an empty line, so a waiting process does not seem to hang.
  void waits();

 private:
  void write(std::string_view before, const judge::Results& row);

  std::filesystem::path path_;
  std::ofstream file_;
};

struct Journaled {
  std::vector<judge::Results> ended;   // one row each
  std::optional<judge::Results> begun; // the last row that began, if it has not ended
  std::uintmax_t after_ended = 0;      // file offset after the last row that ended
  std::uintmax_t after_lines = 0;      // file offset after the last complete line
};

// Reads from offset `from`, which must be the end of a row. A missing file is an empty journal; an
// incomplete last line, left by a process that died while writing, is ignored.
Journaled read_journal(const std::filesystem::path& path, std::uintmax_t from = 0);

} // namespace kg::cli
