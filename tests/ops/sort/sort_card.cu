// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Keys in order, and the values beside them, of the whole or of each segment: keys_n5,
// pairs_n50_segments7. Sorts are stable, so that each result has one right place.
#include "ops/sort/sort.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "libraries/segmented_sort.h"
#include "libraries/sort.h"
#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/contract/segments.h"
#include "tests/contract/shape_grammar.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/numbers.h"

namespace kg::card {
namespace {

template <class Function>
auto dispatch_sorted(Dtype dtype, Function function) {
  if (dtype == Dtype::i32) return function.template operator()<std::int32_t>();
  if (dtype == Dtype::u32) return function.template operator()<std::uint32_t>();
  if (dtype == Dtype::i64) return function.template operator()<std::int64_t>();
  return dispatch(dtype, function);
}

struct Keys {
  bool pairs;
  std::int64_t n, segments; // 0: without
};
ShapeGrammar<Keys> grammar() {
  return ShapeGrammar<Keys>()
      .one_of(&Keys::pairs, {{"keys", false}, {"pairs", true}})
      .number("n", &Keys::n)
      .number("segments", &Keys::segments, 0);
}
bool has_pairs(const Problem& problem) { return problem.parameters.as<Keys>().pairs; }
bool is_segmented(const Problem& problem) { return problem.parameters.as<Keys>().segments > 0; }

Problem problem(Dtype dtype, const Shape& shape) {
  const Keys parameters = grammar().parse(shape);
  const bool pairs = parameters.pairs;
  const std::int64_t n = parameters.n, count = parameters.segments;
  const Work work =
      dispatch_sorted(dtype, [&]<class T>() { return sort::work<T>(n, pairs, count); });
  Problem result{dtype, shape.text(), work, 0};
  result.parameters = parameters;
  result.inputs = {{"keys", dtype, {n}}};
  result.outputs = {{"sorted_keys", dtype, {n}}};
  if (pairs) {
    result.inputs.push_back({"values", Dtype::i32, {n}});
    result.inputs[1].element = [](std::int64_t i) { return static_cast<std::uint64_t>(i); };
    result.outputs.push_back({"sorted_values", Dtype::i32, {n}});
  }
  if (count > 0) {
    result.inputs.push_back(offsets_of_segments(n, count));
    result.calling = {pairs ? "pairs_segments" : "keys_segments",
                      {{"n", {n}}, {"segments", {count}}}};
  }
  return result;
}

constexpr auto kRun = [](const Call& call, sort::Variant variant, Stream& stream) {
  return dispatch_sorted(call.problem().dtype, [&]<class T>() {
    const bool pairs = has_pairs(call.problem());
    const std::int64_t n = call.extent("keys", 0);
    sort::Arrays<T> arrays{call.in<T>("keys"), call.out<T>("sorted_keys")};
    if (pairs) {
      arrays.values = call.in<std::int32_t>("values");
      arrays.sorted_values = call.out<std::int32_t>("sorted_values");
    }
    const auto workspace = [&](std::size_t bytes) {
      return bytes > 0 ? call.workspace(bytes) : nullptr;
    };
    const std::int64_t sized = std::max<std::int64_t>(n, 0);
    if (is_segmented(call.problem()))
      return sort::run_segments(
          arrays, n, {call.in<std::int32_t>("offsets"), call.extent("offsets", 0) - 1},
          workspace(sort::segments_workspace_bytes<T>(sized, variant)), variant, stream);
    return sort::run(arrays, n, workspace(sort::workspace_bytes<T>(sized, pairs, variant)), variant,
                     stream);
  });
};

vendor::SortProblem vendor_problem(const Problem& problem) {
  return {problem.dtype, problem.inputs[0].extents[0], has_pairs(problem)};
}

vendor::SegmentedSortProblem segmented_problem(const Problem& problem) {
  return {problem.dtype, problem.inputs[0].extents[0], problem.tensor("offsets").extents[0] - 1,
          has_pairs(problem)};
}

void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  const vendor::SortProblem p = vendor_problem(call.problem());
  const auto of = [&](const char* name) {
    return p.pairs ? static_cast<std::int32_t*>(call.address(name)) : nullptr;
  };
  if (is_segmented(call.problem()))
    return vendor::segmented_sort(vendor, segmented_problem(call.problem()),
                                  {call.address("keys"), call.address("sorted_keys"), of("values"),
                                   of("sorted_values"), call.in<std::int32_t>("offsets")},
                                  stream);
  vendor::sort(vendor, p, call.address("keys"), call.address("sorted_keys"), of("values"),
               of("sorted_values"), stream);
}

// Where a key stands: NaN outside of the numbers, by sign and payload. Of an i64 a double holds too
// little.
std::pair<double, std::int64_t> rank_of(Dtype dtype, std::uint64_t bits) {
  if (dtype == Dtype::i64) return {0, std::bit_cast<std::int64_t>(bits)};
  const double value = test::decode(dtype, bits);
  if (!std::isnan(value)) return {value, 0};
  const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(dtype) - 1);
  const auto payload = static_cast<std::int64_t>(bits & (sign - 1));
  const double infinity = std::numeric_limits<double>::infinity();
  return (bits & sign) != 0 ? std::pair{-infinity, -payload} : std::pair{infinity, payload};
}

// The places of the keys, in order. offset(s) is where segment s of `count` begins.
template <class Offset>
std::vector<std::int64_t> order_of(Dtype dtype, const std::vector<std::uint64_t>& keys,
                                   std::int64_t count, Offset offset) {
  std::vector<std::pair<double, std::int64_t>> ranks;
  for (const std::uint64_t key : keys) ranks.push_back(rank_of(dtype, key));
  std::vector<std::int64_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t segment = 0; segment < count; ++segment)
    std::stable_sort(order.begin() + offset(segment), order.begin() + offset(segment + 1),
                     [&](std::int64_t a, std::int64_t b) {
                       return ranks[static_cast<std::size_t>(a)] <
                              ranks[static_cast<std::size_t>(b)];
                     });
  return order;
}

// Of a problem whose offsets these are; of one without segments of the whole.
std::vector<std::int64_t> order_of(const Problem& problem, const std::vector<std::uint64_t>& keys,
                                   const Elements& offsets) {
  if (!is_segmented(problem))
    return order_of(problem.dtype, keys, 1, [&](std::int64_t s) { return s * std::ssize(keys); });
  return order_of(problem.dtype, keys, problem.tensor("offsets").size() - 1,
                  [&](std::int64_t s) { return static_cast<std::int64_t>(offsets(s)); });
}

std::vector<std::uint64_t> bits_of(const test::Observed& x) {
  if (!x.bits.empty()) return x.bits;
  std::vector<std::uint64_t> bits;
  for (const double value : x.values) bits.push_back(test::encode(x.dtype, value));
  return bits;
}

References references(const Problem& problem, const Inputs& inputs) {
  const std::vector<std::uint64_t> keys = bits_of(inputs.at("keys"));
  References result;
  const auto offsets = [&](std::int64_t i) {
    return inputs.at("offsets").values[static_cast<std::size_t>(i)];
  };
  for (const std::int64_t i : order_of(problem, keys, offsets)) {
    const auto at = static_cast<std::size_t>(i);
    Reference& sorted = result["sorted_keys"];
    sorted.bits.push_back(keys[at]);
    sorted.value.push_back(test::decode(problem.dtype, keys[at]));
    if (has_pairs(problem)) result["sorted_values"].value.push_back(inputs.at("values").values[at]);
  }
  for (const Tensor& output : problem.outputs) result.try_emplace(output.name); // of no keys
  return result;
}

std::vector<std::uint64_t> encoded(Dtype dtype, const Elements& keys, std::int64_t first,
                                   std::int64_t count) {
  std::vector<std::uint64_t> bits;
  for (std::int64_t i = first; i < first + count; ++i) bits.push_back(test::encode(dtype, keys(i)));
  return bits;
}

// The places of n keys in order, which is that of one period, each key as often as it is there.
std::vector<std::int64_t> order_of_repeated(Dtype dtype, const Elements& keys, std::int64_t n) {
  const std::int64_t period = keys.period > 0 ? std::min(keys.period, n) : n;
  const std::vector<std::uint64_t> once = encoded(dtype, keys, 0, period);
  const auto rank = [&](std::int64_t i) {
    return rank_of(dtype, once[static_cast<std::size_t>(i)]);
  };
  const std::vector<std::int64_t> sorted =
      order_of(dtype, once, 1, [&](std::int64_t s) { return s * period; });
  std::vector<std::int64_t> order;
  order.reserve(static_cast<std::size_t>(n));
  for (auto equal = sorted.begin(); equal != sorted.end();) {
    const auto behind =
        std::find_if(equal, sorted.end(),
                     [&, first = rank(*equal)](std::int64_t i) { return rank(i) != first; });
    for (std::int64_t begin = 0; begin < n; begin += period)
      for (auto i = equal; i != behind; ++i)
        if (begin + *i < n) order.push_back(begin + *i);
    equal = behind;
  }
  return order;
}

// Those of the results [first, first + count), of segments.
std::vector<std::int64_t> order_within(const Problem& problem, std::int64_t first,
                                       std::int64_t count, const Values& values) {
  const Elements keys = values("keys"), offsets = values("offsets");
  std::vector<std::int64_t> order;
  for (std::int64_t s = 0; s + 1 < problem.tensor("offsets").size(); ++s) {
    const auto begin = static_cast<std::int64_t>(offsets(s));
    const auto size = static_cast<std::int64_t>(offsets(s + 1)) - begin;
    if (begin + size <= first || begin >= first + count) continue;
    std::int64_t result = begin;
    for (const std::int64_t i : order_of(problem.dtype, encoded(problem.dtype, keys, begin, size),
                                         1, [&](std::int64_t part) { return part * size; })) {
      if (result >= first && result < first + count) order.push_back(begin + i);
      ++result;
    }
  }
  return order;
}

// Where it is timed, the whole is sorted once for all windows of a problem, and of its variants; of
// segments those that are looked at.
std::vector<std::int64_t> timed_order(const Problem& problem, std::int64_t first,
                                      std::int64_t count, const Values& values) {
  if (is_segmented(problem)) return order_within(problem, first, count, values);
  static std::string sorted;
  static std::vector<std::int64_t> order;
  const std::string id = std::string(name(problem.dtype)) + problem.shape;
  if (sorted != id)
    order = order_of_repeated(problem.dtype, values("keys"), problem.inputs[0].size());
  sorted = id;
  return {order.begin() + first, order.begin() + first + count};
}

Reference elements(const Problem& problem, std::string_view output, std::int64_t first,
                   std::int64_t count, const Values& values) {
  const Elements from = values(output == "sorted_keys" ? "keys" : "values");
  Reference result;
  for (const std::int64_t i : timed_order(problem, first, count, values))
    result.value.push_back(from(i));
  return result;
}

std::vector<std::vector<std::string>> kernels(std::string_view variant, const Problem& problem,
                                              const Layout&) {
  if (problem.output_size() == 0) return {};
  const bool segmented = is_segmented(problem);
  if (variant == "naive") return {{segmented ? "sort::naive_segments<" : "sort::naive<"}};
  std::vector<std::vector<std::string>> names;
  const auto add_sort = [&](std::size_t passes) {
    names.insert(names.end(), {{"clear_words"}, {"sort::count_digits<"}});
    for (std::size_t pass = 0; pass < passes; ++pass)
      names.insert(names.end(), {{"clear_words"}, {"sort::onesweep<"}});
  };
  if (segmented) names.push_back({"sort::count_up"});
  add_sort(size_of(problem.dtype));
  if (!segmented) return names;
  names.push_back({"sort::find_segments"});
  add_sort(4);
  names.push_back({"sort::fetch<"});
  return names;
}

std::vector<std::string> shapes(const std::vector<std::int64_t>& lengths,
                                std::int64_t segments = 0) {
  std::vector<std::string> each;
  for (const std::int64_t n : lengths)
    each.push_back("n" + std::to_string(n) +
                   (segments > 0 ? "_segments" + std::to_string(segments) : ""));
  return in_each_form({"keys", "pairs"}, each);
}

// In order, in reverse, all alike, few different: what is alike keeps its order.
std::vector<Sample> exact_samples(Dtype dtype) {
  constexpr std::int64_t kCount = 2777;
  std::vector<double> rising(kCount), alike(kCount, 3), few(kCount);
  for (std::int64_t i = 0; i < kCount; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const int below = dtype == Dtype::u32 ? 0 : 1;
    rising[at] = static_cast<double>(i / 12 - 100 * below);
    few[at] = static_cast<double>(i * 7919 % 5 - 2 * below);
  }
  const std::vector<double> falling(rising.rbegin(), rising.rend());
  std::vector<Sample> samples;
  for (const std::vector<double>& keys : {rising, falling, alike, few})
    for (const std::string& shape : shapes({kCount})) {
      samples.push_back({"keys", shape, {{"keys", values(dtype, keys)}}});
      samples.back().may_be_vacuous = true;
    }
  return samples;
}

// NaN, infinities and zeros; of integers the ends of the ranges, with a sign and without, 0, and
// numbers that differ in one bit alone of each digit.
std::vector<std::uint64_t> special_keys(Dtype dtype) {
  std::vector<std::uint64_t> keys;
  if (!is_integer(dtype)) {
    for (const test::SpecialValue& special : test::special_values(dtype))
      keys.push_back(special.bits);
    return keys;
  }
  const std::uint64_t all = test::poison_bits(dtype), sign = all - all / 2;
  keys = {all, 0, 1, sign, sign - 1, sign + 1, all - 1};
  for (std::size_t byte = 0; byte < size_of(dtype); ++byte)
    for (const std::uint64_t digit : {0x5A, 0x5B, 0xDA, 0x80, 0x7F, 0xFF})
      keys.push_back(digit << (8 * byte));
  return keys;
}

// Each three times, in turns.
std::vector<Sample> special_samples(Dtype dtype) {
  const std::vector<std::uint64_t> once = special_keys(dtype);
  std::vector<std::uint64_t> keys;
  for (int turn = 0; turn < 3; ++turn) keys.insert(keys.end(), once.begin(), once.end());
  std::vector<Sample> samples;
  for (const std::string& shape : shapes({std::ssize(keys)})) {
    samples.push_back({"special", shape, {{"keys", bits(dtype, keys)}}});
    samples.back().may_be_vacuous = true;
  }
  return samples;
}

bool is_small(const Problem& problem) { return problem.inputs[0].size() <= 4096; }

} // namespace

Card sort_card() {
  Card card(grammar());
  card.problem = problem;
  card.forms = {"keys", "pairs"};
  run_by(card, sort::kVariants, kRun);
  for (Variant& each : card.variants)
    if (each.name == "naive") { // takes the square of n
      each.tried = each.listed = is_small;
      each.sequence = [](const Problem& p) { return p.inputs[0].size(); };
    }
  card.vendors = {[](const Problem& p) {
                    return is_segmented(p)
                               ? names(vendor::segmented_sort_table, segmented_problem(p))
                               : names(vendor::sort_table, vendor_problem(p));
                  },
                  run_vendor};
  card.vendors.on_host = [](const Problem& p) {
    return is_segmented(p) ? std::set<std::string_view>() : std::set<std::string_view>{"thrust"};
  };
  card.references = references;
  card.elements = elements;
  card.exact = true;
  card.exact_samples = exact_samples;
  card.random_samples = [](Dtype) {
    std::vector<Sample> samples;
    for (const std::string& shape : shapes({3072 * 3 + 41})) samples.push_back({"normal", shape});
    return samples;
  };
  card.special_samples = special_samples;
  card.usual = [](Dtype) {
    std::vector<std::string> result = shapes({1500});
    result.push_back("pairs_n1500_segments7");
    return result;
  };
  card.sizes = [](Dtype dtype) {
    const std::int64_t tile = size_of(dtype) == 8 ? 2048 : 3072;
    std::vector<std::string> result = shapes({1, 2, 31, 33, 511, 513, tile - 1, tile, tile + 1});
    result.insert(result.end(),
                  {"keys_n1_segments2", "keys_n300_segments1", "keys_n300_segments301",
                   "pairs_n40_segments1000", "pairs_n3100_segments30"});
    return result;
  };
  card.misaligned = [](Dtype) { return shapes({700}); };
  card.empty = shapes({0});
  card.empty.push_back("keys_n0_segments3");
  card.vacuous_outputs = [](const Problem& p) { // the only value is 0
    return p.inputs[0].size() == 1 ? std::vector<std::string>{"sorted_values"}
                                   : std::vector<std::string>();
  };
  card.kernels = kernels;
  card.kind_on_host = kg::Kind::sync; // on the executor a warp's matches cost more than its loads
  card.timed_on_host = {
      {"keys_n1024", true}, {"pairs_n1024"}, {"pairs_n12288"}, {"keys_n2048_segments50"}};
  card.timed_on_gpu = {{"keys_n65536"},
                       {"keys_n67108864", true},
                       {"pairs_n67108864"},
                       {"keys_n67108864_segments100000"}};
  return card;
}

} // namespace kg::card
