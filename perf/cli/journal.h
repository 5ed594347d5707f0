// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a measuring process has found so far, in a file that outlives it: one that crashes or hangs
// loses the row it was measuring and no other.
#pragma once

#include "perf/judge/result.h"

#include <filesystem>
#include <fstream>
#include <optional>

namespace kg::cli {

// Lines of two kinds in turn, each a run of one row as result.h writes it: a row that begins, the
// same row measured.
class Journal {
 public:
  // Throws Error where the file cannot be written.
  explicit Journal(const std::filesystem::path& path);

  void begins(const judge::Results& row) { write(row); }
  void ends(const judge::Results& row) { write(row); }

  // Lets the file grow by an empty line, so that a process that waits does not seem to stand still.
  void waits();

 private:
  void write(const judge::Results& row);

  std::filesystem::path path_;
  std::ofstream file_;
};

struct Journaled {
  judge::Results ended;
  std::optional<judge::Measured> begun; // and not ended
};

// Of a process that has ended. No file is an empty journal; half a line at its end does not count.
Journaled read_journal(const std::filesystem::path& path);

} // namespace kg::cli
