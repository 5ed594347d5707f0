// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels of PTX of a few lines, for the tests of PTX on the executor: their threads read words and
// write words.
#pragma once

#include "runtime/launch.h"
#include "runtime/ptx/library.h"

#include <bit>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <vector>

namespace kg::ptx_run {

inline std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

// A module with one kernel, whose body finds its arguments in %in and %out (addresses of words) and
// its thread in %lane.
inline std::string module_of(const std::string& body, const std::string& before = "",
                             const std::string& directives = "") {
  return fmt::format(R"(
.version 9.0
.target sm_90a
.address_size 64
{}
.visible .entry snippet(
  .param .u64 snippet_param_0,
  .param .u64 snippet_param_1
)
{}{{
  .reg .pred %p<9>;
  .reg .b16 %h<9>;
  .reg .b32 %r<19>;
  .reg .f32 %f<19>;
  .reg .b64 %d<19>;
  .reg .b32 %lane;
  .reg .b64 %in, %out, %at;
  ld.param.u64 %in, [snippet_param_0];
  ld.param.u64 %out, [snippet_param_1];
  mov.u32 %lane, %tid.x;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mad.lo.u32 %r0, %r0, %r1, %lane;
  mul.wide.u32 %at, %r0, 4;
  add.s64 %out, %out, %at;
  {}
  ret;
}}
)",
                     before, directives.empty() ? "" : directives + "\n", body);
}

// What each of `threads` threads wrote, of each of some blocks, all of which are a cluster.
inline std::vector<std::uint32_t> run(const std::string& body,
                                      std::vector<std::uint32_t> words = {0}, unsigned threads = 1,
                                      const std::string& before = "", unsigned blocks = 1,
                                      const std::string& directives = "") {
  const LoadedKernel kernel =
      compile(module_of(body, before, directives), "snippet.ptx", "snippet");
  std::vector<std::uint32_t> out(std::size_t{blocks} * threads, 0xdeadbeef);
  void* in_pointer = words.data();
  void* out_pointer = out.data();
  void* arguments[] = {&in_pointer, &out_pointer};
  const std::size_t sizes[] = {sizeof(void*), sizeof(void*)};
  LaunchConfig config{.grid = blocks, .block = threads};
  config.cluster = blocks;
  config.shared_bytes = kernel.static_shared_bytes;
  detail::launch_erased(config, erased(kernel), {arguments, sizes, 2, nullptr, nullptr});
  return out;
}

} // namespace kg::ptx_run
