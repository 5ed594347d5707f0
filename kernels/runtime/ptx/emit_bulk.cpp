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
  if (has("commit_group")) {
    only({"async", "bulk"});
    line(fmt::format("bulk_commit({});", where()));
  } else if (has("wait_group")) {
    only({"async", "bulk", "wait_group"});
    line(fmt::format("bulk_wait({}, {}, {});", in(0, "u32"), has("read"), where()));
  } else if (has("prefetch")) {
    // It changes no value.
  } else if (has("mbarrier::complete_tx::bytes") && has("global")) {
    only({"async", "bulk", "shared::cluster", "shared::cta", "global",
          "mbarrier::complete_tx::bytes"});
    line(fmt::format("bulk_load({}, {}, {}, reinterpret_cast<u64*>({}), {});",
                     address(operand(0), shared_space()), address(operand(1), "global"),
                     in(2, "u32"), address(operand(3), shared_space()), where()));
  } else if (has("bulk_group")) {
    only({"async", "bulk", "global", "shared::cta"});
    line(fmt::format("bulk_store({}, {}, {}, {});", address(operand(0), "global"),
                     address(operand(1), "shared"), in(2, "u32"), where()));
  } else {
    refuse("of bulk copies only those between global and the block's shared memory are executed");
  }
  return true;
}

void Emitter::proxy_fence() {
  if (has("mbarrier_init")) {
    only({"mbarrier_init", "release"});
    line("proxy_fence(Covered::mbarrier_init);");
    return;
  }
  only({"proxy", "async"});
  if (!has("async")) refuse("of proxy fences only fence.proxy.async is executed");
  const bool shared = has("shared::cta") || has("shared::cluster");
  line(fmt::format("proxy_fence(Covered::{});", has("global") ? "global"
                                                : shared      ? "shared"
                                                              : "both"));
}

} // namespace kg::ptx_run
