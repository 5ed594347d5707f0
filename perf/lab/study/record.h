// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The file of a study: a line of JSON that says what is to be measured, on what and by which
// program, and then one for each experiment, written the moment that it ends. A study that was
// killed goes on from such a file; a report needs nothing else.
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
  std::string date_utc;                           // when it began
  std::map<std::string, std::string> environment; // perf/measure/environment.h
  std::string program;                            // hash of the program that measures
  std::vector<Point> points;
  std::vector<Planned> plan;              // in the order of measuring, of a shard its part
  std::optional<judge::Shard> shard = {}; // none: the study was not divided

  friend bool operator==(const Header&, const Header&) = default;
};

// What ran on the device, per execution. Nanoseconds.
struct Kernel {
  std::string name;
  double launches = 0;
  double total_ns = 0;

  friend bool operator==(const Kernel&, const Kernel&) = default;
};

// Of some traced executions, apart from the timed ones.
struct Traced {
  double wall_ns = 0;          // from the call to completion
  double device_ns = 0;        // of it, while the device did anything
  std::vector<Kernel> kernels; // the longest first

  friend bool operator==(const Traced&, const Traced&) = default;
};

struct Experiment {
  judge::Measured row;
  std::map<std::string, std::string> environment; // empty where its process died before it began
  std::optional<Traced> traced;                   // none: invalid, skipped, or no tracer works here

  Planned planned() const { return {row.key.case_id, row.key.variant}; }
  friend bool operator==(const Experiment&, const Experiment&) = default;
};

struct Record {
  Header header;
  std::vector<Experiment> done; // in the order measured, none twice

  // Null where it has not been measured.
  const Experiment* find(const Planned& planned) const;
  bool finished() const { return done.size() == header.plan.size(); }
};

// Whether there is such a file and it is of this kind, by its beginning.
bool is_record(const std::filesystem::path& path);

// Half a line at the end, which a killed study leaves, does not count. Throws Error naming the line
// that is damaged or that contradicts the header.
Record load_record(const std::filesystem::path& path);

// Throws Error where it is a shard, too: what holds of all points cannot be said of some.
Record load_undivided(const std::filesystem::path& path);

// Whole, or the file is as before.
void save_record(const std::filesystem::path& path, const Record& record);

// What differs so that experiments of the two cannot stand in one file: the study, its settings,
// the device, the program.
std::vector<std::string> differences(const Header& there, const Header& here);

// Throws Error naming each thing that differs where what `now` would measure does not belong in the
// file `path` that begins with `stored`: those differences, the shard, the plan.
void require_same_study(const Header& stored, const Header& now, const std::filesystem::path& path);

// The newest file in `folder` that is unfinished and has the study, the settings and the shard of
// `now`.
std::optional<std::filesystem::path> newest_unfinished(const std::filesystem::path& folder,
                                                       const Header& now);

// The file while it is written, by one process at a time.
class RecordFile {
 public:
  // A new file in `folder`, named after the study and the time. Throws Error where that fails.
  static RecordFile begin(const std::filesystem::path& folder, const Header& header);
  // Goes on with one, whose half last line, if there is one, is cut off. Throws Error where it
  // cannot be read or another process writes it.
  static RecordFile resume(const std::filesystem::path& path);

  RecordFile(RecordFile&& other) noexcept;
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;
  ~RecordFile();

  const std::filesystem::path& path() const { return path_; }
  const Record& record() const { return record_; }

  // Returns when it is on the disk.
  void append(const Experiment& experiment);

 private:
  RecordFile(std::filesystem::path path, int descriptor);

  std::filesystem::path path_;
  int descriptor_ = -1;
  Record record_;
};

} // namespace kg::study
