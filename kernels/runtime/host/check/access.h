// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The record of an access: the thread, the time and the instruction.
#pragma once

#include <cstdint>

namespace kg::check {

inline std::uintptr_t address_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

// Counts synchronizations. The lowest values are states of a word rather than moments.
using Time = std::uint32_t;
enum : Time {
  kGuard = 0, // next to an allocation or a variable
  kFreed = 1,
  kNotShadowed = 2, // memory of the runtime itself
  kUninitialised = 3,
  kHostWrote = 4,
  kFirstMoment = 16,
  kInFlight = 0x3FFFFFFF, // destination of an asynchronous copy in flight
};

// Values from here on: a bulk copy has landed, in phase `phase` of the mbarrier with this number in
// the launch. Only threads that have passed the phase may use its data.
inline constexpr Time kLanded = 0x40000000;
inline constexpr unsigned kPhaseBits = 18;
inline constexpr unsigned kMostPhases = 1u << kPhaseBits;
inline constexpr unsigned kMostNumbers = 1u << (30 - kPhaseBits);
inline constexpr Time landed(unsigned number, unsigned phase) {
  return kLanded | number << kPhaseBits | phase;
}
inline constexpr unsigned number_of(Time landed) { return (landed & ~kLanded) >> kPhaseBits; }
inline constexpr unsigned phase_of(Time landed) { return landed & (kMostPhases - 1); }

// Thread and block: 10 bits for the rank within the block, 19 for the block's number in the grid.
using Who = std::uint32_t;
inline constexpr Who kThreadMask = 0x3FF;
inline constexpr Who kBlockMask = 0x1FFFFC00;
inline constexpr unsigned kMostBlocks = 1u << 19;
inline constexpr Who kVolatile = 0x20000000; // only together with kAtomic
inline constexpr Who kAtomic = 0x40000000;
inline constexpr Who kWrite = 0x80000000; // set in History::others for atomic writes

inline bool same_warp(Who a, Who b) { return ((a ^ b) & (kBlockMask | (kThreadMask & ~31u))) == 0; }

// A shortened instruction address (source_line.h).
using Site = std::uint32_t;

struct Access {
  Time time;
  Who who;
  Site site;

  bool operator==(const Access&) const = default;
};

// Volatile accesses synchronize between warps and blocks as atomic accesses do (PTX ISA, "Volatile
// Operation": relaxed, of system scope). Between lanes of one warp, volatile accesses to shared
// memory count as plain: older code uses them in the belief that lanes run in lockstep.
enum class Kind : unsigned char {
  read,
  write,
  atomic_read,
  atomic_write,
  volatile_read,
  volatile_write
};
inline constexpr bool is_write(Kind kind) {
  return kind == Kind::write || kind == Kind::atomic_write || kind == Kind::volatile_write;
}
inline constexpr bool is_atomic(Kind kind) { return kind != Kind::read && kind != Kind::write; }
inline constexpr Who flags(Kind kind) {
  if (kind == Kind::volatile_read || kind == Kind::volatile_write) return kAtomic | kVolatile;
  return is_atomic(kind) ? kAtomic : 0;
}

} // namespace kg::check
