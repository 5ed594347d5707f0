// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The file of a study: a line of JSON with the plan, the device and the program, and then one line
// per experiment, written as soon as it ends. A killed study can resume from its file; a report
// needs nothing else.
#pragma once

#include "perf/judge/result.h"
#include "perf/lab/study/study.h"

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kg::study {

inline constexpr int kStudySchema = 1;

// One variant at one point.
struct Planned {
  std::string case_id;
  std::string variant;

  friend bool operator==(const Planned&, const Planned&) = default;
};

struct Header {
  std::string study;
  Settings settings;
  std::string date_utc;                           // when the study began
  std::map<std::string, std::string> environment; // perf/measure/environment.h
  std::string program;                            // hash of the program that measures
  std::vector<Point> points;
  std::vector<Planned> plan;              // in measuring order; for a shard its part
  std::optional<judge::Shard> shard = {}; // none: the study was not divided

  friend bool operator==(const Header&, const Header&) = default;
};

// Device activity per execution. Nanoseconds.
struct Kernel {
  std::string name;
  double launches = 0;
  double total_ns = 0;

  friend bool operator==(const Kernel&, const Kernel&) = default;
};

// From some traced executions, separate from the timed ones.
struct Traced {
  double wall_ns = 0;          // from the call to completion
  double device_ns = 0;        // the part of it in which the device was busy
  std::vector<Kernel> kernels; // longest first

  friend bool operator==(const Traced&, const Traced&) = default;
};

struct Experiment {
  judge::Measured row;
  std::map<std::string, std::string> environment; // empty if its process died before it began
  std::optional<Traced> traced;                   // none: invalid, skipped, or no tracer available

  Planned planned() const { return {row.key.case_id, row.key.variant}; }
  friend bool operator==(const Experiment&, const Experiment&) = default;
};

struct Record {
  Header header;
  std::vector<Experiment> done; // in the order measured, no duplicates

  // Null if it has not been measured.
  const Experiment* find(const Planned& planned) const;
  bool finished() const { return done.size() == header.plan.size(); }
};

// Whether the file exists and begins like a study's file.
bool is_record(const std::filesystem::path& path);

// Ignores an incomplete last line, which a killed study leaves. Throws Error naming a line that is
// damaged or contradicts the header.
Record load_record(const std::filesystem::path& path);

// Also throws Error for a shard: statements about all points need all of them.
Record load_undivided(const std::filesystem::path& path);

// Atomic: on failure the file is unchanged.
void save_record(const std::filesystem::path& path, const Record& record);

// The differences that keep two records' experiments out of one file: the study, its settings, the
// device, the program.
std::vector<std::string> differences(const Header& there, const Header& here);

// Throws Error naming each difference, if the measurements of `now` do not belong in the file
// `path` that begins with `stored`: those differences, the shard, the plan.
void require_same_study(const Header& stored, const Header& now, const std::filesystem::path& path);

// The newest unfinished file in `folder` with the study, the settings and the shard of `now`.
std::optional<std::filesystem::path> newest_unfinished(const std::filesystem::path& folder,
                                                       const Header& now);

// The file while one process writes it.
class RecordFile {
 public:
  // A new file in `folder`, named after the study and the time. Throws Error if that fails.
  static RecordFile begin(const std::filesystem::path& folder, const Header& header);
  // Continues a file and cuts off its incomplete last line, if any. Throws Error if it cannot be
  // read or another process is writing it.
  static RecordFile resume(const std::filesystem::path& path);

  RecordFile(RecordFile&& other) noexcept;
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;
  ~RecordFile();

  const std::filesystem::path& path() const { return path_; }
  const Record& record() const { return record_; }

  // Returns after the data has reached the disk.
  void append(const Experiment& experiment);

 private:
  RecordFile(std::filesystem::path path, int descriptor);

  std::filesystem::path path_;
  int descriptor_ = -1;
  Record record_;
};

} // namespace kg::study
