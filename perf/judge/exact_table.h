// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Baselines of what has no noise: costs counted on the executor (baselines/simt/<op>.csv) and the
// resources that kernels take (baselines/resources/<arch>-cuda<major.minor>.csv). Both are tables
// of quantities by key, so that one gate and one bless serve both.
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

// What a change of a quantity means. neither: it informs and fails nobody.
enum class Better { lower, higher, neither };

struct Quantity {
  std::string_view name; // the column's
  Better better = Better::lower;
  std::string_view hint = {}; // what usually makes it worse, for the message of a regression
  // Read by a tool that not every machine has: NaN where it was not there, and not compared.
  bool optional = false;
};

// A metric's columns in a file that has several rows in a line: the metric is the row's last key,
// and the row's quantities are a value and its minimum.
struct MetricColumns {
  std::string_view name;                // of the metric, and of the column of its value
  std::string_view minimum_column = {}; // empty: every minimum is `minimum`
  double minimum = 0;
  bool of_compiler = false; // its row has the line's counter_id, the others have none
  bool optional = false;    // files whose rows lack it have no column of it
};

// A kind of table. The columns of its file: the key, the quantities, `counter_id` if `counted`, and
// `why`.
struct ExactTable {
  Schema schema; // of the file
  std::vector<std::string_view> keys;
  std::vector<Quantity> quantities;
  // Where there are any, a line of the file holds all rows that differ in their last key alone: the
  // metrics' columns stand for that key and the quantities, and an empty field for no row.
  std::vector<MetricColumns> metrics = {};
  bool counted = false; // rows name the compiler and flags whose counts they are
  // The place of the quantity that is the least the first quantity can be; 0 in it: nothing is
  // known.
  std::optional<std::size_t> minimum;
  std::string_view site = "most of it at"; // what stands before a row's site in a message
  bool file_is_op = false; // the file's name is the op that the first key column must belong to
  // The options that choose a row on the command line, from its key.
  std::string (*filter)(const std::vector<std::string>& key) = nullptr;

  // What the rows of one line of the file have in common.
  std::vector<std::string> line_key(std::vector<std::string> key) const;
};

// Key: case, variant, metric (perf/code/cost/metrics.h). Quantities: value, and minimum, the least
// that the problem itself needs (0 where nothing is known).
const ExactTable& cost_table();

// Key: kernel, "<op>.<name>". Quantities, in this order: registers, spill_bytes, local_bytes,
// static_shared, dynamic_shared, threads, occupancy_pct, split_loads, split_stores
// (perf/code/resources/ptx.h), and of the machine code (perf/code/sass/columns.h) bytes_in_flight,
// issue_slots, calls, divisions, loop_calls. Bytes per thread, shared memory and threads per block.
const ExactTable& resource_table();

struct ExactRow {
  std::vector<std::string> key;
  std::vector<double> values; // in the order of ExactTable::quantities, >= 0
  std::string counter_id;     // empty where the table is not counted
  std::string why;            // the reason given when the row's line last changed
  std::size_t line = 0;       // where it was read; 0 for one that was not

  friend bool operator==(const ExactRow&, const ExactRow&) = default;
};

// When a row's quantities gate. same_counter: they depend on the compiler, and gate only where the
// baseline was counted under the same counter_id.
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
  ExactRow row; // `why` and `line` are not looked at
  Gating gating = Gating::always;
  std::string site; // "<file>:<line>" of what costs most, of a resource the kernel's; where known
  std::string hint; // what usually helps, for the message of a regression
  std::string fault = {};                        // why the row must not pass; empty where it may
  std::map<std::string, std::string> hints = {}; // by quantity, better ones than the table's
  // Why values are taken from the baseline, since nothing that decides them has changed; empty
  // where all were measured.
  std::string as_blessed = {};

  friend bool operator==(const ExactMeasured&, const ExactMeasured&) = default;
};

// "gemm.f32.m64_n64_k64_nn tiled barriers"
std::string key_text(const ExactRow& row);

// A whole number in full, since one event more is a regression; other numbers as csv_number.
std::string exact_number(double value);

// Whether every value is a number from 0, or one that was not read.
bool are_numbers(const ExactTable& table, const ExactRow& row);

// Why a row counted less than its minimum, which no kernel can do that does its work; empty where
// it did not.
std::string below_minimum(const ExactTable& table, const ExactRow& row);

// As every value is once it has been written and read: the form in which values are compared.
double as_written(double value);

// What a file holds. One that is not there is no problem: nothing has been blessed.
struct ExactFile {
  std::string path;
  bool exists = false;
  std::vector<ExactRow> rows;    // sorted by key; without those that have a problem
  std::vector<Problem> problems; // any of them makes the file useless as a judge
};

ExactFile load_exact(const ExactTable& table, const std::filesystem::path& path);
ExactFile parse_exact(const ExactTable& table, std::string_view contents, const std::string& path);

// Writes the rows sorted and whole. Throws kg::Error, and writes nothing, if load_exact would
// refuse the result.
void save_exact(const ExactTable& table, const std::filesystem::path& path,
                const std::vector<ExactRow>& rows);
std::string format_exact(const ExactTable& table, const std::vector<ExactRow>& rows);

} // namespace kg::judge
