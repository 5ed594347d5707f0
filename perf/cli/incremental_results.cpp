// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/incremental_results.h"

#include "perf/cli/stored_runs.h"
#include "perf/judge/shards.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace kg::cli {
namespace {

// A run with a single row.
judge::Results alone(const judge::Results& run, const judge::Measured& row) {
  return {run.environment, {row}};
}

void require_same_machine(const std::filesystem::path& file,
                          const std::map<std::string, std::string>& stored,
                          const std::map<std::string, std::string>& here) {
  for (const auto& [key, value] : stored) {
    const auto at = here.find(key);
    require(key == kDate || (at != here.end() && at->second == value),
            fmt::format("--resume: {} was measured where {} is '{}'; here it is '{}'; give --json "
                        "another file",
                        file.string(), key, value, at == here.end() ? "" : at->second));
  }
}

} // namespace

std::filesystem::path journal_beside(const std::filesystem::path& file) {
  return file.string() + ".journal";
}

IncrementalResults::IncrementalResults(std::filesystem::path file,
                                       const std::filesystem::path& folder, Join join)
    : file_(std::move(file)), journal_(file_.empty() ? folder / "journal" : journal_beside(file_)),
      join_(std::move(join)) {}

void IncrementalResults::resume(const std::map<std::string, std::string>& environment,
                                const std::optional<judge::Shard>& shard) {
  if (std::filesystem::exists(file_)) {
    const judge::Results stored = judge::load_results(file_);
    require(stored.shard == shard,
            fmt::format("--resume: {} is {}, and this run {}; give --json another file",
                        file_.string(), judge::division_text(stored.shard),
                        judge::division_text(shard)));
    if (!std::filesystem::exists(journal_)) {
      // From its first moment on, the journal holds everything in the file.
      const std::filesystem::path temporary = journal_.string() + ".new";
      std::filesystem::remove(temporary);
      {
        Journal copy(temporary);
        for (const judge::Measured& row : stored.rows) {
          copy.begins(alone(stored, row));
          copy.ends(alone(stored, row));
        }
      }
      std::filesystem::rename(temporary, journal_);
    }
  }
  if (!std::filesystem::exists(journal_)) return;
  read();
  for (const judge::Results& run : runs_) require_same_machine(file_, run.environment, environment);
  begun_.reset(); // it is measured again
  std::filesystem::resize_file(journal_, read_bytes_);
}

void IncrementalResults::add(judge::Results run) {
  const judge::Measured& row = run.rows.at(0);
  rounds_[row.key] += std::max<std::size_t>(1, row.process_medians_ns.size());
  const auto failure = row.tags.find("failure");
  if (failure != row.tags.end() && (failure->second == "crash" || failure->second == "timeout"))
    given_up_.insert(row.key);
  if (!run.environment.empty()) environment_ = run.environment;
  runs_.push_back(std::move(run));
}

void IncrementalResults::read() {
  Journaled found = read_journal(journal_, read_bytes_);
  read_bytes_ = found.after_ended;
  begun_.reset();
  if (found.begun) begun_ = std::move(found.begun->rows.at(0));
  if (found.ended.empty()) return;
  for (judge::Results& run : found.ended) add(std::move(run));
  constexpr int kSeldom = 50; // times the duration of a write
  if (!file_.empty() && std::chrono::steady_clock::now() - saved_ > kSeldom * cost_) save();
}

std::optional<judge::Measured> IncrementalResults::cut_off() {
  read();
  if (std::filesystem::exists(journal_))
    std::filesystem::resize_file(journal_, read_journal(journal_, read_bytes_).after_lines);
  return begun_;
}

void IncrementalResults::add_failed(const judge::Measured& row) {
  const judge::Results run{environment_, {row}};
  Journal journal(journal_);
  if (!begun_) journal.begins(run);
  journal.ends(run);
  read();
}

std::size_t IncrementalResults::rounds(const judge::RowKey& row) const {
  const auto at = rounds_.find(row);
  return at == rounds_.end() ? 0 : at->second;
}

judge::Results IncrementalResults::save() {
  const auto start = std::chrono::steady_clock::now();
  judge::Results run = join_(runs_);
  if (!file_.empty()) judge::save_results(file_, run);
  saved_ = std::chrono::steady_clock::now();
  cost_ = saved_ - start;
  return run;
}

judge::Results IncrementalResults::finish() {
  judge::Results run = save();
  std::filesystem::remove(journal_); // after the file is complete
  return run;
}

} // namespace kg::cli
