// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The results of a run in progress, and their file. FILE.journal exists next to FILE until the run
// is complete. It contains FILE's rows and all later ones, so readers use it instead of FILE. A
// kill at any moment loses only the row that was being measured.
#pragma once

#include "perf/cli/journal.h"
#include "perf/judge/result.h"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kg::cli {

std::filesystem::path journal_beside(const std::filesystem::path& file);

class IncrementalResults {
 public:
  // Joins rows measured one by one into one run, in the form in which the file stores it.
  using Join = std::function<judge::Results(std::vector<judge::Results>)>;

  // Without a `file` the journal is in `folder`.
  IncrementalResults(std::filesystem::path file, const std::filesystem::path& folder, Join join);

  // Continues with the contents of the file or its journal; otherwise both start empty. Throws
  // Error if they come from another machine, build or shard.
  void resume(const std::map<std::string, std::string>& environment,
              const std::optional<judge::Shard>& shard);

  // Where the measuring process writes its rows.
  const std::filesystem::path& journal() const { return journal_; }

  // Reads the rows that ended since the last call. Also writes the file, if that takes little of
  // the time since the last write.
  void read();

  // The row that was being measured when its process ended. Drops its last partial output.
  std::optional<judge::Measured> cut_off();

  // Adds a row that no process could measure: one cut off, or one that never began.
  void add_failed(const judge::Measured& row);

  // How many processes have measured the row.
  std::size_t rounds(const judge::RowKey& row) const;

  // Whether the row ended its process; such a row is not retried.
  bool is_given_up(const judge::RowKey& row) const { return given_up_.contains(row); }

  // All rows. Completes the file and removes the journal.
  judge::Results finish();

 private:
  void add(judge::Results row);
  judge::Results save();

  std::filesystem::path file_, journal_;
  Join join_;
  std::vector<judge::Results> runs_;
  std::map<std::string, std::string> environment_; // of the last row that ended
  std::optional<judge::Measured> begun_;
  std::uintmax_t read_bytes_ = 0;
  std::map<judge::RowKey, std::size_t> rounds_;
  std::set<judge::RowKey> given_up_;
  std::chrono::steady_clock::time_point saved_;
  std::chrono::steady_clock::duration cost_{};
};

} // namespace kg::cli
