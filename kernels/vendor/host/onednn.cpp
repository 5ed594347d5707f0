// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/host/onednn.h"

#include "runtime/error.h"

#include <dnnl.hpp>
#include <dnnl_debug.h>

#include <optional>
#include <unordered_map>

namespace kg::vendor::onednn {
namespace {

using dnnl::algorithm;
using dnnl::memory;

// Engine and stream of one thread. Primitives are not kept here: oneDNN caches them itself and
// hands a known one out in about 1 us (measured, 2.6.3), against 0.3 ms for a new one.
struct Context {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
};

Context& context() {
  thread_local Context instance;
  return instance;
}

// Runs `body`; what oneDNN throws becomes an Error with its words.
template <class Body>
void translate(const char* what, Body body, Location where = Location::here()) {
  try {
    body();
  } catch (const dnnl::error& error) {
    fail(std::string("oneDNN ") + what + ": " + error.what() + " (" +
             dnnl_status2str(error.status) + ")",
         where);
  }
}

using Arguments = std::unordered_map<int, memory>; // by DNNL_ARG_*

void execute(const dnnl::primitive& primitive, const Arguments& arguments) {
  primitive.execute(context().stream, arguments);
  context().stream.wait();
}

// Whether `make` can create its primitive here.
template <class Make>
bool creatable(Make make) {
  try {
    make();
    return true;
  } catch (const dnnl::error&) {
    return false;
  }
}

std::optional<memory::data_type> type_of(Dtype dtype) {
  switch (dtype) {
  case Dtype::f32: return memory::data_type::f32;
  case Dtype::f16: return memory::data_type::f16;
  case Dtype::bf16: return memory::data_type::bf16;
  default: return std::nullopt;
  }
}

algorithm algorithm_of(Binary op) {
  switch (op) {
  case Binary::add: return algorithm::binary_add;
  case Binary::sub: return algorithm::binary_sub;
  case Binary::mul: return algorithm::binary_mul;
  case Binary::div: return algorithm::binary_div;
  }
  return algorithm::undef;
}

memory::desc vector(memory::data_type type, std::int64_t n) {
  return {{n}, type, memory::format_tag::a};
}
memory::desc matrix(memory::data_type type, std::int64_t rows, std::int64_t cols) {
  return {{rows, cols}, type, memory::format_tag::ab};
}

// oneDNN's memory is not const, its sources are.
memory wrap(const memory::desc& desc, const void* data) {
  return {desc, context().engine, const_cast<void*>(data)};
}

// Version 3 gave up the operation descriptors of version 2.
dnnl::primitive make_elementwise(Binary op, const memory::desc& each) {
  const dnnl::engine& engine = context().engine;
#if DNNL_VERSION_MAJOR >= 3
  return dnnl::binary({engine, algorithm_of(op), each, each, each});
#else
  return dnnl::binary({{algorithm_of(op), each, each, each}, engine});
#endif
}

dnnl::primitive make_reduction(const memory::desc& from, const memory::desc& to) {
  const dnnl::engine& engine = context().engine;
  constexpr auto kSum = algorithm::reduction_sum;
#if DNNL_VERSION_MAJOR >= 3
  return dnnl::reduction({engine, kSum, from, to, 0.0F, 0.0F});
#else
  return dnnl::reduction({{kSum, from, to, 0.0F, 0.0F}, engine});
#endif
}

dnnl::primitive make_softmax(const memory::desc& each) {
  const dnnl::engine& engine = context().engine;
  constexpr auto kInference = dnnl::prop_kind::forward_inference;
  constexpr int kAxis = 1;
#if DNNL_VERSION_MAJOR >= 3
  return dnnl::softmax_forward(
      {engine, kInference, algorithm::softmax_accurate, each, each, kAxis});
#else
  return dnnl::softmax_forward({{kInference, each, kAxis}, engine});
#endif
}

memory::desc result_of(SumAxis axis, std::int64_t rows, std::int64_t cols) {
  return matrix(memory::data_type::f32, axis == SumAxis::rows ? rows : 1,
                axis == SumAxis::columns ? cols : 1);
}

// A shape that no implementation has reason to refuse, to ask for support with.
constexpr std::int64_t kProbe = 64;

} // namespace

std::string version() {
  const dnnl_version_t& v = *dnnl_version();
  return std::to_string(v.major) + "." + std::to_string(v.minor) + "." + std::to_string(v.patch);
}

bool elementwise_supported(Binary op, Dtype dtype) {
  const auto type = type_of(dtype);
  return type && creatable([&] { make_elementwise(op, vector(*type, kProbe)); });
}

void elementwise(Binary op, Dtype dtype, const void* a, const void* b, void* out, std::int64_t n,
                 Stream&) {
  translate("elementwise", [&] {
    const memory::desc each = vector(type_of(dtype).value(), n);
    execute(make_elementwise(op, each), {{DNNL_ARG_SRC_0, wrap(each, a)},
                                         {DNNL_ARG_SRC_1, wrap(each, b)},
                                         {DNNL_ARG_DST, wrap(each, out)}});
  });
}

bool reduction_supported(SumAxis axis) {
  return creatable([&] {
    make_reduction(matrix(memory::data_type::f32, kProbe, kProbe), result_of(axis, kProbe, kProbe));
  });
}

void reduction(SumAxis axis, const float* x, std::int64_t rows, std::int64_t cols, float* out,
               Stream&) {
  translate("reduction", [&] {
    const memory::desc from = matrix(memory::data_type::f32, rows, cols);
    const memory::desc to = result_of(axis, rows, cols);
    execute(make_reduction(from, to),
            {{DNNL_ARG_SRC, wrap(from, x)}, {DNNL_ARG_DST, wrap(to, out)}});
  });
}

bool softmax_supported(Dtype dtype) {
  const auto type = type_of(dtype);
  return type && creatable([&] { make_softmax(matrix(*type, kProbe, kProbe)); });
}

void softmax(Dtype dtype, const void* x, void* y, std::int64_t rows, std::int64_t cols, Stream&) {
  translate("softmax", [&] {
    const memory::desc each = matrix(type_of(dtype).value(), rows, cols);
    execute(make_softmax(each), {{DNNL_ARG_SRC, wrap(each, x)}, {DNNL_ARG_DST, wrap(each, y)}});
  });
}

void transpose(const float* x, std::int64_t rows, std::int64_t cols, std::int64_t ldx, float* y,
               std::int64_t ldy, Stream&) {
  translate("transpose", [&] {
    const dnnl::engine& engine = context().engine;
    const memory::dims shape = {rows, cols};
    const memory::desc from(shape, memory::data_type::f32, memory::dims{ldx, 1});
    const memory::desc to(shape, memory::data_type::f32, memory::dims{1, ldy});
    execute(dnnl::reorder({engine, from, engine, to}),
            {{DNNL_ARG_FROM, wrap(from, x)}, {DNNL_ARG_TO, wrap(to, y)}});
  });
}

} // namespace kg::vendor::onednn
