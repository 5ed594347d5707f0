// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// All reports of a project in one SQLite file: each row's time in each run, and the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct sqlite3;

namespace kg::history {

inline constexpr int kDatabaseSchema = 1;

// A row as measured in one run.
struct Point {
  std::string date_utc; // of the run
  std::string source;   // its commit
  std::string device;
  std::string machine; // the GPU, or on the host the processor; empty: unknown
  std::string driver;  // empty if there is none
  double median_ns = 0;
  double ci_lo_ns = 0;
  double ci_hi_ns = 0;
  double baseline_ns = 0; // 0: no baseline
  std::string verdict;
  std::string identity; // of machine code and launches; empty: unknown
};

struct Series {
  std::string case_id, variant, mode, device;
};

// Every member throws kg::Error with SQLite's message and the file's name.
class Database {
 public:
  // Opens or creates the file. Throws if it is not such a database, or has a later schema.
  explicit Database(const std::filesystem::path& file);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Imports a report.json, completely or not at all. Returns false if the run, identified by
  // commit, device and time, is already there. Rows without a time are skipped.
  bool import(const std::filesystem::path& report);

  // Removes all but the newest `most` runs with their points, and shrinks the file. Returns the
  // number of removed runs.
  std::size_t prune(std::size_t most);

  // The series whose case and variant contain the given parts, sorted by name.
  std::vector<Series> series(const std::string& case_part, const std::string& variant) const;
  // In order of time.
  std::vector<Point> points(const Series& series) const;

 private:
  class Statement;
  class Transaction;
  void execute(const std::string& sql) const;
  const std::string& machine_of(std::int64_t run) const;

  std::string file_;
  sqlite3* connection_ = nullptr;
  mutable std::map<std::int64_t, std::string> machines_; // by run; a cache
};

} // namespace kg::history
