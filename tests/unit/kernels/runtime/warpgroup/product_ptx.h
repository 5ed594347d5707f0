// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels in PTX that multiply once or a few times by wgmma, and what they have to give.
#pragma once

#include "tests/unit/kernels/runtime/ptx_snippet.h"
#include "tests/unit/kernels/runtime/warpgroup/canonical_layout.h"

#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <string>
#include <vector>

namespace kg::warpgroup {

inline constexpr unsigned kThreads = 128, kRows = 64;
inline constexpr std::size_t kTileBytes = 32768; // of a tile of A or of B, one behind the other

// One instruction, or several in a row that go on with the same sums.
struct Product {
  std::string a_type, b_type, sum_type;
  unsigned columns = 8;
  unsigned steps = 1;
  bool a_in_registers = false;
  Layout a, b;
  bool adds = true;
  int sign_a = 1, sign_b = 1;

  unsigned depth() const { return 32 / b.element_bytes; }
  unsigned words() const { return columns / (sum_type == "f16" ? 4 : 2); }
  std::size_t tile_of_a(unsigned step) const { return 2 * step * kTileBytes; }
  std::size_t tile_of_b(unsigned step) const { return (2 * step + 1) * kTileBytes; }
  std::size_t shared_bytes() const { return 2 * steps * kTileBytes; }
};

// Words of input: the shared memory as it begins; A in registers, four words a thread and step; the
// sums as they begin, by thread.
struct Input {
  std::vector<std::uint32_t> shared, a_registers, sums;
};

// `middle` changes the text of the products, from wgmma.fence to wgmma.wait_group.
inline std::string body_of(const Product& p, const std::string& before_products,
                           const std::string& behind_products) {
  const bool bits = p.sum_type != "f32";
  std::string list,
      body = fmt::format("{{ .reg .{} %s<128>; .reg .b32 %w<8>; .reg .b32 %a<64>; .reg "
                         ".b64 %q<12>; .reg .pred %z;\n",
                         bits ? "b32" : "f32");
  const std::size_t shared_words = p.shared_bytes() / 4;
  body += fmt::format("mov.u32 %w0, %lane; mul.wide.u32 %q0, %lane, 4; sub.s64 %out, %out, %q0; "
                      "add.s64 %q0, %in, %q0; mov.u32 %w1, tile; shl.b32 %w2, %lane, 2; add.u32 "
                      "%w1, %w1, %w2;\nLOAD: ld.global.u32 %w3, [%q0]; st.shared.u32 [%w1], %w3; "
                      "add.s64 %q0, %q0, 512; add.u32 %w1, %w1, 512; add.u32 %w0, %w0, 128; "
                      "setp.lt.u32 %z, %w0, {}; @%z bra LOAD;\n",
                      shared_words);
  body +=
      fmt::format("mul.wide.u32 %q1, %lane, 16; add.s64 %q1, %in, %q1; mul.wide.u32 %q2, %lane, "
                  "{}; add.s64 %q3, %in, %q2; add.s64 %out, %out, %q2;\n",
                  4 * p.words());
  const std::size_t a_words = p.a_in_registers ? std::size_t{4} * kThreads * p.steps : 0;
  for (unsigned i = 0; p.a_in_registers && i < 4 * p.steps; ++i)
    body += fmt::format("ld.global.u32 %a{}, [%q1 + {}];", i,
                        4 * shared_words + i / 4 * 16 * kThreads + i % 4 * 4);
  for (unsigned i = 0; i < p.words(); ++i) {
    body += fmt::format("ld.global.{} %s{}, [%q3 + {}];", bits ? "u32" : "f32", i,
                        4 * (shared_words + a_words + i));
    list += fmt::format("{}%s{}", i == 0 ? "" : ", ", i);
  }
  body += fmt::format("\nsetp.ne.u32 %z, {}, 0; ", p.adds ? 1 : 0) + before_products;
  for (unsigned step = 0; step < p.steps; ++step) {
    if (step == 1 && !p.adds) body += "setp.ne.u32 %z, 1, 0; ";
    const std::string a = p.a_in_registers ? fmt::format("{{%a{}, %a{}, %a{}, %a{}}}", 4 * step,
                                                         4 * step + 1, 4 * step + 2, 4 * step + 3)
                                           : "%q4";
    std::string rest = ", %z";
    if (p.sum_type != "s32") rest += fmt::format(", {}, {}", p.sign_a, p.sign_b);
    if (p.b.element_bytes == 2)
      rest +=
          fmt::format("{}, {}", p.a_in_registers ? "" : fmt::format(", {}", p.a.by_depth ? 0 : 1),
                      p.b.by_depth ? 0 : 1);
    body += fmt::format("mov.b64 %q4, {}; mov.b64 %q5, {}; wgmma.mma_async.sync.aligned.m64n{}k{}."
                        "{}.{}.{} {{{}}}, {}, %q5{};\n",
                        static_cast<std::int64_t>(p.a.descriptor(p.tile_of_a(step))),
                        static_cast<std::int64_t>(p.b.descriptor(p.tile_of_b(step))), p.columns,
                        p.depth(), p.sum_type, p.a_type, p.b_type, list, a, rest);
  }
  body += behind_products;
  for (unsigned i = 0; i < p.words(); ++i)
    body += fmt::format("st.global.{} [%out + {}], %s{};", bits ? "u32" : "f32", 4 * i, i);
  return body + " }";
}

inline const std::string kFenced =
    "fence.proxy.async.shared::cta; bar.sync 0; wgmma.fence.sync.aligned;\n";
inline const std::string kWaited =
    "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n";

// The words of sums that each thread ends with.
inline std::vector<std::uint32_t> run(const Product& p, const Input& input,
                                      const std::string& before = kFenced,
                                      const std::string& behind = kWaited,
                                      unsigned threads = kThreads) {
  const ptx_run::LoadedKernel kernel = ptx_run::compile(
      ptx_run::module_of(body_of(p, before, behind),
                         fmt::format(".shared .align 1024 .b8 tile[{}];", p.shared_bytes())),
      "product.ptx", "snippet");
  std::vector<std::uint32_t> in = input.shared;
  in.insert(in.end(), input.a_registers.begin(), input.a_registers.end());
  in.insert(in.end(), input.sums.begin(), input.sums.end());
  std::vector<std::uint32_t> out(std::size_t{threads} * p.words(), 0xdeadbeef);
  void* in_pointer = in.data();
  void* out_pointer = out.data();
  void* arguments[] = {&in_pointer, &out_pointer};
  const std::size_t sizes[] = {sizeof(void*), sizeof(void*)};
  LaunchConfig config{.grid = 1, .block = threads};
  config.shared_bytes = kernel.static_shared_bytes;
  detail::launch_erased(config, erased(kernel), {arguments, sizes, 2, nullptr, nullptr});
  return out;
}

} // namespace kg::warpgroup
