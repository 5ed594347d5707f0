// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Operations between the blocks of a cluster (PTX ISA, "Parallel Synchronization and Communication
// Instructions: barrier.cluster", "Data Movement and Conversion Instructions: mapa, getctarank,
// st.async"). emit_memory.cpp translates accesses through the cluster's window.
#include "runtime/ptx/emitter.h"

#include <algorithm>
#include <fmt/format.h>

namespace kg::ptx_run {

bool Emitter::cluster() {
  const std::string& family = now_->parts[0];
  if (family == "barrier" && has("cluster")) {
    if (has("arrive")) {
      only_parts({"barrier", "cluster", "arrive", "release", "relaxed", "aligned"});
      line(fmt::format("cluster_arrive({}, {});", has("relaxed"), where()));
    } else {
      line(fmt::format("cluster_wait({});", where()));
    }
  } else if (family == "mapa") {
    const bool window = !shared_space().empty();
    const std::string type = this->type();
    result(type, fmt::format("{}({}, {}, {})", window ? "mapped_in_window" : "mapped", in(1, type),
                             in(2, "u32"), where()));
  } else if (family == "getctarank") {
    const std::string at = in(1, type());
    result("u32",
           shared_space().empty() ? "rank_of(to_window(" + at + "))" : "rank_of(" + at + ")");
  } else if (family == "st" && has("async")) {
    store_async();
  } else {
    return false;
  }
  return true;
}

// Stores, and completes the bytes at an mbarrier at once: no program may rely on a delay.
void Emitter::store_async() {
  only({"async", "weak", "shared::cluster", "mbarrier::complete_tx::bytes", "v2", "v4"});
  const Operand& source = operand(1);
  const std::size_t count = source.kind == Operand::Kind::vector ? source.parts.size() : 1;
  line(stored(address(operand(0), "shared::cluster"), source));
  line(fmt::format("mbarrier_complete(reinterpret_cast<u64*>({}), {}, {});",
                   address(operand(2), "shared::cluster"), count * size_of(type()), where()));
}

// Whether an address in shared memory may belong to another block.
bool Emitter::uses_clusters() const {
  const auto one_of_them = [](const Entry& code) {
    return std::any_of(code.statements.begin(), code.statements.end(), [](const Statement& each) {
      const auto& parts = each.instruction.parts;
      return each.kind == Statement::Kind::instruction &&
             (parts[0] == "mapa" ||
              std::find(parts.begin(), parts.end(), "shared::cluster") != parts.end());
    });
  };
  return one_of_them(entry_) ||
         std::any_of(module_.functions.begin(), module_.functions.end(), one_of_them);
}

} // namespace kg::ptx_run
