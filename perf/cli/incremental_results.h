// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A run while its rows are being measured, and its file. Beside FILE lies FILE.journal until the
// run is complete; where it does, it holds all that FILE does and every row since, so that readers
// take it in FILE's place, and a kill at any moment costs the row that was being measured.
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
  // One run of rows measured one by one, as the file is to hold it.
  using Join = std::function<judge::Results(std::vector<judge::Results>)>;

  // Without a `file` the journal lies in `folder`.
  IncrementalResults(std::filesystem::path file, const std::filesystem::path& folder, Join join);

  // Goes on with what the file or its journal holds; without this call both are begun anew. Throws
  // Error where that was measured elsewhere, by another build or of another shard.
  void resume(const std::map<std::string, std::string>& environment,
              const std::optional<judge::Shard>& shard);

  // Where the measuring process writes its rows.
  const std::filesystem::path& journal() const { return journal_; }

  // Takes the rows that have ended since the last call. Writes the file, too, where that takes
  // little of the time since it was last written.
  void read();

  // The row that was being measured when its process ended. Whatever it wrote last of is dropped.
  std::optional<judge::Measured> cut_off();

  // Adds a row that no process could measure: the one cut off, or one that was never begun.
  void add_failed(const judge::Measured& row);

  // By how many processes the row was measured.
  std::size_t rounds(const judge::RowKey& row) const;

  // Whether it ended its process: it is not tried again.
  bool is_given_up(const judge::RowKey& row) const { return given_up_.contains(row); }

  // All rows; the file is complete then, and the journal gone.
  judge::Results finish();

 private:
  void add(judge::Results row);
  judge::Results save();

  std::filesystem::path file_, journal_;
  Join join_;
  std::vector<judge::Results> runs_;
  std::map<std::string, std::string> environment_; // of the row that ended last
  std::optional<judge::Measured> begun_;
  std::uintmax_t read_bytes_ = 0;
  std::map<judge::RowKey, std::size_t> rounds_;
  std::set<judge::RowKey> given_up_;
  std::chrono::steady_clock::time_point saved_;
  std::chrono::steady_clock::duration cost_{};
};

} // namespace kg::cli
