// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a multiprocessor executes an instruction, and for how many clocks of a scheduler it takes
// that pipe.
#pragma once

#include "perf/code/sass/listing.h"
#include "perf/code/timing_model/gpu.h"

#include <string_view>

namespace kg::sass {

enum class Pipe { fma, alu, half, f64, xu, lsu, tensor, uniform, control, unknown };
inline constexpr int kPipes = static_cast<int>(Pipe::unknown) + 1;

std::string_view name(Pipe pipe);

// By the opcode; `unknown` for one that the table lacks.
Pipe pipe_of(const Instruction& instruction);

// What differs between GPUs: clocks of one of a multiprocessor's four schedulers for an instruction
// of a warp, and operations of matrix instructions a clock.
struct Rates {
  double fma = 1, half = 1, f64 = 2, lsu = 4;
  double matrix_16bit = 1024 * 0.629, matrix_tf32 = 512 * 0.629; // a Hopper's, by mma.sync
  double warpgroup_16bit = 1024, warpgroup_tf32 = 512; // by wgmma; of 8 bits twice the first
};
Rates rates_of(const model::Gpu& gpu);

// Multiplications and additions of a warp's matrix instruction; 0 for others, and where nobody
// says.
double matrix_operations(const Instruction& instruction);

// Clocks in which a scheduler's matrix unit does that at its rate.
double matrix_clocks(const Instruction& instruction, const Rates& rates = {});

// Clocks in which the scheduler cannot give the pipe another warp's instruction of the kind; 0
// where nobody says. Of accesses: those without bank conflicts.
double clocks_of(const Instruction& instruction, const Rates& rates = {});

enum class Space { none, global, shared, local, constant, generic };

// What an instruction accesses; `none` where it is no access. LDGSTS, which loads to shared memory,
// is one of global memory.
Space space_of(const Instruction& instruction);

bool is_load(const Instruction& access);
bool is_store(const Instruction& access);

// Between types: those of one word, and the shifts and selections of bytes by which 16-bit numbers
// are taken out of words and put into them.
bool is_conversion(const Instruction& instruction);

} // namespace kg::sass
