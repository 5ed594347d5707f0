// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/timing_model/ladders.h"

#include "perf/format/csv.h"
#include "perf/format/table.h"
#include "perf/judge/statistics.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <string_view>

namespace kg::model {
namespace {

// The numbers follow these columns: time in ms, blocks, resident blocks per multiprocessor, the
// fields of Costs per block, and unique bytes read and written.
enum Text { ladder, gpu, shape, source, kernel };
constexpr std::size_t kTexts = kernel + 1;
enum Number {
  milliseconds,
  blocks,
  resident,
  round_trips,
  load_bytes,
  block_read_bytes,
  sectors,
  passes,
  issue_clocks,
  read_bytes,
  written_bytes
};
constexpr std::size_t kNumbers = written_bytes + 1;
constexpr std::string_view kColumns[] = {
    "ladder", "gpu",          "shape",       "source",       "kernel",     "milliseconds",
    "blocks", "resident",     "round_trips", "load_bytes",   "block_read", "sectors",
    "passes", "issue_clocks", "read_bytes",  "written_bytes"};
static_assert(std::size(kColumns) == kTexts + kNumbers);

[[noreturn]] void fail_at(const std::string& file, std::size_t line, const std::string& what) {
  throw Error(
      judge::text(judge::Problem{file, line, what, "see perf/code/timing_model/ladders.cpp"}));
}

Costs costs_of(const std::array<double, kNumbers>& of) {
  const double count = of[blocks];
  Costs costs;
  costs.blocks = count;
  costs.resident_blocks = of[resident];
  costs.round_trips = of[round_trips];
  costs.load_bytes = count * of[load_bytes];
  costs.block_read_bytes = count * of[block_read_bytes];
  costs.sectors = count * of[sectors];
  costs.wavefronts = count * of[passes];
  costs.issue_clocks = count * of[issue_clocks];
  costs.read_bytes = of[read_bytes];
  costs.written_bytes = of[written_bytes];
  costs.unique_sectors = (of[read_bytes] + of[written_bytes]) / kSectorBytes;
  return costs;
}

void judge_ladder(Ladder& one) {
  std::vector<double> bounds, measured, factors;
  for (const Rung& rung : one.rungs) {
    bounds.push_back(rung.bound.seconds);
    measured.push_back(rung.measured_s);
    factors.push_back(rung.measured_s / rung.bound.seconds);
  }
  one.correlation = rank_correlation(bounds, measured);
  one.median_factor = judge::median(factors);
}

} // namespace

std::vector<Ladder> load_ladders(const std::filesystem::path& path, const std::vector<Gpu>& gpus) {
  const std::string file = path.string();
  const std::optional<std::string> contents = read_file(path);
  if (!contents) fail(file + ": no such file; it lists optimization series of kernels");
  const judge::Csv csv = judge::read_csv(*contents, file);
  if (!csv.problems.empty()) throw Error(judge::text(csv.problems));
  std::vector<Ladder> found;
  for (const judge::CsvRecord& record : csv.records) {
    const auto& fields = record.fields;
    if (fields.size() != std::size(kColumns))
      fail_at(file, record.line,
              fmt::format("it has {} fields, not {}", fields.size(), std::size(kColumns)));
    if (&record == &csv.records.front()) {
      if (!std::equal(fields.begin(), fields.end(), std::begin(kColumns)))
        fail_at(file, record.line, "the header is another");
      continue;
    }
    const auto known = std::find_if(gpus.begin(), gpus.end(),
                                    [&](const Gpu& one) { return one.name == fields[gpu]; });
    if (known == gpus.end()) fail_at(file, record.line, "no GPU is called " + fields[gpu]);
    std::array<double, kNumbers> values{};
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::optional<double> value = judge::parse_number(fields[kTexts + i]);
      if (!value || *value < 0)
        fail_at(file, record.line,
                fmt::format("expected a number from 0, got '{}'", fields[kTexts + i]));
      values[i] = *value;
    }
    if (found.empty() || found.back().name != fields[ladder])
      found.push_back({fields[ladder], fields[gpu], fields[shape], fields[source], {}, 0, 0});
    Rung rung{fields[kernel], 1e-3 * values[milliseconds], costs_of(values), {}};
    rung.bound = modelled(rung.costs, *known);
    found.back().rungs.push_back(std::move(rung));
  }
  for (Ladder& one : found) judge_ladder(one);
  return found;
}

std::string text(const std::vector<Ladder>& ladders) {
  std::string said;
  judge::TextTable summary({"ladder", "GPU", "kernels", "Spearman", "median factor"});
  for (const Ladder& one : ladders) {
    judge::TextTable table({"kernel", "measured", "bound", "factor", "limited by"});
    for (const Rung& rung : one.rungs)
      table.add({rung.kernel, fmt::format("{:.4g} ms", 1e3 * rung.measured_s),
                 fmt::format("{:.4g} ms", 1e3 * rung.bound.seconds),
                 fmt::format("{:.2f}", rung.measured_s / rung.bound.seconds),
                 std::string(name(rung.bound.limiter))});
    said += fmt::format("{}, {}, {}\n{}\n{}\n", one.name, one.gpu, one.shape, one.source,
                        table.plain());
    summary.add({one.name, one.gpu, std::to_string(one.rungs.size()),
                 fmt::format("{:.3f}", one.correlation), fmt::format("{:.2f}", one.median_factor)});
  }
  return said + summary.plain();
}

} // namespace kg::model
