// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// wgmma and setmaxnreg for code translated from PTX.
#include "runtime/host/block.h"
#include "runtime/host/register_pool.h"
#include "runtime/host/warpgroup.h"
#include "runtime/ptx/prelude.h"

namespace kg::ptx_run {
namespace {

Location here(Where where) { return {where.file, where.line}; }

} // namespace

void wgmma(const Wgmma& form, void* const* sums, u64 a, const void* const* a_registers, u64 b,
           bool adds, Where where) {
  const auto window = reinterpret_cast<u64>(shared_base());
  host::WarpgroupProduct product;
  product.columns = form.columns;
  product.a_type = static_cast<host::ElementType>(form.a_type);
  product.b_type = static_cast<host::ElementType>(form.b_type);
  product.sum_type = static_cast<host::SumType>(form.sum_type);
  product.a_in_registers = a_registers != nullptr;
  if (!a_registers) product.a = {a, window, form.a_by_depth};
  product.b = {b, window, form.b_by_depth};
  product.negates_a = form.negates_a;
  product.negates_b = form.negates_b;
  product.adds = adds;
  host::warpgroup_multiply(product, sums, a_registers, "wgmma.mma_async", here(where));
}
void wgmma_fence(Where where) { host::warpgroup_fence("wgmma.fence", here(where)); }
void wgmma_commit(Where where) { host::warpgroup_commit("wgmma.commit_group", here(where)); }
void wgmma_wait(u32 pending, Where where) {
  host::warpgroup_wait(pending, "wgmma.wait_group", here(where));
}
void set_registers(u32 count, bool rises, Where where) {
  host::set_registers(count, rises, here(where));
}
void wgmma_sum_copied(void* to, const void* from) { host::warpgroup_sum_copied(to, from); }
void wgmma_sum_read(const void* sum, Where where) { host::warpgroup_sum_read(sum, here(where)); }

} // namespace kg::ptx_run
