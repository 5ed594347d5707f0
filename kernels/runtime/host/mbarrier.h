// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// mbarrier objects (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier"):
// a 64-bit word, usually in shared memory, that counts arrivals and bytes. A phase ends when no
// arrival and no byte is pending; then the next one begins with the count that init gave. Every
// function throws Error (a trap) for a word that init has not made an mbarrier.
#pragma once

#include "runtime/error.h"

#include <cstdint>
#include <string>

namespace kg::host {

class Block;

inline constexpr unsigned kMaxMbarrierCount = (1u << 20) - 1;

void mbarrier_init(std::uint64_t* barrier, unsigned count, Location where);
void mbarrier_inval(std::uint64_t* barrier, Location where);

// Arrives `count` times, after expecting `bytes` more. Returns a token of the phase that it arrived
// in. More arrivals than the phase expects are an error.
std::uint64_t mbarrier_arrive(std::uint64_t* barrier, unsigned count, unsigned bytes,
                              Location where);
// Arrives once, and once less is expected from the next phase on.
std::uint64_t mbarrier_arrive_drop(std::uint64_t* barrier, Location where);
// Changes the bytes that the phase waits for; complete_tx as a copy does that has brought them.
void mbarrier_expect_tx(std::uint64_t* barrier, unsigned bytes, Location where);
void mbarrier_complete_tx(std::uint64_t* barrier, unsigned bytes, Location where);

// Whether the phase of this parity (the one before init's first phase has parity 1) or of this
// token has ended. It lets other threads go first.
bool mbarrier_test(std::uint64_t* barrier, unsigned parity, Location where);
// Waits for it. When nobody is left who could end it, the wait is a deadlock.
void mbarrier_wait(std::uint64_t* barrier, unsigned parity, Location where);
unsigned mbarrier_parity(std::uint64_t token);

// What Block::wait_until() asks.
bool mbarrier_has_ended(const void* barrier, unsigned parity);
// What the open phase lacks, for a report: "for phase 3 (parity 1) of the mbarrier initialized at
// k.cu:5, where 2 of 4 arrivals are missing".
std::string mbarrier_missing(const std::uint64_t* barrier);

// For asynchronous copies: one more arrival is pending in this phase; one arrives, with nobody told
// of it.
void mbarrier_add_pending(std::uint64_t* barrier, Location where);
// Throws Error (a trap) where the word is no mbarrier.
void mbarrier_check(const std::uint64_t* barrier, const char* name, Location where);
void mbarrier_complete_unobserved(Block& block, std::uint64_t* barrier, std::size_t bytes,
                                  Location where);
void mbarrier_arrive_unobserved(Block& block, std::uint64_t* barrier, Location where);

} // namespace kg::host
