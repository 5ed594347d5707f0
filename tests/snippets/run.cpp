// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/snippets/run.h"

#include "runtime/backend.h"
#include "runtime/buffer.h"
#include "runtime/device.h"
#include "runtime/jit.h"
#include "runtime/launch.h"
#if !KG_BACKEND_CUDA
#include "runtime/ptx/library.h"
#endif

#include <algorithm>
#include <fmt/format.h>
#include <memory>

namespace kg::test::snippets {
namespace {

struct Kernel {
  detail::ErasedKernel erased{};
  std::size_t shared_bytes = 0; // which the launch must add
  std::shared_ptr<void> library;
};

Kernel load(const Snippet& snippet) {
  const std::string text = module_of({&snippet});
#if KG_BACKEND_CUDA
  jit::MachineCode code;
  code.bytes = text;
  Kernel kernel;
  kernel.library = jit::detail::load(code, Location::here());
  kernel.erased = {
      jit::detail::find_kernel(kernel.library.get(), kernel_name(snippet), Location::here()),
      nullptr};
  return kernel;
#else
  const ptx_run::LoadedKernel loaded = ptx_run::compile(text, snippet.form, kernel_name(snippet));
  return {ptx_run::erased(loaded), loaded.static_shared_bytes, nullptr};
#endif
}

} // namespace

std::string not_for_this_device(const Snippet& snippet) {
  const DeviceProperties& device = device_properties();
  const int capability = 10 * device.compute_major + device.compute_minor;
  // The executor runs PTX of any architecture; a driver, real or emulated, none above its device's.
  if (backend == Backend::host || snippet.target <= capability) return "";
  return fmt::format("it needs compute capability {}.{}", snippet.target / 10, snippet.target % 10);
}

std::vector<Word> run(const Snippet& snippet, const std::vector<Word>& operands) {
  const std::size_t inputs = std::max<std::size_t>(snippet.inputs.size(), 1);
  const std::size_t lanes = operands.size() / inputs;
  Stream stream;
  const auto in = DeviceBuffer<Word>::from_host(operands, stream);
  const DeviceBuffer<Word> out(lanes * snippet.outputs.size());
  stream.synchronize();

  const Kernel kernel = load(snippet);
  const Word *from = in.data(), *to = out.data();
  struct alignas(16) {
    unsigned char values[16] = {0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87,
                                0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f};
  } bytes; // what ld.param reads (memory.cpp)
  void* arguments[] = {&from, &to, &bytes};
  const std::size_t sizes[] = {sizeof from, sizeof to, sizeof bytes};
  LaunchConfig config;
  config.grid = static_cast<unsigned>(lanes / kLanes);
  config.block = kLanes;
  config.cluster = snippet.cluster;
  config.shared_bytes = kernel.shared_bytes;
  config.stream = &stream;
  detail::launch_erased(config, kernel.erased, {arguments, sizes, 3, nullptr, nullptr});
  stream.synchronize();
  return out.to_host(stream);
}

} // namespace kg::test::snippets
