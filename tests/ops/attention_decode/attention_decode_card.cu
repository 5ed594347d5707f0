// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Attention of a few queries to a cache, with attention's shapes (heads.h), all causal:
// b2_h8_kv2_q1_k300_d128, then bshd, page16 for a cache with pages of 16 tokens, lengths. Libraries
// support only contiguous tensors, as `attention`.
#include "ops/attention_decode/attention_decode.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/ops/attention/heads.h"
#include "tests/ops/attention/problems.h"
#include "tests/ops/attention/references.h"
#include "tests/ops/attention/samples.h"
#include "tests/oracle/tolerance_attention.h"

namespace kg::card {
namespace {

using Of = Heads::Of;

struct Cache {
  Heads heads;
  std::int64_t page; // tokens of a page; 0: contiguous

  std::int64_t pages() const { return (heads.keys + page - 1) / page; } // per sequence
  std::int64_t all_pages() const { return heads.batch * pages(); }
  // Pages are allocated from the last one downwards.
  std::int64_t page_of(std::int64_t entry) const { return all_pages() - 1 - entry; }

  std::vector<std::int64_t> extents(std::int64_t length) const {
    if (page == 0) return heads.extents(Of::keys, length);
    return {all_pages(), page, heads.kv_heads, length};
  }
  // The offset of element `i` of a contiguous cache; `entry(i)` is the table's.
  template <class Entry>
  std::int64_t place(std::int64_t i, std::int64_t length, Entry entry) const {
    if (page == 0) return i;
    const std::int64_t token = i / length % heads.keys;
    const std::int64_t head = i / length / heads.keys % heads.kv_heads;
    const std::int64_t sequence = i / length / heads.keys / heads.kv_heads;
    const std::int64_t number = entry(sequence * pages() + token / page);
    return ((number * page + token % page) * heads.kv_heads + head) * length + i % length;
  }
};

ShapeGrammar<Cache> cache_grammar() {
  using Layout = Heads::Layout;
  return ShapeGrammar<Cache>()
      .nested(
          extents_grammar().one_of(&Heads::layout, {{"", Layout::bhsd}, {"bshd", Layout::bshd}}),
          &Cache::heads)
      .number("page", &Cache::page, 0)
      .nested(ShapeGrammar<Heads>().flag("lengths", &Heads::lengths), &Cache::heads);
}

// Always causal; the shape does not say it.
template <class Text>
Cache cache_of(const Text& shape) {
  Cache cache = cache_grammar().parse(shape);
  cache.heads.causal = true;
  return cache;
}
const Cache& cache_of(const Problem& problem) { return problem.parameters.as<Cache>(); }

template <class T>
attention_decode::Problem<T> described(const Cache& cache) {
  const Heads& h = cache.heads;
  static const std::int32_t number = 0;
  attention_decode::Problem<T> p{.batch = h.batch,
                                 .heads = h.heads,
                                 .kv_heads = h.kv_heads,
                                 .queries = h.queries,
                                 .keys = h.keys,
                                 .depth = h.depth,
                                 .value_depth = h.value_depth};
  if (h.lengths) p.key_lengths = &number;
  if (cache.page > 0) p.table = {cache.page, &number, cache.pages()};
  return p;
}

Problem problem(Dtype dtype, const Shape& shape) {
  const Cache cache = cache_of(shape);
  const Heads& h = cache.heads;
  Problem result{
      dtype, shape.text(),
      dispatch(dtype, [&]<class T>() { return attention_decode::work(described<T>(cache)); }),
      attention_problems::pairs(h) * static_cast<double>(2 * (h.depth + h.value_depth))};
  result.parameters = cache;
  using attention_problems::rows_tensor;
  result.inputs = {rows_tensor("q", dtype, h.extents(Of::queries, h.depth)),
                   rows_tensor("k", dtype, cache.extents(h.depth)),
                   rows_tensor("v", dtype, cache.extents(h.value_depth))};
  result.outputs = {rows_tensor("out", dtype, h.extents(Of::queries, h.value_depth))};
  result.scalars = {{"scale", 1 / std::sqrt(static_cast<float>(h.depth))}};
  const auto list = [&](const char* name, std::vector<std::int64_t> extents, auto element) {
    result.inputs.push_back(
        {.name = name,
         .dtype = Dtype::i32,
         .extents = std::move(extents),
         .by_row = false,
         .element = [element](std::int64_t i) { return static_cast<std::uint64_t>(element(i)); }});
  };
  if (h.lengths)
    list("key_lengths", {h.batch},
         [keys = h.keys](std::int64_t b) { return usual_length(b, keys); });
  if (cache.page > 0) {
    list("table", {h.batch, cache.pages()}, [cache](std::int64_t i) { return cache.page_of(i); });
    for (Tensor& input : result.inputs) input.derived = input.name != "q";
    result.unread = static_cast<double>(h.batch * (cache.pages() * cache.page - h.keys) *
                                        h.kv_heads * (h.depth + h.value_depth)) *
                    static_cast<double>(size_of(dtype));
  }
  result.gaps = true;
  result.pitched = true;
  result.draw = attention_problems::draw_numbers;
  result.calling = {std::string(h.tokens_first() ? "bshd" : "") + (cache.page > 0 ? "paged" : "") +
                        (h.lengths ? "lengths" : ""),
                    {{"batch", {h.batch}},
                     {"heads", {h.heads}},
                     {"kv_heads", {h.kv_heads}},
                     {"queries", {h.queries}},
                     {"keys", {h.keys}},
                     {"depth", {h.depth}},
                     {"value_depth", {h.value_depth}},
                     {"page", {cache.page}}}};
  return result;
}

constexpr auto kRun = []<class T>(const Call& call, attention_decode::Variant variant,
                                  Stream& stream) {
  const Cache& cache = cache_of(call.problem());
  const bool first = cache.heads.tokens_first();
  attention_decode::Problem<T> p = described<T>(cache);
  p.batch = call.extent("q", 0);
  p.heads = call.extent("q", first ? 2 : 1);
  p.queries = call.extent("q", first ? 1 : 2);
  p.depth = call.extent("q", 3);
  p.value_depth = call.extent("out", 3);
  if (cache.page == 0) {
    p.kv_heads = call.extent("k", first ? 2 : 1);
    p.keys = call.extent("k", first ? 1 : 2);
  }
  p.q = call.in<T>("q");
  p.k = call.in<T>("k");
  p.v = call.in<T>("v");
  p.out = call.out<T>("out");
  const auto of_queries = [&](const char* name) {
    return attention_problems::strides(cache.heads, call, name);
  };
  const auto of_keys = [&](const char* name) -> PageStrides {
    if (cache.page > 0) return {call.stride(name, 0), call.stride(name, 2), call.stride(name, 1)};
    const attention::Strides s = of_queries(name);
    return {s.sequence, s.head, s.token};
  };
  p.q_stride = of_queries("q");
  p.out_stride = of_queries("out");
  p.k_stride = of_keys("k");
  p.v_stride = of_keys("v");
  p.scale = call.scalar("scale");
  const bool nothing = p.batch * p.heads * p.queries == 0;
  const auto list = [&](const char* name) {
    const auto* const numbers = call.in<std::int32_t>(name);
    require(numbers != nullptr || nothing, std::string(name) + " is null");
    return numbers;
  };
  if (p.key_lengths != nullptr) p.key_lengths = list("key_lengths");
  if (cache.page > 0) p.table = {cache.page, list("table"), call.leading("table")};
  p.workspace = static_cast<float*>(call.workspace(attention_decode::workspace_bytes(p, variant)));
  return attention_decode::run(p, variant, stream);
};

// Elements [first, first + count) of out.
Reference attended(const Problem& problem, std::int64_t first, std::int64_t count,
                   const Values& values) {
  const Cache& cache = cache_of(problem);
  const Heads& h = cache.heads;
  const Elements table = cache.page > 0 ? values("table") : nullptr;
  const auto entry = [&](std::int64_t i) { return static_cast<std::int64_t>(table(i)); };
  const Values contiguous = [&](std::string_view tensor) -> Elements {
    if (tensor != "k" && tensor != "v") return values(tensor);
    return [&, of_pages = values(tensor), length = tensor == "k" ? h.depth : h.value_depth](
               std::int64_t i) { return of_pages(cache.place(i, length, entry)); };
  };
  struct Terms {
    double weighted_abs, condition;
  };
  std::vector<Terms> terms;
  Reference result;
  test::AttentionOracle row;
  for (std::int64_t i = first; i < first + count; ++i) {
    if (i == first || i % h.value_depth == 0)
      row = attention_references::row_oracle(
          h, problem.scalars.at("scale"),
          attention_references::row_at(h.heads, h.queries, h.tokens_first(), i / h.value_depth),
          contiguous);
    const auto at = static_cast<std::size_t>(i % h.value_depth);
    result.value.push_back(row.value[at]);
    terms.push_back({row.weighted_abs[at], row.query_condition[0]});
  }
  result.tolerance = [=, dtype = problem.dtype, value = result.value](std::string_view variant) {
    const std::int64_t chain = attention_decode::chain(
        variant == "split" ? attention_decode::Variant::split : attention_decode::Variant::naive,
        h.keys);
    std::vector<double> bounds;
    for (std::size_t i = 0; i < value.size(); ++i)
      bounds.push_back(std::isfinite(value[i]) && std::isfinite(terms[i].condition)
                           ? test::stored_tolerance(
                                 dtype, value[i],
                                 test::attention_f32_tolerance(terms[i].weighted_abs,
                                                               terms[i].condition, h.depth, chain))
                           : 0);
    return bounds;
  };
  return result;
}

References references(const Problem& problem, const Inputs& inputs) {
  return {{"out", attended(problem, 0, problem.outputs[0].size(),
                           attention_references::values_of(inputs))}};
}

Reference elements(const Problem& problem, std::string_view, std::int64_t first, std::int64_t count,
                   const Values& values) {
  return attended(problem, first, count, values);
}

// Moves the keys and values of attention's sample into pages; the other pages stay undefined.
Sample in_pages(Dtype dtype, Sample sample) {
  const Cache cache = cache_of(sample.shape);
  if (cache.page == 0) return sample;
  for (const auto& [name, length] :
       {std::pair{"k", cache.heads.depth}, std::pair{"v", cache.heads.value_depth}}) {
    const auto found = sample.inputs.find(name);
    if (found == sample.inputs.end()) continue;
    std::vector<double> paged(static_cast<std::size_t>(test::element_count(cache.extents(length))),
                              kNan);
    for (std::size_t i = 0; i < found->second.values.size(); ++i)
      paged[static_cast<std::size_t>(
          cache.place(static_cast<std::int64_t>(i), length, [&](std::int64_t entry) {
            return cache.page_of(entry);
          }))] = found->second.values[i];
    found->second = values(dtype, std::move(paged));
  }
  return sample;
}

std::vector<Sample> exact_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const char* const shape :
       {"b1_h4_kv2_q1_k512_d64", "b1_h3_q1_k64_d80_v40_bshd", "b2_h5_kv1_q1_k128_d128_page16"})
    samples.push_back(in_pages(
        dtype, attention_samples::equal_scores(dtype, shape, cache_of(std::string(shape)).heads)));
  for (const char* const shape :
       {"b2_h4_kv2_q1_k64_d64", "b1_h6_kv1_q1_k256_d256_bshd", "b3_h2_q1_k128_d128_page32"})
    samples.push_back(in_pages(
        dtype, attention_samples::one_key_each(dtype, shape, cache_of(std::string(shape)).heads)));
  return samples;
}

// NaN and infinities reach exactly the queries that see them. Elements after a sequence's last key,
// including those in its last page, are not read.
std::vector<Sample> special_samples(Dtype dtype) {
  std::vector<Sample> samples;
  const auto numbers = [&](std::int64_t count, test::Tensor tensor,
                           std::initializer_list<std::pair<std::int64_t, double>> special) {
    std::vector<double> data = attention_samples::normals(dtype, count, tensor);
    for (const auto& [at, value] : special) data[static_cast<std::size_t>(at)] = value;
    return values(dtype, std::move(data));
  };
  const std::string shape = "b1_h4_kv2_q3_k300_d64"; // rows of 64
  samples.push_back(
      {"special queries",
       shape,
       {{"q", numbers(12 * 64, test::Tensor::a, {{1 * 64 + 3, kNan}, {6 * 64, kInfinity}})}}});
  samples.push_back(
      {"special keys", // only the last query sees the last key
       shape,
       {{"k", numbers(600 * 64, test::Tensor::b, {{299 * 64 + 7, kNan}, {480 * 64 + 9, kNan}})}}});
  samples.push_back(
      {"special values",
       shape,
       {{"v", numbers(600 * 64, test::Tensor::c, {{5 * 64, kNan}, {100 * 64 + 1, -kInfinity}})}}});
  const std::vector<double> lengths = {33, -2, 64, 1000};
  for (const char* const page : {"", "_page16"}) {
    Sample sample{"nothing behind the last key",
                  std::string("b4_h2_q2_k70_d64") + page + "_lengths",
                  {{"key_lengths", values(Dtype::i32, lengths)}}};
    for (const auto& [name, tensor] :
         {std::pair{"k", test::Tensor::b}, std::pair{"v", test::Tensor::c}}) {
      std::vector<double> data = attention_samples::normals(dtype, 8 * 70 * 64, tensor);
      for (std::size_t i = 0; i < data.size(); ++i)
        if (static_cast<double>(i / 64 % 70) >= lengths[i / 64 / 140]) data[i] = kNan;
      sample.inputs[name] = values(dtype, std::move(data));
    }
    samples.push_back(in_pages(dtype, std::move(sample)));
  }
  samples.push_back({"no keys", "b2_h2_q2_k0_d8"});
  for (Sample& sample : samples) sample.may_be_vacuous = true;
  return samples;
}

std::vector<std::vector<std::string>> kernels(std::string_view variant, const Problem& problem,
                                              const Layout&) {
  if (problem.output_size() == 0) return {};
  if (variant == "naive") return {{"attention_decode::naive<"}};
  const bool one = dispatch(problem.dtype, [&]<class T>() {
    return attention_decode::splits(described<T>(cache_of(problem))) == 1;
  });
  if (one) return {{"attention_decode::split<"}};
  return {{"attention_decode::split<"}, {"attention_decode::merge<"}};
}

std::vector<Variant> variants() {
  std::vector<Variant> result = variants_of(attention_decode::kVariants, kRun);
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i].supports = [variant = attention_decode::kVariants[i]](const Problem& problem) {
      const Heads& h = cache_of(problem).heads;
      return attention_decode::supports(variant, h.depth, h.value_depth);
    };
  result[1].dependence = [](const Problem&) -> Dependence { // split
    return {"as many parts of the keys as fill the device with all heads of all sequences", ""};
  };
  result[0].sequence = [](const Problem& problem) {
    const Heads& h = cache_of(problem).heads;
    return h.keys * (h.depth + h.value_depth);
  };
  return result;
}

} // namespace

Card attention_decode_card() {
  Card card(cache_grammar());
  card.problem = problem;
  card.variants = variants();
  card.resolved = [](const Problem& problem) {
    const Heads& h = cache_of(problem).heads;
    return name(
        attention_decode::resolved(attention_decode::Variant::automatic, h.depth, h.value_depth));
  };
  card.run_automatic = automatic_of(attention_decode::Variant::automatic, kRun);
  card.references = references;
  card.elements = elements;
  card.exact_samples = exact_samples;
  card.special_samples = special_samples;
  card.random_samples = [](Dtype) {
    std::vector<Sample> samples;
    for (const char* const shape :
         {"b1_h5_kv1_q1_k400_d128", "b4_h2_kv1_q1_k300_d64_lengths",
          "b4_h1_q4_k150_d64_page16_lengths", "b1_h2_q8_k40_d96_bshd", "b2_h6_kv2_q5_k3_d64"})
      samples.push_back({.fill = "normal", .shape = shape});
    return samples;
  };
  card.usual = these({"b1_h4_kv2_q1_k258_d32", "b2_h2_q3_k50_d24_v40_bshd_lengths",
                      "b2_h3_kv1_q2_k40_d128_page16"});
  card.batches = these(
      {"b*_h4_kv2_q1_k258_d32", "b*_h2_q3_k50_d24_v40_bshd_lengths", "b1_h2*_kv*_q1_k258_d32"});
  card.sizes = [](Dtype) {
    std::vector<std::string> shapes;
    for (const int keys : {1, 2, 31, 32, 33, 127, 128, 129, 255, 256, 257, 400})
      shapes.push_back("b1_h2_kv1_q1_k" + std::to_string(keys) + "_d64");
    for (const char* const rows : {"h1_q8", "h3_kv1_q1", "h4_kv1_q1", "h5_kv1_q1", "h9_kv3_q3"})
      shapes.push_back(std::string("b2_") + rows + "_k40_d32");
    for (const char* const depths : {"d1", "d5_v3", "d8", "d72", "d104", "d136_v200", "d256",
                                     "d12_v256", "d300_v64"}) // the last one only for naive
      shapes.push_back(std::string("b1_h2_q2_k70_") + depths);
    for (const int page : {1, 7, 64})
      shapes.push_back("b2_h2_q1_k65_d40_page" + std::to_string(page));
    return shapes;
  };
  card.misaligned = these({"b1_h2_q2_k11_d40", "b2_h2_kv1_q1_k12_d16_page8"});
  card.pitches = these({"b2_h2_q2_k5_d64", "b2_h2_q2_k5_d62", "b2_h2_kv1_q1_k5_d63_v65",
                        "b2_h2_q1_k5_d60_v68", "b2_h2_q2_k5_d64_v56_bshd", "b2_h2_q1_k9_d64_page4",
                        "b1_h2_q1_k9_d64_page4", "b2_h2_q1_k9_d62_v60_page4"});
  card.empty = {"b0_h2_q1_k4_d8", "b1_h0_kv1_q1_k4_d8", "b1_h2_q0_k4_d8"};
  card.refused_scalars = {{"scale", {0, -1, kInfinity, kNan}}};
  card.kernels = kernels;
  card.bit_difference_reason = "exp2f, fused products";
  // Frameworks round weights to 16 bits; when timed, they only must have worked.
  card.vendors.slack_when_timed = 64;
  card.timed_on_host = {{"b2_h4_kv2_q1_k512_d64", true}, {"b1_h8_kv2_q1_k512_d128_page16"}};
  // Layers of Llama-3-8B and 70B, Qwen2.5-0.5B, GPT-2 and Mixtral-8x7B; four queries, as in the
  // verification of draft tokens.
  card.timed_on_gpu = {{"b1_h32_kv8_q1_k8192_d128"},
                       {"b32_h32_kv8_q1_k4096_d128_page16", true},
                       {"b8_h64_kv8_q1_k8192_d128_page64"},
                       {"b64_h14_kv2_q1_k4096_d64_page16"},
                       {"b64_h12_q1_k1024_d64"},
                       {"b16_h32_kv8_q4_k8192_d128_page16"}};
  return card;
}

} // namespace kg::card
