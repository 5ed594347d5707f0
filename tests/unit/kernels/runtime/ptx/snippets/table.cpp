// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/runtime/ptx/snippets/table.h"

#include <set>
#include <stdexcept>

namespace kg::test::snippets {

const Table& table() {
  static const Table made = [] {
    Table all;
    for (const auto add :
         {add_integer, add_carries, add_bits, add_floats, add_approximations, add_halves,
          add_comparisons, add_conversions, add_moves, add_memory, add_updates, add_warps,
          add_mbarriers, add_clusters, add_matrices, add_control})
      add(all);
    std::set<std::string> forms;
    for (const Snippet& each : all)
      if (!forms.insert(each.form).second) throw std::logic_error("two snippets of " + each.form);
    return all;
  }();
  return made;
}

const std::map<std::string, std::string>& exempt() {
  constexpr const char* kBulkCopies = "unit.bulk_copy runs it from PTX";
  constexpr const char* kWarpgroups = "unit.warpgroup and unit.wgmma run it from PTX";
  static const std::map<std::string, std::string> forms = {
      {"trap", "it ends the kernel"},
      // A warpgroup, a tensor map and an asynchronous copy are more than a snippet has.
      {"bar.arrive", "unit.idioms runs it from PTX; it needs a second warp"},
      {"cp.async.bulk.commit_group", kBulkCopies},
      {"cp.async.bulk.global.shared::cta.bulk_group", kBulkCopies},
      {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", kBulkCopies},
      {"cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group", kBulkCopies},
      {"cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
       kBulkCopies},
      {"cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
       ".multicast::cluster",
       kBulkCopies},
      {"cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
       kBulkCopies},
      {"cp.async.bulk.wait_group", kBulkCopies},
      {"cp.async.bulk.wait_group.read", kBulkCopies},
      {"cvta.param.u64", kBulkCopies}, // of a tensor map
      {"elect.sync", kBulkCopies},
      {"fence.mbarrier_init.release.cluster", kBulkCopies},
      {"fence.proxy.async.shared::cta", kBulkCopies},
      {"setmaxnreg.dec.sync.aligned.u32", kWarpgroups},
      {"setmaxnreg.inc.sync.aligned.u32", kWarpgroups},
      {"stmatrix.sync.aligned.m8n8.x4.shared.b16", kBulkCopies},
      {"wgmma.commit_group.sync.aligned", kWarpgroups},
      {"wgmma.fence.sync.aligned", kWarpgroups},
      {"wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16", kWarpgroups},
      {"wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16", kWarpgroups},
      {"wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3", kWarpgroups},
      {"wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8", kWarpgroups},
      {"wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16", kWarpgroups},
      {"wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16", kWarpgroups},
      {"wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8", kWarpgroups},
      {"wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16", kWarpgroups},
      {"wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16", kWarpgroups},
      {"wgmma.wait_group.sync.aligned", kWarpgroups},
  };
  return forms;
}

} // namespace kg::test::snippets
