// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Attention: its shapes (heads.h), with all combinations of masks.
#include "ops/attention/attention.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libraries/attention.h"
#include "runtime/backend.h"
#include "runtime/hopper_device.h"
#include "tests/contract/card.h"
#include "tests/ops/attention/family.h"
#include "tests/ops/attention/heads.h"
#include "tests/ops/attention/libraries.h"
#include "tests/ops/attention/problems.h"
#include "tests/ops/attention/references.h"
#include "tests/ops/attention/samples.h"

namespace kg::card {
namespace {

using namespace attention_problems;

Problem problem(Dtype dtype, const Shape& shape) {
  const Heads h = heads_of(shape);
  const Work work = dispatch(dtype, [&]<class T>() {
    attention::Problem<T> p = counted<T>(h);
    float log_sum;
    p.log_sum = &log_sum;
    return attention::work(p);
  });
  Problem result{dtype, shape.text(), work,
                 pairs(h) * static_cast<double>(2 * (h.depth + h.value_depth))};
  result.parameters = h;
  result.outputs = {rows_tensor("out", dtype, h.extents(Heads::Of::queries, h.value_depth))};
  add_inputs(h, result);
  result.outputs.push_back(log_sum_tensor(h));
  result.outputs.back().optional = true;
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, attention::Variant variant, Stream& stream) {
  attention::Problem<T> p = bound<T>(call);
  p.out = call.out<T>("out");
  p.out_stride = strides(call, "out");
  const std::vector<std::string>& absent = call.problem().left_out;
  if (std::find(absent.begin(), absent.end(), "log_sum") == absent.end()) {
    p.log_sum = call.out<float>("log_sum");
    p.log_sum_stride = call.leading("log_sum");
  }
  p.workspace = static_cast<float*>(call.workspace(attention::workspace_bytes(p, variant)));
  std::optional<HopperDevice> device;
  if (variant == attention::Variant::wgmma) device.emplace();
  return attention::run(p, variant, stream);
};

constexpr std::string_view kWgmmaStride = "wgmma leaves rows that begin off 16 bytes to flash";

std::vector<Variant> variants() {
  std::vector<Variant> result = variants_of(attention::kVariants, kRun);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const attention::Variant variant = attention::kVariants[i];
    result[i].supports = [variant](const Problem& problem) {
      const Heads& h = heads_of(problem);
      std::optional<HopperDevice> device;
      if (variant == attention::Variant::wgmma) device.emplace();
      return dispatch(problem.dtype, [&]<class T>() {
        return attention::supports<T>(variant, h.depth, h.value_depth);
      });
    };
    if (variant == attention::Variant::wgmma) {
      // With a bias it would test flash again.
      result[i].tried = [](const Problem& problem) { return !heads_of(problem).bias; };
      result[i].listed = result[i].tried;
      result[i].dependence = [](const Problem&) { return Dependence{"", kWgmmaStride}; };
    }
    if (variant == attention::Variant::tiled) result[i].dtypes = {Dtype::f32};
    if (variant == attention::Variant::flash || variant == attention::Variant::wgmma)
      result[i].dtypes = {Dtype::f16, Dtype::bf16};
    if (variant != attention::Variant::naive) continue;
    result[i].sequence = [](const Problem& problem) {
      const Heads& h = heads_of(problem);
      return h.keys * (h.depth + h.value_depth);
    };
    result[i].accurate = false; // one sum over all keys
  }
  return result;
}

// Libraries require that every query sees a key.
std::vector<std::string_view> vendors_of(const Problem& problem) {
  const Heads& h = heads_of(problem);
  if (!h.all_see()) return {};
  return names(vendor::attention_table, of_libraries(problem.dtype, h));
}

// cuDNN takes one call, the others chains.
Problem of_vendor(const Problem& ours, std::string_view vendor) {
  return vendor == "cudnn" ? with_counts(ours) : with_addend(ours.without("log_sum"));
}

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  vendor::AttentionTensors tensors{
      .q = call.address("q"),
      .k = call.address("k"),
      .v = call.address("v"),
      .out = call.address("out"),
  };
  const Problem& p = call.problem();
  if (has_input(p, "addend")) {
    const std::int64_t scores =
        p.tensor("addend").size() * static_cast<std::int64_t>(size_of(p.dtype));
    tensors.addend = call.address("addend");
    tensors.scores = call.workspace(static_cast<std::size_t>(std::max<std::int64_t>(scores, 0)));
  } else {
    tensors.masks = masks_of(call);
    tensors.log_sum = call.out<float>("log_sum");
  }
  vendor::attention(vendor, of_libraries(call), tensors, stream);
}

// The head dimensions to which the kernels of wgmma round up.
const char* wgmma_depths(const Heads& h) {
  return h.depth <= 64                            ? ", 64, 64>"
         : h.depth <= 128                         ? ", 128, 128>"
         : h.depth <= 192 && h.value_depth <= 128 ? ", 192, 128>"
                                                  : ", 256, 256>";
}

// Whether wgmma runs its own kernel: not with a bias, nor where tensor maps cannot describe the
// rows. Otherwise it runs flash's.
bool runs_wgmma(const Problem& problem, const Layout& layout) {
  if (heads_of(problem).bias) return false;
  constexpr std::int64_t kPack = 8; // elements of 16 bytes
  for (const char* const name : {"q", "k", "v", "out"}) {
    const Tensor& tensor = problem.tensor(name);
    if (tensor.size() == 0) continue;
    const test::Strided rows = strided(tensor, layout);
    if (rows.offset % kPack != 0 || rows.shape.back() % kPack != 0) return false;
    for (std::size_t axis = 0; axis + 1 < rows.shape.size(); ++axis)
      if (rows.shape[axis] > 1 && rows.strides[axis] % kPack != 0) return false;
  }
  return true;
}

std::vector<std::string> kernel_name(std::string_view variant, const Problem& problem,
                                     const Layout& layout) {
  const Heads& h = heads_of(problem);
  if (variant == "naive") return {"attention::naive<"};
  if (variant == "tiled")
    return {"attention::tiled<" + std::string(h.value_depth <= 64 ? "1" : "2") + ", "};
  if (variant == "wgmma" && runs_wgmma(problem, layout))
    return {"attention::wgmma<", wgmma_depths(h)};
  return {"attention::flash<", flash_depths(h)};
}

} // namespace

Card attention_card() {
  Card card = attention_family();
  card.problem = problem;
  card.variants = variants();
  card.resolved = [](const Problem& problem) {
    const Heads& h = heads_of(problem);
    return dispatch(problem.dtype, [&]<class T>() {
      return name(attention::resolved(attention::Variant::automatic, placed<T>(h)));
    });
  };
  card.run_automatic = automatic_of(attention::Variant::automatic, kRun);
  // A library rounds scores and weights to the type of the tensors.
  card.vendors = {vendors_of, run_vendor, 4, of_vendor};
  card.vendors.on_host = [](const Problem& problem) {
    return vendors_of(problem).empty() ? std::set<std::string_view>()
                                       : std::set<std::string_view>{"openblas"};
  };
  card.references = attention_references::references;
  card.elements = attention_references::elements;
  card.exact_samples = attention_samples::exact_samples;
  card.random_samples = attention_samples::random_samples;
  card.special_samples = attention_samples::special_samples;
  card.misaligned = these({"b1_h2_q17_k33_d40", "b1_h1_q9_k20_d128_v72"});
  card.pitches = rows_of_depths;
  card.empty = {"b0_h2_q3_k4_d8", "b1_h0_kv1_q3_k4_d8", "b1_h2_q0_k4_d8"};
  card.large_strides = these({"b1_h1_q2_k2_d8", "b1_h2_q1_k1_d64_v40"});
  card.kernel_name = kernel_name;
  card.bit_difference_reason = "exp2f, logf, fused products";
  card.timed_on_host = {{"b1_h2_q128_k128_d64", true}, {"b1_h2_kv1_q64_k256_d128_causal"}};
  return card;
}

} // namespace kg::card
