// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The card of an operation: its single definition for correctness tests (contract.h), timings
// (perf/measure/card_operation.h) and candidate kernels (candidate.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/stream.h"
#include "runtime/work.h"
#include "tests/contract/bound.h"
#include "tests/contract/call.h"
#include "tests/contract/shape.h"
#include "tests/contract/shape_grammar.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/degenerate.h"
#include "tests/oracle/numbers.h"

namespace kg::card {

using test::kInfinity, test::kNan;

// The expected value of one output.
struct Reference {
  std::vector<double> value; // from the oracle
  // Absolute error allowed per element for a variant of ours. "" means a library or candidate,
  // whose summation order is unknown. Empty: bit-exact, including the sign of zero.
  std::function<std::vector<double>(std::string_view variant)> tolerance;
  std::vector<double> unit = {}; // as in test::Expectation
  // The required bits, NaN payloads included, for operations that only move data.
  std::vector<std::uint64_t> bits = {};
  // Many elements are correctly 0, so the other elements must expose errors.
  bool holds_zeros = false;
};
using References = std::map<std::string, Reference, std::less<>>; // by output name

// One problem with its data.
struct Sample {
  std::string fill; // describes the data in messages
  std::string shape;
  Inputs inputs = {};                                      // others are standard normal
  std::map<std::string, double, std::less<>> scalars = {}; // override the problem's
  // By output: results that every legal order of operations produces, if known without the oracle.
  // Other outputs are held to the oracle's bound.
  std::map<std::string, std::vector<double>, std::less<>> expected = {};
  test::Degenerate degenerate = test::Degenerate::no;
  test::SignedZero zero = test::SignedZero::must_match; // of exact comparisons
  // The comparison may accept some wrong results, for example if an infinite factor makes all
  // results equal. Other samples must cover those.
  bool may_be_vacuous = false;
  std::vector<std::string> vacuous_outputs = {}; // the same for these outputs only
  std::vector<std::string> without = {};         // optional tensors passed as null
};

// What else the bits of a row's result depend on, and why; empty: only on that row. The test
// RowsAlone checks it (alone_tests.h).
struct Dependence {
  std::string_view batch;  // the other rows, their number, or the row's position
  std::string_view stride; // whether rows are aligned to 16 bytes
};

// One of Kernelgrade's implementations.
struct Variant {
  std::string name;
  std::function<std::string_view(const Call&, Stream&)> run; // returns the name of what ran
  std::function<bool(const Problem&)> supports = [](const Problem&) { return true; };
  std::vector<Dtype> dtypes{};      // supported types; empty: all of the card's
  std::vector<std::string> forms{}; // supported forms; empty: all of the card's
  // Whether the contract tests it; false where run-time compilation takes a second.
  std::function<bool(const Problem&)> tried = [](const Problem&) { return true; };
  bool tries(const Problem& problem) const { return supports(problem) && tried(problem); }
  // Whether it must be about as accurate as the libraries. A variant that sums a long row in one
  // thread is within its bound, but less accurate than any library.
  bool accurate = true;
  // Elements that one thread reads sequentially. Beyond 2^16 the variant is not timed on a GPU.
  std::function<std::int64_t(const Problem&)> sequence = [](const Problem&) { return 1; };
  // Whether it has a timing row, and whether a launch is short enough to be timed. Costs are
  // counted either way.
  std::function<bool(const Problem&)> listed = [](const Problem&) { return true; };
  std::function<bool(const Problem&)> timed = [](const Problem&) { return true; };
  // For run-time compiled variants: compiles before the first run and returns the nanoseconds.
  std::function<double(const Problem&)> compile = {};
  // For a batch of several rows (Card::batches).
  std::function<Dependence(const Problem&)> dependence = [](const Problem&) {
    return Dependence();
  };
};

// For operations that only move data: the input element that an output element comes from. Called
// once per output; the result is called per element. The problem and the bits must outlive it.
struct Source {
  std::string_view input;
  std::int64_t index;
};
// The bits of an element of an input.
using Bits = std::function<std::uint64_t(std::string_view input, std::int64_t index)>;
using SourceOfElement = std::function<Source(std::int64_t index)>;
using Sources =
    std::function<SourceOfElement(const Problem&, std::string_view output, const Bits&)>;

// The elements of one of a problem's tensors; for outputs as stored.
struct Elements : std::function<double(std::int64_t index)> {
  using function::function;
  std::int64_t period = 0; // the elements repeat with this period; 0: never

  // Calls f(value, times) for the first `size` elements: once per element of a period, with the
  // number of its occurrences.
  template <class F>
  void each(std::int64_t size, F f) const {
    const std::int64_t distinct = period > 0 ? std::min(period, size) : size;
    for (std::int64_t i = 0; i < distinct; ++i) f((*this)(i), (size - 1 - i) / distinct + 1);
  }
};
using Values = std::function<Elements(std::string_view tensor)>;

// The libraries that implement the same operation.
struct Vendors {
  std::function<std::vector<std::string_view>(const Problem&)> names = [](const Problem&) {
    return std::vector<std::string_view>();
  };
  std::function<void(std::string_view vendor, const Call&, Stream&)> run;
  // Factor on a library's bound when it is timed. A timed result only has to show that the work was
  // done; the correctness tests check the accuracy.
  double slack_when_timed = 1;
  // The problem in the library's form: with additional inputs derived from ours, or results in
  // other types, which are compared only when timed.
  std::function<Problem(const Problem&, std::string_view vendor)> problem =
      [](const Problem& ours, std::string_view) { return ours; };
  // Whether the sign of zero counts. Libraries' relu returns either.
  test::SignedZero zero = test::SignedZero::must_match;
  // Runs before `run`, untimed: computes Problem::kept.
  std::function<void(std::string_view vendor, const Call&, Stream&)> prepare =
      [](std::string_view, const Call&, Stream&) {};
  // Replaces `run` when timed, for example with faster arithmetic.
  std::function<void(std::string_view vendor, const Call&, Stream&)> run_timed = {};
  // Whether libraries have timing rows.
  std::function<bool(const Problem&)> listed = [](const Problem&) { return true; };
  // A note that the library's rows must show.
  std::function<std::string(std::string_view vendor)> note = [](std::string_view) {
    return std::string();
  };
  // Libraries that must be available on the host for an f32 problem, so that a missing one fails.
  std::function<std::set<std::string_view>(const Problem&)> on_host = [](const Problem&) {
    return std::set<std::string_view>();
  };
};

// For Vendors::on_host, the same for all problems.
inline auto always(std::set<std::string_view> libraries) {
  return [libraries = std::move(libraries)](const Problem&) { return libraries; };
}

// Shapes of a card that are the same for all types.
inline auto these(std::vector<std::string> shapes) {
  return [shapes = std::move(shapes)](Dtype) { return shapes; };
}

struct TimedShape {
  std::string shape;
  bool fast = false; // part of the pre-merge subset
};

struct Card {
  // Takes the grammar of the operation's shapes, or one grammar per kind of problem.
  template <class... P>
  requires(sizeof...(P) > 0) explicit Card(const ShapeGrammar<P>&... grammars) {
    ((grammar += (grammar.empty() ? "" : ", or ") + grammars.text()), ...);
  }

  std::string grammar; // for messages
  std::function<Problem(Dtype, const Shape&)> problem;
  std::vector<Variant> variants;
  // Functions or kinds that are judged separately: the first word of a shape.
  std::vector<std::string> forms = {""};
  // The variant that `automatic` selects; "": only the operation knows.
  std::function<std::string_view(const Problem&)> resolved;
  std::function<std::string_view(const Call&, Stream&)> run_automatic; // empty for a candidate
  Vendors vendors;
  std::function<References(const Problem&, const Inputs&)> references;
  // Expected elements [first, first + count) of an output, if the oracle would take minutes for all
  // of it. Timed results are checked in such windows.
  std::function<Reference(const Problem&, std::string_view output, std::int64_t first,
                          std::int64_t count, const Values&)>
      elements;
  bool exact = false; // every result has exactly one correct value
  // For random data and subnormals; ignored where a zero of either sign is correct.
  test::SignedZero zero = test::SignedZero::must_match;
  Sources source; // for operations that only move data (samples.h, only_moves)

  // Data whose results do not depend on the order of operations; random data in addition to that of
  // `usual`; NaN, infinities and the limits of the ranges.
  std::function<std::vector<Sample>(Dtype)> exact_samples;
  std::function<std::vector<Sample>(Dtype)> random_samples = [](Dtype) {
    return std::vector<Sample>();
  };
  std::function<std::vector<Sample>(Dtype)> special_samples;
  // For the comparison with libraries; empty: random data of the usual shapes.
  std::function<std::vector<Sample>(Dtype)> vendor_samples;
  // Irregular shapes, at least one for each path of each variant.
  std::function<std::vector<std::string>(Dtype)> usual;
  std::function<std::vector<std::string>(Dtype)> sizes; // around packs, warps, blocks and tiles
  std::function<std::vector<std::string>(Dtype)> misaligned; // tested at odd addresses
  // If rows may have gaps: problems with row lengths around whole packs (rows.h,
  // lengths_off_packs).
  std::function<std::vector<std::string>(Dtype)> pitches;
  // Whether an output that begins inside an input is refused. False if the rows of one may lie in
  // the gaps of the other.
  bool refuses_overlap = true;
  bool outputs_may_meet = false; // whether overlapping outputs are accepted
  // Whether wrong arguments throw Error. A candidate kernel cannot report them.
  bool checks_arguments = true;
  std::map<std::string, std::vector<double>> refused_scalars; // refused values of each scalar
  std::vector<std::string> empty;                             // shapes without elements
  // Shapes with independent rows, with a `*` after each number that grows with the batch:
  // "rows*_cols8", "n41*" (shape.h, batch_of). Every row must have the same bits alone as in any
  // batch.
  std::function<std::vector<std::string>(Dtype)> batches;
  // Instead of `batches`: why results do not belong to single rows.
  std::string_view no_batches;
  // What the selection by `automatic` adds to the dependence of the selected variant.
  std::function<Dependence(const Problem&)> automatic_dependence = [](const Problem&) {
    return Dependence();
  };
  // If rows may have gaps: problems of two rows, tested 2^31 elements apart.
  std::function<std::vector<std::string>(Dtype)> large_strides;
  // Kernels that `variant` launches for a non-empty problem; empty: unknown.
  std::function<std::size_t(std::string_view variant, const Problem&)> launches =
      [](std::string_view, const Problem&) -> std::size_t { return 1; };
  // Substrings that each kernel's name must contain when `variant` runs with this layout.
  std::function<std::vector<std::string>(std::string_view variant, const Problem&, const Layout&)>
      kernel_name;
  // Replaces both if the kernels of a run differ: the substrings for each.
  std::function<std::vector<std::vector<std::string>>(std::string_view variant, const Problem&,
                                                      const Layout&)>
      kernels;
  // A further condition on every result; returns what is wrong, or nothing.
  std::function<std::string(const Problem&, const Inputs& outputs)> also =
      [](const Problem&, const Inputs&) { return std::string(); };

  // Why nvcc's results may differ bitwise from g++'s: its own expf, contracted FMAs. Empty: both
  // give the same bits.
  std::string_view bit_difference_reason;
  // A hint for messages on what is missing from wrong sums; may be empty.
  std::function<std::string(const Problem&, const Inputs&, const test::Comparison&)> hint =
      [](const Problem&, const Inputs&, const test::Comparison&) { return std::string(); };

  Bound bound_on_host = Bound::memory, bound_on_gpu = Bound::memory;
  std::function<Bound(const Problem&)> bound; // replaces both if it depends on the problem
  bool interleaved = false; // time the variants interleaved (perf/measure/suite.h)
  std::vector<TimedShape> timed_on_host, timed_on_gpu; // on the host at most about 5 ms per launch

  // Set by kernelgrade_add_op (cmake/Op.cmake).
  std::string name, category;
  std::vector<Dtype> dtypes;

  const Variant& variant(std::string_view name) const;
  // Why some wrong results of random data cannot be distinguished from the correct one.
  std::function<test::Degenerate(const Problem&)> degenerate = [](const Problem&) {
    return test::Degenerate::no;
  };
  // Outputs whose correct results are pure rounding error.
  std::function<std::vector<std::string>(const Problem&)> vacuous_outputs = [](const Problem&) {
    return std::vector<std::string>();
  };
};

// Calls run(call, variant, stream), or run.template operator()<T>(call, variant, stream) if it is a
// template on the element type. Returns the name of the variant that ran.
template <class Run, class Enumerator>
std::string_view name_of_run(Run run, const Call& call, Enumerator variant, Stream& stream) {
  if constexpr (std::is_invocable_v<Run, const Call&, Enumerator, Stream&>)
    return name(run(call, variant, stream));
  else
    return name(dispatch(call.problem().dtype, [&]<class T>() {
      return run.template operator()<T>(call, variant, stream);
    }));
}

// One Variant per enumerator.
template <class Run, class Enumerators>
std::vector<Variant> variants_of(const Enumerators& enumerators, Run run) {
  std::vector<Variant> result;
  for (const auto each : enumerators)
    result.push_back({std::string(name(each)), [run, each](const Call& call, Stream& stream) {
                        return name_of_run(run, call, each, stream);
                      }});
  return result;
}

// The enumerator of this name.
template <class Enumerators>
auto enumerator_of(const Enumerators& enumerators, std::string_view wanted) {
  for (const auto each : enumerators)
    if (name(each) == wanted) return each;
  fail("unknown variant " + std::string(wanted));
}

template <class Run, class Enumerator>
std::function<std::string_view(const Call&, Stream&)> automatic_of(Enumerator automatic, Run run) {
  return [run, automatic](const Call& call, Stream& stream) {
    return name_of_run(run, call, automatic, stream);
  };
}

// Sets the card's members that follow from its variants' enumerators, all run by `run`, and from
// the enumerator named `automatic`; `resolved` only if it never depends on the problem.
template <class Run, class Enumerators>
void run_by(Card& card, const Enumerators& enumerators, Run run) {
  constexpr auto kAutomatic = std::remove_cvref_t<decltype(*enumerators)>::automatic;
  card.variants = variants_of(enumerators, run);
  card.run_automatic = automatic_of(kAutomatic, run);
  if constexpr (requires { resolved(kAutomatic); })
    card.resolved = [](const Problem&) { return name(resolved(kAutomatic)); };
}

} // namespace kg::card
