// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// attention_decode: argument checks, kernel selection, and variant naive: one thread per query
// writes its scores to memory, converts them to weights, and adds the values. naive reads keys and
// values once per query. It is the baseline for split, and the fallback beyond split's depths.
#include "ops/attention_decode/attention_decode.h"

#include "ops/attention/preconditions.h"
#include "ops/attention_decode/split_kernel.h"
#include "runtime/device.h"
#include "runtime/dtype.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

namespace kg::attention_decode {

constexpr int kNaiveThreads = 64;
constexpr int kMostParts = 64; // per sequence

template <class T>
__global__ void __launch_bounds__(kNaiveThreads) naive(Arguments<T> a) {
  const Problem<T>& p = a.problem;
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= a.rows()) return;
  const std::int64_t query = index % p.queries, head = index / p.queries % p.heads;
  const std::int64_t sequence = index / p.queries / p.heads;
  const std::int64_t kv_head = head / (p.heads / p.kv_heads);
  const std::int64_t end = a.keys_of(sequence) - p.queries + query + 1; // end of the visible keys
  float* const scores = p.workspace + index * p.keys;
  const T* const q =
      p.q + sequence * p.q_stride.sequence + head * p.q_stride.head + query * p.q_stride.token;

  RunningRow row;
  for (std::int64_t j = 0; j < end; ++j) {
    const T* const k = p.k + a.pages.place(sequence, j).row(p.k_stride, kv_head);
    float score = 0;
    for (std::int64_t d = 0; d < p.depth; ++d) score = fmaf(to_float(q[d]), to_float(k[d]), score);
    scores[j] = score;
    row.largest = fmaxf(row.largest, score); // fmaxf ignores NaN; the sum propagates it
  }
  const float by = p.scale * kLog2E;
  const float reference = row.reference(by);
  for (std::int64_t j = 0; j < end; ++j) {
    const float weight = exp2f(fmaf(scores[j], by, -reference));
    scores[j] = weight;
    row.sum += weight;
  }
  for (std::int64_t d = 0; d < p.value_depth; ++d) {
    float sum = 0;
    for (std::int64_t j = 0; j < end; ++j) {
      const T* const v = p.v + a.pages.place(sequence, j).row(p.v_stride, kv_head);
      sum = fmaf(scores[j], to_float(v[d]), sum);
    }
    p.out[sequence * p.out_stride.sequence + head * p.out_stride.head + query * p.out_stride.token +
          d] = from_float<T>(sum * row.normalizer());
  }
}

namespace {

using attention::Rows;

constexpr const char* kName = "attention_decode";

template <class T>
std::int64_t rows_of(const Problem<T>& p) {
  return p.batch * p.heads * p.queries;
}

// Tiles of queries per head of K.
template <class T>
std::int64_t tiles_of(const Problem<T>& p) {
  return div_up(p.heads / p.kv_heads * p.queries, kRows);
}

// The number of pages in a paged cache is unknown; assume one.
template <class T>
Rows cache(const Problem<T>& p, const char* name, const T* data, const PageStrides& stride,
           std::int64_t length) {
  const bool paged = p.table.pages != nullptr;
  return {name,
          data,
          {stride.page, stride.head, stride.token},
          paged ? 1 : p.batch,
          p.kv_heads,
          paged ? p.table.tokens : p.keys,
          length};
}

template <class T>
struct Tensors {
  Rows q, k, v, out;

  explicit Tensors(const Problem<T>& p)
      : q{"q", p.q, p.q_stride, p.batch, p.heads, p.queries, p.depth},
        k(cache(p, "k", p.k, p.k_stride, p.depth)),
        v(cache(p, "v", p.v, p.v_stride, p.value_depth)), out{"out",        p.out,   p.out_stride,
                                                              p.batch,      p.heads, p.queries,
                                                              p.value_depth} {}
};

template <class T>
void require_valid(const Problem<T>& p) {
  // The checks of attention, of which decoding is a special case.
  attention::require_valid(kName, attention::Problem<T>{.batch = p.batch,
                                                        .heads = p.heads,
                                                        .kv_heads = p.kv_heads,
                                                        .queries = p.queries,
                                                        .keys = p.keys,
                                                        .depth = p.depth,
                                                        .value_depth = p.value_depth,
                                                        .scale = p.scale,
                                                        .causal = true});
  require(p.queries <= kMostQueries, [&] {
    return "attention_decode: queries is " + std::to_string(p.queries) + "; it must be at most " +
           std::to_string(kMostQueries) + ": use attention";
  });
  attention::require_pages(kName, p.table, p.keys);
}

template <class T>
void require_memory(const Problem<T>& p) {
  const Tensors<T> tensors(p);
  for (const Rows* rows : {&tensors.q, &tensors.k, &tensors.v, &tensors.out})
    attention::require_rows(kName, *rows);
  attention::require_rows_apart(kName, tensors.out);
  std::vector<attention::Memory> inputs;
  for (const Rows* rows : {&tensors.q, &tensors.k, &tensors.v})
    inputs.push_back(attention::memory_of<T>(*rows));
  constexpr std::int64_t kWidth = sizeof(std::int32_t);
  inputs.push_back({"key_lengths", p.key_lengths, p.batch * kWidth});
  inputs.push_back({"table", p.table.pages, p.batch * p.table.stride * kWidth});
  const std::vector<attention::Memory> results = {attention::memory_of<T>(tensors.out)};
  attention::require_apart(kName, inputs, results);
}

// Whether rows begin and end at multiples of a lane's elements.
template <class T>
bool is_made_of_chunks(const Rows& rows, bool paged) {
  const auto place = reinterpret_cast<std::uintptr_t>(rows.data);
  return place % (kChunk * sizeof(T)) == 0 && rows.length % kChunk == 0 &&
         ((rows.batch == 1 && !paged) || rows.stride.sequence % kChunk == 0) &&
         (rows.heads == 1 || rows.stride.head % kChunk == 0) && rows.stride.token % kChunk == 0;
}

template <class T>
void launch_naive(const Arguments<T>& a, std::int64_t rows, Stream& stream) {
  launch(naive<T>,
         {.grid = grid_x(div_up(rows, kNaiveThreads), "attention_decode: the queries",
                         "split the batch"),
          .block = kNaiveThreads,
          .stream = &stream},
         a);
}

template <class T>
void launch_split(const Arguments<T>& a, std::int64_t rows, Stream& stream) {
  const Problem<T>& p = a.problem;
  launch(split<T>,
         {.grid = grid_x(p.batch * p.kv_heads * a.splits * a.tiles,
                         "attention_decode: the parts of all heads", "split the batch"),
          .block = kThreads,
          .stream = &stream},
         a);
  if (a.splits == 1) return;
  launch(merge<T>,
         {.grid = grid_x(rows, "attention_decode: the queries", "split the batch"),
          .block = kThreads,
          .stream = &stream},
         a);
}

} // namespace

bool supports(Variant variant, std::int64_t depth, std::int64_t value_depth) {
  return variant != Variant::split || std::max(depth, value_depth) <= kMostDepth;
}

Variant resolved(Variant variant, std::int64_t depth, std::int64_t value_depth) {
  if (variant != Variant::automatic) return variant;
  return supports(Variant::split, depth, value_depth) ? Variant::split : Variant::naive;
}

// Enough parts to fill each multiprocessor with resident blocks. A part has enough keys to amortize
// a block's startup. At most kMostParts, since merge adds the parts sequentially.
template <class T>
int splits(const Problem<T>& p) {
  constexpr std::int64_t kBlocksPerSm = 3, kLeastKeys = 128;
  const std::int64_t others = std::max<std::int64_t>(p.batch * p.kv_heads * tiles_of(p), 1);
  const std::int64_t wanted = div_up(device_properties().sm_count * kBlocksPerSm, others);
  return static_cast<int>(std::clamp<std::int64_t>(
      wanted, 1, std::clamp<std::int64_t>(p.keys / kLeastKeys, 1, kMostParts)));
}

// split: every fourth key of a part at most, then groups of lanes, warps and parts.
std::int64_t chain(Variant variant, std::int64_t keys) {
  return variant == Variant::naive ? keys : div_up(keys, kWarps) + 5 + kWarps + kMostParts;
}

template <class T>
std::size_t workspace_bytes(const Problem<T>& p, Variant variant) {
  require_valid(p);
  constexpr std::int64_t kStep = 16;
  std::int64_t floats = p.keys;
  if (resolved(variant, p.depth, p.value_depth) == Variant::split) {
    const int parts = rows_of(p) == 0 ? 1 : splits(p);
    floats = parts == 1 ? 0 : parts * (2 + p.value_depth);
  }
  return static_cast<std::size_t>(div_up(rows_of(p) * floats * std::int64_t{sizeof(float)}, kStep) *
                                  kStep);
}

template <class T>
Variant run(const Problem<T>& p, Variant variant, Stream& stream) {
  require_valid(p);
  variant = resolved(variant, p.depth, p.value_depth);
  require(supports(variant, p.depth, p.value_depth), [&] {
    return "attention_decode: variant split does not do heads of depth " + std::to_string(p.depth) +
           " and value_depth " + std::to_string(p.value_depth) + "; use automatic or naive";
  });
  const std::int64_t rows = rows_of(p);
  if (rows == 0) return variant;
  require_memory(p);
  require(p.workspace != nullptr || workspace_bytes(p, variant) == 0,
          "attention_decode: workspace is null; pass memory of workspace_bytes()");
  const Tensors<T> tensors(p);
  const bool paged = p.table.pages != nullptr;
  const auto chunks = static_cast<unsigned>(div_up(std::max(p.depth, p.value_depth), kChunk));
  const Arguments<T> a{p,
                       Pages(paged ? p.table : PageTable{}),
                       variant == Variant::split ? splits(p) : 1,
                       static_cast<int>(tiles_of(p)),
                       static_cast<int>(std::bit_ceil(chunks)),
                       is_made_of_chunks<T>(tensors.q, false) &&
                           is_made_of_chunks<T>(tensors.k, paged) &&
                           is_made_of_chunks<T>(tensors.v, paged)};
  if (variant == Variant::naive)
    launch_naive(a, rows, stream);
  else
    launch_split(a, rows, stream);
  return variant;
}

template <class T>
Work work(const Problem<T>& p) {
  const auto batch = static_cast<double>(p.batch), heads = static_cast<double>(p.heads);
  const auto queries = static_cast<double>(p.queries);
  double pairs = 0; // visible pairs of query and key in one head of one sequence
  for (std::int64_t i = 0; i < p.queries; ++i)
    pairs += static_cast<double>(std::max<std::int64_t>(p.keys - p.queries + i + 1, 0));
  const double depths = static_cast<double>(p.depth + p.value_depth);
  const double written = batch * heads * queries * static_cast<double>(p.value_depth) * sizeof(T);
  const double read =
      batch * (heads * queries * static_cast<double>(p.depth) +
               static_cast<double>(p.kv_heads) * static_cast<double>(p.keys) * depths);
  double listed = p.key_lengths == nullptr ? 0 : batch;
  if (p.table.pages != nullptr)
    listed += batch * static_cast<double>(div_up(p.keys, p.table.tokens));
  return {.bytes = read * sizeof(T) + written + listed * sizeof(std::int32_t),
          .written = written,
          .flops = batch * heads * pairs * 2 * depths};
}

template int splits(const Problem<float>&);
template int splits(const Problem<f16>&);
template int splits(const Problem<bf16>&);
template std::size_t workspace_bytes(const Problem<float>&, Variant);
template std::size_t workspace_bytes(const Problem<f16>&, Variant);
template std::size_t workspace_bytes(const Problem<bf16>&, Variant);
template Variant run(const Problem<float>&, Variant, Stream&);
template Variant run(const Problem<f16>&, Variant, Stream&);
template Variant run(const Problem<bf16>&, Variant, Stream&);
template Work work(const Problem<float>&);
template Work work(const Problem<f16>&);
template Work work(const Problem<bf16>&);

} // namespace kg::attention_decode
