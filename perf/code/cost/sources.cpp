// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/cost/sources.h"

#include "perf/code/cost/bound.h"
#include "perf/code/identity/source_code.h"
#include "perf/judge/row.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "runtime/hash.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <string_view>
#include <unistd.h>

namespace kg::cost {
namespace {

using std::filesystem::path;

// The code that computes metrics from counts. These files reach their dependencies.
constexpr const char* kFigures[] = {"perf/code/cost/bound.h", "perf/code/cost/count_workload.h",
                                    "perf/code/cost/metrics.h", "perf/measure/card_operation.h",
                                    "tests/contract/named_card.h"};
// Parts of the command, without their includes, which mostly belong to other commands.
constexpr const char* kOfTheCommand[] = {"perf/cli/cost.cpp",
                                         "perf/cli/cost_bound.cpp",
                                         "perf/cli/cost_model.cpp",
                                         "perf/cli/cost_main.cpp",
                                         "perf/code/timing_model/gpus.json",
                                         "perf/code/resources/compiled.cpp"};

// Environment variables that affect the emulator, the data, or kernels compiled at run time.
constexpr const char* kVariables[] = {"KERNELGRADE_VIRTUAL_DEVICE=", "KERNELGRADE_THREAD_ORDER=",
                                      "KERNELGRADE_SEED=", "KERNELGRADE_PTX", "KERNELGRADE_JIT_"};

// Counting runs enter these only if their sources include them: the race checker, and CUDA.
constexpr const char* kOnlyIncluded[] = {"kernels/runtime/cuda", "kernels/runtime/host/check"};
// The PTX executor. Only KERNELGRADE_PTX makes a run enter it.
constexpr const char* kPtx = "kernels/runtime/ptx";

bool below(const path& file, const path& folder) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first ==
         folder.end();
}

std::set<std::string> variables() {
  std::set<std::string> found;
  for (char** each = environ; *each; ++each)
    for (const char* name : kVariables)
      if (std::string_view(*each).starts_with(name)) found.insert(*each);
  return found;
}

std::string text_of(const path& file) {
  const auto text = read_file(file);
  require(text.has_value(), fmt::format("{} is not there", file.string()));
  return *text;
}

void add(Hash& hash, const judge::ExactRow& row) {
  hash.field(judge::key_text(row)).field(row.counter_id);
  for (const double value : row.values) hash.field(judge::exact_number(value));
}

} // namespace

Texts deciding_files(const path& source, const std::string& op) {
  std::vector<std::string> roots = {fmt::format("kernels/ops/{0}/{0}.h", op),
                                    fmt::format("tests/ops/{0}/{0}_card.cu", op)};
  roots.insert(roots.end(), std::begin(kFigures), std::end(kFigures));
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(source / "kernels" / "runtime")) {
    const path name = entry.path().lexically_relative(source);
    const auto holds = [&](const char* folder) { return below(name, folder); };
    if (entry.is_regular_file() && std::ranges::none_of(kOnlyIncluded, holds))
      roots.push_back(name.string());
  }
  Texts files = reached(source, roots);
  std::erase_if(files, [](const auto& file) { return below(file.first, kPtx); });
  for (const char* name : kOfTheCommand) files[name] = text_of(source / name);
  return files;
}

std::string hash_sources(const Texts& files, const std::string& flags, const Blessed& blessed) {
  if (blessed.costs.rows.empty()) return "";
  Hash hash;
  hash.field(flags);
  for (const std::string& variable : variables()) hash.field(variable);
  std::set<std::string> ops; // operations with kernels among the files
  identity::SourceHash sources;
  for (const auto& [name, text] : files) {
    sources.add(name, text);
    if (const path folder = path(name).parent_path(); folder.parent_path() == "kernels/ops")
      ops.insert(folder.filename());
  }
  sources.into(hash);
  hash.number(blessed.costs.rows.size());
  for (const judge::ExactRow& row : blessed.costs.rows) add(hash, row);
  for (const judge::ExactRow& row : blessed.resources.rows)
    if (ops.contains(std::string(judge::op_of(row.key.front())))) add(hash, row);
  return hash.hex();
}

std::string why_changed(const judge::SourcesFile& sources, const Blessed& blessed,
                        const path& source, const std::string& op, const CountedBy& here) {
  if (!sources.problem.empty()) return sources.problem;
  for (const judge::ExactFile* file : {&blessed.costs, &blessed.resources})
    if (!file->problems.empty()) return judge::text(file->problems.front());
  const auto at = sources.ops.find(op);
  if (at == sources.ops.end()) return fmt::format("{} does not name it", sources.path.string());
  const judge::Sources& then = at->second;
  if (here.compiler.empty() || here.compiler != then.compiler)
    return fmt::format("{} is here, and {} compiled what is blessed", here.compiler, then.compiler);
  try {
    const std::string hash = hash_sources(deciding_files(source, op), here.flags, blessed);
    if (!hash.empty() && hash == then.hash) return "";
  } catch (const Error& error) {
    return error.what();
  }
  return fmt::format("its sources, those of the emulator or the counters, g++'s flags, the "
                     "environment or its blessed rows have changed since {}",
                     then.commit);
}

std::string why_unchanged(const judge::Sources& sources) {
  return fmt::format("not counted: sources, flags and {} unchanged since {}", sources.compiler,
                     sources.commit);
}

std::vector<judge::ExactMeasured> blessed_costs(const judge::ExactFile& costs,
                                                const std::string& why) {
  std::vector<judge::ExactMeasured> rows;
  for (const judge::ExactRow& row : costs.rows) {
    judge::ExactMeasured kept{row, judge::Gating::always, "", "", ""};
    if (informs(row.key.back())) kept.gating = judge::Gating::never;
    kept.as_blessed = why;
    rows.push_back(std::move(kept));
  }
  return rows;
}

} // namespace kg::cost
