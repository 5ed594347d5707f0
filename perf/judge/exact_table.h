// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Baselines of quantities without noise: costs counted on the emulator (baselines/simt/<op>.csv)
// and resources of compiled kernels (baselines/resources/<arch>-cuda<major.minor>.csv). Both are
// tables of quantities by key, so one gate and one bless serve both.
#pragma once

#include "perf/format/csv.h"
#include "perf/format/schema.h"

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kg::judge {

// Which direction of change is an improvement. neither: informational, never fails.
enum class Better { lower, higher, neither };

struct Quantity {
  std::string_view name; // the column's
  Better better = Better::lower;
  std::string_view hint = {}; // the usual cause of a regression, for the message
  // Comes from a tool that may be missing; then the value is NaN and is not compared.
  bool optional = false;
};

// The columns of a metric in a file with several rows per line. The metric is the last key of its
// row; the row's quantities are a value and its minimum.
struct MetricColumns {
  std::string_view name;                // of the metric and of its value's column
  std::string_view minimum_column = {}; // empty: every minimum is `minimum`
  double minimum = 0;
  bool of_compiler = false; // depends on the compiler: its row has the line's counter_id
  bool optional = false;    // the column may be missing
};

// A kind of table. Columns of its file: the keys, the quantities, `counter_id` if `counted`, `why`.
struct ExactTable {
  Schema schema; // of the file
  std::vector<std::string_view> keys;
  std::vector<Quantity> quantities;
  // If not empty, one line holds all rows that differ only in their last key: these columns replace
  // that key and the quantities, and an empty field means no row.
  std::vector<MetricColumns> metrics = {};
  bool counted = false; // rows name the compiler and flags that produced the counts
  // The index of the quantity that is a lower bound of the first one; its value 0 means unknown.
  std::optional<std::size_t> minimum;
  std::string_view site = "most of it at"; // precedes a row's site in a message
  bool file_is_op = false;                 // the file is named after the operation of its first key
  // The command line options that select the row with this key.
  std::string (*filter)(const std::vector<std::string>& key) = nullptr;

  // The part of the key that all rows of one line share.
  std::vector<std::string> line_key(std::vector<std::string> key) const;
};

// Key: case, variant, metric (perf/code/cost/metrics.h). Quantities: value, and minimum, a lower
// bound that follows from the problem (0: unknown).
const ExactTable& cost_table();

// Key: kernel, "<op>.<name>". Quantities, in this order: registers, spill_bytes, local_bytes,
// static_shared, dynamic_shared, threads, occupancy_pct, split_loads, split_stores
// (perf/code/resources/ptx.h), and of the machine code (perf/code/sass/columns.h) bytes_in_flight,
// issue_slots, calls, divisions, loop_calls. Bytes per thread, shared memory and threads per block.
const ExactTable& resource_table();

struct ExactRow {
  std::vector<std::string> key;
  std::vector<double> values; // in the order of ExactTable::quantities, >= 0
  std::string counter_id;     // empty if the table is not `counted`
  std::string why;            // the reason given when the line last changed
  std::size_t line = 0;       // in the file; 0 if the row was not read from one

  friend bool operator==(const ExactRow&, const ExactRow&) = default;
};

// When a row's quantities gate. same_counter: they depend on the compiler, and gate only if the
// baseline has the same counter_id.
enum class Gating { always, same_counter, never };

constexpr std::string_view name(Gating gating) {
  switch (gating) {
  case Gating::always: return "always";
  case Gating::same_counter: return "same_counter";
  case Gating::never: return "never";
  }
  return "";
}

// One row as counted or compiled now.
struct ExactMeasured {
  ExactRow row; // `why` and `line` are ignored
  Gating gating = Gating::always;
  std::string site;       // "<file>:<line>" of the largest cost, or of the kernel; may be empty
  std::string hint;       // the usual fix, for the message of a regression
  std::string fault = {}; // why the row must not pass; may be empty
  std::map<std::string, std::string> hints = {}; // replace the table's, by quantity
  // Why values were copied from the baseline (nothing that determines them changed); empty if all
  // were measured.
  std::string as_blessed = {};

  friend bool operator==(const ExactMeasured&, const ExactMeasured&) = default;
};

// "gemm.f32.m64_n64_k64_nn tiled barriers"
std::string key_text(const ExactRow& row);

// Integers in full, since one more event is a regression; other numbers as csv_number.
std::string exact_number(double value);

// Whether every value is >= 0, or NaN for an optional quantity.
bool are_numbers(const ExactTable& table, const ExactRow& row);

// Whether the count is below its algorithmic minimum, which means that accesses were missed.
bool is_below_minimum(const ExactTable& table, const ExactRow& row);

// The value after writing it to a file and reading it back. Values are compared in this form.
double as_written(double value);

// The contents of a file. A missing file is not a problem: nothing has been blessed.
struct ExactFile {
  std::string path;
  bool exists = false;
  std::vector<ExactRow> rows;    // valid rows, sorted by key
  std::vector<Problem> problems; // any problem makes the file unusable for judging
};

ExactFile load_exact(const ExactTable& table, const std::filesystem::path& path);
ExactFile parse_exact(const ExactTable& table, std::string_view contents, const std::string& path);

// Writes the rows sorted, atomically. Throws kg::Error without writing if load_exact would refuse
// the result.
void save_exact(const ExactTable& table, const std::filesystem::path& path,
                const std::vector<ExactRow>& rows);
std::string format_exact(const ExactTable& table, const std::vector<ExactRow>& rows);

} // namespace kg::judge
