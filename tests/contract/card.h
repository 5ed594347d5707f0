// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The card of an operation: what it is, said once. Correctness tests (contract.h), timings
// (perf/measure/card_operation.h) and kernels from elsewhere are all held to it.
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
#include "tests/contract/call.h"
#include "tests/contract/kind.h"
#include "tests/contract/shape.h"
#include "tests/contract/shape_grammar.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/degenerate.h"
#include "tests/oracle/numbers.h"

namespace kg::card {

using test::kInfinity, test::kNan;

// What one output should be.
struct Reference {
  std::vector<double> value; // the oracle's
  // What a variant of ours may be off by, per element and absolute; "": of a library or a kernel
  // that nobody knows, whose additions may come in any order. Empty: exact, down to the sign of
  // zero.
  std::function<std::vector<double>(std::string_view variant)> tolerance;
  std::vector<double> unit = {}; // see test::Expectation
  // Where the result must have these bits, NaN payloads included: of what only moves data.
  std::vector<std::uint64_t> bits = {};
  // Whether many elements are 0, as they should be: the others must show what is wrong.
  bool holds_zeros = false;
};
using References = std::map<std::string, Reference, std::less<>>; // by the output's name

// One problem with its data.
struct Sample {
  std::string fill; // what the data are, for messages
  std::string shape;
  Inputs inputs = {};                                      // those not named: standard normals
  std::map<std::string, double, std::less<>> scalars = {}; // in place of the problem's
  // By output: the results that every legal order of operations gives, where they are known without
  // the oracle. Outputs not named are held to the oracle's bound.
  std::map<std::string, std::vector<double>, std::less<>> expected = {};
  test::Degenerate degenerate = test::Degenerate::no;
  test::SignedZero zero = test::SignedZero::must_match; // of exact comparisons
  // Whether its comparison need not reject every wrong result: where an infinite factor makes all
  // results alike, say, and other samples show what this one cannot.
  bool may_be_vacuous = false;
  std::vector<std::string> vacuous_outputs = {}; // the same of these alone
  std::vector<std::string> without = {};         // optional tensors that are null
};

// What the bits of a row's result depend on beside that row, and why; empty: on nothing. The test
// RowsAlone holds a variant to it (alone_tests.h).
struct Dependence {
  std::string_view batch;  // the other rows, their number, or the row's place among them
  std::string_view stride; // whether rows begin at 16 bytes
};

// An implementation of ours.
struct Variant {
  std::string name;
  std::function<std::string_view(const Call&, Stream&)> run; // gives the name of what ran
  std::function<bool(const Problem&)> supports = [](const Problem&) { return true; };
  std::vector<Dtype> dtypes{};      // that it has at all; none: all of the card's
  std::vector<std::string> forms{}; // the same of the card's forms
  // Whether the contract tries it there: not where compiling it takes a second.
  std::function<bool(const Problem&)> tried = [](const Problem&) { return true; };
  bool tries(const Problem& problem) const { return supports(problem) && tried(problem); }
  // Whether it must be about as accurate as the libraries. One that adds up a long row by one
  // thread is within its bound, but no library is so inaccurate.
  bool accurate = true;
  // How many elements one thread reads one after another: beyond 2^16 it is not timed on a GPU.
  std::function<std::int64_t(const Problem&)> sequence = [](const Problem&) { return 1; };
  // Whether timings have a row of it, and whether a launch is short enough to be timed there; where
  // not, its costs are counted all the same.
  std::function<bool(const Problem&)> listed = [](const Problem&) { return true; };
  std::function<bool(const Problem&)> timed = [](const Problem&) { return true; };
  // Compiles it ahead of its first run, where that happens at run time, and gives the nanoseconds.
  std::function<double(const Problem&)> compile = {};
  // Of a batch of several rows (Card::batches).
  std::function<Dependence(const Problem&)> dependence = [](const Problem&) {
    return Dependence();
  };
};

// Where an element of an output comes from, of an operation that only moves data. Asked once for an
// output, then for each of its elements; the problem and the bits must live as long.
struct Source {
  std::string_view input;
  std::int64_t index;
};
// The bits of an element of an input.
using Bits = std::function<std::uint64_t(std::string_view input, std::int64_t index)>;
using SourceOfElement = std::function<Source(std::int64_t index)>;
using Sources =
    std::function<SourceOfElement(const Problem&, std::string_view output, const Bits&)>;

// The elements of a tensor; of each of a problem's, an output's as it was stored.
struct Elements : std::function<double(std::int64_t index)> {
  using function::function;
  std::int64_t period = 0; // after how many they repeat; 0: they do not

  // The first `size` of them by f(value, times): those of one period, and how often each is there.
  template <class F>
  void each(std::int64_t size, F f) const {
    const std::int64_t distinct = period > 0 ? std::min(period, size) : size;
    for (std::int64_t i = 0; i < distinct; ++i) f((*this)(i), (size - 1 - i) / distinct + 1);
  }
};
using Values = std::function<Elements(std::string_view tensor)>;

// The libraries that do the same.
struct Vendors {
  std::function<std::vector<std::string_view>(const Problem&)> names = [](const Problem&) {
    return std::vector<std::string_view>();
  };
  std::function<void(std::string_view vendor, const Call&, Stream&)> run;
  // A timed result must show that the work was done; how accurate a library is, the correctness
  // tests say. By what its bound is multiplied there.
  double slack_when_timed = 1;
  // The problem as one takes it: with inputs more that are made of ours, or results in other types,
  // which are compared where it is timed alone.
  std::function<Problem(const Problem&, std::string_view vendor)> problem =
      [](const Problem& ours, std::string_view) { return ours; };
  // Whether the sign of a zero counts: relu of libraries gives either.
  test::SignedZero zero = test::SignedZero::must_match;
  // Before run, and not timed: computes what the problem has as `kept`.
  std::function<void(std::string_view vendor, const Call&, Stream&)> prepare =
      [](std::string_view, const Call&, Stream&) {};
  // In the place of run where it is timed: by faster arithmetic, say.
  std::function<void(std::string_view vendor, const Call&, Stream&)> run_timed = {};
  // Whether timings have rows of them.
  std::function<bool(const Problem&)> listed = [](const Problem&) { return true; };
  // What their rows must say of their times.
  std::function<std::string(std::string_view vendor)> note = [](std::string_view) {
    return std::string();
  };
  // Those that an f32 problem must find on the host: one that is gone would be missed by nobody.
  std::function<std::set<std::string_view>(const Problem&)> on_host = [](const Problem&) {
    return std::set<std::string_view>();
  };
};

// For Vendors::on_host, the same for all problems.
inline auto always(std::set<std::string_view> libraries) {
  return [libraries = std::move(libraries)](const Problem&) { return libraries; };
}

// For what a card has of shapes, the same for all types.
inline auto these(std::vector<std::string> shapes) {
  return [shapes = std::move(shapes)](Dtype) { return shapes; };
}

struct TimedShape {
  std::string shape;
  bool fast = false; // part of the pre-merge subset
};

struct Card {
  // An operation declares the grammar of its shapes, or, where kinds of problems have other
  // parameters, one of each kind.
  template <class... P>
  requires(sizeof...(P) > 0) explicit Card(const ShapeGrammar<P>&... grammars) {
    ((grammar += (grammar.empty() ? "" : ", or ") + grammars.text()), ...);
  }

  std::string grammar; // for messages
  std::function<Problem(Dtype, const Shape&)> problem;
  std::vector<Variant> variants;
  // What of the operation is judged by itself, as the first word of a shape: functions, kinds.
  std::vector<std::string> forms = {""};
  // The variant of ours that `automatic` takes; "": only the operation knows.
  std::function<std::string_view(const Problem&)> resolved;
  std::function<std::string_view(const Call&, Stream&)> run_automatic; // none: of a candidate
  Vendors vendors;
  std::function<References(const Problem&, const Inputs&)> references;
  // What elements [first, first + count) of an output should be, where all of it would take the
  // oracle minutes: timed results are looked at through windows of these.
  std::function<Reference(const Problem&, std::string_view output, std::int64_t first,
                          std::int64_t count, const Values&)>
      elements;
  bool exact = false; // every result has one right value: each comparison with the oracle is exact
  // Of data drawn at random and of subnormal numbers; ignored where a zero of either sign is right.
  test::SignedZero zero = test::SignedZero::must_match;
  Sources source; // of an operation that only moves data (samples.h, only_moves)

  // Data whose results every legal order of operations gives; data drawn at random beside that of
  // `usual`; NaN, infinities and the ends of the ranges.
  std::function<std::vector<Sample>(Dtype)> exact_samples;
  std::function<std::vector<Sample>(Dtype)> random_samples = [](Dtype) {
    return std::vector<Sample>();
  };
  std::function<std::vector<Sample>(Dtype)> special_samples;
  // Beside libraries; none: random data of the usual shapes.
  std::function<std::vector<Sample>(Dtype)> vendor_samples;
  // Shapes that are multiples of nothing, at least one for each path of each variant.
  std::function<std::vector<std::string>(Dtype)> usual;
  std::function<std::vector<std::string>(Dtype)> sizes; // around packs, warps, blocks and tiles
  std::function<std::vector<std::string>(Dtype)> misaligned; // to be tried at odd addresses
  // Where rows may lie apart: problems with rows around whole packs (rows.h, lengths_off_packs).
  std::function<std::vector<std::string>(Dtype)> pitches;
  // Whether an output that begins within an input is refused; not where the rows of one may lie in
  // the gaps of the other.
  bool refuses_overlap = true;
  bool outputs_may_meet = false; // whether outputs that overlap each other are not refused
  // Whether wrong arguments throw an Error at all: a kernel from elsewhere returns nothing.
  bool checks_arguments = true;
  std::map<std::string, std::vector<double>> refused_scalars; // values of each that are refused
  std::vector<std::string> empty;                             // problems without elements
  // Shapes whose rows are computed apart, each with a `*` behind what a row has of each number that
  // grows with them: "rows*_cols8", "n41*" (shape.h, batch_of). Every row must have the same bits
  // alone as in any batch, whatever the others are.
  std::function<std::vector<std::string>(Dtype)> batches;
  // In place of these, why no result is one row's.
  std::string_view no_batches;
  // What the choice of `automatic` adds to the dependence of the variant that it takes.
  std::function<Dependence(const Problem&)> automatic_dependence = [](const Problem&) {
    return Dependence();
  };
  // Problems of two rows, to be tried 2^31 elements apart, where rows may lie apart.
  std::function<std::vector<std::string>(Dtype)> far;
  // How many kernels `variant` launches where there are elements; none: nobody knows.
  std::function<std::size_t(std::string_view variant, const Problem&)> launches =
      [](std::string_view, const Problem&) -> std::size_t { return 1; };
  // What each kernel's name must hold, all of it, when `variant` runs on tensors that lie so.
  std::function<std::vector<std::string>(std::string_view variant, const Problem&, const Layout&)>
      kernel_name;
  // In place of both where the kernels of a run differ: what the name of each must hold.
  std::function<std::vector<std::vector<std::string>>(std::string_view variant, const Problem&,
                                                      const Layout&)>
      kernels;
  // What every result must satisfy beside its bound; empty, or what is wrong.
  std::function<std::string(const Problem&, const Inputs& outputs)> also =
      [](const Problem&, const Inputs&) { return std::string(); };

  // What nvcc's code computes otherwise than g++'s: functions that each has of its own ("expf"),
  // products that nvcc fuses with sums. Empty: both give the same bits.
  std::string_view compiled_otherwise;
  // What of the sums that are wrong is missing, for messages; empty: nobody can tell.
  std::function<std::string(const Problem&, const Inputs&, const test::Comparison&)> hint =
      [](const Problem&, const Inputs&, const test::Comparison&) { return std::string(); };

  Kind kind_on_host = Kind::memory, kind_on_gpu = Kind::memory;
  std::function<Kind(const Problem&)> kind; // in place of both, where it is not always the same
  bool in_turns = false; // products, whose variants are timed in turns (perf/measure/suite.h)
  std::vector<TimedShape> timed_on_host, timed_on_gpu; // on the host at most about 5 ms a launch

  // Set by kernelgrade_add_op (cmake/Op.cmake).
  std::string name, category;
  std::vector<Dtype> dtypes;

  const Variant& variant(std::string_view name) const;
  // Why some wrong results of random data of this problem cannot be told from the right one.
  std::function<test::Degenerate(const Problem&)> degenerate = [](const Problem&) {
    return test::Degenerate::no;
  };
  // The outputs of it whose right results are nothing but what rounding leaves.
  std::function<std::vector<std::string>(const Problem&)> vacuous_outputs = [](const Problem&) {
    return std::vector<std::string>();
  };
};

// run(call, variant, stream), or, where it is a template on the element type,
// run.template operator()<T>(call, variant, stream). Gives the name of the variant that ran.
template <class Run, class Enumerator>
std::string_view name_of_run(Run run, const Call& call, Enumerator variant, Stream& stream) {
  if constexpr (std::is_invocable_v<Run, const Call&, Enumerator, Stream&>)
    return name(run(call, variant, stream));
  else
    return name(dispatch(call.problem().dtype, [&]<class T>() {
      return run.template operator()<T>(call, variant, stream);
    }));
}

// One of `variants` for each enumerator.
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

// What a card has of the enumerators of its variants, all run by `run`, and of the one that they
// call `automatic`; `resolved` where that is always the same.
template <class Run, class Enumerators>
void run_by(Card& card, const Enumerators& enumerators, Run run) {
  constexpr auto kAutomatic = std::remove_cvref_t<decltype(*enumerators)>::automatic;
  card.variants = variants_of(enumerators, run);
  card.run_automatic = automatic_of(kAutomatic, run);
  if constexpr (requires { resolved(kAutomatic); })
    card.resolved = [](const Problem&) { return name(resolved(kAutomatic)); };
}

} // namespace kg::card
