// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/card_operation.h"

#include "perf/measure/timed_memory.h"
#include "runtime/backend.h"
#include "tests/oracle/compare.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <utility>

namespace kg::perf {
namespace {

using card::Call;
using card::Card;
using card::Problem;
using card::Tensor;

// Verifies operations that only move data: each element must have the bits of its source element.
// Of large results only windows are compared.
std::string verify_moved(const Card& card, const TimedMemory& memory, Stream& stream) {
  const Problem& problem = memory.problem();
  const card::Bits bits = [&](std::string_view input, std::int64_t i) {
    return memory.bits(input, i);
  };
  for (const Tensor& output : problem.outputs) {
    const card::SourceOfElement source = card.source(problem, output.name, bits);
    for (const Window window : windows(output.size(), 1 << 17)) {
      std::vector<std::uint64_t> expected;
      for (std::int64_t i = window.first; i < window.first + window.count; ++i) {
        const card::Source from = source(i);
        expected.push_back(bits(from.input, from.index));
      }
      const auto comparison =
          test::compare_bits(memory.observe(output, {window}, stream), {window.count}, expected);
      if (!comparison.passed()) return comparison.text();
    }
  }
  return "";
}

// The owner of results: the variant, or "" for a library, whose tolerance is scaled by `slack`.
struct ResultOwner {
  std::string variant;
  double slack;
};

test::Comparison comparison(const Tensor& output, const test::Observed& seen,
                            const card::Reference& reference, const ResultOwner& owner) {
  std::vector<double> tolerance =
      reference.tolerance ? reference.tolerance(owner.variant) : std::vector<double>();
  for (double& bound : tolerance) bound *= owner.slack;
  test::Expectation expected = test::exactly(output.dtype, output.extents, reference.value);
  if (!tolerance.empty()) expected = {output.dtype, output.extents, reference.value, tolerance};
  return test::compare(seen, expected);
}
std::string compared(const Tensor& output, const test::Observed& seen,
                     const card::Reference& reference, const ResultOwner& owner) {
  const test::Comparison found = comparison(output, seen, reference, owner);
  return found.passed() ? "" : output.name + ": " + found.text();
}

// Reference results of a part, and the number of elements read for them. Cached, since a workload
// is verified before and after it is timed, with unchanged inputs.
struct Known {
  card::References right;
  std::int64_t numbers;
};
using KnownParts = std::map<std::string, Known>;

// The number of elements that the reference may read before it starts another window: some tenths
// of a second, since one element takes 30 to 100 ns.
constexpr std::int64_t kMostRead = 1 << 22;
// The same if the reference computes whole rows or columns, at about a microsecond per element.
constexpr std::int64_t kMostOfRows = 1 << 20, kMostOfColumns = 1 << 19;

// Verifies windows of each output: both ends, then random ones between until the reference has read
// enough, at most sixteen in all. The windows are smaller if an element takes long. The correctness
// tests compare every element, and find wrong elements elsewhere.
std::string verify_elements(const Card& card, TimedMemory& memory, const ResultOwner& owner,
                            KnownParts& known, Stream& stream) {
  const Problem& problem = memory.problem();
  std::map<std::string, test::Observed, std::less<>> stored;
  bool of_results = false; // whether the reference read this run's outputs
  const card::Values values = [&](std::string_view tensor) -> card::Elements {
    if (memory.is_input(tensor)) return memory.input(tensor);
    of_results = true;
    auto found = stored.find(tensor);
    if (found == stored.end()) {
      const Tensor& output = problem.tensor(tensor);
      found = stored.emplace(tensor, memory.observe(output, {{0, output.size()}}, stream)).first;
    }
    return
        [&its = found->second.values](std::int64_t i) { return its[static_cast<std::size_t>(i)]; };
  };
  for (const Tensor& output : problem.outputs) {
    const double flops = problem.flops / static_cast<double>(output.size());
    const double fewest = flops > 1e6 ? 16 : 64, highest = flops < 16 ? 1 << 17 : 1 << 12;
    const auto most = static_cast<std::int64_t>(std::clamp(8e6 / flops, fewest, highest));
    const std::int64_t written = output.counted_by.empty()
                                     ? output.size()
                                     : static_cast<std::int64_t>(values(output.counted_by)(0));
    std::int64_t places = 0, read = 0;
    for (const Window window : windows(written, most)) {
      if (++places > 2 && read > kMostRead) break;
      const std::string place = fmt::format("{} {} {}", output.name, window.first, window.count);
      of_results = false;
      if (!known.contains(place)) {
        const std::int64_t before = memory.numbers_read();
        card::Reference right =
            card.elements(problem, output.name, window.first, window.count, values);
        known[place] = {{{output.name, std::move(right)}}, memory.numbers_read() - before};
      }
      const Known& its = known[place];
      read += its.numbers;
      Tensor part = output;
      part.extents = {window.count};
      const test::Comparison found = comparison(part, memory.observe(output, {window}, stream),
                                                its.right.at(output.name), owner);
      if (of_results) known.erase(place);
      memory.note(found.max_error);
      if (!found.passed()) return output.name + ": " + found.text();
    }
  }
  return "";
}

// Verifies columns of outputs that need all rows: sixteen, and fewer of long ones, but at least
// three, with the first and the last among them.
std::string verify_columns(const Card& card, const TimedMemory& memory, const ResultOwner& owner,
                           KnownParts& known, Stream& stream) {
  const auto is_of_columns = [](const Tensor& output) {
    return !output.by_row && output.col_axis >= 0;
  };
  for (const Tensor& output : memory.problem().outputs) {
    if (!is_of_columns(output)) continue;
    const std::int64_t cols = output.extents.back();
    const std::int64_t rows = memory.problem().outputs[0].size() / std::max<std::int64_t>(cols, 1);
    const std::int64_t count = std::min(
        cols, std::clamp<std::int64_t>(kMostOfColumns / std::max<std::int64_t>(rows, 1), 3, 16));
    std::vector<std::int64_t> columns;
    std::vector<Window> places;
    for (std::int64_t i = 0; i < count; ++i) {
      columns.push_back(count == 1 ? 0 : i * (cols - 1) / (count - 1));
      places.push_back({columns.back(), 1});
    }
    const Problem part = memory.columns(columns);
    if (!known.contains("columns"))
      known["columns"] = {card.references(part, memory.inputs_of_columns(columns)), 0};
    const card::References& references = known["columns"].right;
    for (const Tensor& each : part.outputs) {
      if (!is_of_columns(each)) continue;
      const std::string wrong =
          compared(each, memory.observe(each, places, stream), references.at(each.name), owner);
      if (!wrong.empty()) return wrong;
    }
    return "";
  }
  return "";
}

// Verifies some rows of large results. An output that needs all inputs is verified if these are
// few; otherwise some of its columns are.
std::string verify(const Card& card, TimedMemory& memory, const ResultOwner& owner,
                   KnownParts& known, Stream& stream) {
  if (card.source) return verify_moved(card, memory, stream);
  if (card.elements) return verify_elements(card, memory, owner, known, stream);
  const Problem& problem = memory.problem();
  const Tensor& result = problem.outputs[0];
  const std::int64_t rows = result.by_row ? result.extents[result.row_axis] : 1;
  if (rows == 0) return "";
  constexpr std::int64_t kMost = 1 << 17, kMostOfAll = 1 << 22;
  const bool all = std::any_of(problem.outputs.begin(), problem.outputs.end(),
                               [](const Tensor& output) { return !output.by_row; }) &&
                   result.size() <= kMostOfAll;
  const std::int64_t row = result.size() / rows;
  std::int64_t places = 0, read = 0;
  for (const Window window : windows(result.size(), all ? kMostOfAll : kMost, row)) {
    if (++places > 2 && read > kMostOfRows) break;
    const Window of_rows{window.first / row, window.count / row};
    const std::string place = fmt::format("rows {} {}", of_rows.first, of_rows.count);
    const Problem part = memory.rows(of_rows);
    if (!known.contains(place)) {
      const card::Inputs values = memory.inputs_of_rows(of_rows);
      std::int64_t numbers = 0;
      for (const auto& [name, input] : values) numbers += std::ssize(input.values);
      known[place] = {card.references(part, values), numbers};
    }
    const card::References& references = known[place].right;
    read += known[place].numbers;
    for (const Tensor& output : part.outputs) {
      if (!output.by_row && of_rows.count < rows) continue;
      const std::string wrong =
          compared(output, memory.observe_rows(problem.tensor(output.name), of_rows, stream),
                   references.at(output.name), owner);
      if (!wrong.empty()) return wrong;
    }
  }
  return all ? "" : verify_columns(card, memory, owner, known, stream);
}

Workload workload(const Card& card, const Problem& problem, const std::string& variant,
                  const ResultOwner& owner, std::function<void(const Call&, Stream&)> run,
                  std::function<void(const Call&, Stream&)> prepare = {}) {
  auto memory = std::make_shared<TimedMemory>(problem);
  auto call = std::make_shared<Call>(memory->call());
  if (prepare) {
    Stream stream;
    prepare(*call, stream);
    stream.synchronize();
  }
  Workload result{[=](Stream& s) { run(*call, s); }, [=](Stream& s) { memory->poison(s); },
                  [=, &card, known = std::make_shared<KnownParts>()](Stream& s) {
                    return verify(card, *memory, owner, *known, s);
                  },
                  variant};
  if (card.elements) result.worst_error = [=] { return memory->worst_error(); };
  return result;
}

// Cached reference results of a problem with these outputs.
using KnownByOutputs = std::map<std::vector<std::string>, KnownParts>;

// What is wrong with another program's results; empty if nothing.
std::string verify_results(const Card& card, Problem problem, const ResultBytes& results,
                           KnownByOutputs& known) {
  for (const Tensor& output : std::vector<Tensor>(problem.outputs)) {
    const auto given = results.find(output.name);
    if (given != results.end()) {
      const std::size_t size = static_cast<std::size_t>(output.size()) * size_of(output.dtype);
      if (given->second.size() != size)
        return fmt::format("{}: it has {} bytes in place of {}", output.name, given->second.size(),
                           size);
    } else if (output.optional) {
      problem = problem.without(output.name);
    } else {
      return output.name + ": it is missing";
    }
  }
  Stream stream;
  TimedMemory memory(problem);
  std::vector<std::string> outputs;
  for (const Tensor& output : problem.outputs) {
    memory.store(output.name, results.find(output.name)->second, stream);
    outputs.push_back(output.name);
  }
  return verify(card, memory, {"", card.vendors.slack_when_timed}, known[outputs], stream);
}

Exchange exchange(const Card& card, const Problem& problem) {
  Exchange result;
  const auto add = [](std::vector<ExchangedTensor>& to, const std::vector<Tensor>& from) {
    for (const Tensor& each : from) {
      // Some cards store 64-bit integers as the bits of f64.
      const Dtype dtype = each.c_type == "int64_t" ? Dtype::i64 : each.dtype;
      to.push_back({each.name, dtype, each.extents, each.optional});
    }
  };
  add(result.inputs, problem.inputs);
  add(result.outputs, problem.outputs);
  result.scalars = problem.scalars;
  result.make_inputs = [=] {
    const auto memory = std::make_shared<TimedMemory>(problem);
    return [=](std::string_view input) { return memory->bytes(input); };
  };
  result.verify = [=, &card, known = std::make_shared<KnownByOutputs>()](const ResultBytes& given) {
    return verify_results(card, problem, given, *known);
  };
  return result;
}

Workload our_workload(const Card& card, const Problem& problem, const card::Variant& variant) {
  Workload result = workload(card, problem, variant.name, {variant.name, 1}, variant.run);
  if (variant.compile) result.compile_ns = [ns = variant.compile(problem)] { return ns; };
  return result;
}

Case make_case(const Card& card, Dtype dtype, const Shape& shape) {
  Problem with_kept = card.problem(dtype, shape);
  for (const Tensor& output : std::vector<Tensor>(with_kept.outputs))
    if (output.extra) with_kept = with_kept.without(output.name);
  Problem problem = with_kept;
  problem.kept.clear(); // our variants do not need it
  if (std::none_of(card.variants.begin(), card.variants.end(),
                   [&](const card::Variant& each) { return each.supports(problem); }))
    return {}; // not supported for this type
  const Bound usual = backend == Backend::host ? card.bound_on_host : card.bound_on_gpu;
  Case result{card.bound ? card.bound(problem) : usual, problem.work, {}};
  result.automatic = card.resolved(problem);
  result.tf32 = problem.tf32;
  result.interleaved = card.interleaved && kInterleavesProducts;
  result.exchange = [=, &card] { return exchange(card, problem); };
  for (const card::Variant& variant : card.variants) {
    if (!variant.supports(problem) || !variant.listed(problem)) continue;
    result.variants.push_back(
        {variant.name, false, [=, &card, &variant] { return our_workload(card, problem, variant); },
         variant.timed(problem) && is_timed_in_sequence(variant.sequence(problem)), "",
         static_cast<bool>(variant.compile)});
  }
  if (!card.vendors.listed(problem)) return result;
  const auto& run_vendor = card.vendors.run_timed ? card.vendors.run_timed : card.vendors.run;
  for (const std::string_view vendor : card.vendors.names(problem)) {
    const std::string name(vendor);
    result.variants.push_back({name, true,
                               [=, &card] {
                                 return workload(
                                     card, card.vendors.problem(with_kept, name), name,
                                     {"", card.vendors.slack_when_timed},
                                     [=, &run_vendor](const Call& call, Stream& stream) {
                                       run_vendor(name, call, stream);
                                     },
                                     [=, &card](const Call& call, Stream& stream) {
                                       card.vendors.prepare(name, call, stream);
                                     });
                               },
                               true, card.vendors.note(vendor)});
  }
  return result;
}

} // namespace

Operation card_operation(const Card& card) {
  const auto listed = [](const std::vector<card::TimedShape>& shapes) {
    std::vector<ListedShape> result;
    for (const card::TimedShape& each : shapes) result.push_back({each.shape, each.fast});
    return result;
  };
  Operation operation{card.name, card.category, card.dtypes, {}, {}};
  operation.shapes_on_gpu = listed(card.timed_on_gpu);
  operation.shapes =
      backend == Backend::host ? listed(card.timed_on_host) : operation.shapes_on_gpu;
  operation.make = [&card](Dtype dtype, const Shape& shape) {
    return make_case(card, dtype, shape);
  };
  return operation;
}

} // namespace kg::perf
