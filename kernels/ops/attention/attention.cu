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
  require_valid(kName, p);
  if (resolved<T>(variant, p.depth, p.value_depth) != Variant::naive) return 0;
  constexpr std::int64_t kStep = 16;
  return static_cast<std::size_t>(
      div_up(p.batch * p.heads * p.queries * p.keys * std::int64_t{sizeof(float)}, kStep) * kStep);
}

template <class T>
Variant run(const Problem<T>& p, Variant variant, Stream& stream) {
  require_valid(kName, p);
  variant = resolved<T>(variant, p.depth, p.value_depth);
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

// Every variant accumulates an output element over the keys sequentially. tiled and flash also
// rescale the sums once per tile.
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
