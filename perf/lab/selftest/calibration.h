// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// baselines/<device>/calibration.csv: how often the gate, and other tools' rules, called a row
// slower in the self-test on this device. Files of several runs are pooled by adding counts.
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
inline constexpr double kCalibrationConfidence = 0.95; // of each bound separately
inline constexpr std::string_view kOurRule = "kernelgrade";

// The gate's promise: an unchanged row fails at most this often. Until a recent calibration of the
// device confirms it, the gate says so.
inline constexpr double kFalseAlarmTarget = 0.001;
inline constexpr int kCalibrationDays = 90;

struct CalibrationRow {
  std::string device;     // as in paths
  std::string backend;    // host or cuda
  std::string experiment; // aa, inject_5, load, ...
  std::string rows;       // the class of rows: all, from_100us, sd_to_1pct
  std::string rule;       // kernelgrade, or the name of another rule
  std::size_t rows_checked = 0;
  std::size_t flagged = 0;      // called slower
  std::size_t inconclusive = 0; // neither slower nor not slower
  double sd_process_pct = 0;    // sd of ln time across the blessed processes, averaged over checks
  std::string date_utc;         // of the latest check
  std::string source;           // the builds, joined by ';'

  double rate() const; // flagged / rows_checked
  // Clopper-Pearson bounds of it, each one-sided with kCalibrationConfidence.
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

// A rate or bound that does not follow from its row's counts is also a problem.
CalibrationFile load_calibration(const std::filesystem::path& path);
CalibrationFile parse_calibration(std::string_view contents, const std::string& path);

std::string format_calibration(const std::vector<CalibrationRow>& rows);

// One row for each device, backend, experiment, class of rows and rule; counts are added.
std::vector<CalibrationRow> pool(std::span<const CalibrationRow> rows);

// A gate's note about this calibration at `now` ("2026-11-21T08:00:00Z"), in one line; empty if the
// calibration is recent and keeps the promise.
std::string calibration_note(const CalibrationFile& file, const std::string& now);

} // namespace kg::selftest
