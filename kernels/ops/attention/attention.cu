// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// attention: argument checks, selection of the variant, variant naive, and the cost model.
#include "ops/attention/attention.h"

#include "ops/attention/flash_depths.h"
#include "ops/attention/naive_kernel.h"
#include "ops/attention/preconditions.h"
#include "ops/attention/variants.h"
#include "runtime/device.h"
#include "runtime/dtype.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace kg::attention {

namespace {

constexpr std::string_view kName = "attention";

template <class T>
void require_memory(const Problem<T>& p) {
  const Tensors<T> tensors(p);
  require_inputs(kName, p);
  require_rows(kName, tensors.out);
  require_rows_apart(kName, tensors.out);
  std::vector<Memory> results = {memory_of<T>(tensors.out)};
  if (p.log_sum != nullptr) results.push_back(memory_of_log_sum(p));
  require_apart(kName, inputs_of(p), results);
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

// Whether wgmma can load these rows by bulk copies, and store them by 16 bytes. A tensor map's
// strides are below 2^40 bytes. Coordinates of its boxes are below 2^31.
template <class T>
bool fits_tensor_map(const Rows& rows) {
  constexpr std::int64_t kMostStride = std::int64_t{1} << 38; // elements
  constexpr std::int64_t kMostTokens = std::numeric_limits<std::int32_t>::max() - 256;
  const auto steps = [](std::int64_t count, std::int64_t stride) {
    return count <= 1 || (stride > 0 && stride < kMostStride);
  };
  if (rows.empty()) return true; // it has no map
  return is_aligned<T>(rows) && rows.tokens <= kMostTokens && rows.stride.token < kMostStride &&
         steps(rows.batch, rows.stride.sequence) && steps(rows.heads, rows.stride.head) &&
         steps(rows.tokens, rows.stride.token);
}

template <class T>
bool wgmma_fits(const Problem<T>& p) {
  if (p.bias != nullptr) return false;
  Tensors<T> tensors(p);
  if (p.query_offsets != nullptr) {
    if (p.total_queries == 0 || p.total_keys == 0) return false;
    tensors.q.tokens = tensors.out.tokens = p.total_queries;
    tensors.k.tokens = tensors.v.tokens = p.total_keys;
  }
  return fits_tensor_map<T>(tensors.q) && fits_tensor_map<T>(tensors.k) &&
         fits_tensor_map<T>(tensors.v) && fits_tensor_map<T>(tensors.out);
}

template <class T>
void launch_variant(const Arguments<T>& a, Variant variant, Stream& stream) {
  if (variant == Variant::naive) return launch_naive(a, stream);
  if constexpr (std::is_same_v<T, float>)
    run_tiled(a, stream);
  else if (variant == Variant::wgmma && wgmma_fits(a.problem))
    run_wgmma(a, stream);
  else
    run_flash(a, stream);
}

} // namespace

unsigned tile_blocks(std::int64_t tiles, std::int64_t heads) {
  return grid_x(tiles * heads, "attention: the tiles of 64 queries of all heads",
                "split the batch");
}

template <class T>
bool supports(Variant variant, std::int64_t depth, std::int64_t value_depth) {
  const bool no_device = !device_unavailable_reason().empty(); // list cases without a device
  switch (variant) {
  case Variant::automatic:
  case Variant::naive: return true;
  case Variant::tiled: return std::is_same_v<T, float>;
  case Variant::flash:
    if (std::is_same_v<T, float> || !flash_holds(depth, value_depth)) return false;
    if (no_device) return true;
    return (std::is_same_v<T, f16> || device_properties().compute_major >= 8) &&
           flash_shared_bytes(depth, value_depth) <=
               device_properties().shared_bytes_per_block_optin;
  case Variant::wgmma:
    return supports<T>(Variant::flash, depth, value_depth) &&
           (no_device || device_properties().compute_major == 9);
  }
  return false;
}

template <class T>
Variant resolved(Variant variant, const Problem<T>& p) {
  if (variant != Variant::automatic) return variant;
  // Half of wgmma's tile would be empty with fewer queries.
  if (p.queries > kTileQueries && supports<T>(Variant::wgmma, p.depth, p.value_depth) &&
      wgmma_fits(p))
    return Variant::wgmma;
  for (const Variant each : {Variant::flash, Variant::tiled})
    if (supports<T>(each, p.depth, p.value_depth)) return each;
  return Variant::naive;
}

template <class T>
std::size_t workspace_bytes(const Problem<T>& p, Variant variant) {
  require_valid(kName, p);
  if (resolved(variant, p) != Variant::naive) return 0;
  constexpr std::int64_t kStep = 16;
  return static_cast<std::size_t>(
      div_up(p.batch * p.heads * p.queries * p.keys * std::int64_t{sizeof(float)}, kStep) * kStep);
}

template <class T>
Variant run(const Problem<T>& p, Variant variant, Stream& stream) {
  require_valid(kName, p);
  variant = resolved(variant, p);
  require(supports<T>(variant, p.depth, p.value_depth), [&] {
    return "attention: variant " + std::string(name(variant)) + " does not do heads of depth " +
           std::to_string(p.depth) + " and value_depth " + std::to_string(p.value_depth) + " in " +
           std::string(name(dtype_of<T>)) + " on this device; use automatic or naive";
  });
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

// Every variant accumulates an output element over the keys sequentially. All but naive also
// rescale the sums once per tile, of 64 keys or more.
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
  // Keys that some query sees; with a window, only the last ones.
  const double keys =
      static_cast<double>(p.queries == 0  ? 0
                          : p.window == 0 ? p.keys
                                          : std::min(p.keys, p.queries - 1 + p.window));
  const double depths = static_cast<double>(p.depth + p.value_depth);
  const double written = batch * heads * queries *
                         (static_cast<double>(p.value_depth) * sizeof(T) +
                          (p.log_sum == nullptr ? 0.0 : sizeof(float)));
  // A bias with a stride of 0 is shared.
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
template Variant resolved(Variant, const Problem<float>&);
template Variant resolved(Variant, const Problem<f16>&);
template Variant resolved(Variant, const Problem<bf16>&);
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
