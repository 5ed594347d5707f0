// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Of the checker: blocks that run beside others.
#include "runtime/host/check/checker.h"

#include <utility>

namespace kg::check {

// What held for a block alone does not any more.
void Checker::block_stands_aside(host::Block& block) {
  BlockState& state = state_of(block);
  if (std::exchange(state.together, true)) return;
  const Aside aside(aside_);
  if (pending_.bytes != 0) resolve_pending();
  judge_from_now_on(state);
  objects_.merge(state.objects);
}

BlockState& Checker::owner_of(std::uintptr_t address, const Page* page, BlockState& state) {
  if (!state.together || !page || page->space != Space::dynamic_shared) return state;
  for (auto& [block, other] : blocks_)
    if (address - other->dynamic_shared < host::kSharedBytesOptIn) return *other;
  return state;
}

SyncObjects& Checker::objects_of(const void* object, BlockState& state) {
  const Page* const page = shadow_.find(reinterpret_cast<std::uintptr_t>(object));
  const bool shared =
      page && (page->space == Space::dynamic_shared || page->space == Space::static_shared);
  return shared && !state.together ? state.objects : objects_;
}

} // namespace kg::check
