// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bulk copies, and the fences between the generic and the asynchronous proxy (PTX ISA, "Data
// Movement and Conversion Instructions: cp.async.bulk", "Parallel Synchronization and Communication
// Instructions: membar, fence"; runtime/host/bulk_copy.h).
#include "runtime/ptx/emitter.h"

#include <fmt/format.h>

namespace kg::ptx_run {

// cp.async.bulk
bool Emitter::bulk() {
  const auto& parts = now_->parts;
  if (parts[0] != "cp" || parts.size() < 3 || parts[1] != "async" || parts[2] != "bulk")
    return false;
  if (has("tensor") || has("multicast::cluster"))
    refuse("of bulk copies those with a tensor map or to several blocks are not executed");
  if (has("commit_group")) {
    only_parts({"cp", "async", "bulk", "commit_group"});
    line(fmt::format("bulk_commit({});", where()));
  } else if (has("wait_group")) {
    only_parts({"cp", "async", "bulk", "wait_group", "read"});
    line(fmt::format("bulk_wait({}, {}, {});", in(0, "u32"), has("read"), where()));
  } else if (has("prefetch")) {
    // It changes no value.
    only_parts({"cp", "async", "bulk", "prefetch", "L2", "global", "L2::cache_hint"});
  } else if (has("mbarrier::complete_tx::bytes")) {
    only_parts({"cp", "async", "bulk", "shared::cluster", "shared::cta", "global",
                "mbarrier::complete_tx::bytes", "L2::cache_hint"});
    if (!has("global")) refuse("copies between blocks of a cluster are not executed");
    line(fmt::format("bulk_load({}, {}, {}, reinterpret_cast<u64*>({}), {});",
                     address(operand(0), shared_space()), address(operand(1), "global"),
                     in(2, "u32"), address(operand(3), shared_space()), where()));
  } else {
    only_parts({"cp", "async", "bulk", "global", "shared::cta", "bulk_group", "L2::cache_hint"});
    line(fmt::format("bulk_store({}, {}, {}, {});", address(operand(0), "global"),
                     address(operand(1), "shared"), in(2, "u32"), where()));
  }
  return true;
}

void Emitter::proxy_fence() {
  if (has("mbarrier_init")) {
    only_parts({"fence", "mbarrier_init", "release", "cluster"});
    line("proxy_fence(Covered::mbarrier_init);");
    return;
  }
  only_parts({"fence", "proxy", "async", "global", "shared::cta", "shared::cluster"});
  if (!has("async")) refuse("of proxy fences only fence.proxy.async is executed");
  const bool shared = has("shared::cta") || has("shared::cluster");
  line(fmt::format("proxy_fence(Covered::{});", has("global") ? "global"
                                                : shared      ? "shared"
                                                              : "both"));
}

} // namespace kg::ptx_run
