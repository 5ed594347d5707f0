// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What measuring processes have found so far, in a file that outlives them: whatever is killed, one
// of them, their parent or the machine, loses the row that was being measured and no other.
#pragma once

#include "perf/judge/result.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

namespace kg::cli {

// Lines of two kinds, each with a run of one row as result.h writes it: "begins", a row that is set
// up, and without the word, a row that was measured. Of rows that take turns several begin before
// the first ends.
class Journal {
 public:
  // Goes on behind what the file holds. Throws Error where it cannot be written.
  explicit Journal(const std::filesystem::path& path);

  void begins(const judge::Results& row);
  void ends(const judge::Results& row);

  // Lets the file grow by an empty line, so that a process that waits does not seem to stand still.
  void waits();

 private:
  void write(std::string_view before, const judge::Results& row);

  std::filesystem::path path_;
  std::ofstream file_;
};

struct Journaled {
  std::vector<judge::Results> ended;   // of one row each
  std::optional<judge::Results> begun; // the last that began, where it has not ended
  std::uintmax_t after_ended = 0;      // where in the file the last row that ended does so
  std::uintmax_t after_lines = 0;      // and the last whole line
};

// What stands behind the first `from` bytes, which end with a row. No file is an empty journal;
// half a line at its end, as a process leaves it that dies while it writes, does not count.
Journaled read_journal(const std::filesystem::path& path, std::uintmax_t from = 0);

} // namespace kg::cli
