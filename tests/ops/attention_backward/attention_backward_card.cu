// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradients of attention, with attention's shapes (heads.h) and masks. Tests use the out and
// log_sum of a forward pass in fp64, rounded once.
#include "ops/attention_backward/attention_backward.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "libraries/attention_backward.h"
#include "runtime/buffer.h"
#include "tests/contract/card.h"
#include "tests/ops/attention/family.h"
#include "tests/ops/attention/heads.h"
#include "tests/ops/attention/libraries.h"
#include "tests/ops/attention/problems.h"
#include "tests/ops/attention_backward/references.h"
#include "tests/ops/attention_backward/samples.h"

namespace kg::card {
namespace {

using namespace attention_problems;

// Inputs of the gradient are outputs of the forward problem.
template <class T>
attention::Problem<T> forward_of(const Call& call) {
  attention::Problem<T> f = bound<T>(call);
  f.out = const_cast<T*>(call.in<T>("out"));
  f.out_stride = strides(call, "out");
  f.log_sum = const_cast<float*>(call.in<float>("log_sum"));
  f.log_sum_stride = call.leading("log_sum");
  return f;
}

// For timing, our forward kernel computes out and log_sum.
void run_forward(const Call& call, Stream& stream) {
  dispatch(call.problem().dtype, [&]<class T>() {
    constexpr auto kVariant = attention::Variant::automatic;
    attention::Problem<T> f = forward_of<T>(call);
    const DeviceBuffer<std::byte> workspace(attention::workspace_bytes(f, kVariant));
    f.workspace = reinterpret_cast<float*>(workspace.data());
    attention::run(f, kVariant, stream);
    stream.synchronize();
  });
}

Problem problem(Dtype dtype, const Shape& shape) {
  const Heads h = heads_of(shape);
  const Work work = dispatch(dtype, [&]<class T>() {
    return attention_backward::work(attention_backward::Problem<T>{.forward = counted<T>(h)});
  });
  Problem result{dtype, shape.text(), work,
                 pairs(h) * static_cast<double>(2 * (3 * h.depth + 2 * h.value_depth))};
  result.parameters = h;
  add_inputs(h, result);
  const auto of_queries = [&](std::int64_t length) {
    return h.extents(Heads::Of::queries, length);
  };
  const auto of_keys = [&](std::int64_t length) { return h.extents(Heads::Of::keys, length); };
  // Before the optional tensors, so that the data are equal for every mask.
  Tensor of_forward[] = {rows_tensor("out", dtype, of_queries(h.value_depth)), log_sum_tensor(h),
                         rows_tensor("dout", dtype, of_queries(h.value_depth))};
  of_forward[0].made = of_forward[1].made = true;
  result.inputs.insert(result.inputs.begin() + 3, std::begin(of_forward), std::end(of_forward));
  result.make = run_forward;
  result.outputs = {rows_tensor("dq", dtype, of_queries(h.depth)),
                    rows_tensor("dk", dtype, of_keys(h.depth)),
                    rows_tensor("dv", dtype, of_keys(h.value_depth))};
  result.draw = [](const Problem& p, Inputs& inputs) {
    draw_numbers(p, inputs);
    attention_backward_samples::draw_forward(p, inputs);
  };
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, attention_backward::Variant variant,
                                  Stream& stream) {
  attention_backward::Problem<T> p{.forward = forward_of<T>(call)};
  p.dout = call.in<T>("dout");
  p.dout_stride = strides(call, "dout");
  p.dq = call.out<T>("dq");
  p.dq_stride = strides(call, "dq");
  p.dk = call.out<T>("dk");
  p.dk_stride = strides(call, "dk");
  p.dv = call.out<T>("dv");
  p.dv_stride = strides(call, "dv");
  p.workspace =
      static_cast<float*>(call.workspace(attention_backward::workspace_bytes(p, variant)));
  return attention_backward::run(p, variant, stream);
};

std::vector<Variant> variants() {
  std::vector<Variant> result = variants_of(attention_backward::kVariants, kRun);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const attention_backward::Variant variant = attention_backward::kVariants[i];
    result[i].supports = [variant](const Problem& problem) {
      const Heads& h = heads_of(problem);
      return dispatch(problem.dtype, [&]<class T>() {
        return attention_backward::supports<T>(variant, h.depth, h.value_depth);
      });
    };
    if (variant == attention_backward::Variant::flash) {
      result[i].dtypes = {Dtype::f16, Dtype::bf16};
      result[i].dependence = [](const Problem&) -> Dependence {
        return {"", "rows that begin off 16 bytes are not read by 16-byte vectors"};
      };
    }
    if (variant != attention_backward::Variant::naive) continue;
    result[i].sequence = [](const Problem& problem) {
      const Heads& h = heads_of(problem);
      return std::max(h.keys, h.heads / h.kv_heads * h.queries) * (h.depth + h.value_depth);
    };
    result[i].accurate = false; // one sum over all keys or queries
  }
  return result;
}

// Libraries require that every query sees a key.
std::vector<std::string_view> vendors_of(const Problem& problem) {
  const Heads& h = heads_of(problem);
  if (!h.all_see()) return {};
  return names(vendor::attention_backward_table, of_libraries(problem.dtype, h));
}

// cuDNN takes one call; the others take chains, which recompute out and log_sum.
Problem of_vendor(const Problem& ours, std::string_view vendor) {
  if (vendor == "cudnn") return with_counts(ours);
  Problem result = with_addend(ours);
  for (Tensor& input : result.inputs)
    input.optional |= input.name == "out" || input.name == "log_sum";
  return result;
}

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  vendor::AttentionBackwardTensors tensors{
      .q = call.address("q"),
      .k = call.address("k"),
      .v = call.address("v"),
      .dout = call.address("dout"),
      .dq = call.address("dq"),
      .dk = call.address("dk"),
      .dv = call.address("dv"),
  };
  const Problem& p = call.problem();
  if (has_input(p, "addend")) {
    const std::int64_t scores = std::max<std::int64_t>(
        p.tensor("addend").size() * static_cast<std::int64_t>(size_of(p.dtype)), 0);
    auto* const weights =
        static_cast<std::byte*>(call.workspace(static_cast<std::size_t>(2 * scores)));
    tensors.addend = call.address("addend");
    tensors.weights = weights;
    tensors.gradients = weights ? weights + scores : nullptr;
  } else {
    tensors.masks = masks_of(call);
    tensors.out = call.address("out");
    tensors.log_sum = call.in<float>("log_sum");
  }
  vendor::attention_backward(vendor, of_libraries(call), tensors, stream);
}

// Non-empty launches in their order.
std::vector<std::vector<std::string>> kernels(std::string_view variant, const Problem& problem,
                                              const Layout&) {
  const Heads& h = heads_of(problem);
  const bool queries = h.batch * h.queries > 0, keys = h.batch * h.keys > 0;
  std::vector<std::vector<std::string>> result;
  if (variant == "naive") {
    if (queries) result.push_back({"attention_backward::naive_queries<"});
    if (keys) result.push_back({"attention_backward::naive_keys<"});
    return result;
  }
  if (queries) result.push_back({"attention_backward::row_sums<"});
  if (keys) result.push_back({"attention_backward::flash_keys<", flash_depths(h)});
  if (queries) result.push_back({"attention_backward::flash_queries<", flash_depths(h)});
  return result;
}

} // namespace

Card attention_backward_card() {
  Card card = attention_family();
  card.problem = problem;
  card.variants = variants();
  card.resolved = [](const Problem& problem) {
    const Heads& h = heads_of(problem);
    return dispatch(problem.dtype, [&]<class T>() {
      return name(attention_backward::resolved<T>(attention_backward::Variant::automatic, h.depth,
                                                  h.value_depth));
    });
  };
  card.batches = these({"b*_h2_kv1_q9_k20_d24_causal", "b*_h1_q9_k33_d64_lengths",
                        "b1_h1_q*_k70_d32"}); // only dq has queries
  card.run_automatic = automatic_of(attention_backward::Variant::automatic, kRun);
  // A library rounds scores, weights and their gradients to the type of the tensors.
  card.vendors = {vendors_of, run_vendor, 4, of_vendor};
  card.vendors.on_host = [](const Problem& problem) {
    return vendors_of(problem).empty() ? std::set<std::string_view>()
                                       : std::set<std::string_view>{"openblas"};
  };
  card.references = attention_backward_references::references;
  card.elements = attention_backward_references::elements;
  card.exact_samples = [](Dtype dtype) {
    return attention_backward_samples::exact_samples(dtype, problem);
  };
  card.random_samples = attention_backward_samples::random_samples;
  card.special_samples = [](Dtype dtype) {
    return attention_backward_samples::special_samples(dtype, problem);
  };
  // With a single key every weight is 1, and dS is the rounding error of 0.
  card.vacuous_outputs = [](const Problem& p) {
    return heads_of(p).keys == 1 ? std::vector<std::string>{"dq", "dk"}
                                 : std::vector<std::string>();
  };
  card.misaligned = these({"b1_h2_q9_k17_d40_v24", "b1_h1_q5_k9_d128_v72"});
  card.pitches = rows_of_depths;
  card.empty = {"b0_h2_q3_k4_d8", "b0_h2_q0_k0_d8", "b2_h2_q0_k0_d8"};
  card.large_strides = these({"b1_h1_q2_k2_d8", "b1_h2_q1_k2_d64_v40"});
  card.kernels = kernels;
  card.bit_difference_reason = "exp2f, fused products";
  card.timed_on_host = {{"b1_h2_q64_k128_d64", true}, {"b1_h2_kv1_q64_k128_d128_causal"}};
  return card;
}

} // namespace kg::card
