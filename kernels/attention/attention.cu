// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What attention asks of its arguments, and which kernel runs.
#include "attention/attention.h"

#include "attention/naive_kernel.h"
#include "attention/variants.h"
#include "primitives/pack.h"
#include "runtime/device.h"
#include "runtime/dtype.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>

namespace kg::attention {

namespace {

constexpr std::int64_t kMostExtent = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMostDepth = 256; // of flash

// Rows of `length` elements of one tensor.
struct Rows {
  const char* name;
  const void* data;
  Strides stride;
  std::int64_t batch, heads, tokens, length;

  // Whether no memory lies between its elements, where rows of another tensor could.
  bool packed() const { return span() <= batch * heads * tokens * length; }
  bool empty() const { return batch * heads * tokens * length == 0; }
  // Elements from the first to behind the last one.
  std::int64_t span() const {
    return (batch - 1) * stride.sequence + (heads - 1) * stride.head + (tokens - 1) * stride.token +
           length;
  }
};

void require_rows(const Rows& rows) {
  const std::string what = std::string("attention: ") + rows.name;
  for (const std::int64_t stride : {rows.stride.sequence, rows.stride.head, rows.stride.token})
    require(stride >= 0,
            what + " has a stride of " + std::to_string(stride) + "; strides must be 0 or more");
  require_elements(what, rows.data, rows.empty() ? 0 : 1);
}

// Of a result: no two rows share an element. By the size of the strides: what lies within one step
// must end before the next.
void require_rows_apart(const Rows& rows) {
  std::array<std::array<std::int64_t, 2>, 3> axes{{{rows.stride.sequence, rows.batch},
                                                   {rows.stride.head, rows.heads},
                                                   {rows.stride.token, rows.tokens}}};
  std::sort(axes.begin(), axes.end());
  std::int64_t extent = rows.length;
  for (const auto& [stride, count] : axes) {
    if (count == 1) continue;
    require(stride >= extent, std::string("attention: rows of ") + rows.name +
                                  " overlap: a stride is " + std::to_string(stride) +
                                  " where what it steps over has " + std::to_string(extent) +
                                  " elements");
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

// Of ragged sequences, whose tokens follow each other: what is known to be there, the longest one.
template <class T>
struct Tensors {
  std::int64_t batch;
  Rows q, k, v, out, bias;
  std::int64_t log_sums;

  explicit Tensors(const Problem<T>& p)
      : batch(p.query_offsets == nullptr ? p.batch : 1), q{"q",     p.q,       p.q_stride, batch,
                                                           p.heads, p.queries, p.depth},
        k{"k", p.k, p.k_stride, batch, p.kv_heads, p.keys, p.depth}, v{"v",          p.v,
                                                                       p.v_stride,   batch,
                                                                       p.kv_heads,   p.keys,
                                                                       p.value_depth},
        out{"out", p.out, p.out_stride, batch, p.heads, p.queries, p.value_depth},
        bias{"bias", p.bias, p.bias_stride, batch, p.heads, p.queries, p.keys},
        log_sums((batch * p.heads - 1) * p.log_sum_stride + p.queries) {}
};

template <class T>
void require_valid(const Problem<T>& p) {
  const std::pair<const char*, std::int64_t> extents[] = {
      {"batch", p.batch},     {"heads", p.heads}, {"kv_heads", p.kv_heads},
      {"queries", p.queries}, {"keys", p.keys},   {"window", p.window}};
  for (const auto& [name, value] : extents) {
    require_extent(std::string("attention: ") + name, value);
    require(value <= kMostExtent, std::string("attention: ") + name + " is " +
                                      std::to_string(value) + "; it must be below 2^31");
  }
  require(p.kv_heads > 0 && p.heads % p.kv_heads == 0,
          "attention: kv_heads is " + std::to_string(p.kv_heads) + " for " +
              std::to_string(p.heads) + " heads; it must divide them");
  require(p.depth > 0 && p.value_depth > 0 && p.depth <= kMostExtent &&
              p.value_depth <= kMostExtent,
          "attention: depth is " + std::to_string(p.depth) + " and value_depth " +
              std::to_string(p.value_depth) + "; both must be 1 or more and below 2^31");
  require(std::isfinite(p.scale) && p.scale > 0, "attention: scale is " + std::to_string(p.scale) +
                                                     "; it must be a finite number above 0");
  require(p.causal || p.window == 0, "attention: window is " + std::to_string(p.window) +
                                         " without causal; set causal, or window to 0");
  require((p.query_offsets == nullptr) == (p.key_offsets == nullptr),
          std::string("attention: ") + (p.query_offsets ? "key_offsets" : "query_offsets") +
              " is null; pass both offsets or none");
  require(p.query_offsets == nullptr || p.bias == nullptr,
          "attention: ragged sequences have no bias; leave out bias or the offsets");
  const std::int64_t apart[] = {p.q_stride.sequence, p.k_stride.sequence, p.v_stride.sequence,
                                p.out_stride.sequence};
  for (const std::int64_t stride : apart)
    require(p.query_offsets == nullptr || stride == 0,
            "attention: ragged sequences follow each other, but a stride from sequence to sequence "
            "is " +
                std::to_string(stride) + "; it must be 0");
  require(p.log_sum == nullptr || p.log_sum_stride >= p.queries || p.batch * p.heads <= 1,
          "attention: log_sum_stride is " + std::to_string(p.log_sum_stride) + " for rows of " +
              std::to_string(p.queries) + "; rows must not overlap");
}

template <class T>
void require_memory(const Problem<T>& p) {
  const Tensors<T> tensors(p);
  for (const Rows* rows : {&tensors.q, &tensors.k, &tensors.v, &tensors.out}) require_rows(*rows);
  if (p.bias != nullptr) require_rows(tensors.bias);
  require_rows_apart(tensors.out);
  constexpr auto kWidth = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t out_bytes = tensors.out.span() * kWidth;
  const std::int64_t log_sum_bytes = tensors.log_sums * std::int64_t{sizeof(float)};
  for (const Rows* rows : {&tensors.q, &tensors.k, &tensors.v, &tensors.bias}) {
    if (rows->data == nullptr || rows->empty()) continue;
    const std::string what = std::string("attention: ") + rows->name;
    if (rows->packed() && tensors.out.packed())
      require_apart(what, rows->data, rows->span() * kWidth, "out", p.out, out_bytes);
    if (rows->packed() && p.log_sum != nullptr)
      require_apart(what, rows->data, rows->span() * kWidth, "log_sum", p.log_sum, log_sum_bytes);
  }
  const std::tuple<const char*, const std::int32_t*, std::int64_t> numbers[] = {
      {"key_lengths", p.key_lengths, p.batch},
      {"query_offsets", p.query_offsets, p.batch + 1},
      {"key_offsets", p.key_offsets, p.batch + 1}};
  for (const auto& [name, data, count] : numbers) {
    if (data == nullptr) continue;
    const std::string what = std::string("attention: ") + name;
    const std::int64_t bytes = count * std::int64_t{sizeof(std::int32_t)};
    if (tensors.out.packed()) require_apart(what, data, bytes, "out", p.out, out_bytes);
    if (p.log_sum != nullptr) require_apart(what, data, bytes, "log_sum", p.log_sum, log_sum_bytes);
  }
  if (p.log_sum != nullptr && tensors.out.packed())
    require_apart("attention: log_sum", p.log_sum, log_sum_bytes, "out", p.out, out_bytes);
}

template <class T>
void launch_naive(const Arguments<T>& a, Stream& stream) {
  const std::int64_t rows = a.problem.batch * a.problem.heads * a.problem.queries;
  launch(naive<T>,
         {.grid = grid_x(div_up(rows, kNaiveThreads), "attention: the queries", "split the batch"),
          .block = kNaiveThreads,
          .stream = &stream},
         a);
}

template <class T>
void launch_variant(const Arguments<T>& a, Variant variant, Stream& stream) {
  if (variant == Variant::naive) return launch_naive(a, stream);
  if constexpr (std::is_same_v<T, float>)
    run_tiled(a, stream);
  else
    run_flash(a, stream);
}

} // namespace

unsigned tile_blocks(std::int64_t tiles, std::int64_t heads) {
  return grid_x(tiles * heads, "attention: the tiles of 64 queries of all heads",
                "split the batch");
}

std::string_view name(Variant variant) {
  switch (variant) {
  case Variant::automatic: return "automatic";
  case Variant::naive: return "naive";
  case Variant::tiled: return "tiled";
  case Variant::flash: return "flash";
  }
  return "";
}

template <class T>
bool supports(Variant variant, std::int64_t depth, std::int64_t value_depth) {
  const bool no_device = !device_unavailable_reason().empty(); // cases are listed anywhere
  switch (variant) {
  case Variant::automatic:
  case Variant::naive: return true;
  case Variant::tiled: return std::is_same_v<T, float>;
  case Variant::flash:
    if (std::is_same_v<T, float> || depth % 8 != 0 || value_depth % 8 != 0 || depth > kMostDepth ||
        value_depth > depth)
      return false;
    if (no_device) return true;
    return (std::is_same_v<T, f16> || device_properties().compute_major >= 8) &&
           flash_shared_bytes(depth, value_depth) <=
               device_properties().shared_bytes_per_block_optin;
  }
  return false;
}

template <class T>
Variant resolved(Variant variant, std::int64_t depth, std::int64_t value_depth) {
  if (variant != Variant::automatic) return variant;
  for (const Variant each : {Variant::flash, Variant::tiled})
    if (supports<T>(each, depth, value_depth)) return each;
  return Variant::naive;
}

template <class T>
std::size_t workspace_bytes(const Problem<T>& p, Variant variant) {
  require_valid(p);
  if (resolved<T>(variant, p.depth, p.value_depth) != Variant::naive) return 0;
  constexpr std::int64_t kStep = 16;
  return static_cast<std::size_t>(
      div_up(p.batch * p.heads * p.queries * p.keys * std::int64_t{sizeof(float)}, kStep) * kStep);
}

template <class T>
Variant run(const Problem<T>& p, Variant variant, Stream& stream) {
  require_valid(p);
  variant = resolved<T>(variant, p.depth, p.value_depth);
  require(supports<T>(variant, p.depth, p.value_depth),
          "attention: variant " + std::string(name(variant)) + " does not do heads of depth " +
              std::to_string(p.depth) + " and value_depth " + std::to_string(p.value_depth) +
              " in " + std::string(name(dtype_of<T>)) + " on this device; use automatic or naive");
  if (p.batch * p.heads * p.queries == 0) return variant;
  require_memory(p);
  require(variant != Variant::naive || p.workspace != nullptr || p.keys == 0,
          "attention: workspace is null; variant naive needs workspace_bytes()");
  const Tensors<T> tensors(p);
  const bool vector = is_aligned<T>(tensors.q) && is_aligned<T>(tensors.k) &&
                      is_aligned<T>(tensors.v) && is_aligned<T>(tensors.out);
  launch_variant(Arguments<T>{p, static_cast<int>(div_up(p.queries, kTileQueries)), vector},
                 variant, stream);
  return variant;
}

// Every variant adds up a value over the keys one after another; tiled and flash also rescale the
// sums with each tile.
std::int64_t chain(Variant variant, std::int64_t keys) {
  return variant == Variant::naive ? keys : keys + div_up(keys, 64);
}

std::int64_t visible_pairs(std::int64_t queries, std::int64_t keys, bool causal,
                           std::int64_t window) {
  if (!causal) return queries * keys;
  std::int64_t pairs = 0;
  for (std::int64_t i = 0; i < queries; ++i) {
    const std::int64_t seen = std::max<std::int64_t>(i + keys - queries + 1, 0);
    pairs += window > 0 ? std::min(seen, window) : seen;
  }
  return pairs;
}

template <class T>
Work work(const Problem<T>& p) {
  const auto pairs = static_cast<double>(visible_pairs(p.queries, p.keys, p.causal, p.window));
  const auto batch = static_cast<double>(p.batch), heads = static_cast<double>(p.heads);
  const auto queries = static_cast<double>(p.queries);
  // Keys that some query sees: with a window the last ones alone.
  const double keys =
      static_cast<double>(p.queries == 0  ? 0
                          : p.window == 0 ? p.keys
                                          : std::min(p.keys, p.queries - 1 + p.window));
  const double depths = static_cast<double>(p.depth + p.value_depth);
  const double written = batch * heads * queries *
                         (static_cast<double>(p.value_depth) * sizeof(T) +
                          (p.log_sum == nullptr ? 0.0 : sizeof(float)));
  // A bias of a stride of 0 is one for all.
  const double biases = p.bias == nullptr ? 0
                                          : (p.bias_stride.sequence == 0 ? 1 : batch) *
                                                (p.bias_stride.head == 0 ? 1 : heads) * pairs;
  const double read = batch * (heads * queries * static_cast<double>(p.depth) +
                               static_cast<double>(p.kv_heads) * keys * depths) +
                      biases;
  return {.bytes = read * sizeof(T) + written +
                   (p.key_lengths == nullptr ? 0 : batch * sizeof(std::int32_t)),
          .written = written,
          .flops = batch * heads * pairs * 2 * depths};
}

template bool supports<float>(Variant, std::int64_t, std::int64_t);
template bool supports<f16>(Variant, std::int64_t, std::int64_t);
template bool supports<bf16>(Variant, std::int64_t, std::int64_t);
template Variant resolved<float>(Variant, std::int64_t, std::int64_t);
template Variant resolved<f16>(Variant, std::int64_t, std::int64_t);
template Variant resolved<bf16>(Variant, std::int64_t, std::int64_t);
template std::size_t workspace_bytes(const Problem<float>&, Variant);
template std::size_t workspace_bytes(const Problem<f16>&, Variant);
template std::size_t workspace_bytes(const Problem<bf16>&, Variant);
template Variant run(const Problem<float>&, Variant, Stream&);
template Variant run(const Problem<f16>&, Variant, Stream&);
template Variant run(const Problem<bf16>&, Variant, Stream&);
template Work work(const Problem<float>&);
template Work work(const Problem<f16>&);
template Work work(const Problem<bf16>&);

} // namespace kg::attention
