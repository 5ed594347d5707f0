// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/source/record.h"

#include "runtime/event_file.h"

#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace kg::foreign {
namespace {

// Lists that grow before main() and within kernels, so they use no lock and no allocation.
std::atomic<const KernelDefinition*> definitions = nullptr;
std::atomic<KernelRun*> runs = nullptr;

template <class Item>
void push(std::atomic<Item*>& list, Item* item, Item*& next) {
  next = list.load(std::memory_order_relaxed);
  while (!list.compare_exchange_weak(next, item)) {
  }
}

struct Expected {
  std::mutex mutex;
  std::map<const void*, std::string> keys;
  std::atomic<bool> any = false;
};
Expected& expected() {
  static Expected instance;
  return instance;
}

std::string key_of(const char* file, int line) {
  return std::string(file) + ":" + std::to_string(line);
}

} // namespace

KernelDefinition::KernelDefinition(const char* name_, const char* file_, int line_)
    : name(name_), file(file_), line(line_) {
  push<const KernelDefinition>(definitions, this, next);
}

void begins(KernelRun& kernel) noexcept {
  if (!kernel.seen.load(std::memory_order_relaxed) && !kernel.seen.exchange(true))
    push(runs, &kernel, kernel.next);
}

void write_kernel(std::string_view key, std::string_view name, std::string_view file, int line) {
  write_note(kKernelEvent, std::string(key) + "\n" + std::string(name) + "\n" + std::string(file) +
                               "\n" + std::to_string(line));
}

void expect_launch(const void* run, std::string key) {
  const std::lock_guard lock(expected().mutex);
  expected().keys[run] = std::move(key);
  expected().any = true;
}

void note_launch_of(const void* run) {
  if (!expected().any.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(expected().mutex);
  const auto found = expected().keys.find(run);
  if (found == expected().keys.end()) return;
  write_note(kBegunEvent, found->second);
  expected().keys.erase(found);
  expected().any = !expected().keys.empty();
}

void write_records() {
  if (definitions.load(std::memory_order_relaxed))
    for (const KernelDefinition* one = definitions.exchange(nullptr); one; one = one->next)
      write_kernel(key_of(one->file, one->line), one->name, one->file, one->line);
  if (runs.load(std::memory_order_relaxed))
    for (const KernelRun* one = runs.exchange(nullptr); one; one = one->next)
      write_note(kBegunEvent, key_of(one->file, one->line));
  if (const host::InexactSet noted = host::take_inexact(); noted.any())
    for (std::size_t i = 0; i < noted.size(); ++i)
      if (noted[i]) write_note(kInexactEvent, host::kInexact[i].name);
}

} // namespace kg::foreign
