// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/host/onednn.h"

#include <dnnl_debug.h>

namespace kg::vendor::onednn {

using dnnl::memory;

namespace {

struct Context {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
};

Context& context() {
  thread_local Context instance;
  return instance;
}

} // namespace

dnnl::engine& engine() { return context().engine; }

void execute(const dnnl::primitive& primitive, const Arguments& arguments) {
  primitive.execute(context().stream, arguments);
  context().stream.wait();
}

std::optional<memory::data_type> type_of(Dtype dtype) {
  switch (dtype) {
  case Dtype::f32: return memory::data_type::f32;
  case Dtype::f16: return memory::data_type::f16;
  case Dtype::bf16: return memory::data_type::bf16;
  default: return std::nullopt;
  }
}

memory::desc vector(memory::data_type type, std::int64_t n) {
  return {{n}, type, memory::format_tag::a};
}
memory::desc matrix(memory::data_type type, std::int64_t rows, std::int64_t cols) {
  return {{rows, cols}, type, memory::format_tag::ab};
}

memory wrap(const memory::desc& desc, const void* data) {
  return {desc, engine(), const_cast<void*>(data)};
}

memory widened(memory::data_type type, std::int64_t n, const void* data) {
  const memory narrow = wrap(vector(type, n), data);
  if (type == memory::data_type::f32) return narrow;
  const memory wide(vector(memory::data_type::f32, n), engine());
  execute(dnnl::reorder(narrow, wide), {{DNNL_ARG_FROM, narrow}, {DNNL_ARG_TO, wide}});
  return wide;
}

void rethrow(const char* what, const dnnl::error& error, Location where) {
  fail(std::string("oneDNN ") + what + ": " + error.what() + " (" + dnnl_status2str(error.status) +
           ")",
       where);
}

} // namespace kg::vendor::onednn
