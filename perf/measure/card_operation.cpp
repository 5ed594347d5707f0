// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/card_operation.h"

#include "perf/measure/random_data.h"
#include "runtime/backend.h"
#include "tests/oracle/compare.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace kg::perf {
namespace {

using card::Call;
using card::Card;
using card::Problem;
using card::Tensor;

// A problem's tensors on the device, the inputs random.
class Memory {
 public:
  explicit Memory(const Problem& problem) : problem_(problem) {
    Stream stream;
    std::uint64_t number = 0;
    for (const Tensor& input : problem.inputs) {
      ++number;
      if (input.element)
        given_.emplace(input.name, upload(input, stream));
      else
        random_.emplace(input.name, RandomTensor(input.dtype, strided(input, {}).storage_size(),
                                                 test::Tensor{number}, stream));
    }
    for (const auto* tensors : {&problem.outputs, &problem.kept})
      for (const Tensor& tensor : *tensors)
        outputs_.emplace(tensor.name,
                         DeviceBuffer<std::byte>(static_cast<std::size_t>(tensor.size()) *
                                                 size_of(tensor.dtype)));
  }

  Call call() const {
    Call result(problem_);
    for (const auto& [name, input] : random_) result.bind(name, input.data());
    for (const auto& [name, input] : given_) result.bind(name, input.data());
    for (const auto& [name, output] : outputs_) result.bind(name, output.data());
    return result;
  }

  void poison(Stream& stream) {
    for (const Tensor& output : problem_.outputs) outputs_.at(output.name).poison(stream);
  }

  const Problem& problem() const { return problem_; }

  // Rows [first, first + count) of the problem.
  Problem rows(std::int64_t first, std::int64_t count, card::Inputs& values) const {
    Problem part = problem_;
    for (auto* group : {&part.inputs, &part.outputs})
      for (Tensor& tensor : *group)
        if (tensor.by_row) tensor.extents[0] = count;
    for (const Tensor& tensor : part.inputs)
      values[tensor.name] = {
          tensor.dtype,
          random_.at(tensor.name)
              .values(tensor.by_row ? first * row_size(tensor) : 0, tensor.size()),
          {}};
    return part;
  }

  // The bits of element i of an input.
  std::uint64_t bits(std::string_view name, std::int64_t i) const {
    const Tensor& input = problem_.tensor(name);
    if (input.element) return input.element(i);
    const std::int64_t cols = input.extents.back();
    return test::encode(input.dtype,
                        random_.at(input.name).at(i / cols * (cols + input.gap) + i % cols));
  }

  test::Observed observe(const Tensor& part, std::int64_t first, Stream& stream) const {
    return observe(part, {part.by_row ? first * row_size(part) : 0, part.size()}, stream);
  }

  // These elements of an output.
  test::Observed observe(const Tensor& output, Window window, Stream& stream) const {
    const std::size_t width = size_of(output.dtype);
    std::vector<std::byte> bytes(static_cast<std::size_t>(window.count) * width);
    copy_to_host(bytes.data(),
                 outputs_.at(output.name).data() + static_cast<std::size_t>(window.first) * width,
                 bytes.size(), stream);
    return test::observe_bytes(output.dtype, bytes);
  }

 private:
  static DeviceBuffer<std::byte> upload(const Tensor& input, Stream& stream) {
    const std::size_t width = size_of(input.dtype);
    std::vector<std::byte> bytes(static_cast<std::size_t>(input.size()) * width);
    for (std::int64_t i = 0; i < input.size(); ++i) {
      const std::uint64_t bits = input.element(i);
      std::memcpy(bytes.data() + static_cast<std::size_t>(i) * width, &bits,
                  width); // little-endian
    }
    return DeviceBuffer<std::byte>::from_host(bytes, stream);
  }

  static std::int64_t row_size(const Tensor& tensor) {
    return test::element_count(std::span(tensor.extents).subspan(1));
  }

  Problem problem_;
  std::map<std::string, RandomTensor> random_;
  std::map<std::string, DeviceBuffer<std::byte>> given_;
  std::map<std::string, DeviceBuffer<std::byte>> outputs_;
};

// Of what only moves data: each element has the bits of the one that it comes from; large results
// through windows.
std::string verify_moved(const Card& card, const Memory& memory, Stream& stream) {
  const Problem& problem = memory.problem();
  const card::Bits bits = [&](std::string_view input, std::int64_t i) {
    return memory.bits(input, i);
  };
  for (const Tensor& output : problem.outputs)
    for (const Window window : windows(output.size(), 1 << 17)) {
      std::vector<std::uint64_t> expected;
      for (std::int64_t i = window.first; i < window.first + window.count; ++i) {
        const card::Source from = card.source(problem, output.name, i, bits);
        expected.push_back(bits(from.input, from.index));
      }
      const auto comparison =
          test::compare_bits(memory.observe(output, window, stream), {window.count}, expected);
      if (!comparison.passed()) return comparison.text();
    }
  return "";
}

// `who`: the variant, or "" for a library, whose bound is multiplied by `slack`.
std::string verify(const Card& card, const Memory& memory, std::string_view who, double slack,
                   Stream& stream) {
  if (card.source) return verify_moved(card, memory, stream);
  const Problem& problem = memory.problem();
  const Tensor& result = problem.outputs[0];
  const std::int64_t rows = result.extents[0];
  if (rows == 0) return "";
  constexpr std::int64_t kMost = 1 << 17;
  const std::int64_t row = result.size() / rows;
  for (const Window window : windows(result.size(), kMost, row)) {
    card::Inputs values;
    const std::int64_t first = window.first / row;
    const Problem part = memory.rows(first, window.count / row, values);
    const card::References references = card.references(part, values);
    for (const Tensor& output : part.outputs) {
      const card::Reference& reference = references.at(output.name);
      std::vector<double> tolerance =
          reference.tolerance ? reference.tolerance(who) : std::vector<double>();
      for (double& bound : tolerance) bound *= slack;
      test::Expectation expected = test::exactly(output.dtype, output.extents, reference.value);
      if (!tolerance.empty()) expected = {output.dtype, output.extents, reference.value, tolerance};
      const auto comparison = test::compare(memory.observe(output, first, stream), expected);
      if (!comparison.passed()) return comparison.text();
    }
  }
  return "";
}

Workload workload(const Card& card, const Problem& problem, const std::string& variant,
                  std::string who, double slack, std::function<void(const Call&, Stream&)> run,
                  std::function<void(const Call&, Stream&)> prepare = {}) {
  auto memory = std::make_shared<Memory>(problem);
  auto call = std::make_shared<Call>(memory->call());
  if (prepare) {
    Stream stream;
    prepare(*call, stream);
    stream.synchronize();
  }
  return {[=](Stream& s) { run(*call, s); }, [=](Stream& s) { memory->poison(s); },
          [=, &card](Stream& s) { return verify(card, *memory, who, slack, s); }, variant};
}

Case make_case(const Card& card, Dtype dtype, const Shape& shape) {
  const Problem with_kept = card.problem(dtype, shape);
  Problem problem = with_kept;
  problem.kept.clear(); // ours need none of it
  if (std::none_of(card.variants.begin(), card.variants.end(),
                   [&](const card::Variant& each) { return each.supports(problem); }))
    return {}; // what this type lacks
  Case result{backend == Backend::host ? card.kind_on_host : card.kind_on_gpu, problem.work, {}};
  result.automatic = card.resolved(problem);
  for (const card::Variant& variant : card.variants) {
    if (!variant.supports(problem)) continue;
    result.variants.push_back({variant.name, false,
                               [=, &card, run = variant.run] {
                                 return workload(card, problem, variant.name, variant.name, 1, run);
                               },
                               is_timed_in_sequence(variant.sequence(problem))});
  }
  for (const std::string_view vendor : card.vendors.names(problem)) {
    const std::string name(vendor);
    result.variants.push_back({name, true, [=, &card] {
                                 return workload(
                                     card, with_kept, name, "", card.vendors.slack_when_timed,
                                     [=, &card](const Call& call, Stream& stream) {
                                       card.vendors.run(name, call, stream);
                                     },
                                     [=, &card](const Call& call, Stream& stream) {
                                       card.vendors.prepare(name, call, stream);
                                     });
                               }});
  }
  return result;
}

} // namespace

Operation card_operation(const Card& card) {
  Operation operation{card.name, card.category, card.dtypes, {}, {}};
  for (const card::TimedShape& each :
       backend == Backend::host ? card.timed_on_host : card.timed_on_gpu)
    operation.shapes.push_back({each.shape, each.fast});
  operation.make = [&card](Dtype dtype, const Shape& shape) {
    return make_case(card, dtype, shape);
  };
  return operation;
}

} // namespace kg::perf
