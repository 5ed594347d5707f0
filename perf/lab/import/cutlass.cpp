// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The CSV of the CUTLASS profiler: Problem, Provider, OperationKind, Operation, Disposition,
// Status, the operation's arguments, Bytes, Flops, Flops/Byte, Runtime (ms), GB/s, GFLOPs. Columns
// of the user's own (--tags) may come first.
#include "perf/lab/import/formats.h"

#include "runtime/error.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <set>

namespace kg::imports {
namespace {

constexpr double kNsPerMs = 1e6;

// Arguments that are implied by the operation's name.
bool describes_kernel(std::string_view argument) {
  static const std::set<std::string_view> kNames = {"op_class", "accum", "stages", "min_cc",
                                                    "max_cc"};
  const auto begins = [&](std::string_view prefix) { return argument.starts_with(prefix); };
  return kNames.contains(argument) || begins("cta_") || begins("cluster_") || begins("warps_") ||
         begins("inst_");
}

class Table {
 public:
  Table(const judge::Csv& csv, std::string file)
      : header_(csv.records.front().fields), file_(std::move(file)) {}

  std::size_t column(std::string_view name) const {
    const auto at = std::find(header_.begin(), header_.end(), name);
    if (at == header_.end())
      throw Error(fmt::format("{}:1: no column '{}'; write the file anew with the CUTLASS "
                              "profiler",
                              file_, name));
    return static_cast<std::size_t>(at - header_.begin());
  }
  const std::vector<std::string>& header() const { return header_; }

  void require_whole(const judge::CsvRecord& record) const {
    if (record.fields.size() != header_.size())
      throw Error(fmt::format("{}: {} fields under a header of {}; was the profiler interrupted? "
                              "Remove the line or measure again",
                              where(record), record.fields.size(), header_.size()));
  }
  const std::string& field(const judge::CsvRecord& record, std::string_view name) const {
    return record.fields[column(name)];
  }
  double number(const judge::CsvRecord& record, std::string_view name) const {
    const auto value = judge::parse_number(field(record, name));
    if (!value || *value < 0)
      throw Error(fmt::format("{}: {} is '{}', not a number >= 0; measure again", where(record),
                              name, field(record, name)));
    return *value;
  }
  std::string where(const judge::CsvRecord& record) const {
    return fmt::format("{}:{}", file_, record.line);
  }

 private:
  std::vector<std::string> header_;
  std::string file_;
};

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

judge::Measured read_row(const Table& table, const judge::CsvRecord& record) {
  std::string dtype, parameters;
  for (std::size_t i = table.column("Status") + 1; i < table.column("Bytes"); ++i) {
    const std::string& name = table.header()[i];
    const std::string& value = record.fields[i];
    if (value.empty() || describes_kernel(name)) continue;
    if (name == "A") dtype = value.substr(0, value.find(':')); // "f16:column"
    const bool number = std::isdigit(static_cast<unsigned char>(value.front())) != 0;
    parameters += fmt::format("_{}{}{}", name, number ? "" : "_", value);
  }
  judge::Measured row =
      imported_row(table.field(record, "OperationKind"), dtype, parameters, judge::Mode::hot);
  const std::string& provider = table.field(record, "Provider");
  row.key.variant = id_word(table.field(record, "Operation"));
  if (provider != "CUTLASS") {
    row.kind = judge::Kind::vendor;
    row.key.variant = id_word(lower(provider)) + "_" + row.key.variant;
  }
  const std::string& disposition = table.field(record, "Disposition");
  if (disposition == "not_run" || disposition == "not_supported") {
    row.skipped = "the profiler says " + disposition;
    return row;
  }
  row.bytes = table.number(record, "Bytes");
  row.flops = table.number(record, "Flops");
  if (disposition != "passed" && disposition != "not_verified") {
    row.verified = "the profiler says " + disposition;
    return row;
  }
  if (disposition == "not_verified") row.note = "its output was not verified";
  if (const double ms = table.number(record, "Runtime"); ms > 0)
    judge::take_samples(row, {kNsPerMs * ms});
  else
    row.verified = "its runtime is 0";
  return row;
}

} // namespace

judge::Results from_cutlass(const judge::Csv& csv, const std::filesystem::path& path) {
  const Table table(csv, path.string());
  judge::Results run;
  // The profiler does not report its GPU.
  run.environment = {{"format", "cutlass-profiler"}, {"device", "unknown-gpu"}};
  for (std::size_t i = 1; i < csv.records.size(); ++i) {
    const judge::CsvRecord& record = csv.records[i];
    table.require_whole(record);
    add_row(run, read_row(table, record), table.where(record));
  }
  if (run.rows.empty()) throw Error(path.string() + ":1: no row below the header");
  return run;
}

} // namespace kg::imports
