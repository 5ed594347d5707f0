// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/candidate.h"

#include "runtime/backend.h"
#include "runtime/launch.h"
#include "tests/contract/form.h"
#include "tests/contract/grammar.h"
#include "tests/contract/signature.h"

#include <algorithm>
#include <array>
#include <cfenv>
#include <cuda_runtime.h>
#include <deque>
#include <dlfcn.h>
#include <ffi.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <unistd.h>

#if !KG_BACKEND_CUDA
#include "cuda/source/state.h"
#endif

namespace kg::card {
namespace {

constexpr std::string_view kName = "candidate";

// A card, and an external library's functions for it.
struct Candidate {
  const Card& card;
  void* library;

  // Null if the library has none for this problem.
  void (*function(const Problem& problem) const)() {
    return reinterpret_cast<void (*)()>(dlsym(library, function_name(card, problem).c_str()));
  }
  bool has(Dtype dtype, const std::string& shape) const {
    return function(card.problem(dtype, Shape::parse(shape))) != nullptr;
  }
};

// The stream passed to candidates: a CUDA stream of its own, so that launches can be compared with
// the given stream.
class CudaStream {
 public:
  explicit CudaStream(Stream& stream) {
    if constexpr (backend == Backend::cuda)
      handle_ = static_cast<cudaStream_t>(stream.handle());
    else if (const cudaError_t error = cudaStreamCreate(&handle_); error != cudaSuccess)
      fail(fmt::format("not run: an earlier call of the candidate left {}: {}",
                       cudaGetErrorName(error), cudaGetErrorString(error)));
  }
  ~CudaStream() {
    if constexpr (backend == Backend::host) cudaStreamDestroy(handle_);
  }
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  cudaStream_t handle() const { return handle_; }

 private:
  cudaStream_t handle_ = nullptr;
};

// A candidate's function and its parameters: the same in every execution of a problem.
struct Function {
  std::string name;
  void (*address)();
  std::vector<std::string> tensors; // including those that the problem omits
  Calling calling;
};
Function function_of(const Candidate& candidate, const Problem& problem) {
  const std::string name = function_name(candidate.card, problem);
  void (*const address)() = candidate.function(problem);
  require(address != nullptr, "the candidate has no " + name);
  Function result{name, address, {}, calling_of(problem)};
  const Problem whole = candidate.card.problem(problem.dtype, Shape::parse(problem.shape));
  for (const Tensor& tensor : tensors_of(whole)) result.tensors.push_back(tensor.name);
  return result;
}

// Calls `function` with the arguments of signature.h, in their order; omitted tensors are null.
void call_function(const Function& function, const Call& call, cudaStream_t stream) {
  const Problem& problem = call.problem();
  std::vector<void*> pointers;
  std::vector<float> scalars;
  Calling calling = function.calling; // a copy: the candidate may write to it
  for (const std::string& tensor : function.tensors) pointers.push_back(call.address(tensor));
  for (const auto& [name, value] : problem.scalars)
    if (!calling.replaces(name)) scalars.push_back(call.scalar(name));

  std::vector<ffi_type*> types;
  std::vector<void*> arguments;
  const auto pass = [&](ffi_type& type, auto& values) {
    for (auto& value : values) {
      types.push_back(&type);
      arguments.push_back(&value);
    }
  };
  std::array<cudaStream_t, 1> streams = {stream};
  pass(ffi_type_pointer, pointers);
  pass(ffi_type_float, scalars);
  std::deque<std::int64_t*> lists; // with stable addresses
  for (Integers& integers : calling.integers) {
    std::int64_t* const first = integers.values.data();
    types.push_back(integers.list ? &ffi_type_pointer : &ffi_type_sint64);
    arguments.push_back(integers.list ? static_cast<void*>(&lists.emplace_back(first)) : first);
  }
  pass(ffi_type_pointer, streams);
  ffi_cif interface;
  require(ffi_prep_cif(&interface, FFI_DEFAULT_ABI, static_cast<unsigned>(types.size()),
                       &ffi_type_void, types.data()) == FFI_OK,
          "libffi knows no such call");
  ffi_call(&interface, function.address, nullptr, arguments.data());
}

// Process state that a kernel must not change.
struct Surroundings {
  std::vector<std::string> environment;
  int rounding = std::fegetround();

  Surroundings() {
    for (char** variable = environ; *variable; ++variable) environment.emplace_back(*variable);
  }
  // What differs from `before`; empty if nothing.
  std::string changed(const Surroundings& before) const {
    if (rounding != before.rounding) return "it changed the floating-point environment";
    if (environment != before.environment) return "it changed the environment's variables";
    return "";
  }
};

#if !KG_BACKEND_CUDA
// What its launches and calls did wrong, not visible in a result; empty if nothing.
std::string misconduct(const std::vector<LaunchRecord>& launches, cudaStream_t given) {
  for (const LaunchRecord& launch : launches) {
    if (launch.stream != &foreign::stream_of(given))
      return launch.kernel_name + " was launched on another stream than the one that it was given";
    if (launch.kernel_name.starts_with("kg::")) return "it launched our " + launch.kernel_name;
  }
  return "";
}
#endif

std::string_view run(const Candidate& candidate, const Call& call, Stream& stream) {
  const Function& function = call.once([&] { return function_of(candidate, call.problem()); });
  const std::string& name = function.name;
  const CudaStream given(stream);
  const Surroundings before;
  const LaunchRecorder recorder;
#if !KG_BACKEND_CUDA
  const std::uint64_t refused = foreign::refusals().first;
#endif
  call_function(function, call, given.handle());
  recorder.pass_on();
  if (const std::string changed = Surroundings().changed(before); !changed.empty()) {
    std::fesetround(before.rounding);
    fail(name + ": " + changed);
  }
#if !KG_BACKEND_CUDA
  if (const auto [now, why] = foreign::refusals(); now != refused)
    fail(fmt::format("{}: a call was refused: {}", name, why));
#endif
  cudaError_t error = cudaStreamSynchronize(given.handle());
  require(error != cudaErrorInvalidResourceHandle,
          name + ": it reset the device, or destroyed the stream that it was given");
  if (const cudaError_t last = cudaGetLastError(); error == cudaSuccess) error = last;
  require(error == cudaSuccess,
          fmt::format("{}: {}: {}", name, cudaGetErrorName(error), cudaGetErrorString(error)));
#if !KG_BACKEND_CUDA
  const std::string wrong = misconduct(recorder.launches(), given.handle());
  require(wrong.empty(), name + ": " + wrong);
  require(!recorder.launches().empty() || call.problem().output_size() == 0,
          name + ": it launched no kernel");
#endif
  return kName;
}

// With the bound of a kernel whose summation order is unknown.
Reference in_any_order(Reference reference) {
  if (reference.tolerance)
    reference.tolerance = [known = reference.tolerance](std::string_view) { return known(""); };
  return reference;
}

// The samples or shapes for which the candidate has a function.
template <class Made>
std::function<std::vector<Made>(Dtype)> claimed(const Candidate& candidate,
                                                std::function<std::vector<Made>(Dtype)> all) {
  return [candidate, all](Dtype dtype) {
    std::vector<Made> result = all(dtype);
    std::erase_if(result, [&](const Made& each) {
      if constexpr (std::is_same_v<Made, Sample>)
        return !candidate.has(dtype, each.shape);
      else
        return !candidate.has(dtype, each);
    });
    return result;
  };
}

// A requested shape must be tested: throws Error if it is invalid, or has no function.
void require_function(const Candidate& from, const Card& card, const std::string& text) {
  std::string wanted;
  for (const Dtype dtype : card.dtypes) {
    require_well_formed(card, dtype, text);
    const Problem problem = card.problem(dtype, Shape::parse(text));
    if (from.function(problem)) return;
    wanted += (wanted.empty() ? "" : ", ") + function_name(card, problem);
  }
  fail(fmt::format("shape {}: the source defines none of {}", text, wanted));
}

} // namespace

Card candidate_card(const Card& card, const std::string& library,
                    const std::vector<std::string>& shapes) {
  const Candidate from{card, dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)};
  if (!from.library) fail(fmt::format("the candidate cannot be loaded: {}", dlerror()));
  Card candidate = card;
  std::set<std::string> forms;
  std::vector<std::string> wanted;
  candidate.dtypes.clear();
  for (const Dtype dtype : card.dtypes) {
    bool any = false;
    for (const Problem& problem : functions_of(card, dtype)) {
      wanted.push_back(function_name(card, problem));
      if (!from.function(problem)) continue;
      any = true;
      for (const std::string& form : card.forms)
        if (form.empty() || form == form_of(card, problem)) forms.insert(form);
    }
    if (any) candidate.dtypes.push_back(dtype);
  }
  require(!candidate.dtypes.empty(),
          fmt::format("{} defines none of these functions (extern \"C\"): {}", library,
                      fmt::join(wanted, ", ")));
  std::erase_if(candidate.forms, [&](const std::string& form) { return !forms.contains(form); });

  candidate.problem = [&card](Dtype dtype, const Shape& shape) {
    Problem problem = card.problem(dtype, shape);
    problem.gaps = false;
    for (auto* tensors : {&problem.inputs, &problem.outputs})
      for (Tensor& tensor : *tensors) tensor.gap = 0;
    return problem;
  };
  Variant variant;
  variant.name = kName;
  variant.run = [from](const Call& call, Stream& stream) { return run(from, call, stream); };
  variant.supports = [from](const Problem& p) { return from.function(p) != nullptr; };
  candidate.variants = {std::move(variant)};
  candidate.resolved = {};
  candidate.run_automatic = {};
  candidate.checks_arguments = false;
  candidate.kernel_name = {};
  candidate.launches = {};
  candidate.kernels = {};
  candidate.large_strides = {};
  candidate.references = [&card](const Problem& problem, const Inputs& inputs) {
    References references = card.references(problem, inputs);
    for (auto& [output, reference] : references) reference = in_any_order(std::move(reference));
    return references;
  };
  if (card.elements)
    candidate.elements = [&card](const Problem& problem, std::string_view output,
                                 std::int64_t first, std::int64_t count, const Values& values) {
      return in_any_order(card.elements(problem, output, first, count, values));
    };
  candidate.exact_samples = claimed(from, card.exact_samples);
  candidate.random_samples = claimed(from, card.random_samples);
  candidate.special_samples = claimed(from, card.special_samples);
  for (const std::string& shape : shapes) require_function(from, card, shape);
  candidate.usual = claimed<std::string>(from, [usual = card.usual, shapes](Dtype dtype) {
    std::vector<std::string> all = usual(dtype);
    all.insert(all.end(), shapes.begin(), shapes.end());
    return all;
  });
  for (const std::string& shape : shapes) candidate.timed_on_host.push_back({shape});
  candidate.sizes = claimed(from, card.sizes);
  if (card.batches)
    candidate.batches = [from, all = card.batches](Dtype dtype) {
      std::vector<std::string> patterns = all(dtype);
      std::erase_if(patterns, [&](const std::string& pattern) {
        return !from.has(dtype, batch_of(pattern, 1)) || !from.has(dtype, batch_of(pattern, 2));
      });
      return patterns;
    };
  candidate.misaligned = claimed(from, card.misaligned);
  candidate.pitches = {}; // its tensors are dense
  std::erase_if(candidate.empty, [&](const std::string& shape) {
    return std::none_of(candidate.dtypes.begin(), candidate.dtypes.end(),
                        [&](Dtype dtype) { return from.has(dtype, shape); });
  });
  return candidate;
}

} // namespace kg::card
