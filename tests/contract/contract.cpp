// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/contract.h"

#include "runtime/launch.h"
#include "runtime/memory.h"
#include "tests/contract/far_tensor.h"
#include "tests/contract/late_copy.h"
#include "tests/contract/own_test.h"
#include "tests/oracle/random.h"
#include "tests/support/device_types.h"
#include "tests/support/hygiene.h"

#include <algorithm>
#include <fmt/format.h>

namespace kg::card {
namespace {

using test::Evidence;

class Contract : public testing::Test {
 public:
  Contract(const Card& card, Dtype dtype, void (*test)(Judge&))
      : judge_(card, dtype), test_(test) {}

  void SetUp() override {
    RecordProperty("backend", std::string(name(backend)));
    for (const std::string& form : judge_.card().forms)
      for (const Variant& variant : judge_.card().variants)
        require_evidence(judge_.id(variant.name, form + "_"),
                         judge_.card().exact ? test::kExactOperation : test::kRoundedOperation);
  }
  void TestBody() override { test_(judge_); }

 private:
  Judge judge_;
  void (*test_)(Judge&);
};

Sample random(const Judge& judge, const std::string& shape) {
  return {.fill = "normal",
          .shape = shape,
          .degenerate = judge.card().degenerate(judge.dtype(), shape),
          .vacuous_outputs = judge.card().vacuous_outputs(shape)};
}

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
  for (const Problem& problem : usual(judge)) judge.check(random(judge, problem.shape));
  for (const Sample& sample : judge.card().random_samples(judge.dtype())) judge.check(sample);
}

void random_against_vendors(Judge& judge) {
  for (const Problem& problem : usual(judge)) judge.check_vendors(random(judge, problem.shape));
}

void special_values(Judge& judge) {
  for (const Sample& sample : judge.card().special_samples(judge.dtype())) judge.check(sample);
}

void sizes(Judge& judge) {
  for (const std::string& shape : judge.card().sizes(judge.dtype()))
    judge.check(random(judge, shape));
  for (const std::string& shape : judge.card().empty)
    judge.check({.fill = "nothing", .shape = shape, .degenerate = test::Degenerate::zero});
}

// Every tensor at the same odd place, each at its own, all but one aligned; where rows may lie
// apart, gaps that keep them aligned and that do not.
std::vector<Layout> layouts(const Problem& problem) {
  std::vector<std::string> names;
  for (const auto* tensors : {&problem.inputs, &problem.outputs})
    for (const Tensor& tensor : *tensors) names.push_back(tensor.name);
  std::vector<Layout> result;
  const auto all = [&](std::int64_t offset, std::int64_t gap) {
    Layout layout;
    for (const std::string& name : names) layout[name] = {offset, gap};
    return layout;
  };
  const std::int64_t pack = 16 / static_cast<std::int64_t>(size_of(problem.dtype));
  for (const std::int64_t k : {1, 3, 4, 7, 8, 12}) {
    result.push_back(all(k, 0));
    for (const std::string& name : names) {
      result.push_back(all(k, 0));
      result.back()[name].offset = k + 1;
      result.push_back(all(k, 0));
      result.back()[name].offset = 0;
    }
  }
  std::int64_t step = 1;
  Layout packs_apart, steps;
  for (const std::string& name : names) {
    packs_apart[name].offset = 1 + (step - 1) * pack;
    steps[name].offset = step - 1;
    ++step;
  }
  result.push_back(packs_apart);
  result.push_back(steps);
  if (!problem.gaps) return result;
  const std::int64_t cols = problem.outputs[0].extents.back();
  const std::int64_t to_pack = (pack - cols % pack) % pack;
  for (const std::int64_t offset : {0, 1}) {
    for (const std::int64_t gap : {to_pack, to_pack + pack, to_pack + 1, std::int64_t{1}})
      result.push_back(all(offset, gap));
    for (const std::string& name : names) {
      result.push_back(all(offset, to_pack));
      result.back()[name].gap = to_pack + 2;
    }
  }
  return result;
}

void misaligned(Judge& judge) {
  for (const std::string& shape : judge.card().misaligned(judge.dtype())) {
    const Sample sample = random(judge, shape);
    for (const Layout& layout : layouts(problem_of(judge.card(), judge.dtype(), sample)))
      judge.check(sample, layout);
  }
}

// Each output in each input that it may take, aligned and not.
void in_place(Judge& judge, const Problem& problem) {
  const Inputs inputs = completed(problem, {});
  for (const Variant& variant : judge.card().variants) {
    if (!variant.supports(problem)) continue;
    for (const Tensor& output : problem.outputs)
      for (const std::string& input : output.may_be)
        for (const std::int64_t shift : {0, 1}) {
          const Layout layout = {{output.name, {shift, 0}}, {input, {shift, 0}}};
          const Outcome apart = judge.run(variant, problem, inputs, layout);
          const Outcome shared =
              execute(variant.run, problem, inputs, judge.stream(), layout, {{output.name, input}});
          EXPECT_TRUE(shared.faults.empty()) << shared.faults[0];
          for (const Tensor& each : problem.outputs)
            EXPECT_TRUE(shared.bits(each.name) == apart.bits(each.name))
                << variant.name << ": with " << output.name << " in the memory of " << input << ' '
                << each.name << " has other results than apart, " << shift
                << " elements from an aligned address";
        }
  }
}

void same_bits_every_time(Judge& judge, const Problem& problem) {
  const Inputs inputs = completed(problem, {});
  constexpr int kRepeats = backend == Backend::cuda ? 50 : 1;
  for (const Variant& variant : judge.card().variants) {
    if (!variant.supports(problem)) continue;
    const Outcome first = judge.run(variant, problem, inputs);
    record(judge.id(variant.name, problem.shape), Evidence::repeats);
    for (const Schedule& schedule : test::thread_orders()) {
      const ScopedSchedule scope(schedule);
      for (int repeat = 1; repeat <= kRepeats; ++repeat)
        for (const auto& [name, output] : judge.run(variant, problem, inputs).outputs)
          ASSERT_EQ(output.bits, first.outputs.at(name).bits)
              << variant.name << ": run " << repeat << " in order " << to_string(schedule)
              << " gives other bits of " << name << " than the first run";
    }
  }
}

test::Observed poison(const Tensor& tensor) {
  const auto size = static_cast<std::size_t>(tensor.size());
  return {tensor.dtype, std::vector<double>(size),
          std::vector<std::uint64_t>(size, test::poison_bits(tensor.dtype))};
}

// The inputs are poison until a slow kernel on the same stream has written them.
void waits_for_its_stream(Judge& judge, const Problem& problem) {
  const Inputs inputs = completed(problem, {});
  Stream& stream = judge.stream();
  for (const Variant& variant : judge.card().variants) {
    if (!variant.supports(problem)) continue;
    const Outcome right = judge.run(variant, problem, inputs);
    std::map<std::string, DeviceTensor> early, late, outputs;
    Call call(problem);
    for (const Tensor& input : problem.inputs) {
      const DeviceTensor& from =
          early.try_emplace(input.name, input, Layout{}, inputs.at(input.name), stream)
              .first->second;
      const DeviceTensor& to =
          late.try_emplace(input.name, input, Layout{}, poison(input), stream).first->second;
      copy_late(from.data(), to.data(),
                static_cast<std::size_t>(input.size()) * size_of(input.dtype), stream);
      call.bind(input.name, to.data());
    }
    for (const Tensor& output : problem.outputs)
      call.bind(output.name,
                outputs.try_emplace(output.name, output, Layout{}, kBehind).first->second.data());
    variant.run(call, stream);
    for (const Tensor& output : problem.outputs)
      EXPECT_EQ(outputs.at(output.name).read(stream).bits, right.outputs.at(output.name).bits)
          << variant.name << " behind a slow kernel on its stream: it did not wait";
  }
}

void automatic_reports_what_ran(Judge& judge, const Problem& problem) {
  const Outcome outcome =
      execute(judge.card().run_automatic, problem, completed(problem, {}), judge.stream());
  EXPECT_EQ(outcome.ran, judge.card().resolved(problem));
  ASSERT_EQ(outcome.kernels.size(), judge.card().launches(outcome.ran, problem));
  const auto parts = judge.card().kernel_name ? judge.card().kernel_name(outcome.ran, problem, {})
                                              : std::vector<std::string>{outcome.ran};
  for (const std::string& part : parts)
    EXPECT_NE(outcome.kernels[0].find(part), std::string::npos)
        << outcome.kernels[0] << " ran for " << outcome.ran;
}

// A call of a problem of the usual shape, changed by `change`, must be refused before any launch.
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
    if (!variant.supports(problem)) continue;
    for (const Tensor* tensor : all) {
      if (tensor->optional) continue;
      Call call = bound(problem);
      call.bind(tensor->name, nullptr);
      EXPECT_THROW(variant.run(call, judge.stream()), Error)
          << variant.name << ": " << tensor->name << " is null";
    }
    // An extent that is negative is so in every tensor that has it.
    for (std::size_t axis = 0; axis < problem.outputs[0].extents.size(); ++axis) {
      Problem negative = problem;
      const std::int64_t extent = problem.outputs[0].extents[axis];
      for (auto* group : {&negative.inputs, &negative.outputs})
        for (Tensor& tensor : *group)
          std::replace(tensor.extents.begin(), tensor.extents.end(), extent, std::int64_t{-1});
      EXPECT_THROW(variant.run(bound(negative), judge.stream()), Error)
          << variant.name << ": extent " << axis << " is -1";
    }
    // An output that begins within another tensor: an input it may at most take whole.
    for (const Tensor& output : problem.outputs)
      for (const Tensor* tensor : all) {
        if (!judge.card().refuses_overlap || tensor->size() < 2 || tensor->name == output.name)
          continue;
        Call call = bound(problem);
        call.bind(output.name,
                  static_cast<std::byte*>(call.address(tensor->name)) + size_of(tensor->dtype));
        EXPECT_THROW(variant.run(call, judge.stream()), Error)
            << variant.name << ": " << output.name << " begins at the second element of "
            << tensor->name;
      }
    for (const std::string& shape : judge.card().empty) {
      const Problem nothing = problem_of(judge.card(), judge.dtype(), {"nothing", shape});
      if (nothing.output_size() > 0) continue;
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
      if (&tensors != &problem.outputs || !tensor.optional)
        sum += static_cast<double>(tensor.size()) * static_cast<double>(size_of(tensor.dtype));
    return sum;
  };
  EXPECT_EQ(problem.work.bytes, bytes(problem.inputs) - problem.unread + bytes(problem.outputs));
  EXPECT_EQ(problem.work.written, bytes(problem.outputs));
  EXPECT_EQ(problem.work.flops, problem.flops);
}

} // namespace

namespace {

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

// A program has one card and tests of its own, which are initialised in either order.
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
  require(!program().card, "this program has the contract of " + card.name + " twice");
  program().card = &card;
  const auto contract = [&](const char* name, void (*test)(Judge&)) {
    enter(card, {"Contract", name, test, __FILE__, __LINE__});
  };
  contract("ExactFill", exact_fill);
  contract("RandomAgainstOracle", random_against_oracle);
  contract("RandomAgainstVendors", random_against_vendors);
  contract("SpecialValues", special_values);
  contract("Sizes", sizes);
  contract("Misaligned", misaligned);
  if (card.far) contract("RowsFarApart", rows_far_apart);
  contract("InPlace", each_usual<in_place>);
  contract("SameBitsEveryTime", each_usual<same_bits_every_time>);
  contract("WaitsForItsStream", each_usual<waits_for_its_stream>);
  contract("AutomaticReportsWhatRan", each_usual<automatic_reports_what_ran>);
  contract("RefusesWrongArguments", each_usual<refuses_wrong_arguments>);
  contract("WorkIsItsTraffic", each_usual<work_is_its_traffic>);
  for (const Test& own : program().waiting) enter(card, own);
  return true;
}

} // namespace kg::card
