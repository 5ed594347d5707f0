// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The command with two invented operations on invented time, and a folder of its own.
#pragma once

#include "perf/cli/world.h"
#include "perf/measure/child_process.h"
#include "runtime/atomic_file.h"
#include "runtime/temporary_folder.h"
#include "tests/unit/perf/measure/fake_time.h"

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

namespace kg::cli::test {

// What happens when a row runs; tests change it between commands. Rows are named by case and
// variant, as in "copy.f32.n64 lib"; empty is none.
struct Behaviour {
  perf::test::FakeTime time;
  double copy_ns = 1e5;
  double canary_ns = 1e6;
  bool wrong = false;       // every output
  std::string crashes;      // the row that ends its process
  std::string hangs;        // the row that never ends
  std::string loses_device; // the row behind which nothing runs in its process
  std::string exhausts;     // the row that finds no memory
  // The name of a third operation whose rows take copy_ns n^growth; empty: there is none. Its types
  // and variants are copy's.
  std::string third;
  double growth = 0;
  bool interleaved = false;   // copy's variants are timed in turns
  std::string note;           // of the vendor's rows
  double lasts_ms = 0;        // of true time, for a row; half of it passes before it is timed
  std::filesystem::path made; // a file that gets a line with its name for each workload
};

// Measuring happens in other processes: they get the behaviour by an environment variable.
void hand_down(const Behaviour& behaviour);
Behaviour handed_down();

// copy: f32 and f16, n64 (fast) and n128, variants plain and lib (a vendor's). fill: f32, n64,
// variant plain.
std::vector<perf::Operation> fake_operations(Behaviour& behaviour);

struct Outcome {
  int exit_code = 0;
  std::string out;
  std::string err;
};

class Cli {
 public:
  // `output`: in place of the outcome's text, where there is one.
  Outcome operator()(std::vector<std::string> arguments, std::streambuf* output = nullptr);

  std::filesystem::path baselines() const { return folder.path() / "baselines"; }
  std::filesystem::path csv(const std::string& op) const {
    return baselines() / "host" / (op + ".csv");
  }
  // Replaces the first `piece` in the op's baselines. A test that finds none fails.
  void edit(const std::string& op, const std::string& piece, const std::string& replacement);

  // The rows whose workloads were made, in that order and in whichever process, since the last
  // call.
  std::vector<std::string> made();

  // Writes what a correctness test with one test leaves, of which `failure` is what it says if it
  // fails; returns the file's name.
  std::string tested(const std::string& op, const std::string& dtype,
                     const std::string& failure = "") const;

  TemporaryFolder folder;
  Behaviour behaviour;
  std::vector<judge::Mode> modes = {judge::Mode::real};
  bool terminal = false;                                      // standard error is one
  bool lab = true;                                            // the lab's commands are linked
  std::string no_device;                                      // why there is none
  std::filesystem::path executable = perf::this_executable(); // of the measuring processes
};

} // namespace kg::cli::test
