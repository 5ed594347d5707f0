// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// baselines/<device>/calibration.csv: how often the gate, and other tools' rules beside it, called
// a row slower in the self-test on this device. Files of several runs are pooled by adding counts.
#pragma once

#include "perf/format/csv.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kg::selftest {

inline constexpr int kCalibrationSchema = 1;
inline constexpr double kCalibrationConfidence = 0.95; // of each bound by itself
inline constexpr std::string_view kOurRule = "kernelgrade";

// What the gate promises: a row that has not changed fails at most this often. Until a device's
// calibration shows it, recently enough, the gate says so.
inline constexpr double kFalseAlarmTarget = 0.001;
inline constexpr int kCalibrationDays = 90;

struct CalibrationRow {
  std::string device;     // as in paths
  std::string backend;    // host or cuda
  std::string experiment; // aa, inject_5, load, ...
  std::string rows;       // which of them: all, from_100us, sd_to_1pct
  std::string rule;       // kernelgrade, or the name of a rival
  std::size_t rows_checked = 0;
  std::size_t flagged = 0;      // called slower
  std::size_t inconclusive = 0; // neither slower nor not
  double sd_process_pct = 0;    // mean, over the checks, of the blessed processes' sd of ln time
  std::string date_utc;         // of the latest check
  std::string source;           // the builds, joined by ';'

  double rate() const; // flagged / rows_checked
  // Clopper and Pearson's bounds of it, each one-sided with kCalibrationConfidence.
  double low() const;
  double high() const;

  friend bool operator==(const CalibrationRow&, const CalibrationRow&) = default;
};

struct CalibrationFile {
  std::string path;
  bool exists = false;
  std::vector<CalibrationRow> rows;
  std::vector<judge::Problem> problems;
};

// A rate or bound that does not follow from the counts of its row is a problem, too.
CalibrationFile load_calibration(const std::filesystem::path& path);
CalibrationFile parse_calibration(std::string_view contents, const std::string& path);

std::string format_calibration(const std::vector<CalibrationRow>& rows);

// One row for each device, backend, experiment, class of rows and rule; counts are added.
std::vector<CalibrationRow> pool(std::span<const CalibrationRow> rows);

// What a gate with this calibration has to say about itself at `now` ("2026-11-21T08:00:00Z"), in
// one line; empty where the calibration is recent and keeps the promise.
std::string calibration_note(const CalibrationFile& file, const std::string& now);

} // namespace kg::selftest
