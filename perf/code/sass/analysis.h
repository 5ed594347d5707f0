// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a kernel's machine code asks of a multiprocessor: of the whole kernel, each loop once, and
// of each loop by pass. Of one thread or one warp; nothing here knows how often a loop runs.
#pragma once

#include "perf/code/sass/flight.h"
#include "perf/code/sass/listing.h"
#include "perf/code/sass/pipes.h"
#include "perf/code/sass/products.h"

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace kg::sass {

// What goes where, by bytes of one thread.
struct Accesses {
  int loaded = 0, stored = 0;
  std::map<int, int> loads, stores; // width of an access -> how many
};

// A call, or a division that the compiler made a sequence with a slow path of its own.
struct Call {
  std::string line, kernel_line;
  std::string callee;     // "__cuda_sm20_div_s64"
  bool slow_path = false; // entered where a test says that the fast path's result is not exact
  bool on_main_path = false;
};

struct Part {
  std::string line; // the kernel's, where it begins
  int depth = 0;    // in how many loops; 0: the whole kernel
  bool innermost = true;
  // Issued in one pass by a warp: predicated ones, too, and those of subroutines, which the pipes
  // lack.
  int instructions = 0;
  std::array<int, kPipes> by_pipe = {};
  std::array<double, kPipes> clocks = {}; // that a scheduler's part of the pipe is busy
  int predicated = 0;
  int conversions = 0;
  int integer_divisions = 0;           // by way of a reciprocal in f32
  int matrix = 0;                      // instructions of tensor cores
  double operations = 0;               // multiplications and additions of theirs
  double matrix_clocks = 0;            // that these take at the matrix unit's rate
  std::map<std::string, int> products; // wgmma: "HGMMA.64x256x16.F32.BF16" -> how many
  int product_groups = 0;              // that wgmma is waited for by
  Overlap overlap;                     // of these with special functions
  Accesses global, shared, local;
  Flight flight;
  std::vector<Call> calls;
  std::map<std::string, int> lines, conversion_lines, division_lines; // instructions
  std::map<std::string, int> fences; // of the GPU's or the system's memory, beside its path, too
  // Bytes of its own, without nested loops', weighed by depth: what the main loop is chosen by.
  double weight = 0;

  // The busiest pipe and the clocks of a scheduler that a pass takes at the least.
  std::pair<Pipe, double> busiest() const;
  bool is_issue_bound() const; // it takes longer to issue than any pipe takes
};

struct Analysis {
  std::string symbol;
  std::vector<Part> parts; // the kernel first, then its loops
  std::size_t main = 0;    // that which moves most; of some that do, that with most loads under way
  std::vector<Instruction> pass;      // one through the main part, along its main path
  std::map<std::string, int> unknown; // opcodes that the table of pipes lacks
  // Registers of a thread that USETMAXREG (setmaxnreg) leaves to some warps and gives to others; 0:
  // none.
  int least_registers = 0, most_registers = 0;

  const Part& main_part() const { return parts[main]; }
};

// One for each kernel of the listing. Subroutines count as calls where they are called.
std::vector<Analysis> analyse(const std::vector<Function>& functions, const Rates& rates = {});

} // namespace kg::sass
