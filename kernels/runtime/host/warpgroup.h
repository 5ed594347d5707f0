// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// wgmma (PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions"): the 128
// threads of a warpgroup issue products, commit them in groups, and wait for all but their latest
// groups. warpgroup_product.h defines a product.
//
// A GPU reads the operands and writes the accumulators at any time between issue and wait. The
// emulator picks adverse times, as in async_copy.h: as late as possible (thread order forward), at
// the last thread's issue (reverse), or randomly at either time (random). A warpgroup's products
// run in order. Until then, every byte of the accumulators is 0xFF (NaN); the wait gives each
// thread its results.
//
// Errors (traps): threads of a warpgroup that issue different products; accumulators written, or
// registers of A changed, before the wait; either of them changed since the last wgmma.fence; a
// matrix outside the block's shared memory.
#pragma once

#include "runtime/error.h"
#include "runtime/host/warpgroup_product.h"

#include <cstddef>
#include <cstdint>

namespace kg::host {

class Block;

// --- Called by device code. `name` is the function that the kernel called.

// `sums` are the addresses of the running thread's accumulator words, `a_registers` the addresses
// of its four words of A, null if A is in shared memory. They stay valid until the wait.
void warpgroup_multiply(const WarpgroupProduct& product, void* const* sums,
                        const void* const* a_registers, const char* name, Location where);
void warpgroup_fence(const char* name, Location where);
void warpgroup_commit(const char* name, Location where);
// Waits until at most `pending` of the latest groups have yet to be computed.
void warpgroup_wait(std::size_t pending, const char* name, Location where);

// For code that may copy accumulator registers: the running thread has just copied a register,
// pending or not, or is about to read one, which must not be pending.
void warpgroup_sum_copied(void* to, const void* from);
void warpgroup_sum_read(const void* sum, Location where);

// --- Called by a block, on the OS thread that runs it

void warpgroups_reset(); // a new block begins
// Called when the block has run to its end. Throws Error if a product is pending.
void warpgroups_finish();

} // namespace kg::host
