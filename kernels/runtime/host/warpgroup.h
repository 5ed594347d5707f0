// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// wgmma (PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions"): the 128
// threads of a warpgroup issue products, commit them in groups, and wait for all but their latest
// groups. warpgroup_product.h says what a product is.
//
// A GPU reads the operands and writes the sums at any time between the issue and the wait. Here a
// product is computed at the worst, as async_copy.h has it: as late as possible (thread order
// forward), as soon as the last of the threads has issued it (reverse), or either, by chance
// (random), and those of a warpgroup in order. Meanwhile its sums hold 0xFF in every byte (NaN);
// the wait gives each thread its own.
//
// An Error (a trap) is: threads of a warpgroup that issue different products; sums that are
// written, and registers of A that are changed, before the wait; either of them changed since the
// last wgmma.fence; a matrix that does not lie in the block's shared memory.
#pragma once

#include "runtime/error.h"
#include "runtime/host/warpgroup_product.h"

#include <cstddef>
#include <cstdint>

namespace kg::host {

class Block;

// --- What device code calls. `name` is the function that the kernel called.

// `sums` are the addresses of the running thread's words of sums, `a_registers` those of its four
// words of A, null where A is in shared memory. They stay valid until the wait.
void warpgroup_multiply(const WarpgroupProduct& product, void* const* sums,
                        const void* const* a_registers, const char* name, Location where);
void warpgroup_fence(const char* name, Location where);
void warpgroup_commit(const char* name, Location where);
// Until at most `pending` of the latest groups have yet to be computed.
void warpgroup_wait(std::size_t pending, const char* name, Location where);

// Of code in which sums are registers that may be copied: the running thread has just copied one,
// pending or not, or is about to look at one, which must not be pending.
void warpgroup_sum_copied(void* to, const void* from);
void warpgroup_sum_read(const void* sum, Location where);

// --- What a block calls, on the OS thread that runs it

void warpgroups_reset(); // a new block begins
// The block has run to its end. Throws Error for a product that is pending.
void warpgroups_finish();

} // namespace kg::host
