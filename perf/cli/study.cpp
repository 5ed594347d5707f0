// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade study: measures every variant at the points of a study, into a resumable file.
#include "perf/lab/study/study.h"

#include "perf/cli/console.h"
#include "perf/cli/lab_commands.h"
#include "perf/cli/measure_rows.h"
#include "perf/cli/shard.h"
#include "perf/cli/study_experiment.h"
#include "perf/lab/study/engine.h"
#include "perf/lab/study/join.h"
#include "perf/measure/ab/git.h"
#include "perf/measure/environment.h"
#include "perf/report/study_page.h"
#include "perf/report/study_sections.h"
#include "runtime/atomic_file.h"
#include "runtime/hash.h"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>

namespace kg::cli {
namespace {

using study::Header;
using study::Record;
using study::RecordFile;
using study::Study;

std::vector<study::Point> points_of(const Study& study, const study::Settings& settings) {
  try {
    return study.points(settings);
  } catch (const Error& error) {
    throw UsageError(fmt::format("study {}: {}", study.name, error.what()));
  }
}

// All experiments, or those of the selected shard.
Selection experiments_of(const Options& options, const World& world, const Header& header) {
  Selection all;
  all.rows = experiment_rows(world, header.points, header.settings);
  all.selected = all.rows.size();
  divide(options, all, "study " + header.study);
  std::erase_if(all.rows, [](const Row& row) { return !row.registered.selected; });
  return all;
}

study::Planned planned_of(const Row& row) {
  return {row.registered.key.case_id, row.registered.key.variant};
}

// A program's behaviour depends on all of its bytes; a commit's name does not cover uncommitted
// changes.
std::string hash_of(const std::filesystem::path& program) {
  return Hash().bytes(read_file(program).value_or("")).hex();
}

// The file to write: a new one, or with --resume an interrupted one.
RecordFile open(const Options& options, World& world, const Header& header) {
  if (!options.study.resume) {
    RecordFile file = RecordFile::begin(options.study.folder, header);
    if (!options.quiet) world.err << fmt::format("writing {}\n", file.path().string());
    return file;
  }
  const auto path = options.study.resume->empty()
                        ? study::newest_unfinished(options.study.folder, header)
                        : std::filesystem::path(*options.study.resume);
  if (!path)
    throw UsageError(fmt::format("--resume: {} has no unfinished study {} with these settings; "
                                 "name its file, or leave out --resume",
                                 options.study.folder.string(), header.study));
  study::require_same_study(study::load_record(*path).header, header, *path);
  RecordFile file = RecordFile::resume(*path);
  world.err << fmt::format("going on with {}: {} of {} experiments are done\n", path->string(),
                           file.record().done.size(), header.plan.size());
  return file;
}

void conduct(const Options& options, World& world, const std::vector<Row>& rows, RecordFile& file,
             const Header& header) {
  Progress line(world, options.quiet);
  const perf::Clock now = perf::steady_clock();
  const double start = now();
  const std::size_t before = file.record().done.size();
  const auto left = [&](std::size_t done) {
    if (done == before) return std::string();
    const double each_s = (now() - start) / 1e9 / static_cast<double>(done - before);
    return fmt::format(", about {:.0f} s left",
                       each_s * static_cast<double>(header.plan.size() - done));
  };
  const auto measure = [&](const study::Planned& planned) {
    const std::size_t done = file.record().done.size();
    line.show(fmt::format("[{}/{}] {} {}{}", done + 1, header.plan.size(), planned.case_id,
                          planned.variant, left(done)));
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const Row& each) { return planned_of(each) == planned; });
    return measure_experiment(options, world, *row, header.settings,
                              header.environment.at("source"));
  };
  study::conduct(file, measure);
}

void commit(const std::filesystem::path& file, const Record& record) {
  ab::commit_file(file, fmt::format("Study {} on {}: {} experiments", record.header.study,
                                    record.header.environment.at("device"), record.done.size()));
}

} // namespace

int study(const Options& options, World& world) {
  const Study& study = study::named(options.study.name);
  Header header;
  header.study = study.name;
  header.settings = study::completed(study, options.study.settings);
  header.points = points_of(study, header.settings);
  const Selection selection = experiments_of(options, world, header);
  header.shard = selection.shard;
  for (const Row& row : selection.rows) header.plan.push_back(planned_of(row));
  if (header.plan.empty())
    throw UsageError(fmt::format("study {}: no variant solves any of its problems", study.name));
  if (options.study.commit) ab::require_nothing_staged(options.study.folder);
  if (const auto exit = exit_without_device(options, world)) return *exit;
  header.environment = perf::environment(source_of(options, world));
  header.date_utc = perf::utc_now();
  header.program = hash_of(world.executable);

  RecordFile file = open(options, world, header);
  conduct(options, world, selection.rows, file, header);
  world.out << report::plain_text(report::study_sections(study, file.record()))
            << fmt::format("\nresults: {0}\n{1} {0}\n", file.path().string(),
                           header.shard ? "join:    kernelgrade merge --json study.jsonl"
                                        : "report:  kernelgrade report");
  if (options.study.commit) commit(file.path(), file.record());
  return report::exit_code(study, file.record(), options.strict);
}

int merge_studies(const Options& options, World& world) {
  const Record whole = study::join(options.files);
  study::save_record(options.json, whole);
  const Study& study = study::named(whole.header.study);
  world.out << report::plain_text(report::study_sections(study, whole))
            << fmt::format("\n{}: {} experiments of {} files\n", options.json.string(),
                           whole.done.size(), options.files.size());
  return report::exit_code(study, whole, options.strict);
}

int report_study(const Options& options, World& world) {
  const Record record = study::load_undivided(options.files.front());
  const Study& study = study::named(record.header.study);
  const std::filesystem::path page =
      report::write_study(options.report.folder, options.files.front(), study, record);
  world.out << report::plain_text(report::study_sections(study, record))
            << fmt::format("\nreport: {}\n", page.string());
  return report::exit_code(study, record, options.strict);
}

} // namespace kg::cli
