// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/exact_table.h"

#include "perf/judge/exact_lines.h"
#include "perf/judge/row.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <utility>

namespace kg::judge {
namespace {

constexpr int kCostSchema = 2;
constexpr int kResourceSchema = 3;

// Not an id, since a kernel's name may have template arguments, but it begins with its operation.
std::optional<Complaint> a_kernel(std::string_view field) {
  const std::size_t dot = field.find('.');
  if (dot != field.npos && dot > 0 && dot + 1 < field.size()) return std::nullopt;
  return Complaint{fmt::format("'{}' is not a kernel", field), "write <op>.<name>"};
}

std::optional<Complaint> a_number_from_zero_or_nothing(std::string_view field) {
  return field.empty() ? std::nullopt : a_number_from_zero(field);
}

std::string op_of_file(const std::string& path) {
  return std::filesystem::path(path).stem().string();
}

ExactTable make_cost_table() {
  ExactTable table;
  table.keys = {"case", "variant", "metric"};
  table.quantities = {{"value", Better::lower}, {"minimum", Better::neither}};
  table.metrics = {{"sectors_per_request", "sectors_per_request_minimum"},
                   {"unique_sectors", "unique_sectors_minimum"},
                   {"bank_conflict_degree", "", 1},
                   {"barriers"},
                   {"barrier_phases"},
                   {"collectives"},
                   {"matrix_instructions", "matrix_instructions_minimum"},
                   {"wgmma_instructions", "wgmma_instructions_minimum", 0, false, true},
                   {"wgmma_flops", "wgmma_flops_minimum", 0, false, true},
                   {"bulk_load_bytes", "", 0, false, true},
                   {"bulk_store_bytes", "", 0, false, true},
                   {"bulk_bytes_in_flight", "", 0, false, true},
                   {"atomics"},
                   {"atomic_contention", "", 1},
                   {"global_requests", "", 0, true},
                   {"sectors", "sectors_minimum", 0, true},
                   {"shared_wavefronts", "shared_wavefronts_minimum", 0, true},
                   {"idle_lanes_pct", "", 0, true},
                   {"serial_round_trips", "", 0, true},
                   {"bound_ns.h200", "bound_ns.h200_minimum", 0, true},
                   {"waves"},
                   {"resident_blocks"}};
  table.schema = {"cost", kCostSchema, {{"case", an_id, true}, {"variant", an_id, true}}};
  for (const MetricColumns& metric : table.metrics)
    for (const std::string_view column : {metric.name, metric.minimum_column})
      if (!column.empty())
        table.schema.columns.push_back(
            {column, a_number_from_zero_or_nothing, false, metric.optional});
  table.schema.columns.push_back({"counter_id", any_text});
  table.schema.columns.push_back({"why", any_text});
  table.schema.renew = [](const std::string& file) {
    return fmt::format("rm {} && kernelgrade bless --cost --op {}", file, op_of_file(file));
  };
  table.counted = true;
  table.minimum = 1;
  table.file_is_op = true;
  table.filter = [](const std::vector<std::string>& key) {
    return fmt::format("--case {} --variant {}", key[0], key[1]);
  };
  return table;
}

ExactTable make_resource_table() {
  ExactTable table;
  table.keys = {"kernel"};
  table.quantities = {
      {"registers", Better::neither},
      {"spill_bytes", Better::lower,
       "it spills where launch bounds leave fewer registers than live values"},
      {"local_bytes", Better::lower, "arrays indexed at run time go to local memory"},
      {"static_shared", Better::lower, "a larger tile, or more of them"},
      {"dynamic_shared", Better::lower, "a larger tile, or more of them"},
      {"threads", Better::neither},
      {"occupancy_pct", Better::higher,
       "fewer warps are resident: see registers, shared memory and threads"},
      {"split_loads", Better::lower,
       "it loads 16 bytes by several narrower accesses: load the vector into a variable first"},
      {"split_stores", Better::lower,
       "it stores 16 bytes by several narrower accesses: store the vector through store_wide or "
       "ptx::store_shared"},
      {"bytes_in_flight", Better::higher, "loads wait for one another", true},
      {"issue_slots", Better::lower, "more instructions for the same bytes", true},
      {"calls", Better::lower, "it calls library functions", true},
      {"divisions", Better::lower, "IEEE divisions and roots have a slow path", true},
      {"loop_calls", Better::lower, "a loop calls functions, or slow paths of divisions", true}};
  table.site = "the kernel is at";
  table.schema = {"resource", kResourceSchema, {{"kernel", a_kernel, true}}};
  for (const Quantity& quantity : table.quantities)
    table.schema.columns.push_back({quantity.name, a_number_from_zero});
  table.schema.columns.push_back({"why", any_text});
  table.schema.renew = [](const std::string& file) {
    return fmt::format("rm {} && kernelgrade resources --bless", file);
  };
  table.filter = [](const std::vector<std::string>& key) {
    return fmt::format("--op {}", op_of(key[0]));
  };
  return table;
}

} // namespace

const ExactTable& cost_table() {
  static const ExactTable table = make_cost_table();
  return table;
}

const ExactTable& resource_table() {
  static const ExactTable table = make_resource_table();
  return table;
}

std::vector<std::string> ExactTable::line_key(std::vector<std::string> key) const {
  if (!metrics.empty()) key.pop_back();
  return key;
}

std::string key_text(const ExactRow& row) { return fmt::format("{}", fmt::join(row.key, " ")); }

std::string exact_number(double value) {
  constexpr double kExactIntegers = 9007199254740992; // 2^53: up to here all integers are exact
  if (std::floor(value) == value && std::abs(value) <= kExactIntegers)
    return fmt::format("{}", static_cast<std::int64_t>(value));
  return csv_number(value);
}

bool are_numbers(const ExactTable& table, const ExactRow& row) {
  for (std::size_t i = 0; i < row.values.size(); ++i) {
    const double value = row.values[i];
    if (std::isnan(value) && table.quantities.at(i).optional) continue;
    if (!std::isfinite(value) || value < 0) return false;
  }
  return true;
}

bool is_below_minimum(const ExactTable& table, const ExactRow& row) {
  return table.minimum &&
         as_written(row.values.front()) < as_written(row.values.at(*table.minimum));
}

double as_written(double value) { return parse_number(exact_number(value)).value_or(value); }

ExactFile parse_exact(const ExactTable& table, std::string_view contents, const std::string& path) {
  ExactFile file{path, true, {}, {}};
  Table read = read_table(table.schema, contents, path);
  file.problems = std::move(read.problems);
  const std::string op = op_of_file(path);
  for (const TableRow& line : read.rows) {
    std::vector<Complaint> complaints;
    std::vector<ExactRow> rows = rows_of(table, line, complaints);
    if (const std::string& id = line.fields.front(); table.file_is_op && op_of(id) != op)
      complaints.push_back({fmt::format("case '{}' does not belong to op '{}'", id, op),
                            "move the row to its op's file"});
    for (Complaint& complaint : complaints)
      file.problems.push_back(
          {path, line.line, std::move(complaint.what), std::move(complaint.fix)});
    if (complaints.empty())
      file.rows.insert(file.rows.end(), std::make_move_iterator(rows.begin()),
                       std::make_move_iterator(rows.end()));
  }
  std::stable_sort(file.problems.begin(), file.problems.end(),
                   [](const Problem& a, const Problem& b) { return a.line < b.line; });
  std::sort(file.rows.begin(), file.rows.end(),
            [](const ExactRow& a, const ExactRow& b) { return a.key < b.key; });
  return file;
}

ExactFile load_exact(const ExactTable& table, const std::filesystem::path& path) {
  try {
    const std::optional<std::string> contents = read_file(path);
    if (!contents) return {path.string(), false, {}, {}};
    return parse_exact(table, *contents, path.string());
  } catch (const Error& error) { // an unreadable file must not pass for a missing one
    return {path.string(), true, {}, {{path.string(), 0, error.what(), "make it readable"}}};
  }
}

std::string format_exact(const ExactTable& table, const std::vector<ExactRow>& rows) {
  return write_table(table.schema, lines_of(table, rows));
}

void save_exact(const ExactTable& table, const std::filesystem::path& path,
                const std::vector<ExactRow>& rows) {
  const std::string contents = format_exact(table, rows);
  const ExactFile reread = parse_exact(table, contents, path.string());
  if (!reread.problems.empty())
    throw Error("not written, since it could not be read again:\n" + text(reread.problems));
  write_file(path, contents);
}

} // namespace kg::judge
