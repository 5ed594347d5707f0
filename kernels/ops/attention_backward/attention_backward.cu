// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// attention_backward: argument checks and selection of the kernels.
#include "ops/attention_backward/attention_backward.h"

#include "ops/attention/flash_depths.h"
#include "ops/attention/preconditions.h"
#include "ops/attention_backward/naive_kernels.h"
#include "ops/attention_backward/variants.h"
#include "runtime/device.h"
#include "runtime/dtype.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>
#include <vector>

namespace kg::attention_backward {

namespace {

using attention::Memory;
using attention::Of;
using attention::Rows;
using attention::rows_of;

constexpr std::string_view kName = "attention_backward";

template <class T>
void require_valid(const Problem<T>& p) {
  const attention::Problem<T>& f = p.forward;
  attention::require_valid(kName, f);
  require(f.heads > 0, "attention_backward: heads is 0; it must be 1 or more");
  const Strides strides[] = {p.dout_stride, p.dq_stride, p.dk_stride, p.dv_stride};
  for (const Strides& stride : strides) attention::require_no_sequences(kName, f, stride);
}

// The tensors in addition to the forward pass's.
template <class T>
Rows dout_of(const Problem<T>& p) {
  return rows_of(p.forward, Of::queries, "dout", p.dout, p.dout_stride, p.forward.value_depth);
}
template <class T>
std::array<Rows, 3> results_of(const Problem<T>& p) {
  const attention::Problem<T>& f = p.forward;
  return {rows_of(f, Of::queries, "dq", p.dq, p.dq_stride, f.depth),
          rows_of(f, Of::keys, "dk", p.dk, p.dk_stride, f.depth),
          rows_of(f, Of::keys, "dv", p.dv, p.dv_stride, f.value_depth)};
}

template <class T>
void require_memory(const Problem<T>& p) {
  const attention::Problem<T>& f = p.forward;
  const Rows out = attention::Tensors<T>(f).out, dout = dout_of(p);
  attention::require_inputs(kName, f);
  for (const Rows* rows : {&out, &dout}) require_rows(kName, *rows);
  require_elements("attention_backward: log_sum", f.log_sum, f.batch * f.heads * f.queries);
  std::vector<Memory> inputs = attention::inputs_of(f);
  for (const Rows* rows : {&out, &dout}) inputs.push_back(attention::memory_of<T>(*rows));
  inputs.push_back(attention::memory_of_log_sum(f));
  std::vector<Memory> results;
  for (const Rows& rows : results_of(p)) {
    require_rows(kName, rows);
    if (!rows.empty()) require_rows_apart(kName, rows);
    results.push_back(attention::memory_of<T>(rows));
  }
  attention::require_apart(kName, inputs, results);
}

template <class T>
bool is_vector(const Problem<T>& p) {
  const attention::Tensors<T> tensors(p.forward);
  const auto results = results_of(p);
  return attention::is_aligned<T>(tensors.q) && attention::is_aligned<T>(tensors.k) &&
         attention::is_aligned<T>(tensors.v) && attention::is_aligned<T>(tensors.out) &&
         attention::is_aligned<T>(dout_of(p)) &&
         std::all_of(results.begin(), results.end(), attention::is_aligned<T>);
}

template <class T>
void run_naive(const Arguments<T>& a, Stream& stream) {
  const attention::Problem<T>& f = a.problem.forward;
  const auto each = [&](void (*kernel)(Arguments<T>), std::int64_t threads, const char* what) {
    if (threads == 0) return;
    launch(kernel,
           {.grid = grid_x(div_up(threads, kNaiveThreads), what, "split the batch"),
            .block = kNaiveThreads,
            .stream = &stream},
           a);
  };
  each(naive_queries<T>, f.batch * f.heads * f.queries, "attention_backward: the queries");
  each(naive_keys<T>, f.batch * f.kv_heads * f.keys, "attention_backward: the keys");
}

template <class T>
void launch_variant(const Arguments<T>& a, Variant variant, Stream& stream) {
  if constexpr (!std::is_same_v<T, float>)
    if (variant == Variant::flash) return run_flash(a, stream);
  run_naive(a, stream);
}

} // namespace

template <class T>
bool supports(Variant variant, std::int64_t depth, std::int64_t value_depth) {
  if (variant != Variant::flash) return true;
  if (std::is_same_v<T, float> || !attention::flash_holds(depth, value_depth)) return false;
  if (!device_unavailable_reason().empty()) return true; // list cases without a device
  return (std::is_same_v<T, f16> || device_properties().compute_major >= 8) &&
         flash_shared_bytes(depth, value_depth) <= device_properties().shared_bytes_per_block_optin;
}

template <class T>
Variant resolved(Variant variant, std::int64_t depth, std::int64_t value_depth) {
  if (variant != Variant::automatic) return variant;
  return supports<T>(Variant::flash, depth, value_depth) ? Variant::flash : Variant::naive;
}

template <class T>
std::size_t workspace_bytes(const Problem<T>& p, Variant variant) {
  require_valid(p);
  const attention::Problem<T>& f = p.forward;
  const std::int64_t rows = f.batch * f.heads * f.queries;
  const bool pairs = resolved<T>(variant, f.depth, f.value_depth) == Variant::naive;
  constexpr std::int64_t kStep = 16;
  return static_cast<std::size_t>(
      div_up((pairs ? rows * f.keys : rows) * std::int64_t{2 * sizeof(float)}, kStep) * kStep);
}

template <class T>
Variant run(const Problem<T>& p, Variant variant, Stream& stream) {
  require_valid(p);
  const attention::Problem<T>& f = p.forward;
  variant = resolved<T>(variant, f.depth, f.value_depth);
  require(supports<T>(variant, f.depth, f.value_depth),
          "attention_backward: variant " + std::string(name(variant)) +
              " does not do heads of depth " + std::to_string(f.depth) + " and value_depth " +
              std::to_string(f.value_depth) + " in " + std::string(kg::name(dtype_of<T>)) +
              " on this device; use automatic or naive");
  if (f.batch * (f.queries + f.keys) == 0) return variant;
  require_memory(p);
  require(p.workspace != nullptr || workspace_bytes(p, variant) == 0,
          "attention_backward: workspace is null; it needs workspace_bytes()");
  launch_variant(Arguments<T>{p, is_vector(p)}, variant, stream);
  return variant;
}

// Every variant adds its terms sequentially.
std::int64_t query_chain(std::int64_t keys) { return keys; }
std::int64_t key_chain(std::int64_t queries, std::int64_t group) { return queries * group; }

template <class T>
Work work(const Problem<T>& p) {
  const attention::Problem<T>& f = p.forward;
  const Work forward = attention::work(f);
  const auto depth = static_cast<double>(f.depth), values = static_cast<double>(f.value_depth);
  const auto queries = static_cast<double>(f.batch * f.heads * f.queries);
  const auto keys = static_cast<double>(f.batch * f.kv_heads * f.keys);
  const double pairs =
      static_cast<double>(f.batch * f.heads) *
      static_cast<double>(attention::visible_pairs(f.queries, f.keys, f.causal, f.window));
  const double written = (queries * depth + keys * (depth + values)) * sizeof(T);
  return {.bytes = forward.bytes - forward.written +
                   queries * (2 * values * sizeof(T) + sizeof(float)) + written,
          .written = written,
          .flops = pairs * 2 * (3 * depth + 2 * values)};
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

} // namespace kg::attention_backward
