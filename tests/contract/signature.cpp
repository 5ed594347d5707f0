// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/signature.h"

#include "runtime/error.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kg::card {
namespace {

std::string_view c_type(const Tensor& tensor) {
  if (!tensor.c_type.empty()) return tensor.c_type;
  switch (tensor.dtype) {
  case Dtype::f16: return "__half";
  case Dtype::bf16: return "__nv_bfloat16";
  case Dtype::f32: return "float";
  case Dtype::f64: return "double";
  case Dtype::i8: return "int8_t";
  case Dtype::e4m3: // as raw bits: hosts have no cuda_fp8.h
  case Dtype::e5m2: return "uint8_t";
  case Dtype::i32: return "int32_t";
  case Dtype::u32: return "uint32_t";
  case Dtype::i64: return "int64_t";
  }
  return "";
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

} // namespace

Calling calling_of(const Problem& problem) {
  if (problem.calling) return *problem.calling;
  Calling calling;
  for (std::string_view shape = problem.shape; !shape.empty();) {
    const std::string_view token = shape.substr(0, shape.find('_'));
    shape.remove_prefix(std::min(shape.size(), token.size() + 1));
    require(token.find('.') == std::string_view::npos,
            fmt::format("shape {} holds the list {}: its descriptor must say how it is called "
                        "(Problem::calling)",
                        problem.shape, token));
    const auto digits = std::find_if(token.begin(), token.end(), is_digit);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(digits, token.end(), number);
    if (digits != token.begin() && error == std::errc() && end == token.end())
      calling.integers.push_back({std::string(token.begin(), digits), {number}});
    else
      calling.words += (calling.words.empty() ? "" : "_") + std::string(token);
  }
  return calling;
}

std::vector<Tensor> tensors_of(const Problem& problem) {
  std::vector<Tensor> tensors = problem.inputs;
  for (const Tensor& output : problem.outputs)
    if (!problem.updates(output.name)) tensors.push_back(output);
  return tensors;
}

std::string function_name(const Card& card, const Problem& problem) {
  const std::string words = calling_of(problem).words;
  return fmt::format("{}{}{}_{}", card.name, words.empty() ? "" : "_", words, name(problem.dtype));
}

std::string declaration(const Card& card, const Problem& problem) {
  std::vector<std::string> parameters;
  const std::size_t inputs = problem.inputs.size();
  for (const Tensor& tensor : tensors_of(problem)) {
    const bool read_only = parameters.size() < inputs && !problem.updates(tensor.name);
    parameters.push_back(
        fmt::format("{}{}* {}", read_only ? "const " : "", c_type(tensor), tensor.name));
  }
  const Calling calling = calling_of(problem);
  for (const auto& [scalar, value] : problem.scalars)
    if (!calling.replaces(scalar)) parameters.push_back("float " + scalar);
  for (const Integers& integers : calling.integers)
    parameters.push_back((integers.list ? "const int64_t* " : "int64_t ") + integers.name);
  parameters.emplace_back("cudaStream_t stream");
  return fmt::format("extern \"C\" void {}({})", function_name(card, problem),
                     fmt::join(parameters, ", "));
}

std::vector<Problem> functions_of(const Card& card, Dtype dtype) {
  std::vector<Problem> problems;
  for (const std::string& shape : card.usual(dtype)) {
    Problem problem = card.problem(dtype, Shape::parse(shape));
    const std::string function = function_name(card, problem);
    const auto known = std::find_if(problems.begin(), problems.end(), [&](const Problem& each) {
      return function_name(card, each) == function;
    });
    if (known == problems.end())
      problems.push_back(std::move(problem));
    else
      require(
          declaration(card, problem) == declaration(card, *known),
          fmt::format("{} has two declarations, of {} and of {}", function, known->shape, shape));
  }
  return problems;
}

std::string stub(const Card& card, const std::vector<Dtype>& dtypes) {
  std::string text =
      "#include <cstdint>\n#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n"
      "#include <cuda_runtime.h>\n\n// Tensors are dense and row-major, in device memory, at any "
      "address that is aligned to\n// their elements; an output may have the memory of an input "
      "where its comment says so.\n// Leave out the functions that you do not have.\n";
  for (const Dtype dtype : dtypes.empty() ? card.dtypes : dtypes)
    for (const Problem& problem : functions_of(card, dtype)) {
      text += "\n";
      for (const Tensor& tensor : tensors_of(problem))
        text +=
            fmt::format("// {}: {} here{}{}{}{}\n", tensor.name, fmt::join(tensor.extents, " x "),
                        problem.updates(tensor.name) ? "; updated in place" : "",
                        tensor.optional ? "; may be null" : "",
                        tensor.may_be.empty() ? "" : "; may be ", fmt::join(tensor.may_be, " or "));
      text += declaration(card, problem) + " {\n}\n";
    }
  return text;
}

} // namespace kg::card
