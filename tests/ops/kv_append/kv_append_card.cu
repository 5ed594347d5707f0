// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Appends rows to a cache, bit for bit; the cache's other rows do not change. A shape is
// b2_t3_h4_d64_k40: sequences, new tokens of each, heads, depth, and a sequence's capacity in
// tokens; v32 if values have another depth, page16 if the cache has pages.
#include "ops/kv_append/kv_append.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/contract/card.h"
#include "tests/contract/rows.h"
#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"
#include "tests/oracle/fills.h"

namespace kg::card {
namespace {

struct Extents {
  std::int64_t batch, tokens, heads, keys, depth, value_depth, page;

  std::int64_t pages() const { return (keys + page - 1) / page; } // per sequence
  // The extents of a cache's rows of keys or values.
  std::vector<std::int64_t> cache(std::int64_t length) const {
    if (page == 0) return {batch, heads, keys, length};
    return {batch * pages(), page, heads, length};
  }
  // Tokens already in the cache: the first sequence has room for exactly the new ones.
  std::int64_t usual_length(std::int64_t sequence) const {
    return keys < tokens ? 0 : (keys - tokens) * (4 - sequence % 5) / 4;
  }
  // Pages are allocated from the last one downwards.
  std::int64_t page_of(std::int64_t entry) const { return batch * pages() - 1 - entry; }
};
ShapeGrammar<Extents> grammar() {
  return ShapeGrammar<Extents>()
      .number("b", &Extents::batch)
      .number("t", &Extents::tokens)
      .number("h", &Extents::heads)
      .number("d", &Extents::depth)
      .number("v", &Extents::value_depth, &Extents::depth)
      .number("k", &Extents::keys)
      .number("page", &Extents::page, 0);
}
const Extents& extents_of(const Problem& problem) { return problem.parameters.as<Extents>(); }

kv_append::Problem described(const Extents& e) {
  static const std::int32_t number = 0;
  kv_append::Problem p{.batch = e.batch,
                       .tokens = e.tokens,
                       .heads = e.heads,
                       .keys = e.keys,
                       .depth = e.depth,
                       .value_depth = e.value_depth};
  if (e.page > 0) p.table = {e.page, &number, e.pages()};
  return p;
}

Problem problem(Dtype dtype, const Shape& shape) {
  const Extents e = grammar().parse(shape);
  const std::size_t width = size_of(dtype);
  Problem result{dtype, shape.text(), kv_append::work(described(e), width), 0};
  result.parameters = e;
  const auto rows = [&](const char* name, std::vector<std::int64_t> extents) {
    return Tensor{.name = name,
                  .dtype = dtype,
                  .extents = std::move(extents),
                  .by_row = false,
                  .strided = true};
  };
  result.inputs = {rows("k", {e.batch, e.tokens, e.heads, e.depth}),
                   rows("v", {e.batch, e.tokens, e.heads, e.value_depth})};
  result.outputs = {rows("k_cache", e.cache(e.depth)), rows("v_cache", e.cache(e.value_depth))};
  const double caches = static_cast<double>(result.outputs[0].size() + result.outputs[1].size()) *
                        static_cast<double>(width);
  result.inputs.insert(result.inputs.end(), result.outputs.begin(), result.outputs.end());
  const auto list = [&](const char* name, std::vector<std::int64_t> extents, auto element) {
    result.inputs.push_back(
        {.name = name,
         .dtype = Dtype::i32,
         .extents = std::move(extents),
         .by_row = false,
         .derived = true,
         .element = [element](std::int64_t i) { return static_cast<std::uint64_t>(element(i)); }});
  };
  list("lengths", {e.batch}, [e](std::int64_t b) { return e.usual_length(b); });
  result.unwritten = caches - result.work.written;
  result.unread = caches;
  if (e.page > 0) {
    list("table", {e.batch, e.pages()}, [e](std::int64_t i) { return e.page_of(i); });
    result.unread +=
        static_cast<double>(e.batch * (e.pages() - (e.tokens + e.page - 1) / e.page)) * 4;
  }
  if (e.page > 0)
    for (auto* const tensors : {&result.inputs, &result.outputs})
      for (Tensor& tensor : *tensors)
        if (tensor.name.ends_with("_cache")) tensor.derived = true;
  result.patterns = true;
  result.gaps = true;
  result.pitched = true;
  result.calling = {e.page > 0 ? "paged" : "",
                    {{"batch", {e.batch}},
                     {"tokens", {e.tokens}},
                     {"heads", {e.heads}},
                     {"keys", {e.keys}},
                     {"depth", {e.depth}},
                     {"value_depth", {e.value_depth}},
                     {"page", {e.page}}}};
  return result;
}

constexpr auto kRun = [](const Call& call, kv_append::Variant variant, Stream& stream) {
  const Extents& e = extents_of(call.problem());
  kv_append::Problem p = described(e);
  p.batch = call.extent("k", 0);
  p.tokens = call.extent("k", 1);
  p.heads = call.extent("k", 2);
  p.depth = call.extent("k", 3);
  p.value_depth = call.extent("v", 3);
  if (e.page == 0) p.keys = call.extent("k_cache", 2);
  const auto rows = [&](const char* name) -> kv_append::Strides {
    return {call.stride(name, 0), call.stride(name, 2), call.stride(name, 1)};
  };
  const auto cache = [&](const char* name) -> PageStrides {
    const std::size_t token = e.page > 0 ? 1 : 2, head = 3 - token;
    return {call.stride(name, 0), call.stride(name, head), call.stride(name, token)};
  };
  p.k = call.address("k");
  p.v = call.address("v");
  p.k_cache = call.address("k_cache");
  p.v_cache = call.address("v_cache");
  p.k_stride = rows("k");
  p.v_stride = rows("v");
  p.k_cache_stride = cache("k_cache");
  p.v_cache_stride = cache("v_cache");
  p.lengths = call.in<std::int32_t>("lengths");
  if (e.page > 0) {
    p.table = {e.page, call.in<std::int32_t>("table"), call.leading("table")};
    require(p.table.pages != nullptr || p.batch * p.tokens * p.heads == 0, "table is null");
  }
  return kv_append::run(p, size_of(call.problem().dtype), variant, stream);
};

// The sequence and token of a cache element; -1: none.
struct Place {
  std::int64_t sequence, token, head;
};
Place place_in_cache(const Extents& e, std::int64_t row, const Bits& bits) {
  if (e.page == 0) return {row / e.keys / e.heads, row % e.keys, row / e.keys % e.heads};
  const std::int64_t page = row / e.heads / e.page;
  for (std::int64_t entry = 0; entry < e.batch * e.pages(); ++entry)
    if (static_cast<std::int64_t>(bits("table", entry)) == page)
      return {entry / e.pages(), entry % e.pages() * e.page + row / e.heads % e.page,
              row % e.heads};
  return {-1, 0, 0};
}

SourceOfElement sources(const Problem& problem, std::string_view output, const Bits& bits) {
  const Extents& e = extents_of(problem);
  const bool keys = output == "k_cache";
  const std::int64_t length = keys ? e.depth : e.value_depth;
  return [=, &bits](std::int64_t i) -> Source {
    const Place place = place_in_cache(e, i / length, bits);
    if (place.sequence >= 0 && place.token < e.keys) {
      const auto before =
          static_cast<std::int32_t>(static_cast<std::uint32_t>(bits("lengths", place.sequence)));
      const std::int64_t token = place.token - before;
      if (token >= 0 && token < e.tokens)
        return {keys ? "k" : "v",
                ((place.sequence * e.tokens + token) * e.heads + place.head) * length + i % length};
    }
    return {output, i};
  };
}

std::vector<std::string> kernel_name(std::string_view variant, const Problem& problem,
                                     const Layout& layout) {
  const Extents& e = extents_of(problem);
  const auto bytes = static_cast<std::int64_t>(size_of(problem.dtype));
  bool packs = variant == "vectorized";
  for (const auto& [name, length] :
       {std::pair{"k", e.depth}, std::pair{"k_cache", e.depth}, std::pair{"v", e.value_depth},
        std::pair{"v_cache", e.value_depth}}) {
    const test::Strided rows = strided(problem.tensor(name), layout);
    packs = packs && length * bytes % 16 == 0 && rows.offset * bytes % 16 == 0;
    for (std::size_t axis = 0; axis < 3 && length > 0; ++axis)
      packs = packs && rows.strides[axis] * bytes % 16 == 0;
  }
  if (packs) return {"kv_append::append<kg::Pack<unsigned int, 4>"};
  switch (bytes) {
  case 1: return {"kv_append::append<unsigned char>"};
  case 2: return {"kv_append::append<unsigned short>"};
  case 4: return {"kv_append::append<unsigned int>"};
  }
  return {"kv_append::append<unsigned long>"};
}

} // namespace

Card kv_append_card() {
  Card card(grammar());
  only_moves(card, sources);
  card.problem = problem;
  run_by(card, kv_append::kVariants, kRun);
  card.exact_samples = [](Dtype) {
    return std::vector<Sample>{{"patterns", "b3_t5_h2_d64_k20"},
                               {"patterns", "b3_t5_h2_d64_k20_page8"}};
  };
  card.usual = these({"b3_t4_h2_d64_v32_k11", "b2_t3_h3_d20_k9_page4"});
  card.sizes = [](Dtype) {
    std::vector<std::string> shapes;
    for (const int depth : {1, 2, 3, 4, 8, 15, 16, 17, 32, 255, 256, 257})
      shapes.push_back("b2_t2_h1_d" + std::to_string(depth) + "_k5");
    for (const char* const rows :
         {"b1_t1_h1_d16_k1", "b1_t17_h16_d16_k17", "b300_t1_h1_d4_k2", "b2_t7_h2_d16_k7_page1",
          "b2_t7_h2_d16_k9_page16", "b2_t3_h2_d0_v16_k4"})
      shapes.push_back(rows);
    return shapes;
  };
  card.misaligned = these({"b2_t2_h2_d16_k4", "b2_t2_h2_d16_v48_k4_page2"});
  card.pitches = [](Dtype dtype) {
    std::vector<std::string> shapes;
    const std::int64_t pack = elements_per_pack(dtype);
    for (const std::int64_t depth : {pack - 1, pack, pack + 1, pack + pack / 2, 2 * pack})
      for (const char* const keys : {"_k4", "_k5_page2"})
        shapes.push_back("b2_t2_h2_d" + std::to_string(depth) + keys);
    return shapes;
  };
  card.empty = {"b0_t1_h2_d4_k3", "b2_t1_h0_d4_k3", "b2_t0_h2_d0_k0"};
  card.kernel_name = kernel_name;
  card.timed_on_host = {{"b8_t32_h4_d64_k64", true}, {"b64_t1_h8_d128_k16_page16"}};
  // A decoding step and a prompt of Llama-3-8B, and a decoding step of Qwen2.5-0.5B.
  card.timed_on_gpu = {{"b64_t1_h8_d128_k256_page16"},
                       {"b8_t4096_h8_d128_k8192_page16", true},
                       {"b64_t1_h2_d64_k256_page16"}};
  return card;
}

} // namespace kg::card
