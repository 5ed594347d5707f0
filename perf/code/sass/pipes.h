// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The pipe of a multiprocessor that executes an instruction, and for how many cycles of a scheduler
// it occupies the pipe.
#pragma once

#include "perf/code/sass/listing.h"
#include "perf/code/timing_model/gpu.h"

#include <string_view>

namespace kg::sass {

enum class Pipe { fma, alu, half, f64, xu, lsu, tensor, uniform, control, unknown };
inline constexpr int kPipes = static_cast<int>(Pipe::unknown) + 1;

std::string_view name(Pipe pipe);

// By opcode. `unknown` if the table lacks it.
Pipe pipe_of(const Instruction& instruction);

// Rates that differ between GPUs: cycles of one of a multiprocessor's four schedulers per warp
// instruction, and matrix operations per cycle.
struct Rates {
  double fma = 1, half = 1, f64 = 2, lsu = 4;
  double matrix_16bit = 1024 * 0.629, matrix_tf32 = 512 * 0.629; // Hopper, by mma.sync
  double warpgroup_16bit = 1024, warpgroup_tf32 = 512; // by wgmma; 8-bit: twice the 16-bit rate
};
Rates rates_of(const model::Gpu& gpu);

// Multiplications and additions of a warp's matrix instruction. 0 for other instructions and
// unknown shapes.
double matrix_operations(const Instruction& instruction);

// Cycles for these operations at the rate of a scheduler's Tensor Core.
double matrix_clocks(const Instruction& instruction, const Rates& rates = {});

// Cycles until the scheduler can issue another warp's instruction of the kind to the pipe. 0 if
// unpublished. For accesses: without bank conflicts.
double clocks_of(const Instruction& instruction, const Rates& rates = {});

enum class Space { none, global, shared, local, constant, generic };

// The memory that an instruction accesses; `none` if it is not an access. LDGSTS, which copies to
// shared memory, counts as a global access.
Space space_of(const Instruction& instruction);

bool is_load(const Instruction& access);
bool is_store(const Instruction& access);

// Whether it converts types: conversions of one word, and the byte shifts and selections that
// unpack and pack 16-bit values.
bool is_conversion(const Instruction& instruction);

} // namespace kg::sass
