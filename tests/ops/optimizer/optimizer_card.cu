// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Optimizer steps. A shape is adamw_p1000.37.4096_t10: the kind, the sizes of the tensors, and the
// step number (adam, adamw). Tensor 3 has the arrays value3, gradient3, master3 (16 bits), first3
// and second3 (depending on the kind); all but the gradient are updated in place.
#include "ops/optimizer/optimizer.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_optimizer.h"
#include "tests/oracle/tolerance.h"

namespace kg::card {
namespace {

using optimizer::Kind;

struct Model {
  Kind kind;
  std::vector<std::int64_t> sizes;
  std::int64_t step;

  std::int64_t elements() const {
    return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  }
};

ShapeGrammar<Model> grammar() {
  return ShapeGrammar<Model>()
      .enumerator(&Model::kind, optimizer::kKinds)
      .numbers("p", &Model::sizes)
      .number("t", &Model::step, 1, [](const Model& m) { return has_second(m.kind); });
}
const Model& model_of(const Problem& problem) { return problem.parameters.as<Model>(); }

bool has_master(Dtype dtype) { return dtype != Dtype::f32; }

// The updated arrays of a tensor, the f32 parameter first.
std::vector<std::string> states_of(Dtype dtype, Kind kind) {
  std::vector<std::string> names = {has_master(dtype) ? "master" : "value"};
  if (has_first(kind)) names.emplace_back("first");
  if (has_second(kind)) names.emplace_back("second");
  return names;
}

std::string numbered(std::string_view array, std::size_t tensor) {
  return std::string(array) + std::to_string(tensor);
}

// In (0, 2], with full significands: a second moment is never negative.
std::uint64_t second_moment(std::int64_t i) {
  const std::uint32_t mixed = static_cast<std::uint32_t>(i + 1) * 2654435761U;
  return test::encode(Dtype::f32, ((mixed >> 8U) + 1) * 0x1p-23);
}

std::map<std::string, double> usual_scalars(Kind kind) {
  std::map<std::string, double> scalars = {{"rate", 0.02F}, {"decay", 0.1F}};
  if (has_first(kind)) scalars["beta1"] = 0.9F;
  if (has_second(kind) || kind == Kind::lion) scalars["beta2"] = 0.97F;
  if (has_second(kind)) scalars["epsilon"] = 0.25;
  return scalars;
}

optimizer::Step step_of(const Problem& problem) {
  const auto scalar = [&](const char* name) {
    const auto found = problem.scalars.find(name);
    return found == problem.scalars.end() ? 0 : static_cast<float>(found->second);
  };
  return {.rate = scalar("rate"),
          .beta1 = scalar("beta1"),
          .beta2 = scalar("beta2"),
          .epsilon = scalar("epsilon"),
          .decay = scalar("decay"),
          .number = model_of(problem).step};
}

Problem problem(Dtype dtype, const Shape& shape) {
  const Model model = grammar().parse(shape);
  Problem result{dtype, shape.text(), {}, 0};
  result.parameters = model;
  for (std::size_t i = 0; i < model.sizes.size(); ++i) {
    const auto add = [&](std::string_view array, Dtype type, bool updated) {
      Tensor tensor{.name = numbered(array, i), .dtype = type, .extents = {model.sizes[i]}};
      if (array == "second") {
        tensor.element = second_moment;
        tensor.period = kUsualPeriod;
      }
      result.inputs.push_back(tensor);
      if (updated) result.outputs.push_back(std::move(tensor));
    };
    if (has_master(dtype)) add("value", dtype, true);
    for (const std::string& state : states_of(dtype, model.kind)) add(state, Dtype::f32, true);
    add("gradient", dtype, false);
  }
  const auto number = [](const char* name, Dtype type, double value) {
    return Tensor{.name = name,
                  .dtype = type,
                  .extents = {1},
                  .by_row = false,
                  .derived = true,
                  .element = [=](std::int64_t) { return test::encode(type, value); },
                  .optional = true};
  };
  result.inputs.push_back(number("scale", Dtype::f32, 0.7F));
  result.inputs.push_back(number("found_inf", Dtype::i32, 0));
  const float scale = 0;
  const std::int32_t found_inf = 0;
  result.work = dispatch(dtype, [&]<class T>() {
    return optimizer::work<T>(model.kind, model.elements(),
                              {.scale = &scale, .found_inf = &found_inf});
  });
  // Scale 1, decay 2 or 1, rate 2; a moment 3 or 2, g^2 one more; adam: root, length, quotient.
  const int operations[] = {1 + 2 + 2,
                            1 + 2 + 2 + 2,
                            1 + 2 + 2 + 2 + 2,
                            1 + 2 + 3 + 4 + 1 + 2 + 1 + 2,
                            1 + 1 + 3 + 4 + 1 + 2 + 1 + 2,
                            1 + 3 + 3 + 1 + 2};
  result.flops = static_cast<double>(model.elements()) * operations[static_cast<int>(model.kind)];
  if (has_master(dtype)) // a 16-bit parameter is its rounded master
    result.unread = static_cast<double>(model.elements()) * static_cast<double>(size_of(dtype));
  for (const auto& [name, value] : usual_scalars(model.kind)) result.scalars[name] = value;
  result.calling = {std::string(name(model.kind)) + std::to_string(model.sizes.size()),
                    {{"sizes", model.sizes, true}}};
  if (has_second(model.kind)) result.calling->integers.push_back({"step", {model.step}});
  return result;
}

template <class T>
optimizer::Table<T> table_of(const Call& call, Kind kind, std::size_t tensors, Stream& stream) {
  std::vector<optimizer::Parameter<T>> parameters(tensors);
  for (std::size_t i = 0; i < tensors; ++i) {
    optimizer::Parameter<T>& p = parameters[i];
    p.size = call.extent(numbered("gradient", i), 0);
    p.value = call.out<T>(numbered("value", i));
    p.gradient = call.in<T>(numbered("gradient", i));
    if (has_master(call.problem().dtype)) p.master = call.out<float>(numbered("master", i));
    if (has_first(kind)) p.first = call.out<float>(numbered("first", i));
    if (has_second(kind)) p.second = call.out<float>(numbered("second", i));
  }
  const std::span<const optimizer::Parameter<T>> all = parameters;
  return optimizer::make_table(kind, all, call.workspace(optimizer::table_bytes(all)), stream);
}

constexpr auto kRun = []<class T>(const Call& call, optimizer::Variant variant, Stream& stream) {
  const Model& model = model_of(call.problem());
  const auto& table =
      call.once([&] { return table_of<T>(call, model.kind, model.sizes.size(), stream); });
  optimizer::Step step = step_of(call.problem());
  step.scale = call.in<float>("scale");
  step.found_inf = call.in<std::int32_t>("found_inf");
  return optimizer::run(table, step, variant, stream);
};

// Elements [first, first + count) of one tensor's arrays, by array name. get(array, index) returns
// an element of an input; `scale` and `found` are the numbers.
template <class Get>
References stepped(const Problem& problem, double scale, bool found, std::int64_t first,
                   std::int64_t count, Get get) {
  const Kind kind = model_of(problem).kind;
  const optimizer::Step step = step_of(problem);
  const std::vector<std::string> states = states_of(problem.dtype, kind);
  std::map<std::string, std::vector<double>> values, bounds;
  for (std::int64_t i = first; i < first + count; ++i) {
    test::OptimizerState state;
    test::Running* const parts[] = {&state.value, &state.first, &state.second};
    for (std::size_t s = 0; s < states.size(); ++s)
      *parts[s] = test::Running::stored(get(states[s], i));
    if (!found) state = test::optimizer_step(kind, step, scale, state, get("gradient", i));
    for (std::size_t s = 0; s < states.size(); ++s) {
      values[states[s]].push_back(parts[s]->value);
      bounds[states[s]].push_back(parts[s]->error);
    }
    if (!has_master(problem.dtype)) continue;
    const auto [value, error] = state.value;
    values["value"].push_back(found ? get("value", i) : value);
    bounds["value"].push_back(
        std::isfinite(value) ? test::stored_tolerance(problem.dtype, value, error) : 0);
  }
  References result;
  for (auto& [array, value] : values) {
    Reference& reference = result[array];
    reference.value = std::move(value);
    if (!found)
      reference.tolerance = [bound = std::move(bounds[array])](std::string_view) { return bound; };
  }
  return result;
}

References references(const Problem& problem, const Inputs& inputs) {
  const auto number = [&](const char* name, double otherwise) {
    const auto given = inputs.find(name);
    return given == inputs.end() ? otherwise : given->second.values[0];
  };
  References result;
  const std::vector<std::int64_t>& sizes = model_of(problem).sizes;
  for (std::size_t t = 0; t < sizes.size(); ++t) {
    References of_tensor =
        stepped(problem, number("scale", 1), number("found_inf", 0) != 0, 0, sizes[t],
                [&](std::string_view array, std::int64_t i) {
                  return inputs.at(numbered(array, t)).values[static_cast<std::size_t>(i)];
                });
    for (const Tensor& output : problem.outputs)
      if (output.name.ends_with(std::to_string(t))) {
        const std::string array = output.name.substr(0, output.name.find_first_of("0123456789"));
        if (numbered(array, t) == output.name) result[output.name] = of_tensor[array];
      }
  }
  return result;
}

Reference elements(const Problem& problem, std::string_view output, std::int64_t first,
                   std::int64_t count, const Values& values) {
  const std::size_t digits = output.find_first_of("0123456789");
  const std::string_view tensor = output.substr(digits);
  std::map<std::string, Elements, std::less<>> arrays;
  for (const char* const array : {"value", "gradient", "master", "first", "second"}) {
    const std::string name = array + std::string(tensor);
    for (const Tensor& input : problem.inputs)
      if (input.name == name) arrays[array] = values(name);
  }
  return stepped(
             problem, values("scale")(0), values("found_inf")(0) != 0, first, count,
             [&](std::string_view array, std::int64_t i) { return arrays.find(array)->second(i); })
      .at(std::string(output.substr(0, digits)));
}

std::string shape_of(Kind kind, const std::string& sizes, int step) {
  return std::string(name(kind)) + "_p" + sizes +
         (has_second(kind) ? "_t" + std::to_string(step) : "");
}
std::vector<std::string> in_each_kind(const std::vector<std::string>& sizes, int step) {
  std::vector<std::string> shapes;
  for (const Kind kind : optimizer::kKinds)
    for (const std::string& each : sizes) shapes.push_back(shape_of(kind, each, step));
  return shapes;
}

// Numbers with few bits; rates and betas with one or two. adam divides by a power of two: its mean
// of v = 4^a and g = 2^a, or of 0 and 2^(a + 1), is 4^a, and 1 - beta2^t is 1/4.
std::vector<Sample> exact_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const Kind kind : optimizer::kKinds) {
    Sample sample{.fill = "integers",
                  .shape = shape_of(kind, std::to_string(kOdd), 1),
                  .scalars = {{"rate", 0.25}, {"decay", 0.5}}};
    const bool adam = has_second(kind);
    if (has_first(kind)) sample.scalars["beta1"] = 0.5;
    if (adam || kind == Kind::lion) sample.scalars["beta2"] = 0.75;
    if (adam) sample.scalars["epsilon"] = 0;
    const auto whole = [&](test::Tensor which, std::int64_t most) {
      return test::integers(Dtype::f32, kOdd, most, which).values;
    };
    std::vector<double> value = whole(test::Tensor::a, 1 << 11), first = whole(test::Tensor::b, 63),
                        gradient = whole(test::Tensor::c, 127), second;
    if (adam)
      for (std::size_t i = 0; i < value.size(); ++i) {
        const double power = std::ldexp(1.0, static_cast<int>(i % 5));
        value[i] = std::fmod(value[i], 32) * 2;
        first[i] *= power;
        // After scaling, and after a decay that is part of it, the gradient is the power or, for a
        // zero second moment, twice the power.
        const bool nothing = i % 3 == 0;
        second.push_back(nothing ? 0 : power * power);
        gradient[i] =
            (nothing ? 4 : 2) * (i % 2 == 0 ? power : -power) - (kind == Kind::adam ? value[i] : 0);
      }
    sample.inputs = {{"gradient0", values(dtype, gradient)},
                     {"scale", values(Dtype::f32, {0.5})},
                     {has_master(dtype) ? "master0" : "value0", values(Dtype::f32, value)}};
    if (has_first(kind)) sample.inputs["first0"] = values(Dtype::f32, first);
    if (adam) sample.inputs["second0"] = values(Dtype::f32, second);
    samples.push_back(sample);
    sample.fill = "integers, an infinity found";
    sample.inputs["found_inf"] = values(Dtype::i32, {1});
    samples.push_back(sample);
  }
  return samples;
}

std::vector<Sample> random_samples(Dtype) {
  std::vector<Sample> samples;
  for (const Kind kind : optimizer::kKinds) {
    const std::string shape = shape_of(kind, "4099.10243", 3);
    samples.push_back({.fill = "normal, scaled and decayed",
                       .shape = shape,
                       .inputs = {{"scale", values(Dtype::f32, {1 / 1024.0})}},
                       .scalars = {{"rate", 1e-3F}, {"decay", 0.01F}}});
    samples.push_back({.fill = "normal, as it is",
                       .shape = shape,
                       .scalars = {{"rate", 0.5}, {"decay", 0}},
                       .without = {"scale", "found_inf"}});
    if (has_second(kind))
      samples.push_back({.fill = "normal, usual betas",
                         .shape = shape_of(kind, "10243", 1),
                         .scalars = {{"beta2", 0.999F}, {"epsilon", 1e-8F}}});
  }
  return samples;
}

// NaN, infinities and range limits, in each array, with ordinary numbers and with each other.
std::vector<Sample> special_samples(Dtype dtype) {
  std::vector<Sample> samples;
  const double largest = std::numeric_limits<float>::max();
  for (const Kind kind : optimizer::kKinds)
    for (const double decay : {0.0, 0.125}) {
      Sample sample{.fill = "special",
                    .shape = shape_of(kind, "1031", 10),
                    .scalars = {{"decay", decay}, {"rate", 0.125}}};
      std::vector<std::string> arrays = states_of(dtype, kind);
      arrays.emplace_back("gradient");
      std::size_t shift = 0;
      for (const std::string& array : arrays) {
        const Dtype type = array == "gradient" ? dtype : Dtype::f32;
        const double most = array == "gradient" ? test::max_finite(dtype) : largest;
        std::vector<double> numbers = test::normal(type, 1031, test::Tensor{++shift}).values;
        std::size_t at = 5 + shift;
        for (const double special :
             {kNan, kInfinity, -kInfinity, most, -most, 0.0, -0.0, test::min_subnormal(type)})
          for (std::size_t both = 0; both < arrays.size(); ++both) {
            numbers[at % 1031] = special;
            at += shift == 1 ? 17 : 16 + shift * both % 3;
          }
        if (array == "second")
          for (double& number : numbers) number = std::fabs(number);
        sample.inputs[array + "0"] = values(type, numbers);
      }
      samples.push_back(std::move(sample));
    }
  return samples;
}

} // namespace

Card optimizer_card() {
  Card card(grammar());
  card.problem = problem;
  card.forms.clear();
  for (const Kind kind : optimizer::kKinds) card.forms.emplace_back(name(kind));
  run_by(card, optimizer::kVariants, kRun);
  card.references = references;
  card.elements = elements;
  card.exact_samples = exact_samples;
  card.random_samples = random_samples;
  card.special_samples = special_samples;
  card.usual = [](Dtype) { return in_each_kind({"4099.0.777.2"}, 3); };
  card.batches = [](Dtype) { return in_each_kind({"41*"}, 3); };
  card.sizes = [](Dtype) {
    std::string many = "5";
    for (int i = 1; i < 99; ++i) many += ".5";
    return in_each_kind({"1.2.3.4.7.8.9", "15.16.17.31.32.33", "255.256.257", "1023.1024.2049",
                         "4095.4096.4097", "0.0.8193.0", many},
                        2);
  };
  card.misaligned = [](Dtype) { return in_each_kind({"37.64"}, 2); };
  card.refused_scalars = {{"rate", {-1e-3, kNan, kInfinity}},
                          {"decay", {-0.1, kNan}},
                          {"beta1", {-0.1, 1, kNan}},
                          {"beta2", {-0.1, 1}},
                          {"epsilon", {-1e-8, kInfinity}}};
  card.empty = in_each_kind({"0", "0.0.0"}, 1);
  card.kernel_name = [](std::string_view variant, const Problem&, const Layout&) {
    return std::vector<std::string>{"optimizer::" + std::string(variant) + "<"};
  };
  card.bound_on_host = card.bound_on_gpu = kg::Bound::memory;
  // Frameworks compute the steps differently; when timed, they only must have worked.
  card.vendors.slack_when_timed = 64;
  card.timed_on_host = {{"adamw_p65536.1024.65536.1024_t10", true},
                        {"sgd_p131072.4096"},
                        {"momentum_p65536.4096"},
                        {"lion_p65536.4096"}};
  // A layer of Qwen2.5-0.5B, the largest matrix of a Llama-3-8B layer, and a size that fits L2.
  card.timed_on_gpu = {
      {"adamw_p802816.114688.114688.802816.4358144.4358144.4358144.896.128.128.896.896_t10", true},
      {"adamw_p58720256_t10"},
      {"adam_p58720256_t10"},
      {"sgd_p58720256"},
      {"nesterov_p58720256"},
      {"lion_p58720256"},
      {"adamw_p4096.1048576.4096_t10"}};
  return card;
}

} // namespace kg::card
