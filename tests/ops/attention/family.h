// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Parts that the cards and tests of attention and of its gradient share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/backend.h"
#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/ops/attention/heads.h"
#include "tests/oracle/fills.h"

namespace kg::card {

// Grouped heads, and the same with as many heads of K and V as of Q: each one repeated.
struct GroupedHeads {
  Sample few{"normal", "b2_h4_kv2_q20_k70_d64"}, all{"normal", "b2_h4_q20_k70_d64"};
};
inline GroupedHeads grouped_heads(Dtype dtype) {
  GroupedHeads result;
  const Heads h = heads_of(result.few.shape);
  const std::int64_t matrix = h.keys * h.depth;
  for (const auto& [name, tensor] :
       {std::pair{"k", test::Tensor::b}, std::pair{"v", test::Tensor::c}}) {
    const std::vector<double> shared = test::normal(dtype, 2 * 2 * matrix, tensor).values;
    std::vector<double> repeated;
    for (std::int64_t head = 0; head < 2 * 4; ++head)
      repeated.insert(repeated.end(), shared.begin() + head / 2 * matrix,
                      shared.begin() + (head / 2 + 1) * matrix);
    result.few.inputs[name] = values(dtype, shared);
    result.all.inputs[name] = values(dtype, repeated);
  }
  return result;
}

// A window over all keys hides none, and full lengths change nothing.
inline std::vector<Sample> masks_that_hide_nothing() {
  return {{"normal", "b2_h1_q70_k70_d64_causal_window70"},
          {"normal",
           "b2_h1_q70_k70_d64_causal_lengths",
           {{"key_lengths", values(Dtype::i32, {70, 70})}}}};
}

// For Card::pitches. Depths of whole packs, equal to the values' depth or not; one off; and half.
inline std::vector<std::string> rows_of_depths(Dtype) {
  std::vector<std::string> shapes;
  for (const char* const depths : {"d64", "d62", "d63_v65", "d60_v68"})
    for (const char* const tokens : {"b2_h2_q3_k5_", "b2_h2_kv1_q2_k3_"})
      shapes.push_back(std::string(tokens) + depths);
  for (const char* const shape : {"b2_h2_q3_k5_d64_v56_bshd", "b2_h2_q3_k5_d64_ragged",
                                  "b1_h2_q3_k5_d72_bias", "b2_h2_q3_k5_d62_bshd"})
    shapes.push_back(shape);
  return shapes;
}

inline Card attention_family() {
  Card card(heads_grammar());
  card.usual = these({"b1_h4_kv2_q70_k130_d64_causal", "b2_h2_q19_k65_d80_v40_bias",
                      "b1_h2_q66_k70_d128", "b1_h1_q20_k33_d192_v128", "b1_h1_q17_k40_d256"});
  // cuDNN accepts shapes that no chain of libraries does.
  card.vendor_samples = [usual = card.usual](Dtype dtype) {
    std::vector<std::string> shapes = usual(dtype);
    if (backend == Backend::cuda && (dtype == Dtype::f16 || dtype == Dtype::bf16))
      for (const char* const masks : {"bshd", "bshd_causal", "ragged", "ragged_causal", "lengths",
                                      "causal_lengths", "causal_window32"})
        shapes.push_back(std::string("b2_h4_kv2_q16_k130_d64_") + masks);
    std::vector<Sample> samples;
    for (const std::string& shape : shapes) samples.push_back({"normal", shape});
    return samples;
  };
  card.sizes = [](Dtype) {
    std::vector<std::string> shapes;
    for (const char* const tokens :
         {"q1_k1", "q2_k7", "q15_k63", "q16_k64", "q17_k65", "q64_k16", "q65_k128", "q129_k129"})
      shapes.push_back(std::string("b1_h2_kv1_") + tokens + "_d64");
    for (const int depth : {8, 24, 72, 96, 104, 136, 200, 248})
      shapes.push_back("b2_h1_q18_k20_d" + std::to_string(depth));
    // Only for variants without Tensor Cores.
    for (const char* const depths : {"d1", "d5_v3", "d67_v130", "d300_v64", "d16_v300"})
      shapes.push_back(std::string("b1_h2_q9_k70_") + depths);
    return shapes;
  };
  // Sequences, heads and, if no mask depends on their number, queries.
  card.batches = these({"b*_h1_q17_k40_d64", "b*_h2_kv1_q9_k20_d24_causal",
                        "b*_h1_q9_k40_d32_lengths", "b1_h*_q9_k33_d40", "b1_h1_q*_k70_d32"});
  card.refused_scalars = {{"scale", {0, -1, kInfinity, kNan}}};
  card.bound_on_host = card.bound_on_gpu = kg::Bound::compute;
  card.interleaved = true;
  // Layers of GPT-2, Llama-3-8B, Qwen2.5-0.5B and Mistral-7B (a window), and DeepSeek-V3's heads.
  card.timed_on_gpu = {{"b8_h12_q1024_k1024_d64_causal"},
                       {"b1_h32_kv8_q4096_k4096_d128_causal", true},
                       {"b2_h32_kv8_q2048_k2048_d128"},
                       {"b4_h14_kv2_q2048_k2048_d64_causal"},
                       {"b1_h32_kv8_q8192_k8192_d128_causal_window4096"},
                       {"b1_h16_q2048_k2048_d192_v128_causal"}};
  return card;
}

} // namespace kg::card
