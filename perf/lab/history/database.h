// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// All reports of a project in one SQLite file: what a row took in which run, and on which machine.
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

// A row as a run has measured it.
struct Point {
  std::string date_utc; // of the run
  std::string source;   // its commit
  std::string device;
  std::string machine; // the GPU, or on the host the processor; empty: not known
  std::string driver;  // empty where there is none
  double median_ns = 0;
  double ci_lo_ns = 0;
  double ci_hi_ns = 0;
  double baseline_ns = 0; // 0: there was none
  std::string verdict;
  std::string identity; // of machine code and launches; empty: not known
};

struct Series {
  std::string case_id, variant, mode, device;
};

// Every member throws kg::Error with SQLite's own words and the file's name.
class Database {
 public:
  // Opens or makes the file. Throws where it is no such database, or one of a later schema.
  explicit Database(const std::filesystem::path& file);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Takes a report.json in, all of it or nothing. False: the run, known by commit, device and time,
  // is there already. Rows without a time are left out.
  bool import(const std::filesystem::path& report);

  // Removes all but the newest `most` runs with their points, and gives the file's room back.
  // Returns how many went.
  std::size_t prune(std::size_t most);

  // Those whose case and variant contain the given parts, by name.
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
  mutable std::map<std::int64_t, std::string> machines_; // by run, of those asked for
};

} // namespace kg::history
