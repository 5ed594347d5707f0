// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/source/ptx_kernel.h"

#include "cuda/source/launch.h"
#include "cuda/source/state.h"

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace kg::foreign {
namespace {

// The arguments that a graph must copy to run the kernel later.
struct Arguments {
  void** pointers;
  std::span<const std::size_t> sizes;
};

std::pair<std::shared_ptr<void>, std::vector<void*>> clone(const void* tuple) {
  const auto& given = *static_cast<const Arguments*>(tuple);
  using Values = std::vector<std::vector<std::byte>>;
  const auto values = std::make_shared<Values>();
  std::vector<void*> pointers;
  for (std::size_t i = 0; i < given.sizes.size(); ++i) {
    const auto* const from = static_cast<const std::byte*>(given.pointers[i]);
    values->emplace_back(from, from + given.sizes[i]);
    pointers.push_back(values->back().data());
  }
  return {values, std::move(pointers)};
}

} // namespace

cudaError_t launch_loaded(const ptx_run::LoadedKernel& kernel, LaunchConfig config,
                          void** arguments, cudaStream_t stream) {
  const cudaError_t error = call("a launch", [&] {
    try {
      ptx_run::take_cluster(kernel, config);
    } catch (const Error& other_cluster) {
      throw Refusal(cudaErrorInvalidValue, other_cluster.what());
    }
  });
  if (error != cudaSuccess) return error;
  config.shared_bytes += kernel.static_shared_bytes;
  const Arguments given{arguments, kernel.parameters};
  return launch(config, stream, ptx_run::erased(kernel),
                {arguments, given.sizes.data(), given.sizes.size(), &given, &clone});
}

} // namespace kg::foreign
