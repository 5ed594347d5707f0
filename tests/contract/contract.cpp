// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/contract.h"

#include "runtime/launch.h"
#include "runtime/memory.h"
#include "tests/contract/alone_tests.h"
#include "tests/contract/compiled_tests.h"
#include "tests/contract/delayed_copy.h"
#include "tests/contract/large_strides.h"
#include "tests/contract/listed_tests.h"
#include "tests/contract/memory_tests.h"
#include "tests/contract/own_test.h"
#include "tests/contract/pitch_tests.h"
#include "tests/contract/repeat_tests.h"
#include "tests/contract/subnormal_tests.h"
#include "tests/contract/vendor_tests.h"
#include "tests/oracle/random.h"
#include "tests/support/device_types.h"
#include "tests/support/hygiene.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

namespace kg::card {
namespace {

using test::Evidence;

class Contract : public testing::Test {
 public:
  Contract(const Card& card, Dtype dtype, void (*test)(Judge&))
      : judge_(card, dtype), test_(test) {}

  void SetUp() override {
    RecordProperty("backend", std::string(name(backend)));
    const Card& card = judge_.card();
    const bool exact = card.exact || is_integer(judge_.dtype());
    const auto evidence = exact ? test::exact_evidence(judge_.dtype()) : test::kRoundedOperation;
    const auto has = [](const auto& all, const auto& one) {
      return all.empty() || std::find(all.begin(), all.end(), one) != all.end();
    };
    for (const std::string& form : card.forms)
      for (const Variant& variant : card.variants)
        if (has(variant.dtypes, judge_.dtype()) && has(variant.forms, form))
          require_evidence(judge_.form_id(variant.name, form), evidence);
  }
  void TestBody() override { test_(judge_); }

 private:
  Judge judge_;
  void (*test_)(Judge&);
};

// The usual problems with random data.
std::vector<Problem> usual(const Judge& judge) {
  std::vector<Problem> problems;
  for (const std::string& shape : judge.card().usual(judge.dtype()))
    problems.push_back(problem_of(judge.card(), judge.dtype(), Sample{"normal", shape}));
  return problems;
}

void exact_fill(Judge& judge) {
  for (const Sample& sample : judge.card().exact_samples(judge.dtype()))
    judge.check_exactly(sample);
}

void random_against_oracle(Judge& judge) {
  for (const Problem& problem : usual(judge)) judge.check(judge.random(problem.shape));
  for (const Sample& sample : judge.card().random_samples(judge.dtype())) judge.check(sample);
}

void random_against_vendors(Judge& judge) {
  if (judge.card().vendor_samples) {
    for (const Sample& sample : judge.card().vendor_samples(judge.dtype()))
      judge.check_vendors(sample);
    return;
  }
  for (const Problem& problem : usual(judge)) {
    Sample sample = judge.random(problem.shape);
    sample.fill = "normal";
    judge.check_vendors(sample);
  }
}

// Whether the inputs contain NaN or infinity, but the outputs, such as indices, cannot represent
// them.
bool gives_integers_of_special_values(const Problem& problem, const Sample& sample) {
  return std::all_of(problem.outputs.begin(), problem.outputs.end(),
                     [](const Tensor& output) { return is_integer(output.dtype); }) &&
         std::any_of(sample.inputs.begin(), sample.inputs.end(), [](const auto& input) {
           const std::vector<double>& values = input.second.values;
           return std::any_of(values.begin(), values.end(),
                              [](double value) { return !std::isfinite(value); });
         });
}

void special_values(Judge& judge) {
  for (const Sample& sample : judge.card().special_samples(judge.dtype())) {
    judge.check(sample);
    const Problem problem = problem_of(judge.card(), judge.dtype(), sample);
    if (!gives_integers_of_special_values(problem, sample)) continue;
    judge.each_variant(sample, [&](const Variant& variant) {
      record(judge.id(variant.name, problem), Evidence::special);
    });
  }
}

void sizes(Judge& judge) {
  for (const std::string& shape : judge.card().sizes(judge.dtype()))
    judge.check(judge.random(shape));
  for (const std::string& shape : judge.card().empty)
    judge.check({.fill = "nothing",
                 .shape = shape,
                 .degenerate = test::Degenerate::zero,
                 .vacuous_outputs = judge.random(shape).vacuous_outputs});
}

test::Observed poison(const Tensor& tensor) {
  const auto size = static_cast<std::size_t>(tensor.size());
  return {tensor.dtype, std::vector<double>(size),
          std::vector<std::uint64_t>(size, test::poison_bits(tensor.dtype))};
}

// The inputs stay poisoned until a slow kernel on the same stream has written them.
void waits_for_its_stream(Judge& judge, const Problem& problem) {
  const Inputs inputs = completed(problem, {});
  Stream& stream = judge.stream();
  for (const Variant& variant : judge.card().variants) {
    if (!variant.tries(problem)) continue;
    const Outcome right = judge.run(variant, problem, inputs);
    std::map<std::string, DeviceTensor> early, late, outputs;
    Call call(problem);
    for (const Tensor& input : problem.inputs) {
      const DeviceTensor& from =
          early.try_emplace(input.name, input, Layout{}, inputs.at(input.name), stream)
              .first->second;
      const DeviceTensor& to =
          late.try_emplace(input.name, input, Layout{}, poison(input), stream).first->second;
      const std::size_t width = size_of(input.dtype);
      const std::int64_t row = input.gap == 0 ? input.size() : input.extents.back();
      for (std::int64_t place = 0, row_end = strided(input, {}).storage_size(); place < row_end;
           place += row + input.gap) // the gaps are never read
        copy_delayed(static_cast<const std::byte*>(from.data()) +
                         static_cast<std::size_t>(place) * width,
                     static_cast<std::byte*>(to.data()) + static_cast<std::size_t>(place) * width,
                     static_cast<std::size_t>(row) * width, stream);
      call.bind(input.name, to.data());
    }
    for (const Tensor& output : problem.outputs)
      if (!problem.updates(output.name))
        call.bind(output.name,
                  outputs.try_emplace(output.name, output, Layout{}, kBehind).first->second.data());
    variant.run(call, stream);
    Inputs read;
    for (const Tensor& output : problem.outputs)
      read[output.name] =
          (problem.updates(output.name) ? late : outputs).at(output.name).read(stream);
    cut_to_counts(problem, read);
    for (const Tensor& output : problem.outputs)
      EXPECT_EQ(read.at(output.name).bits, right.outputs.at(output.name).bits)
          << variant.name << " behind a slow kernel on its stream: it did not wait";
  }
}

void automatic_reports_what_ran(Judge& judge, const Problem& problem) {
  const Outcome outcome =
      execute(judge.card().run_automatic, problem, completed(problem, {}), judge.stream());
  const std::string_view expected = judge.card().resolved(problem);
  EXPECT_TRUE(judge.card().variant(outcome.ran).supports(problem)) << outcome.ran;
  if (!expected.empty()) {
    EXPECT_EQ(outcome.ran, expected);
  }
  if (!judge.card().launches && !judge.card().kernels) return;
  judge.check_kernels(outcome, problem);
  if (judge.card().kernel_name || judge.card().kernels) return;
  for (const std::string& kernel : outcome.kernels)
    EXPECT_NE(kernel.find(outcome.ran), std::string::npos) << kernel << " ran for " << outcome.ran;
}

// Matrices with one column or row less than the others, overlapping rows, or elements that are not
// contiguous.
void refuses_rows_that_do_not_fit(Judge& judge, const Problem& problem, const Variant& variant,
                                  const std::function<Call(const Problem&)>& bound) {
  for (const auto* group : {&problem.inputs, &problem.outputs})
    for (const Tensor& tensor : *group) {
      if (!tensor.by_row || tensor.extents.size() != 2 || tensor.gap != 0) continue;
      for (const std::size_t axis : {0, 1}) {
        if (problem.pitched) break;
        Problem wrong = problem;
        for (auto* tensors : {&wrong.inputs, &wrong.outputs})
          for (Tensor& each : *tensors)
            if (each.name == tensor.name) --each.extents[axis];
        EXPECT_THROW(variant.run(bound(wrong), judge.stream()), Error)
            << variant.name << ": axis " << axis << " of " << tensor.name << " is one shorter";
      }
      Call call = bound(problem);
      void* const data = call.address(tensor.name);
      call.bind(tensor.name, data, -1);
      EXPECT_THROW(variant.run(call, judge.stream()), Error)
          << variant.name << ": the rows of " << tensor.name << " overlap";
      if (problem.pitched) continue;
      call.bind(tensor.name, data, tensor.extents[1], 2);
      EXPECT_THROW(variant.run(call, judge.stream()), Error)
          << variant.name << ": the elements of " << tensor.name << " lie apart";
    }
}

// A problem of the usual shape, changed to be invalid, must be refused before any launch.
void refuses_wrong_arguments(Judge& judge, const Problem& problem) {
  std::map<std::string, DeviceTensor> tensors;
  std::vector<const Tensor*> all;
  for (const auto* group : {&problem.inputs, &problem.outputs})
    for (const Tensor& tensor : *group) {
      all.push_back(&tensor);
      tensors.try_emplace(tensor.name, tensor, Layout{}, std::int64_t{16});
    }
  const auto bound = [&](const Problem& problem) {
    Call call(problem);
    for (const Tensor* tensor : all) call.bind(tensor->name, tensors.at(tensor->name).data());
    return call;
  };
  LaunchRecorder recorder;
  for (const Variant& variant : judge.card().variants) {
    if (!variant.supports(problem)) {
      EXPECT_THROW(variant.run(bound(problem), judge.stream()), Error) << variant.name;
      continue;
    }
    if (!variant.tried(problem)) continue;
    for (const Tensor* tensor : all) {
      if (tensor->size() == 0 || tensor->optional) continue;
      Call call = bound(problem);
      call.bind(tensor->name, nullptr);
      EXPECT_THROW(variant.run(call, judge.stream()), Error)
          << variant.name << ": " << tensor->name << " is null";
    }
    // A negative extent is negative in every tensor that has it.
    std::set<std::int64_t> extents;
    for (const Tensor* tensor : all)
      if (!tensor->derived) extents.insert(tensor->extents.begin(), tensor->extents.end());
    for (const std::int64_t extent : extents) {
      Problem negative = problem;
      for (auto* group : {&negative.inputs, &negative.outputs})
        for (Tensor& tensor : *group)
          std::replace(tensor.extents.begin(), tensor.extents.end(), extent, std::int64_t{-1});
      EXPECT_THROW(variant.run(bound(negative), judge.stream()), Error)
          << variant.name << ": the extent " << extent << " is -1";
    }
    // An output that begins inside another tensor; it may only share an input's memory completely.
    for (const Tensor& output : problem.outputs)
      for (const Tensor* tensor : all) {
        if (!judge.card().refuses_overlap || tensor->size() < 2 || output.size() == 0 ||
            tensor->name == output.name)
          continue;
        const bool is_output = std::any_of(problem.outputs.begin(), problem.outputs.end(),
                                           [&](const Tensor& each) { return &each == tensor; });
        if (is_output && judge.card().outputs_may_meet) continue;
        Call call = bound(problem);
        call.bind(output.name,
                  static_cast<std::byte*>(call.address(tensor->name)) + size_of(tensor->dtype));
        EXPECT_THROW(variant.run(call, judge.stream()), Error)
            << variant.name << ": " << output.name << " begins at the second element of "
            << tensor->name;
      }
    for (const auto& [scalar, values] : judge.card().refused_scalars)
      for (const double value : values) {
        if (!problem.scalars.contains(scalar)) continue; // belongs to another form
        Problem wrong = problem;
        wrong.scalars[scalar] = value;
        EXPECT_THROW(variant.run(bound(wrong), judge.stream()), Error)
            << variant.name << ": " << scalar << " is " << value;
      }
    if (problem.gaps) refuses_rows_that_do_not_fit(judge, problem, variant, bound);
    for (const std::string& shape : judge.card().empty) {
      const Problem nothing = problem_of(judge.card(), judge.dtype(), {"nothing", shape});
      if (nothing.output_size() > 0 || !variant.tries(nothing)) continue;
      EXPECT_NO_THROW(variant.run(Call(nothing), judge.stream()))
          << variant.name << ": null pointers of a problem without elements, " << shape;
    }
  }
  EXPECT_TRUE(recorder.launches().empty())
      << "a refused call launched " << recorder.launches()[0].kernel_name;
}

void work_is_its_traffic(Judge&, const Problem& problem) {
  const auto bytes = [&](const std::vector<Tensor>& tensors) {
    double sum = 0;
    for (const Tensor& tensor : tensors)
      if (&tensors != &problem.outputs || !tensor.extra)
        sum += static_cast<double>(tensor.size()) * static_cast<double>(size_of(tensor.dtype));
    return sum;
  };
  const double written = bytes(problem.outputs) - problem.unwritten;
  EXPECT_EQ(problem.work.bytes, bytes(problem.inputs) - problem.unread + written);
  EXPECT_EQ(problem.work.written, written);
  EXPECT_EQ(problem.work.flops, problem.flops);
}

template <void (*test)(Judge&, const Problem&)>
void each_usual(Judge& judge) {
  for (const Problem& problem : usual(judge)) {
    SCOPED_TRACE(problem.shape);
    test(judge, problem);
  }
}

struct Test {
  const char* suite;
  const char* name;
  void (*run)(Judge&);
  const char* file;
  int line;
};

void enter(const Card& card, const Test& test) {
  for (const Dtype dtype : card.dtypes)
    testing::RegisterTest(
        fmt::format("{}/{}", test.suite, name(dtype)).c_str(), test.name, nullptr, nullptr,
        test.file, test.line,
        [&card, dtype, run = test.run]() -> Contract* { return new Contract(card, dtype, run); });
}

// A program has one card and its own tests, initialised in either order.
struct Program {
  const Card* card = nullptr;
  std::vector<Test> waiting;
};
Program& program() {
  static Program only;
  return only;
}

} // namespace

bool own_test(const char* name, void (*test)(Judge& judge), const char* file, int line) {
  const Test own{"Own", name, test, file, line};
  if (program().card)
    enter(*program().card, own);
  else
    program().waiting.push_back(own);
  return true;
}

bool register_contract(const Card& card) {
  require(!program().card, "this program has the conformance tests of " + card.name + " twice");
  require(card.batches || card.exact || !card.no_batches.empty(),
          card.name + ": name its batches, or say in no_batches why no result is one row's");
  program().card = &card;
  const auto contract = [&](const char* name, void (*test)(Judge&)) {
    enter(card, {"Contract", name, test, __FILE__, __LINE__});
  };
  contract("ExactFill", exact_fill);
  contract("RandomAgainstOracle", random_against_oracle);
  contract("RandomAgainstVendors", random_against_vendors);
  contract("SpecialValues", special_values);
  if (!card.source) contract("Subnormals", subnormal_numbers);
  contract("Sizes", sizes);
  contract("Misaligned", misaligned);
  if (card.pitches) contract("Pitches", pitches);
  if (card.large_strides) contract("LargeStrides", large_strides);
  contract("InPlace", each_usual<in_place>);
  contract("SameBitsEveryTime", each_usual<same_bits_every_time>);
  if (card.batches) contract("RowsAlone", rows_alone);
  if (runs_compiled_kernels()) contract("SameBitsAsSource", each_usual<same_bits_as_source>);
  contract("WaitsForItsStream", each_usual<waits_for_its_stream>);
  if (card.run_automatic)
    contract("AutomaticReportsWhatRan", each_usual<automatic_reports_what_ran>);
  if (card.checks_arguments) {
    contract("RefusesWrongArguments", each_usual<refuses_wrong_arguments>);
    if (card.vendors.run) contract("VendorsKeepTheirPromises", vendors_keep_their_promises);
  }
  contract("WorkIsItsTraffic", each_usual<work_is_its_traffic>);
  contract("ListsProblems", lists_problems);
  for (const Test& own : program().waiting) enter(card, own);
  return true;
}

} // namespace kg::card
