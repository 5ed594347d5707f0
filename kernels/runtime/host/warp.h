// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Warp collectives: shuffles, votes, matches and reductions, with the mask semantics of the CUDA
// C++ Programming Guide ("Warp Shuffle Functions", "Warp Vote Functions", "Warp Match Functions",
// "Warp Reduce Functions"). Every lane in the mask that has not exited must call; disjoint masks of
// one warp are independent.
#pragma once

#include "runtime/host/block.h"
#include "runtime/host/forceinline.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace kg::host {

// A value exchanged between lanes. In CUDA, a value from a lane that did not participate is
// undefined. Here it is all ones, which is NaN in every floating-point type, so that a kernel that
// uses it fails visibly.
struct Exchange {
  std::uint64_t value;
  unsigned source; // lane
  bool absent = false;
};
void note_absent_lane(void* value, std::size_t bytes, unsigned lane, const char* name,
                      Location where);

inline void resolve_exchange(void* const* payload, unsigned lanes) {
  std::uint64_t values[kWarpSize];
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(rest));
    values[lane] = static_cast<Exchange*>(payload[lane])->value;
  }
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
    auto& mine = *static_cast<Exchange*>(payload[std::countr_zero(rest)]);
    mine.absent = (lanes >> mine.source & 1) == 0;
    mine.value = mine.absent ? ~std::uint64_t{0} : values[mine.source];
  }
}

template <class T>
T exchange(unsigned mask, T value, unsigned source, const char* name, Location where) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 32,
                "shuffles move values of at most 32 bytes");
  auto* const bytes = reinterpret_cast<unsigned char*>(&value);
  bool absent = false;
  for (std::size_t at = 0; at < sizeof(T); at += sizeof(std::uint64_t)) {
    const std::size_t part = sizeof(T) - at < 8 ? sizeof(T) - at : 8;
    Exchange payload{0, source};
    std::memcpy(&payload.value, bytes + at, part);
    running_block(name, where).collective(mask, &payload, &resolve_exchange, name, where);
    std::memcpy(bytes + at, &payload.value, part);
    absent = payload.absent;
  }
  if (absent) [[unlikely]]
    note_absent_lane(&value, sizeof(T), source, name, where);
  return value;
}

// Reduces the values of all lanes with `Combine`, in lane order; every lane gets the result.
template <class T, class Combine>
void resolve_reduce(void* const* payload, unsigned lanes) {
  unsigned rest = lanes;
  T total = *static_cast<T*>(payload[std::countr_zero(rest)]);
  for (rest &= rest - 1; rest != 0; rest &= rest - 1) {
    total = Combine{}(total, *static_cast<T*>(payload[std::countr_zero(rest)]));
  }
  for (rest = lanes; rest != 0; rest &= rest - 1) {
    *static_cast<T*>(payload[std::countr_zero(rest)]) = total;
  }
}

template <class Combine, class T>
T reduce(unsigned mask, T value, const char* name, Location where) {
  running_block(name, where).collective(mask, &value, &resolve_reduce<T, Combine>, name, where);
  return value;
}

// Replaces each lane's predicate (0 or 1) by the ballot.
inline void resolve_ballot(void* const* payload, unsigned lanes) {
  unsigned ballot = 0;
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(rest));
    if (*static_cast<unsigned*>(payload[lane]) != 0) ballot |= 1u << lane;
  }
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
    *static_cast<unsigned*>(payload[std::countr_zero(rest)]) = ballot;
  }
}

inline unsigned ballot(unsigned mask, int predicate, const char* name, Location where) {
  unsigned value = predicate != 0;
  running_block(name, where).collective(mask, &value, &resolve_ballot, name, where);
  return value;
}

struct Match {
  std::uint64_t value;
  unsigned same; // lanes with the same value
};

inline void resolve_match(void* const* payload, unsigned lanes) {
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
    auto& mine = *static_cast<Match*>(payload[std::countr_zero(rest)]);
    mine.same = 0;
    for (unsigned others = lanes; others != 0; others &= others - 1) {
      const unsigned lane = static_cast<unsigned>(std::countr_zero(others));
      if (static_cast<Match*>(payload[lane])->value == mine.value) mine.same |= 1u << lane;
    }
  }
}

template <class T>
unsigned match(unsigned mask, T value, const char* name, Location where) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
  Match payload{0, 0};
  std::memcpy(&payload.value, &value, sizeof(T));
  running_block(name, where).collective(mask, &payload, &resolve_match, name, where);
  return payload.same;
}

struct Plus {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a + b);
  }
};
struct Minimum {
  template <class T>
  T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct Maximum {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct BitAnd {
  template <class T>
  T operator()(T a, T b) const {
    return a & b;
  }
};
struct BitOr {
  template <class T>
  T operator()(T a, T b) const {
    return a | b;
  }
};
struct BitXor {
  template <class T>
  T operator()(T a, T b) const {
    return a ^ b;
  }
};

} // namespace kg::host

// The source lane of each shuffle, as defined by PTX (shfl.sync). Lanes form segments of `width`; a
// source beyond the segment's end means the lane's own value. Operands are taken modulo 32.

template <class T>
__forceinline__ T __shfl_sync(unsigned mask, T value, int source, int width = warpSize,
                              kg::Location where = kg::Location::here()) {
  const unsigned w = static_cast<unsigned>(width);
  const unsigned first = kg::host::running_block("__shfl_sync", where).lane() & ~(w - 1);
  return kg::host::exchange(mask, value, first | (static_cast<unsigned>(source) & (w - 1)),
                            "__shfl_sync", where);
}
template <class T>
__forceinline__ T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                                 kg::Location where = kg::Location::here()) {
  const unsigned lane = kg::host::running_block("__shfl_up_sync", where).lane();
  const unsigned first = lane & ~(static_cast<unsigned>(width) - 1);
  delta %= 32;
  const unsigned source = lane >= first + delta ? lane - delta : lane;
  return kg::host::exchange(mask, value, source, "__shfl_up_sync", where);
}
template <class T>
__forceinline__ T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                                   kg::Location where = kg::Location::here()) {
  const unsigned lane = kg::host::running_block("__shfl_down_sync", where).lane();
  const unsigned last = lane | (static_cast<unsigned>(width) - 1);
  delta %= 32;
  const unsigned source = delta <= last - lane ? lane + delta : lane;
  return kg::host::exchange(mask, value, source, "__shfl_down_sync", where);
}
template <class T>
__forceinline__ T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = warpSize,
                                  kg::Location where = kg::Location::here()) {
  const unsigned lane = kg::host::running_block("__shfl_xor_sync", where).lane();
  const unsigned last = lane | (static_cast<unsigned>(width) - 1);
  unsigned source = lane ^ (static_cast<unsigned>(lane_mask) & 31u);
  if (source > last) source = lane;
  return kg::host::exchange(mask, value, source, "__shfl_xor_sync", where);
}

inline void __syncwarp(unsigned mask = 0xffffffffu, kg::Location where = kg::Location::here()) {
  kg::host::running_block("__syncwarp", where)
      .collective(mask, nullptr, &kg::host::resolve_nothing, "__syncwarp", where);
}
inline unsigned __activemask(kg::Location where = kg::Location::here()) {
  return kg::host::running_block("__activemask", where).converge(where);
}

inline unsigned __ballot_sync(unsigned mask, int predicate,
                              kg::Location where = kg::Location::here()) {
  return kg::host::ballot(mask, predicate, "__ballot_sync", where);
}
inline int __any_sync(unsigned mask, int predicate, kg::Location where = kg::Location::here()) {
  return kg::host::ballot(mask, predicate, "__any_sync", where) != 0;
}
inline int __all_sync(unsigned mask, int predicate, kg::Location where = kg::Location::here()) {
  return kg::host::ballot(mask, predicate == 0, "__all_sync", where) == 0;
}

template <class T>
__forceinline__ unsigned __match_any_sync(unsigned mask, T value,
                                          kg::Location where = kg::Location::here()) {
  return kg::host::match(mask, value, "__match_any_sync", where);
}
// Returns the participating lanes and sets *all to 1 if all values are equal; otherwise 0 and 0.
template <class T>
__forceinline__ unsigned __match_all_sync(unsigned mask, T value, int* all,
                                          kg::Location where = kg::Location::here()) {
  const unsigned same = kg::host::match(mask, value, "__match_all_sync", where);
  const unsigned everyone = kg::host::ballot(mask, 1, "__match_all_sync", where);
  *all = same == everyone;
  return *all ? everyone : 0;
}

inline int __reduce_add_sync(unsigned m, int v, kg::Location w = kg::Location::here()) {
  return kg::host::reduce<kg::host::Plus>(m, v, "__reduce_add_sync", w);
}
inline unsigned __reduce_add_sync(unsigned m, unsigned v, kg::Location w = kg::Location::here()) {
  return kg::host::reduce<kg::host::Plus>(m, v, "__reduce_add_sync", w);
}
inline int __reduce_min_sync(unsigned m, int v, kg::Location w = kg::Location::here()) {
  return kg::host::reduce<kg::host::Minimum>(m, v, "__reduce_min_sync", w);
}
inline unsigned __reduce_min_sync(unsigned m, unsigned v, kg::Location w = kg::Location::here()) {
  return kg::host::reduce<kg::host::Minimum>(m, v, "__reduce_min_sync", w);
}
inline int __reduce_max_sync(unsigned m, int v, kg::Location w = kg::Location::here()) {
  return kg::host::reduce<kg::host::Maximum>(m, v, "__reduce_max_sync", w);
}
inline unsigned __reduce_max_sync(unsigned m, unsigned v, kg::Location w = kg::Location::here()) {
  return kg::host::reduce<kg::host::Maximum>(m, v, "__reduce_max_sync", w);
}
inline unsigned __reduce_and_sync(unsigned m, unsigned v, kg::Location w = kg::Location::here()) {
  return kg::host::reduce<kg::host::BitAnd>(m, v, "__reduce_and_sync", w);
}
inline unsigned __reduce_or_sync(unsigned m, unsigned v, kg::Location w = kg::Location::here()) {
  return kg::host::reduce<kg::host::BitOr>(m, v, "__reduce_or_sync", w);
}
inline unsigned __reduce_xor_sync(unsigned m, unsigned v, kg::Location w = kg::Location::here()) {
  return kg::host::reduce<kg::host::BitXor>(m, v, "__reduce_xor_sync", w);
}
