// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What every wrapper of a oneDNN primitive uses. oneDNN on the CPU, versions 2 and 3; version 3
// gave up the operation descriptors of version 2. Which types a primitive takes depends on the
// version (2.6 has f16 for reorders alone), so a wrapper's `supports` asks the library by creating
// the primitive once (`offers`). It depends on the CPU as well (2.6 has bf16 only with AVX-512):
// there the call throws NotSupported, and what a wrapper supports is the same on every CPU.
#pragma once

#include "runtime/dtype.h"
#include "runtime/error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include <dnnl.hpp>

namespace kg::vendor::onednn {

// A shape that no implementation has reason to refuse, to ask for support with.
inline constexpr std::int64_t kProbe = 64;

std::string version(); // that it runs with, as "2.6.3"

// Of this thread. Primitives are not kept: oneDNN caches them itself and hands a known one out in
// about 1 us (measured, 2.6.3), against 0.3 ms for a new one.
dnnl::engine& engine();

// A primitive, of the arguments in which the versions agree; a backward one wants the forward one's
// description as a hint.
template <class Primitive, class... Arguments>
typename Primitive::primitive_desc describe(const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), arguments...};
#else
  return {typename Primitive::desc(arguments...), engine()};
#endif
}
template <class Primitive, class... Arguments>
Primitive make(const Arguments&... arguments) {
  return Primitive(describe<Primitive>(arguments...));
}
template <class Primitive, class... Arguments>
Primitive make_with(const dnnl::primitive_attr& attributes, const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return Primitive(typename Primitive::primitive_desc(engine(), arguments..., attributes));
#else
  return Primitive({typename Primitive::desc(arguments...), attributes, engine()});
#endif
}
template <class Primitive, class Forward, class... Arguments>
typename Primitive::primitive_desc describe_backward(const Forward& hint,
                                                     const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), arguments..., hint};
#else
  return {typename Primitive::desc(arguments...), engine(), hint};
#endif
}

using Arguments = std::unordered_map<int, dnnl::memory>; // by DNNL_ARG_*

// Runs the primitive and waits for it.
void execute(const dnnl::primitive& primitive, const Arguments& arguments);

// nullopt: oneDNN has no such type.
std::optional<dnnl::memory::data_type> type_of(Dtype dtype);

dnnl::memory::desc vector(dnnl::memory::data_type type, std::int64_t n);
dnnl::memory::desc matrix(dnnl::memory::data_type type, std::int64_t rows, std::int64_t cols);

// oneDNN's memory is not const, its sources are.
dnnl::memory wrap(const dnnl::memory::desc& desc, const void* data);

// The vector in f32, in memory of its own unless it is in f32 already: normalisations take their
// scales so.
dnnl::memory widened(dnnl::memory::data_type type, std::int64_t n, const void* data);

// As NotSupported where oneDNN has no such primitive for this CPU, as Error otherwise.
[[noreturn]] void rethrow(const char* what, const dnnl::error& error, Location where);

// Runs `body`; what oneDNN throws is rethrown as above.
template <class Body>
void translate(const char* what, Body body, Location where = Location::here()) {
  try {
    body();
  } catch (const dnnl::error& error) {
    rethrow(what, error, where);
  }
}

// The type to ask for in place of one for which a CPU may lack the instructions.
dnnl::memory::data_type on_every_cpu(dnnl::memory::data_type type);

// Whether oneDNN offers, on some CPU, the primitives that `make` creates of the type; none: no.
template <class Make>
bool offers(std::optional<dnnl::memory::data_type> type, Make make) {
  if (!type) return false;
  try {
    make(on_every_cpu(*type));
    return true;
  } catch (const dnnl::error&) {
    return false;
  }
}

} // namespace kg::vendor::onednn
