// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/samples.h"

#include "runtime/device.h"

namespace kg::card {
namespace {

std::int64_t pack(Dtype dtype) { return 16 / static_cast<std::int64_t>(size_of(dtype)); }

std::vector<std::string> named(const std::vector<std::int64_t>& lengths) {
  std::vector<std::string> shapes;
  for (const std::int64_t n : lengths) shapes.push_back("n" + std::to_string(n));
  return shapes;
}

} // namespace

test::Observed values(Dtype dtype, std::vector<double> values) {
  return {dtype, std::move(values), {}};
}

test::Observed bits(Dtype dtype, std::vector<std::uint64_t> bits) {
  test::Observed result{dtype, {}, std::move(bits)};
  for (const std::uint64_t each : result.bits) result.values.push_back(test::decode(dtype, each));
  return result;
}

std::vector<std::string> in_each_form(const std::vector<std::string>& forms,
                                      const std::vector<std::string>& shapes) {
  std::vector<std::string> result;
  for (const std::string& shape : shapes)
    for (const std::string& form : forms) result.push_back(form + "_" + shape);
  return result;
}

std::vector<std::string> lengths_around_tiles(Dtype dtype, std::int64_t packs) {
  const std::int64_t tile = packs * pack(dtype);
  const DeviceProperties& device = device_properties();
  const std::int64_t beyond_one_grid =
      std::int64_t{device.sm_count} * device.max_threads_per_sm * 2 * pack(dtype) + kOdd;
  return named({1,
                2,
                3,
                7,
                8,
                9,
                15,
                16,
                17,
                31,
                32,
                33,
                255,
                256,
                257,
                1023,
                1024,
                1025,
                tile - 1,
                tile,
                tile + 1,
                2 * tile + 1,
                3 * tile - 1,
                beyond_one_grid});
}

std::vector<std::string> short_lengths(Dtype dtype, std::int64_t packs) {
  return named({1, 5, 41, packs * pack(dtype) + 13});
}

void only_moves(Card& card, Sources sources) {
  card.exact = true;
  card.source = sources;
  card.references = [sources](const Problem& problem, const Inputs& inputs) {
    const Bits bits = [&](std::string_view input, std::int64_t i) {
      const test::Observed& its = inputs.find(input)->second;
      const auto index = static_cast<std::size_t>(i);
      return its.bits.empty() ? test::encode(its.dtype, its.values.at(index)) : its.bits.at(index);
    };
    References references;
    for (const Tensor& output : problem.outputs) {
      Reference& reference = references[output.name];
      const SourceOfElement source = sources(problem, output.name, bits);
      for (std::int64_t i = 0; i < output.size(); ++i) {
        const Source from = source(i);
        reference.bits.push_back(bits(from.input, from.index));
        reference.value.push_back(test::decode(output.dtype, reference.bits.back()));
      }
    }
    return references;
  };
  const auto none = [](Dtype) { return std::vector<Sample>(); };
  card.exact_samples = card.random_samples = card.special_samples = none;
}

std::function<std::vector<std::string>(std::string_view, const Problem&, const Layout&)>
packs_where_aligned(std::string op) {
  return [op = std::move(op)](std::string_view variant, const Problem& problem,
                              const Layout& layout) -> std::vector<std::string> {
    if (variant == "naive") return {op + "::naive"};
    const std::int64_t first = place_of(layout, problem.outputs[0].name).offset;
    for (const auto* tensors : {&problem.inputs, &problem.outputs})
      for (const Tensor& tensor : *tensors)
        if ((place_of(layout, tensor.name).offset - first) % pack(problem.dtype) != 0)
          return {op + "::misaligned"};
    return {op + "::vectorized"};
  };
}

std::function<std::vector<std::string>(std::string_view, const Problem&, const Layout&)>
as_the_variant(std::string op) {
  return [op = std::move(op)](std::string_view variant, const Problem&, const Layout&) {
    return std::vector<std::string>{op + "::" + std::string(variant)};
  };
}

} // namespace kg::card
