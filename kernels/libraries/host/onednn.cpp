// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/host/onednn.h"

#include "libraries/not_supported.h"

#include <dnnl_debug.h>
#include <string_view>

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

std::string version() {
  const dnnl_version_t& v = *dnnl_version();
  return std::to_string(v.major) + "." + std::to_string(v.minor) + "." + std::to_string(v.patch);
}

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

memory::data_type on_every_cpu(memory::data_type type) {
  const bool varies = type == memory::data_type::bf16 ||
                      (type == memory::data_type::f16 && DNNL_VERSION_MAJOR >= 3);
  return varies ? memory::data_type::f32 : type;
}

void rethrow(const char* what, const dnnl::error& error, Location where) {
  if (error.status == dnnl_unimplemented) {
    constexpr std::string_view kPrefix = "cpu_isa_";
    std::string cpu = dnnl_cpu_isa2str(static_cast<dnnl_cpu_isa_t>(dnnl::get_effective_cpu_isa()));
    if (cpu.starts_with(kPrefix)) cpu.erase(0, kPrefix.size());
    throw NotSupported("not available here: oneDNN " + version() + " has no " + what +
                       " of this type for this CPU (" + cpu + ")");
  }
  fail(std::string("oneDNN ") + what + ": " + error.what() + " (" + dnnl_status2str(error.status) +
           ")",
       where);
}

} // namespace kg::vendor::onednn
