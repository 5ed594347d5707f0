// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The commands with --cost, on an invented operation whose launches cost what the test says.
#pragma once

#include "perf/cli/lab_commands.h"
#include "perf/cli/world.h"
#include "runtime/atomic_file.h"
#include "runtime/temporary_folder.h"

#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace kg::cli::test {

struct Outcome {
  int exit_code = 0;
  std::string out, err;
};

class CostCommands : public testing::Test {
 protected:
  // copy: f32 and f16; variants plain, slow (not timed) and lib (a vendor's).
  Outcome operator()(const std::vector<std::string>& arguments, bool counts = true) {
    const auto variant = [this](const char* name, bool vendor, bool timed) {
      const auto make = [this, name] {
        return perf::Workload{
            [this](Stream&) { launches_.push_back(compiled_ ? compiled_launch_ : launch_); },
            [](Stream&) {}, [this](Stream&) { return wrong_; }, name};
      };
      return perf::Variant{name, vendor, make, timed};
    };
    perf::Operation copy{"copy", "layout", {Dtype::f32, Dtype::f16}, {}, {}};
    for (const char* shape : shapes_) copy.shapes.push_back({shape, copy.shapes.empty()});
    copy.make = [variant](Dtype, const Shape&) {
      return perf::Case{Bound::memory,
                        {.bytes = 640},
                        {variant("plain", false, true), variant("slow", false, false),
                         variant("lib", true, true)}};
    };
    std::ostringstream out, err;
    World world{
        .operations = {copy},
        .modes = {judge::Mode::real},
        .baselines = folder_.path(),
        .source = folder_.path(),
        .build = folder_.path(),
        .executable = folder_.path() / "kernelgrade",
        .no_device = [] { return std::string("no device"); },
        .device = [] { return std::string("host"); },
        .apparatus = nullptr,
        .lab = lab_commands(),
        .out = out,
        .err = err,
    };
    if (counts) world.take_launches = [this] { return std::exchange(launches_, {}); };
    world.untimed = counts;
    world.counter_id = counter_id_;
    world.counted_by = counted_by_;
    world.use_compiled = [this](const std::string& folder) { compiled_ = !folder.empty(); };
    const int exit_code = kernelgrade(arguments, world);
    return {exit_code, out.str(), err.str()};
  }

  CostCommands() {
    write_file(folder_.path() / "perf/code/timing_model/gpus.json",
               read_file(KERNELGRADE_GPUS).value());
    count::Site site;
    site.line = "copy.cu:12";
    site.width = 4;
    site.requests = 10;
    site.lanes = 320;
    site.sectors = site.least_sectors = 40;
    launch_.kernel = "copy";
    launch_.sites = {site};
    launch_.unique_read = launch_.unique_written = 10;
    compiled_launch_ = launch_;
  }

  TemporaryFolder folder_;
  std::vector<const char*> shapes_ = {"n64", "n128"};
  count::Launch launch_, compiled_launch_;
  std::string wrong_;
  std::string counter_id_ = "g++-12";
  cost::CountedBy counted_by_; // without: nothing is said of sources

 private:
  std::vector<count::Launch> launches_;
  bool compiled_ = false;
};

} // namespace kg::cli::test
