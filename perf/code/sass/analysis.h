// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures a kernel's machine code: the whole kernel with each loop once, and one iteration of each
// loop. Counts are per thread or per warp. Trip counts of loops are unknown here.
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

// Accesses to one memory space, in bytes per thread.
struct Accesses {
  int loaded = 0, stored = 0;
  std::map<int, int> loads, stores; // width of an access -> how many
};

// A call, or a division that the compiler expanded with a slow path.
struct Call {
  std::string line, kernel_line;
  std::string callee;     // "__cuda_sm20_div_s64"
  bool slow_path = false; // taken only if the fast path's result is not exact
  bool on_main_path = false;
};

struct Part {
  std::string line; // the kernel's line where it begins
  int depth = 0;    // nesting depth of the loop; 0: the whole kernel
  bool innermost = true;
  // Issued per iteration by a warp. Includes predicated instructions, and those of subroutines,
  // which by_pipe lacks.
  int instructions = 0;
  std::array<int, kPipes> by_pipe = {};
  std::array<double, kPipes> clocks = {}; // issue cycles of a scheduler's share of the pipe
  int predicated = 0;
  int conversions = 0;
  int integer_divisions = 0;           // by an f32 reciprocal
  int matrix = 0;                      // Tensor Core instructions
  double operations = 0;               // of these: multiplications plus additions
  double matrix_clocks = 0;            // of these: cycles at peak Tensor Core rate
  std::map<std::string, int> products; // wgmma: "HGMMA.64x256x16.F32.BF16" -> how many
  int product_groups = 0;              // groups that wgmma waits can count
  Overlap overlap;                     // of wgmma with special functions
  Accesses global, shared, local;
  Flight flight;
  std::vector<Call> calls;
  std::map<std::string, int> lines, conversion_lines, division_lines; // instructions by line
  std::map<std::string, int> fences; // GPU- or system-wide memory fences, on and off the main path
  // Bytes moved outside nested loops, weighted by depth. Selects the main loop.
  double weight = 0;

  // The busiest pipe, and its cycles per scheduler and iteration (a lower bound).
  std::pair<Pipe, double> busiest() const;
  bool is_issue_bound() const; // issuing takes longer than any pipe
};

struct Analysis {
  std::string symbol;
  std::vector<Part> parts; // the kernel first, then its loops
  std::size_t main = 0;    // the part that moves most; of several, that with most loads in flight
  std::vector<Instruction> pass;      // one iteration along the main part's main path
  std::map<std::string, int> unknown; // opcodes missing in the table of pipes
  // Registers per thread that USETMAXREG (setmaxnreg) leaves to some warps and gives to others. 0:
  // not used.
  int least_registers = 0, most_registers = 0;

  const Part& main_part() const { return parts[main]; }
};

// One analysis per kernel of the listing. Subroutines count as calls where they are called.
std::vector<Analysis> analyse(const std::vector<Function>& functions, const Rates& rates = {});

} // namespace kg::sass
