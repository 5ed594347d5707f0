// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared by all oneDNN wrappers, for oneDNN 2 and 3 on the CPU; version 3 dropped version 2's
// operation descriptors. The types that a primitive takes depend on the version (2.6 has f16 only
// for reorders). So a wrapper's `supports` asks the library, by creating the primitive once
// (`offers`). The types also depend on the CPU (2.6 has bf16 only with AVX-512). There the call
// throws NotSupported, while `supports` gives the same answer on every CPU.
#pragma once

#include "runtime/dtype.h"
#include "runtime/error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include <dnnl.hpp>

namespace kg::vendor::onednn {

// An extent for support queries, which no implementation has reason to refuse.
inline constexpr std::int64_t kProbe = 64;

std::string version(); // at run time, such as "2.6.3"

// The engine of this thread. Primitives are not kept: oneDNN caches them itself and returns a
// cached one in about 1 us, a new one in 0.3 ms (measured, 2.6.3).
dnnl::engine& engine();

// Create a primitive or its description from arguments on which both versions agree. A backward
// primitive needs the forward description as a hint.
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

// oneDNN has no const memory, but does not write to sources.
dnnl::memory wrap(const dnnl::memory::desc& desc, const void* data);

// The vector in f32, as normalisations require their scales. Copied unless it is f32 already.
dnnl::memory widened(dnnl::memory::data_type type, std::int64_t n, const void* data);

// Throws NotSupported if oneDNN has no such primitive for this CPU, Error otherwise.
[[noreturn]] void rethrow(const char* what, const dnnl::error& error, Location where);

// Runs `body` and rethrows oneDNN's exceptions as above.
template <class Body>
void translate(const char* what, Body body, Location where = Location::here()) {
  try {
    body();
  } catch (const dnnl::error& error) {
    rethrow(what, error, where);
  }
}

// The type to use in support queries: f32 for a type that some CPUs do not support.
dnnl::memory::data_type on_every_cpu(dnnl::memory::data_type type);

// Whether oneDNN has, on some CPU, the primitives that `make` creates for the type. nullopt: no.
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
