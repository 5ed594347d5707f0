// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// mbarrier objects (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier"):
// a 64-bit word, usually in shared memory, that counts arrivals and bytes. A phase ends when no
// arrivals and no bytes are pending; the next phase begins with the count given to init. Every
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

// Expects `bytes` more bytes, then arrives `count` times. Returns a token of the arrival's phase.
// More arrivals than the phase expects are an error.
std::uint64_t mbarrier_arrive(std::uint64_t* barrier, unsigned count, unsigned bytes,
                              Location where);
// Arrives once, and lowers the count by one from the next phase on.
std::uint64_t mbarrier_arrive_drop(std::uint64_t* barrier, Location where);
// Change the bytes that the phase waits for. complete_tx acts like a copy that has delivered them.
void mbarrier_expect_tx(std::uint64_t* barrier, unsigned bytes, Location where);
void mbarrier_complete_tx(std::uint64_t* barrier, unsigned bytes, Location where);

// Whether the phase of this parity (the phase before init's first phase has parity 1) or of this
// token has ended. Lets other threads run first.
bool mbarrier_test(std::uint64_t* barrier, unsigned parity, Location where);
// Waits for the phase. If no thread is left that could end it, the wait is a deadlock.
void mbarrier_wait(std::uint64_t* barrier, unsigned parity, Location where);
unsigned mbarrier_parity(std::uint64_t token);

// The condition for Block::wait_until().
bool mbarrier_has_ended(const void* barrier, unsigned parity);
inline constexpr const char* kMbarrierTest = "mbarrier_try_wait"; // in reports
// What the open phase is waiting for, for a report: "for phase 3 (parity 1) of the mbarrier
// initialized at k.cu:5, where 2 of 4 arrivals are missing".
std::string mbarrier_missing(const std::uint64_t* barrier);

// For asynchronous copies: adds one pending arrival to this phase; arrives once without notifying
// the observer.
void mbarrier_add_pending(std::uint64_t* barrier, Location where);
// Throws Error (a trap) if the word is not an mbarrier.
void mbarrier_check(const std::uint64_t* barrier, const char* name, Location where);
void mbarrier_complete_unobserved(Block& block, std::uint64_t* barrier, std::size_t bytes,
                                  Location where);
void mbarrier_arrive_unobserved(Block& block, std::uint64_t* barrier, Location where);

} // namespace kg::host
