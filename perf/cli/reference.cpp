// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/reference.h"

#include "perf/cli/measure_rows.h"
#include "runtime/backend.h"

#include <ostream>

namespace kg::cli {
namespace {

std::function<void(const std::string&)> progress(const Options& options, World& world) {
  if (options.quiet) return {};
  return [&world](const std::string& line) { world.err << line << std::endl; };
}

} // namespace

ab::BuildPlan build_plan(const Options& options, World& world) {
  return {world.source, world.build, world.build / "ab", progress(options, world), {}};
}

unsigned seed_of(const Options& options) { return options.shuffle ? options.shuffle : 1; }

std::function<std::shared_ptr<void>()> turns(World& world) {
  if (backend == Backend::cuda) return nullptr;
  return [&world] { return std::make_shared<perf::DeviceLock>(lock_device(world)); };
}

std::vector<ab::ComparedRow> compare(const Options& options, World& world,
                                     const ab::ReferenceBuild& reference,
                                     const std::vector<ab::Candidate>& rows) {
  return ab::compare_builds(
      {reference.executable, reference.control, world.executable}, rows,
      {options.ab.pairs, seed_of(options), progress(options, world), turns(world)});
}

} // namespace kg::cli
