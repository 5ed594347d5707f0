// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/exact_table.h"

#include "perf/judge/atomic_file.h"
#include "perf/judge/row.h"
#include "runtime/error.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace kg::judge {
namespace {

constexpr int kCostSchema = 1;
constexpr int kResourceSchema = 3;

// A kernel's name may hold template arguments, so it is no id; but it begins with its op.
std::optional<Complaint> a_kernel(std::string_view field) {
  const std::size_t dot = field.find('.');
  if (dot != field.npos && dot > 0 && dot + 1 < field.size()) return std::nullopt;
  return Complaint{fmt::format("'{}' is no kernel", field), "write <op>.<name>"};
}

// The order of the columns is the order in to_row and to_fields.
ExactTable make_cost_table() {
  ExactTable table;
  table.schema = {"cost",
                  kCostSchema,
                  {{"case", an_id, true},
                   {"variant", an_id, true},
                   {"metric", an_id, true},
                   {"value", a_number_from_zero},
                   {"minimum", a_number_from_zero},
                   {"counter_id", any_text},
                   {"why", any_text}}};
  table.keys = 3;
  table.quantities = {{"value", Better::lower}, {"minimum", Better::neither}};
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
       "it loads 16 bytes by several narrower accesses: load the pack into a variable first"},
      {"split_stores", Better::lower,
       "it stores 16 bytes by several narrower accesses: store the pack through store_wide or "
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
  table.filter = [](const std::vector<std::string>& key) {
    return fmt::format("--op {}", op_of(key[0]));
  };
  return table;
}

ExactRow to_row(const ExactTable& table, const TableRow& checked) {
  ExactRow row;
  row.line = checked.line;
  auto field = checked.fields.begin();
  for (std::size_t i = 0; i < table.keys; ++i) row.key.push_back(*field++);
  for (std::size_t i = 0; i < table.quantities.size(); ++i)
    row.values.push_back(parse_number(*field++).value());
  if (table.counted) row.counter_id = *field++;
  row.why = *field;
  return row;
}

std::vector<std::string> to_fields(const ExactTable& table, const ExactRow& row) {
  require(row.key.size() == table.keys && row.values.size() == table.quantities.size(),
          fmt::format("row '{}' has {} values under {} keys; a {} row has {} and {}", key_text(row),
                      row.values.size(), row.key.size(), table.schema.name, table.quantities.size(),
                      table.keys));
  std::vector<std::string> fields = row.key;
  for (const double value : row.values) fields.push_back(exact_number(value));
  if (table.counted) fields.push_back(row.counter_id);
  fields.push_back(row.why);
  return fields;
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

std::string key_text(const ExactRow& row) { return fmt::format("{}", fmt::join(row.key, " ")); }

std::string exact_number(double value) {
  constexpr double kExactIntegers = 9007199254740992; // 2^53: up to here a double counts by ones
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

std::string below_minimum(const ExactTable& table, const ExactRow& row) {
  if (!table.minimum) return "";
  const double value = row.values.front(), minimum = row.values.at(*table.minimum);
  if (as_written(value) >= as_written(minimum)) return "";
  return fmt::format(
      "{} {} is below the algorithmic minimum of {}: accesses were not counted (their "
      "instrumentation is lost, or nothing ran), or the operation's Work claims more "
      "than it needs",
      table.quantities.front().name, exact_number(value), exact_number(minimum));
}

double as_written(double value) { return parse_number(exact_number(value)).value_or(value); }

ExactFile parse_exact(const ExactTable& table, std::string_view contents, const std::string& path) {
  ExactFile file{path, true, {}, {}};
  Table read = read_table(table.schema, contents, path);
  file.problems = std::move(read.problems);
  const std::string op = std::filesystem::path(path).stem().string();
  for (const TableRow& checked : read.rows) {
    ExactRow row = to_row(table, checked);
    if (table.file_is_op && op_of(row.key.front()) != op)
      file.problems.push_back(
          {path, row.line, fmt::format("case '{}' does not belong to op '{}'", row.key.front(), op),
           "move the row to its op's file"});
    else
      file.rows.push_back(std::move(row));
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
  } catch (const Error& error) { // it is there: it must not pass for one that is not
    return {path.string(), true, {}, {{path.string(), 0, error.what(), "make it readable"}}};
  }
}

std::string format_exact(const ExactTable& table, const std::vector<ExactRow>& rows) {
  std::vector<std::vector<std::string>> fields;
  for (const ExactRow& row : rows) fields.push_back(to_fields(table, row));
  return write_table(table.schema, std::move(fields));
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
