// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Attention by its shapes (heads.h), masks in all combinations.
#include "attention/attention.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/backend.h"
#include "tests/contract/card.h"
#include "tests/ops/attention/heads.h"
#include "tests/ops/attention/references.h"
#include "tests/ops/attention/samples.h"
#include "vendor/attention.h"

namespace kg::card {
namespace {

void draw(const Problem& problem, Inputs& inputs) {
  for (const Tensor& input : problem.inputs) {
    if (!input.element || input.dtype != Dtype::i32 || inputs.contains(input.name)) continue;
    std::vector<double> numbers;
    for (std::int64_t i = 0; i < input.size(); ++i)
      numbers.push_back(static_cast<double>(input.element(i)));
    inputs[input.name] = values(Dtype::i32, std::move(numbers));
  }
}

// Of a problem without memory: extents and masks.
template <class T>
attention::Problem<T> described(const Heads& h) {
  return {.batch = h.batch,
          .heads = h.heads,
          .kv_heads = h.kv_heads,
          .queries = h.queries,
          .keys = h.keys,
          .depth = h.depth,
          .value_depth = h.value_depth,
          .causal = h.causal,
          .window = h.window};
}

// Elements of `tensor` that no query sees, of a bias those whose key is hidden.
double unseen(const Heads& h) {
  if (h.batch * h.heads * h.queries == 0)
    return static_cast<double>(h.batch * h.kv_heads * h.keys * (h.depth + h.value_depth));
  const std::int64_t seen = h.window > 0 ? std::min(h.keys, h.queries - 1 + h.window) : h.keys;
  double elements =
      static_cast<double>(h.batch * h.kv_heads * (h.keys - seen) * (h.depth + h.value_depth));
  if (!h.bias) return elements;
  for (std::int64_t i = 0; i < h.queries; ++i)
    for (std::int64_t j = 0; j < h.keys; ++j) {
      const std::int64_t behind = i + h.keys - h.queries - j; // 0: the query's own key
      if (h.causal && (behind < 0 || (h.window > 0 && behind >= h.window)))
        elements += static_cast<double>(h.heads);
    }
  return elements;
}

Problem problem(Dtype dtype, const Shape& shape) {
  const Heads h = heads_of(shape);
  const Work work = dispatch(dtype, [&]<class T>() {
    attention::Problem<T> p = described<T>(h);
    T bias;
    float log_sum;
    std::int32_t length;
    p.log_sum = &log_sum;
    if (h.lengths) p.key_lengths = &length;
    if (h.bias) p.bias = &bias;
    p.bias_stride = {0, 1, 1}; // whether there is one for each
    return attention::work(p);
  });
  std::int64_t pairs = 0;
  for (std::int64_t i = 0; i < h.queries; ++i)
    for (std::int64_t j = 0; j < h.keys && h.causal; ++j) {
      const std::int64_t behind = i + h.keys - h.queries - j;
      pairs += behind >= 0 && (h.window == 0 || behind < h.window);
    }
  if (!h.causal) pairs = h.queries * h.keys;
  Problem result{dtype,
                 shape.text(),
                 {{"q", dtype, h.extents(Heads::Of::queries, h.depth), false},
                  {"k", dtype, h.extents(Heads::Of::keys, h.depth), false},
                  {"v", dtype, h.extents(Heads::Of::keys, h.value_depth), false}},
                 {{"out", dtype, h.extents(Heads::Of::queries, h.value_depth), false}},
                 work,
                 static_cast<double>(h.batch * h.heads) * static_cast<double>(pairs) *
                     static_cast<double>(2 * (h.depth + h.value_depth)),
                 {{"scale", 1 / std::sqrt(static_cast<float>(h.depth))}}};
  if (h.lengths)
    result.inputs.push_back({.name = "key_lengths",
                             .dtype = Dtype::i32,
                             .extents = {h.batch},
                             .by_row = false,
                             .element = [keys = h.keys](std::int64_t b) {
                               return static_cast<std::uint64_t>(usual_length(b, keys));
                             }});
  if (h.ragged)
    for (const auto& [name, of] : {std::pair{"query_offsets", Heads::Of::queries},
                                   std::pair{"key_offsets", Heads::Of::keys}})
      result.inputs.push_back({.name = name,
                               .dtype = Dtype::i32,
                               .extents = {h.batch + 1},
                               .by_row = false,
                               .element = [offsets = h.offsets(of)](std::int64_t b) {
                                 return static_cast<std::uint64_t>(
                                     offsets[static_cast<std::size_t>(b)]);
                               }});
  if (h.bias) result.inputs.push_back({"bias", dtype, {h.heads, h.queries, h.keys}, false});
  std::vector<std::int64_t> log_sums = {h.batch, h.heads, h.queries};
  if (h.ragged) log_sums = {h.heads, h.offsets(Heads::Of::queries).back()};
  result.outputs.push_back({.name = "log_sum",
                            .dtype = Dtype::f32,
                            .extents = log_sums,
                            .by_row = false,
                            .optional = true});
  result.gaps = true;
  result.pitched = true;
  result.unread = unseen(h) * static_cast<double>(size_of(dtype));
  result.draw = draw;
  // What a mask says is part of the function's name; the rest are numbers.
  std::string words;
  const std::pair<bool, const char*> flags[] = {{h.ragged, "ragged"},
                                                {h.tokens_first && !h.ragged, "bshd"},
                                                {h.causal, "causal"},
                                                {h.lengths, "lengths"},
                                                {h.bias, "bias"}};
  for (const auto& [there, word] : flags)
    if (there) words += (words.empty() ? "" : "_") + std::string(word);
  result.calling = {words,
                    {{"batch", {h.batch}},
                     {"heads", {h.heads}},
                     {"kv_heads", {h.kv_heads}},
                     {"queries", {h.queries}},
                     {"keys", {h.keys}},
                     {"depth", {h.depth}},
                     {"value_depth", {h.value_depth}}}};
  if (h.causal) result.calling->integers.push_back({"window", {h.window}});
  return result;
}

// Of a tensor whose rows `leading` elements lie apart.
attention::Strides strides(const Heads& h, std::int64_t heads, std::int64_t tokens,
                           std::int64_t leading) {
  if (h.ragged) return {0, leading, heads * leading};
  return h.tokens_first ? attention::Strides{tokens * heads * leading, leading, heads * leading}
                        : attention::Strides{heads * tokens * leading, tokens * leading, leading};
}

struct Run {
  template <class T>
  attention::Variant operator()(const Call& call, attention::Variant variant,
                                Stream& stream) const {
    const Heads h = heads_of(call.problem());
    attention::Problem<T> p = described<T>(h);
    const std::size_t axes = h.ragged ? 3 : 4;
    const std::size_t heads = h.ragged || !h.tokens_first ? 1 : 2, tokens = 3 - heads;
    p.heads = call.extent("q", heads);
    p.kv_heads = call.extent("k", heads);
    p.depth = call.extent("q", axes - 1);
    p.value_depth = call.extent("v", axes - 1);
    if (h.ragged) {
      p.query_offsets = call.in<std::int32_t>("query_offsets");
      p.key_offsets = call.in<std::int32_t>("key_offsets");
    } else {
      p.batch = call.extent("q", 0);
      p.queries = call.extent("q", tokens);
      p.keys = call.extent("k", tokens);
    }
    p.q = call.in<T>("q");
    p.k = call.in<T>("k");
    p.v = call.in<T>("v");
    p.out = call.out<T>("out");
    p.q_stride = strides(h, p.heads, p.queries, call.leading("q"));
    p.k_stride = strides(h, p.kv_heads, p.keys, call.leading("k"));
    p.v_stride = strides(h, p.kv_heads, p.keys, call.leading("v"));
    p.out_stride = strides(h, p.heads, p.queries, call.leading("out"));
    p.scale = call.scalar("scale");
    if (h.lengths) {
      p.key_lengths = call.in<std::int32_t>("key_lengths");
      require(p.key_lengths || p.batch * p.heads * p.queries == 0,
              "attention's card: key_lengths is null");
    }
    if (h.bias) {
      p.bias = call.in<T>("bias");
      require(p.bias || p.batch * p.heads * p.queries == 0, "attention's card: bias is null");
      p.bias_stride = {0, p.queries * call.leading("bias"), call.leading("bias")};
    }
    const std::vector<std::string>& absent = call.problem().left_out;
    if (std::find(absent.begin(), absent.end(), "log_sum") == absent.end()) {
      p.log_sum = call.out<float>("log_sum");
      p.log_sum_stride = call.leading("log_sum");
    }
    p.workspace = static_cast<float*>(call.workspace(attention::workspace_bytes(p, variant)));
    return attention::run(p, variant, stream);
  }
};

std::vector<Variant> variants() {
  std::vector<Variant> result = variants_of(attention::kVariants, Run{});
  for (std::size_t i = 0; i < result.size(); ++i) {
    const attention::Variant variant = attention::kVariants[i];
    result[i].supports = [variant](const Problem& problem) {
      const Heads h = heads_of(problem);
      return dispatch(problem.dtype, [&]<class T>() {
        return attention::supports<T>(variant, h.depth, h.value_depth);
      });
    };
    if (variant == attention::Variant::tiled) result[i].dtypes = {Dtype::f32};
    if (variant == attention::Variant::flash) result[i].dtypes = {Dtype::f16, Dtype::bf16};
    if (variant != attention::Variant::naive) continue;
    result[i].sequence = [](const Problem& problem) {
      const Heads h = heads_of(problem);
      return h.keys * (h.depth + h.value_depth);
    };
    result[i].accurate = false; // one sum over all keys
  }
  return result;
}

// The addend of each score: the bias where the key is seen, else -inf.
Problem with_addend(const Problem& ours, std::string_view) {
  const Heads h = heads_of(ours);
  Problem result = ours.without("log_sum");
  const auto addend = [h](std::int64_t i, const auto& bias) {
    const std::int64_t query = i / h.keys % h.queries, key = i % h.keys;
    const std::int64_t behind = query + h.keys - h.queries - key;
    if (h.causal && (behind < 0 || (h.window > 0 && behind >= h.window)))
      return -attention_samples::kInfinity;
    return h.bias ? bias(i % (h.heads * h.queries * h.keys)) : 0.0;
  };
  for (auto* group : {&result.inputs, &result.outputs})
    for (Tensor& tensor : *group) tensor.derived = true;
  for (Tensor& input : result.inputs) input.optional = input.name == "bias"; // none reads it
  result.inputs.push_back({.name = "addend",
                           .dtype = ours.dtype,
                           .extents = {h.batch, h.heads, h.queries, h.keys},
                           .by_row = false,
                           .element = [=, dtype = ours.dtype](std::int64_t i) {
                             return test::encode(dtype,
                                                 addend(i, [](std::int64_t) { return 0.0; }));
                           }});
  result.draw = [=](const Problem& p, Inputs& inputs) {
    draw(p, inputs);
    if (h.bias && !inputs.contains("bias"))
      inputs["bias"] = values(p.dtype, attention_samples::normals(
                                           p.dtype, h.heads * h.queries * h.keys, test::Tensor::b));
    std::vector<double> made;
    for (std::int64_t i = 0; i < p.tensor("addend").size(); ++i)
      made.push_back(addend(i, [&](std::int64_t j) {
        return inputs.at("bias").values[static_cast<std::size_t>(j)];
      }));
    inputs["addend"] = values(p.dtype, std::move(made));
  };
  return result;
}

// Of tensors with heads before tokens whose queries all see a key.
std::vector<std::string_view> vendors_of(const Problem& problem) {
  const Heads h = heads_of(problem);
  if (h.tokens_first || !h.all_see()) return {};
  return vendor::attention_variants(problem.dtype);
}

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  const Problem& p = call.problem();
  const std::size_t scores = static_cast<std::size_t>(std::max<std::int64_t>(
      p.tensor("addend").size() * static_cast<std::int64_t>(size_of(p.dtype)), 0));
  vendor::attention(vendor,
                    {p.dtype, call.scalar("scale"), call.extent("addend", 0),
                     call.extent("addend", 1), call.extent("k", 1), call.extent("addend", 2),
                     call.extent("addend", 3), call.extent("q", 3), call.extent("v", 3)},
                    {call.address("q"), call.address("k"), call.address("v"),
                     call.address("addend"), call.workspace(scores), call.address("out")},
                    stream);
}

std::vector<std::string> kernel_name(std::string_view variant, const Problem& problem,
                                     const Layout&) {
  const Heads h = heads_of(problem);
  if (variant == "naive") return {"attention::naive<"};
  if (variant == "tiled")
    return {"attention::tiled<" + std::string(h.value_depth <= 64 ? "1" : "2") + ", "};
  const char* const depths = h.depth <= 64                            ? ", 64, 64>"
                             : h.depth <= 96                          ? ", 96, 96>"
                             : h.depth <= 128                         ? ", 128, 128>"
                             : h.depth <= 192 && h.value_depth <= 128 ? ", 192, 128>"
                                                                      : ", 256, 256>";
  return {"attention::flash<", depths};
}

} // namespace

Card attention_card() {
  Card card;
  card.problem = problem;
  card.variants = variants();
  card.resolved = [](const Problem& problem) {
    const Heads h = heads_of(problem);
    return dispatch(problem.dtype, [&]<class T>() {
      return name(attention::resolved<T>(attention::Variant::automatic, h.depth, h.value_depth));
    });
  };
  card.run_automatic = automatic_of(attention::Variant::automatic, Run{});
  // A library rounds scores and weights to the type of the tensors.
  card.vendors = {vendors_of, run_vendor, 4, with_addend};
  card.vendors.on_host = [](const Problem& problem) {
    return vendors_of(problem).empty() ? std::set<std::string_view>()
                                       : std::set<std::string_view>{"openblas"};
  };
  card.references = attention_references::references;
  card.elements = attention_references::elements;
  card.exact_samples = attention_samples::exact_samples;
  card.random_samples = attention_samples::random_samples;
  card.special_samples = attention_samples::special_samples;
  card.usual = [](Dtype) {
    return std::vector<std::string>{"b1_h4_kv2_q70_k130_d64_causal", "b2_h2_q19_k65_d80_v40_bias",
                                    "b1_h2_q66_k70_d128", "b1_h1_q20_k33_d192_v128",
                                    "b1_h1_q17_k40_d256"};
  };
  card.sizes = [](Dtype) {
    std::vector<std::string> shapes;
    for (const char* const tokens :
         {"q1_k1", "q2_k7", "q15_k63", "q16_k64", "q17_k65", "q64_k16", "q65_k128", "q129_k129"})
      shapes.push_back(std::string("b1_h2_kv1_") + tokens + "_d64");
    for (const int depth : {8, 24, 72, 96, 104, 136, 200, 248})
      shapes.push_back("b2_h1_q18_k20_d" + std::to_string(depth));
    // Of naive and tiled alone.
    for (const char* const depths : {"d1", "d5_v3", "d67_v130", "d300_v64", "d16_v300"})
      shapes.push_back(std::string("b1_h2_q9_k70_") + depths);
    return shapes;
  };
  card.misaligned = [](Dtype) {
    return std::vector<std::string>{"b1_h2_q17_k33_d40", "b1_h1_q9_k20_d128_v72"};
  };
  card.empty = {"b0_h2_q3_k4_d8", "b1_h0_kv1_q3_k4_d8", "b1_h2_q0_k4_d8"};
  card.far = [](Dtype) {
    return std::vector<std::string>{"b1_h1_q2_k2_d8", "b1_h2_q1_k1_d64_v40"};
  };
  card.refused_scalars = {
      {"scale", {0, -1, attention_samples::kInfinity, attention_samples::kNan}}};
  card.kernel_name = kernel_name;
  card.compiled_otherwise = "exp2f, logf, fused products";
  card.kind_on_host = card.kind_on_gpu = kg::Kind::compute;
  card.in_turns = true;
  card.timed_on_host = {{"b1_h2_q128_k128_d64", true}, {"b1_h2_kv1_q64_k256_d128_causal"}};
  // Layers of GPT-2, Llama-3-8B, Qwen2.5-0.5B and Mistral-7B (a window), and heads of DeepSeek-V3.
  card.timed_on_gpu = {{"b8_h12_q1024_k1024_d64_causal"},
                       {"b1_h32_kv8_q4096_k4096_d128_causal", true},
                       {"b2_h32_kv8_q2048_k2048_d128"},
                       {"b4_h14_kv2_q2048_k2048_d64_causal"},
                       {"b1_h32_kv8_q8192_k8192_d128_causal_window4096"},
                       {"b1_h16_q2048_k2048_d192_v128_causal"}};
  return card;
}

} // namespace kg::card
