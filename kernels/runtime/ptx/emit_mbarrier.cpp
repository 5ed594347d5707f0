// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// mbarriers in shared memory of the block, or of the cluster (PTX ISA, "Parallel Synchronization
// and Communication Instructions: mbarrier"; runtime/host/mbarrier.h).
#include "runtime/ptx/emitter.h"

#include <fmt/format.h>

namespace kg::ptx_run {

bool Emitter::mbarrier() {
  if (now_->parts[0] != "mbarrier" || now_->parts.size() < 3) return false;
  const std::string& what = now_->parts[1];
  const auto barrier = [&](std::size_t i) {
    return fmt::format("reinterpret_cast<u64*>({})", address(operand(i), shared_space()));
  };
  // A call of an mbarrier function with the mbarrier, `rest`, and the source location.
  const auto call = [&](const char* name, std::size_t i, const std::string& rest) {
    return fmt::format("mbarrier_{}({}{}, {})", name, barrier(i), rest, where());
  };
  const auto number = [&](std::size_t i) { return ", " + in(i, "u32"); };
  if (what == "init") {
    only({"init", "shared", "shared::cta"});
    line(call("init", 0, number(1)) + ";");
  } else if (what == "inval") {
    only({"inval", "shared", "shared::cta"});
    line(call("inval", 0, "") + ";");
  } else if (what == "expect_tx" || what == "complete_tx") {
    only({what, "relaxed", "cta", "cluster", "shared", "shared::cta", "shared::cluster"});
    line(call(what == "expect_tx" ? "expect" : "complete", 0, number(1)) + ";");
  } else if (what == "arrive") {
    only({what, "expect_tx", "noComplete", "release", "cta", "cluster", "shared", "shared::cta",
          "shared::cluster"});
    const bool counted = now_->operands.size() > 2;
    const std::string rest = has("expect_tx") ? ", 1" + number(2)
                             : counted        ? number(2) + ", 0"
                                              : ", 1, 0";
    result("b64", call("arrive", 1, rest));
  } else if (what == "arrive_drop") {
    only({what, "release", "cta", "cluster", "shared", "shared::cta", "shared::cluster"});
    result("b64", call("arrive_drop", 1, now_->operands.size() > 2 ? number(2) : ", 1"));
  } else if (what == "test_wait" || what == "try_wait") {
    only({what, "parity", "acquire", "cta", "cluster", "shared", "shared::cta"});
    const std::string parity =
        has("parity") ? number(2) : fmt::format(", mbarrier_parity({})", in(2, "b64"));
    result("pred", call("ended", 1, parity));
  } else {
    return false;
  }
  return true;
}

} // namespace kg::ptx_run
