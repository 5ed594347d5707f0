// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade peers: runs the same cases in other frameworks (perf/peers), as rows next to ours.
// The frameworks receive inputs and return results, which are judged here.
#include "perf/judge/peers.h"
#include "perf/cli/console.h"
#include "perf/cli/exec_program.h"
#include "perf/cli/lab_commands.h"
#include "perf/cli/measure_processes.h"
#include "perf/cli/measure_rows.h"
#include "perf/measure/child_process.h"
#include "perf/measure/environment.h"
#include "perf/peers/exchange/folder.h"
#include "perf/peers/exchange/models.h"
#include "perf/report/peers.h"
#include "runtime/temporary_folder.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <ostream>
#include <set>
#include <utility>

namespace kg::cli {
namespace {

namespace fs = std::filesystem;

// Python, with the package of perf/peers on its path.
class Python {
 public:
  Python(const Options& options, const World& world) : program_(options.peers.python) {
    const char* const variable = std::getenv("KERNELGRADE_PYTHON");
    if (program_.empty()) program_ = variable && *variable ? variable : "python3";
    const char* const others = std::getenv("PYTHONPATH");
    const std::string package = (world.source / "perf" / "peers").string();
    setenv("PYTHONPATH", (others && *others ? package + ":" + others : package).c_str(), 1);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
  }

  std::vector<std::string> command(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {program_, "-m", "kernelgrade_peers"});
    return arguments;
  }

  // Throws UsageError that names the packages to install.
  void require_packages(const std::vector<std::string>& peers) const {
    perf::Finished finished;
    try {
      finished = perf::run_process(command({"check", fmt::format("{}", fmt::join(peers, ","))}),
                                   perf::Output::capture);
    } catch (const Error& error) {
      throw UsageError(fmt::format("{}; name a Python by --python", error.what()));
    }
    if (finished.exit_code == 0) return;
    if (finished.output.empty())
      finished.output = fmt::format("{} ended {} and did not say which packages it has", program_,
                                    perf::ending(finished));
    throw UsageError("peers: " + finished.output);
  }

 private:
  std::string program_;
};

// A case, and its description for other programs.
struct Case {
  Row row; // without a variant
  perf::Exchange exchange;
};

// The operation's description of a row's case.
perf::Case described_case(const World& world, const Row& row) {
  for (const perf::Operation& operation : world.operations)
    for (const Dtype dtype : operation.dtypes)
      if (operation.name == row.registered.op && name(dtype) == row.registered.dtype)
        return operation.make(dtype, Shape::parse(judge::shape_of(row.registered.key.case_id)));
  throw Error(judge::text(row.registered.key) + ": this build has no such operation");
}

// Each case of the selected rows, once.
std::vector<Case> cases_of(const World& world, const Selection& selection) {
  std::vector<Case> cases;
  std::set<std::string> seen;
  for (const Row& row : selection.rows) {
    if (!row.registered.selected || !seen.insert(row.registered.key.case_id).second) continue;
    const perf::Case description = described_case(world, row);
    if (!description.exchange)
      throw Error(row.registered.op + ": it cannot be given to another program");
    cases.push_back({row, description.exchange()});
    Row& its = cases.back().row;
    its.registered.kind = judge::Kind::vendor;
    its.registered.key.variant.clear();
    its.registered.key.mode = judge::Mode::real;
    its.note.clear();
  }
  return cases;
}

double bytes_of(const std::vector<perf::ExchangedTensor>& tensors) {
  double bytes = 0;
  for (const perf::ExchangedTensor& each : tensors) {
    auto size = static_cast<double>(size_of(each.dtype));
    for (const std::int64_t extent : each.extents) size *= static_cast<double>(extent);
    bytes += size;
  }
  return bytes;
}

// Groups in a fixed order, limited by the bytes that a folder may hold with one framework's
// results: two results per process.
std::vector<std::vector<Case>> groups_of(std::vector<Case> cases, int processes) {
  constexpr double kMostBytes = 16e9;
  std::vector<std::vector<Case>> groups;
  double bytes = 0;
  for (Case& each : cases) {
    const double more =
        bytes_of(each.exchange.inputs) + 2 * processes * bytes_of(each.exchange.outputs);
    if (groups.empty() || bytes + more > kMostBytes) {
      groups.emplace_back();
      bytes = 0;
    }
    bytes += more;
    groups.back().push_back(std::move(each));
  }
  return groups;
}

constexpr const char* kModels = "model"; // used as an operation name

// Removes complete models from the filters; another program runs them (perf/measure/models).
std::vector<std::string> take_models(std::vector<Filter>& filters) {
  std::vector<std::string> words;
  std::vector<Filter> others;
  for (Filter& filter : filters) {
    if (std::erase(filter.ops, kModels) > 0) {
      if (filter.shapes.empty()) words.push_back(fmt::format("{}.", kModels));
      for (const std::string& shape : filter.shapes)
        words.push_back(fmt::format("{}.f32.{}", kModels, shape));
      if (filter.ops.empty()) continue;
      if (!filter.shapes.empty())
        throw UsageError("--op model: with --shape or --case it stands alone");
    }
    others.push_back(std::move(filter));
  }
  filters = std::move(others);
  return words;
}

std::vector<Case> models_of(const World& world, const std::vector<std::string>& words,
                            const fs::path& folder) {
  const std::string program = (world.executable.parent_path() / "kernelgrade-model").string();
  need(world, program, "kernelgrade-model");
  const perf::Finished finished =
      perf::run_process({program, "export", "--folder", folder.string(), "--case",
                         fmt::format("{}", fmt::join(words, ","))},
                        perf::Output::to_stderr);
  if (finished.exit_code != 0)
    throw UsageError(
        fmt::format("the models were not made: {} ended {}", program, perf::ending(finished)));
  std::vector<Case> cases;
  for (exchange::Given& each : exchange::exported_models(folder)) {
    Row row;
    row.registered = {each.row.op,       each.row.dtype, each.row.key,
                      each.row.category, each.row.kind,  true};
    row.work = {each.row.bytes, 0, each.row.flops};
    cases.push_back({std::move(row), std::move(each.exchange)});
  }
  return cases;
}

Selection rows_of(const std::vector<Case>& cases, const std::string& peer) {
  Selection selection;
  for (const Case& each : cases) {
    selection.rows.push_back(each.row);
    selection.rows.back().registered.key.variant = peer;
  }
  selection.selected = selection.rows.size();
  return selection;
}

// A wrong result must not report a time.
void judge_results(judge::Measured& row, const fs::path& folder, const perf::Exchange& exchange) {
  row.tags[judge::kPeerTag] = row.key.variant;
  if (!row.verified.empty()) return;
  row.tags.merge(exchange::shown(folder, row.key, exchange));
  row.verified = exchange::verify(folder, row.key, exchange);
  if (row.verified.empty()) {
    // The framework's process computes no statistics.
    if (row.process_medians_ns.size() == 1) judge::take_samples(row, std::move(row.samples_ns));
    return;
  }
  row.samples_ns.clear();
  row.process_medians_ns.clear();
}

void measure_peer(const Options& options, World& world, const Python& python,
                  const std::vector<Case>& cases, const std::string& peer, const fs::path& folder,
                  const std::string& source, judge::Results& all) {
  const auto program = [&](const fs::path& batch, const fs::path& journal, unsigned shuffle) {
    return python.command({"work", "--folder", folder.string(), "--batch", batch.string(),
                           "--journal", journal.string(), "--shuffle", std::to_string(shuffle)});
  };
  judge::Results found =
      measure_in_processes(options, world, rows_of(cases, peer), source, program);
  for (judge::Measured& row : found.rows) {
    const auto its = std::find_if(cases.begin(), cases.end(), [&](const Case& each) {
      return each.row.registered.key.case_id == row.key.case_id;
    });
    judge_results(row, folder, its->exchange);
    all.rows.push_back(std::move(row));
  }
}

// The rows compared with the frameworks: on a CPU only libraries, since our kernels are emulated
// there.
Selection beside(Selection selection) {
  selection.selected = 0;
  for (Row& row : selection.rows) {
    judge::Registered& about = row.registered;
    about.selected = about.selected && about.key.mode == judge::Mode::real &&
                     (backend == Backend::cuda || about.kind == judge::Kind::vendor);
    selection.selected += about.selected;
  }
  return selection;
}

// Measures one group's cases in each framework; the results are kept if the user named a folder.
void measure_group(const Options& options, World& world, const Python& python,
                   const std::vector<Case>& cases, const std::string& source, judge::Results& all) {
  std::optional<TemporaryFolder> temporary;
  if (options.peers.folder.empty()) temporary.emplace();
  const fs::path folder = temporary ? temporary->path() : fs::absolute(options.peers.folder);
  std::vector<exchange::Given> given;
  for (const Case& each : cases) given.push_back({described(each.row), each.exchange});
  exchange::write_cases(folder, all.environment, given);
  for (const std::string& peer : options.peers.names) {
    measure_peer(options, world, python, cases, peer, folder, source, all);
    if (temporary) fs::remove_all(folder / "results");
  }
}

void require_new_folder(const fs::path& folder) {
  if (!fs::create_directories(folder))
    throw UsageError(fmt::format("--folder {}: it is there already; name a new one, or remove it",
                                 folder.string()));
}

} // namespace

int peers(const Options& options, World& world) {
  std::vector<Filter> filters = options.filters;
  const std::vector<std::string> models = take_models(filters);
  const Selection selection = filters.empty() ? Selection() : select(world, filters);
  if (selection.selected == 0 && models.empty()) throw Error(nothing_selected(world));
  const Python python(options, world);
  python.require_packages(options.peers.names);
  if (const auto exit = exit_without_device(options, world)) return *exit;

  if (!options.peers.folder.empty()) require_new_folder(options.peers.folder);
  const std::string source = source_of(options, world);
  judge::Results all;
  all.environment = perf::environment(source);
  std::vector<Case> cases = cases_of(world, selection);
  const TemporaryFolder exported;
  if (!models.empty())
    for (Case& each : models_of(world, models, exported.path())) cases.push_back(std::move(each));
  std::vector<std::vector<Case>> groups;
  if (options.peers.folder.empty())
    groups = groups_of(std::move(cases), options.library_processes.value_or(options.processes));
  else
    groups.push_back(std::move(cases));
  for (std::vector<Case>& group : groups) {
    measure_group(options, world, python, group, source, all);
    group.clear(); // with its reference results
  }
  if (const Selection others = beside(selection); !options.peers.alone && others.selected > 0)
    for (judge::Measured& row : measure_in_processes(options, world, others, source).rows)
      all.rows.push_back(std::move(row));
  if (!options.json.empty()) judge::save_results(options.json, all);
  if (!options.quiet) world.out << report::plain_text(report::peer_sections(all));
  return std::any_of(all.rows.begin(), all.rows.end(),
                     [](const judge::Measured& row) { return !row.verified.empty(); })
             ? judge::kExitFail
             : judge::kExitPass;
}

} // namespace kg::cli
