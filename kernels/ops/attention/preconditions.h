// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Argument checks of attention, its backward pass and decoding. `op` is the operation's name in
// messages. Each function throws Error if its check fails.
#pragma once

#include "ops/attention/attention.h"
#include "primitives/pack.h"
#include "primitives/paged.h"
#include "runtime/error.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kg::attention {

// Rows of `length` elements of one tensor.
struct Rows {
  const char* name;
  const void* data;
  Strides stride;
  std::int64_t batch, heads, tokens, length;

  // Whether the tensor has no gaps, in which another tensor's rows could lie.
  bool packed() const { return span() <= batch * heads * tokens * length; }
  bool empty() const { return batch * heads * tokens * length == 0; }
  // Elements from the first to one past the last.
  std::int64_t span() const {
    return (batch - 1) * stride.sequence + (heads - 1) * stride.head + (tokens - 1) * stride.token +
           length;
  }
};

inline void require_rows(std::string_view op, const Rows& rows) {
  const Argument what(op, ": ", rows.name);
  for (const std::int64_t stride : {rows.stride.sequence, rows.stride.head, rows.stride.token})
    require(stride >= 0, [&] {
      return what.text() + " has a stride of " + std::to_string(stride) +
             "; strides must be 0 or more";
    });
  require_elements(what, rows.data, rows.empty() ? 0 : 1);
}

// Rows of a result must not overlap. In the order of the strides, everything that one step spans
// must end before the next step.
inline void require_rows_apart(std::string_view op, const Rows& rows) {
  std::array<std::array<std::int64_t, 2>, 3> axes{{{rows.stride.sequence, rows.batch},
                                                   {rows.stride.head, rows.heads},
                                                   {rows.stride.token, rows.tokens}}};
  std::sort(axes.begin(), axes.end());
  std::int64_t extent = rows.length;
  for (const auto& [stride, count] : axes) {
    if (count == 1) continue;
    require(stride >= extent, [&, stride = stride] {
      return std::string(op) + ": rows of " + rows.name + " overlap: a stride is " +
             std::to_string(stride) + " where what it steps over has " + std::to_string(extent) +
             " elements";
    });
    extent = stride * (count - 1) + extent;
  }
}

template <class T>
bool is_aligned(const Rows& rows) {
  constexpr std::int64_t kPack = kPackElements<T>;
  return kg::is_aligned(static_cast<const T*>(rows.data)) && rows.length % kPack == 0 &&
         (rows.batch == 1 || rows.stride.sequence % kPack == 0) &&
         (rows.heads == 1 || rows.stride.head % kPack == 0) && rows.stride.token % kPack == 0;
}

// Which heads and tokens a tensor has.
enum class Of { queries, keys };

// Ragged sequences: one sequence of the longest length, since the offsets are on the device.
template <class T>
Rows rows_of(const Problem<T>& p, Of of, const char* name, const void* data, Strides stride,
             std::int64_t length) {
  const bool queries = of == Of::queries;
  return {name,
          data,
          stride,
          p.query_offsets == nullptr ? p.batch : 1,
          queries ? p.heads : p.kv_heads,
          queries ? p.queries : p.keys,
          length};
}

template <class T>
struct Tensors {
  Rows q, k, v, out, bias;

  explicit Tensors(const Problem<T>& p)
      : q(rows_of(p, Of::queries, "q", p.q, p.q_stride, p.depth)),
        k(rows_of(p, Of::keys, "k", p.k, p.k_stride, p.depth)),
        v(rows_of(p, Of::keys, "v", p.v, p.v_stride, p.value_depth)),
        out(rows_of(p, Of::queries, "out", p.out, p.out_stride, p.value_depth)),
        bias(rows_of(p, Of::queries, "bias", p.bias, p.bias_stride, p.keys)) {}
};

// Ragged sequences have no sequence stride.
template <class T>
void require_no_sequences(std::string_view op, const Problem<T>& p, const Strides& stride) {
  require(p.query_offsets == nullptr || stride.sequence == 0, [&] {
    return std::string(op) +
           ": ragged sequences follow each other, but a stride from sequence to sequence is " +
           std::to_string(stride.sequence) + "; it must be 0";
  });
}

// With a page table, a sequence's pages must hold `keys` tokens.
inline void require_pages(std::string_view op, const PageTable& table, std::int64_t keys) {
  if (table.pages == nullptr) return;
  require(table.tokens > 0, [&] {
    return std::string(op) + ": table.tokens is " + std::to_string(table.tokens) +
           "; a page has 1 or more";
  });
  require(table.stride * table.tokens >= keys, [&] {
    return std::string(op) + ": table.stride is " + std::to_string(table.stride) + " pages of " +
           std::to_string(table.tokens) + " tokens, fewer than " + std::to_string(keys) + " keys";
  });
}

template <class T>
void require_valid(std::string_view op, const Problem<T>& p) {
  constexpr std::int64_t kMostExtent = std::numeric_limits<std::int32_t>::max();
  const auto require_that = [op](bool condition, const auto& message) {
    require(condition, [&] { return std::string(op) + ": " + message(); });
  };
  const std::pair<const char*, std::int64_t> extents[] = {{"batch", p.batch},
                                                          {"heads", p.heads},
                                                          {"kv_heads", p.kv_heads},
                                                          {"queries", p.queries},
                                                          {"keys", p.keys},
                                                          {"window", p.window},
                                                          {"total_queries", p.total_queries},
                                                          {"total_keys", p.total_keys}};
  for (const auto& [name, value] : extents) {
    require_extent({op, ": ", name}, value);
    require_that(value <= kMostExtent, [name = name, value = value] {
      return std::string(name) + " is " + std::to_string(value) + "; it must be below 2^31";
    });
  }
  require_that(p.kv_heads > 0 && p.heads % p.kv_heads == 0, [&] {
    return "kv_heads is " + std::to_string(p.kv_heads) + " for " + std::to_string(p.heads) +
           " heads; it must divide them";
  });
  require_that(p.depth > 0 && p.value_depth > 0 && p.depth <= kMostExtent &&
                   p.value_depth <= kMostExtent,
               [&] {
                 return "depth is " + std::to_string(p.depth) + " and value_depth " +
                        std::to_string(p.value_depth) + "; both must be 1 or more and below 2^31";
               });
  require_that(std::isfinite(p.scale) && p.scale > 0, [&] {
    return "scale is " + std::to_string(p.scale) + "; it must be a finite number above 0";
  });
  require_that(p.causal || p.window == 0, [&] {
    return "window is " + std::to_string(p.window) + " without causal; set causal, or window to 0";
  });
  require_that((p.query_offsets == nullptr) == (p.key_offsets == nullptr), [&] {
    return std::string(p.query_offsets ? "key_offsets" : "query_offsets") +
           " is null; pass both offsets or none";
  });
  require_that(p.query_offsets == nullptr || p.bias == nullptr,
               [] { return "ragged sequences have no bias; leave out bias or the offsets"; });
  const Strides strides[] = {p.q_stride, p.k_stride, p.v_stride, p.out_stride};
  for (const Strides& stride : strides) require_no_sequences(op, p, stride);
  require_that(p.log_sum == nullptr || p.log_sum_stride >= p.queries || p.batch * p.heads <= 1,
               [&] {
                 return "log_sum_stride is " + std::to_string(p.log_sum_stride) + " for rows of " +
                        std::to_string(p.queries) + "; rows must not overlap";
               });
}

// The tensors that every kernel reads.
template <class T>
void require_inputs(std::string_view op, const Problem<T>& p) {
  const Tensors<T> tensors(p);
  for (const Rows* rows : {&tensors.q, &tensors.k, &tensors.v}) require_rows(op, *rows);
  if (p.bias != nullptr) require_rows(op, tensors.bias);
}

// A range of memory. data: null if there is nothing to check.
struct Memory {
  const char* name;
  const void* data;
  std::int64_t bytes;
};

// Null for a tensor with gaps, because overlaps in the gaps are not checked.
template <class T>
Memory memory_of(const Rows& rows) {
  return {rows.name, rows.packed() && !rows.empty() ? rows.data : nullptr,
          rows.span() * std::int64_t{sizeof(T)}};
}
template <class T>
Memory memory_of_log_sum(const Problem<T>& p) {
  const std::int64_t rows = p.query_offsets == nullptr ? p.batch * p.heads : p.heads;
  const std::int64_t span = (rows - 1) * p.log_sum_stride + p.queries;
  return {"log_sum", span <= rows * p.queries ? p.log_sum : nullptr,
          span * std::int64_t{sizeof(float)}};
}

// The memory that a forward pass reads.
template <class T>
std::vector<Memory> inputs_of(const Problem<T>& p) {
  const Tensors<T> tensors(p);
  std::vector<Memory> result;
  for (const Rows* rows : {&tensors.q, &tensors.k, &tensors.v, &tensors.bias})
    result.push_back(memory_of<T>(*rows));
  constexpr std::int64_t kWidth = sizeof(std::int32_t);
  result.push_back({"key_lengths", p.key_lengths, p.batch * kWidth});
  result.push_back({"query_offsets", p.query_offsets, (p.batch + 1) * kWidth});
  result.push_back({"key_offsets", p.key_offsets, (p.batch + 1) * kWidth});
  return result;
}

// Results must not overlap `others` or each other.
inline void require_apart(std::string_view op, std::vector<Memory> others,
                          const std::vector<Memory>& results) {
  for (const Memory& result : results) {
    if (result.data == nullptr) continue;
    for (const Memory& other : others)
      if (other.data != nullptr)
        kg::require_apart({op, ": ", other.name}, other.data, other.bytes, result.name, result.data,
                          result.bytes);
    others.push_back(result);
  }
}

} // namespace kg::attention
