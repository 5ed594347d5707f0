// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sorted keys, and the values that move with them. Sorts are stable, so each result has a single
// correct position.
#include "ops/sort/sort.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "libraries/segmented_sort.h"
#include "libraries/sort.h"
#include "tests/contract/card.h"
#include "tests/ops/sort/problems.h"
#include "tests/ops/sort/samples.h"
#include "tests/oracle/numbers.h"

namespace kg::card {
namespace {

using namespace sort_problems;

template <class Function>
auto dispatch_sorted(Dtype dtype, Function function) {
  if (dtype == Dtype::i32) return function.template operator()<std::int32_t>();
  if (dtype == Dtype::u32) return function.template operator()<std::uint32_t>();
  if (dtype == Dtype::i64) return function.template operator()<std::int64_t>();
  return dispatch(dtype, function);
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
    const sort::Order order = order_by(keys_of(call.problem()));
    if (!is_segmented(call.problem()))
      return sort::run(arrays, n, order,
                       workspace(sort::workspace_bytes(sized, sizeof(T), pairs, order, variant)),
                       variant, stream);
    const Segments segments{call.in<std::int32_t>("offsets"), call.extent("offsets", 0) - 1};
    return sort::run_segments(
        arrays, n, segments, order,
        workspace(sort::segments_workspace_bytes(sized, sizeof(T), segments.count, order, variant)),
        variant, stream);
  });
};

vendor::SortProblem vendor_problem(const Problem& problem) {
  const Keys& keys = keys_of(problem);
  return {.dtype = problem.dtype,
          .n = problem.inputs[0].extents[0],
          .pairs = keys.pairs,
          .descending = keys.descending,
          .begin_bit = static_cast<int>(keys.begin),
          .end_bit = static_cast<int>(end_of(problem.dtype, keys))};
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

// The rank of a key: NaN beyond the numbers, by sign and payload. A double cannot represent every
// i64.
std::pair<double, std::int64_t> rank_of(Dtype dtype, std::uint64_t bits) {
  if (dtype == Dtype::i64) return {0, std::bit_cast<std::int64_t>(bits)};
  const double value = test::decode(dtype, bits);
  if (!std::isnan(value)) return {value, 0};
  const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(dtype) - 1);
  const auto payload = static_cast<std::int64_t>(bits & (sign - 1));
  const double infinity = std::numeric_limits<double>::infinity();
  return (bits & sign) != 0 ? std::pair{-infinity, -payload} : std::pair{infinity, payload};
}

// The same by some of the bits of its ordered word (ops/sort/sort.h).
std::pair<double, std::int64_t> rank_of(Dtype dtype, std::uint64_t bits, const Keys& keys) {
  if (has_all_bits(keys)) return rank_of(dtype, bits);
  const std::uint64_t sign = std::uint64_t{1} << (bits_of(dtype) - 1);
  std::uint64_t ordered = dtype == Dtype::u32 ? bits : bits ^ sign;
  if (!is_integer(dtype) && bits > sign) ordered = 2 * sign - 1 - bits;
  if (!is_integer(dtype) && bits % sign == 0) ordered = keys.descending ? sign - 1 : sign;
  const std::uint64_t range = std::uint64_t{1} << (end_of(dtype, keys) - keys.begin);
  return {0, static_cast<std::int64_t>((ordered >> keys.begin) % range)};
}

// The positions of a problem's keys, in order. offset(s) is the start of segment s of `count`.
template <class Offset>
std::vector<std::int64_t> order_of(const Problem& problem, const std::vector<std::uint64_t>& keys,
                                   std::int64_t count, Offset offset) {
  std::vector<std::pair<double, std::int64_t>> ranks;
  for (const std::uint64_t key : keys)
    ranks.push_back(rank_of(problem.dtype, key, keys_of(problem)));
  std::vector<std::int64_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  const bool descending = keys_of(problem).descending;
  for (std::int64_t segment = 0; segment < count; ++segment)
    std::stable_sort(order.begin() + offset(segment), order.begin() + offset(segment + 1),
                     [&](std::int64_t a, std::int64_t b) {
                       if (descending) std::swap(a, b);
                       return ranks[static_cast<std::size_t>(a)] <
                              ranks[static_cast<std::size_t>(b)];
                     });
  return order;
}

// For a problem with these offsets, or of the whole array for a problem without segments.
std::vector<std::int64_t> order_of(const Problem& problem, const std::vector<std::uint64_t>& keys,
                                   const Elements& offsets) {
  if (!is_segmented(problem))
    return order_of(problem, keys, 1, [&](std::int64_t s) { return s * std::ssize(keys); });
  return order_of(problem, keys, problem.tensor("offsets").size() - 1,
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

// The positions of periodic keys in order: one period's order, each key as often as it occurs.
std::vector<std::int64_t> order_of_repeated(const Problem& problem, const Elements& keys) {
  const std::int64_t n = problem.inputs[0].size();
  const std::int64_t period = keys.period > 0 ? std::min(keys.period, n) : n;
  const std::vector<std::uint64_t> once = encoded(problem.dtype, keys, 0, period);
  const auto rank = [&](std::int64_t i) {
    return rank_of(problem.dtype, once[static_cast<std::size_t>(i)], keys_of(problem));
  };
  const std::vector<std::int64_t> sorted =
      order_of(problem, once, 1, [&](std::int64_t s) { return s * period; });
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

// The positions for results [first, first + count) of segments.
std::vector<std::int64_t> order_within(const Problem& problem, std::int64_t first,
                                       std::int64_t count, const Values& values) {
  const Elements keys = values("keys"), offsets = values("offsets");
  std::vector<std::int64_t> order;
  for (std::int64_t s = 0; s + 1 < problem.tensor("offsets").size(); ++s) {
    const auto begin = static_cast<std::int64_t>(offsets(s));
    const auto size = static_cast<std::int64_t>(offsets(s + 1)) - begin;
    if (begin + size <= first || begin >= first + count) continue;
    std::int64_t result = begin;
    for (const std::int64_t i : order_of(problem, encoded(problem.dtype, keys, begin, size), 1,
                                         [&](std::int64_t part) { return part * size; })) {
      if (result >= first && result < first + count) order.push_back(begin + i);
      ++result;
    }
  }
  return order;
}

// For timing, a problem's whole array is sorted once for all its windows and variants; of segments
// only those in the window.
std::vector<std::int64_t> timed_order(const Problem& problem, std::int64_t first,
                                      std::int64_t count, const Values& values) {
  if (is_segmented(problem)) return order_within(problem, first, count, values);
  static std::string sorted;
  static std::vector<std::int64_t> order;
  const std::string id = std::string(name(problem.dtype)) + problem.shape;
  if (sorted != id) order = order_of_repeated(problem, values("keys"));
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
  if (variant == "counting")
    return {{"clear_words"},
            {"sort::count_values<"},
            {"sort::sum_counts"},
            {"sort::expand_counts"},
            {"sort::order_zeros"}};
  std::vector<std::vector<std::string>> names;
  const auto add_sort = [&](std::size_t passes) {
    names.insert(names.end(), {{"clear_words"}, {"sort::count_digits<"}});
    names.insert(names.end(), passes, {"sort::onesweep<"});
  };
  if (segmented) names.push_back({"sort::count_up"});
  const Keys& keys = keys_of(problem);
  add_sort(static_cast<std::size_t>((end_of(problem.dtype, keys) - keys.begin + 7) / 8));
  if (!segmented) return names;
  names.push_back({"sort::find_segments"});
  const std::int64_t segments = problem.tensor("offsets").size() - 1;
  add_sort(segments <= 256 ? 1 : segments <= 65536 ? 2 : 3);
  names.push_back({"sort::fetch<"});
  return names;
}

bool is_small(const Problem& problem) { return problem.inputs[0].size() <= 4096; }

} // namespace

Card sort_card() {
  Card card(grammar());
  card.problem = problem;
  card.forms = {"keys", "pairs"};
  run_by(card, sort::kVariants, kRun);
  for (Variant& each : card.variants) {
    each.supports = [variant = enumerator_of(sort::kVariants, each.name)](const Problem& p) {
      if (is_segmented(p)) return variant != sort::Variant::counting;
      return sort::supports(variant, size_of(p.dtype), has_pairs(p), order_by(keys_of(p)));
    };
    if (each.name == "counting") each.dtypes = {Dtype::f16, Dtype::bf16}, each.forms = {"keys"};
    if (each.name == "naive") { // quadratic in n
      each.tried = each.listed = is_small;
      each.sequence = [](const Problem& p) { return p.inputs[0].size(); };
    }
  }
  card.resolved = [](const Problem& p) {
    constexpr auto kAutomatic = sort::Variant::automatic;
    return name(is_segmented(p) ? sort::resolved_of_segments(kAutomatic)
                                : sort::resolved(kAutomatic, p.inputs[0].size(), size_of(p.dtype),
                                                 has_pairs(p), order_by(keys_of(p))));
  };
  card.vendors = {[](const Problem& p) {
                    return is_segmented(p)
                               ? names(vendor::segmented_sort_table, segmented_problem(p))
                               : names(vendor::sort_table, vendor_problem(p));
                  },
                  run_vendor};
  card.vendors.on_host = [](const Problem& p) {
    return is_segmented(p) || !has_all_bits(keys_of(p)) ? std::set<std::string_view>()
                                                        : std::set<std::string_view>{"thrust"};
  };
  card.references = references;
  card.elements = elements;
  card.exact = true;
  card.exact_samples = exact_samples;
  card.random_samples = [](Dtype) {
    std::vector<Sample> samples;
    for (const std::string& shape : shapes({7296 * 2 + 41})) samples.push_back({"normal", shape});
    samples.push_back({"normal", "pairs_n9001_descending_begin3"});
    samples.push_back({"entropy", "pairs_n9001_entropy0.201"});
    samples.back().vacuous_outputs = {"sorted_keys"}; // most are 0
    return samples;
  };
  card.special_samples = special_samples;
  card.usual = [](Dtype) {
    std::vector<std::string> result = shapes({1500});
    result.insert(result.end(), {"pairs_n1500_segments7", "pairs_n1500_descending",
                                 "keys_n1500_descending_begin5_end12",
                                 "pairs_n1500_segments7_descending_begin2_end15"});
    return result;
  };
  card.sizes = [](Dtype dtype) {
    const std::size_t bytes = size_of(dtype);
    const std::int64_t keys = 384 * (bytes == 8 ? 10 : 19); // of a tile, and of a tile of pairs
    const std::int64_t pairs = 384 * (bytes == 8 ? 7 : bytes == 4 ? 11 : 14);
    std::vector<std::string> result = shapes({1, 2, 31, 33, 511, 513, pairs - 1, pairs, pairs + 1});
    for (const std::int64_t n : {keys - 1, keys, keys + 1})
      result.push_back("keys_n" + std::to_string(n));
    result.insert(result.end(),
                  {"keys_n1_segments2", "keys_n300_segments1", "keys_n300_segments301",
                   "pairs_n40_segments1000", "pairs_n3100_segments30", "keys_n600_segments70000",
                   "keys_n513_end1", "keys_n513_end9", "pairs_n513_descending_begin8"});
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
  card.bound_on_host = kg::Bound::sync; // on the executor a warp's matches cost more than its loads
  card.timed_on_host = {{"keys_n1024", true},
                        {"pairs_n1024"},
                        {"pairs_n12288"},
                        {"keys_n2048_segments50"},
                        {"pairs_n12288_descending"},
                        {"keys_n12288_end8"},
                        {"keys_n12288_entropy0.544"}};
  card.timed_on_gpu = {{"keys_n65536"},
                       {"keys_n67108864", true},
                       {"pairs_n67108864"},
                       {"keys_n67108864_segments100000"},
                       {"pairs_n67108864_descending"},
                       {"keys_n67108864_end8"},
                       {"keys_n67108864_entropy1.000"},
                       {"keys_n67108864_entropy0.544"},
                       {"keys_n67108864_entropy0.201"}};
  return card;
}

} // namespace kg::card
