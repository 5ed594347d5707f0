// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/warpgroup_jobs.h"

#include <algorithm>
#include <cstring>

namespace kg::host {

Word word_at(const void* address) {
  Word value;
  std::memcpy(&value, address, sizeof value);
  return value;
}
void set_word(void* address, Word value) { std::memcpy(address, &value, sizeof value); }

WarpgroupJob::WarpgroupJob(const WarpgroupProduct& what, Location place)
    : product(what), where(place), at(kWarpgroupSize * what.words()), sums(at.size()) {
  if (product.a_in_registers) {
    a_at.resize(kWarpgroupSize * kRegistersOfA);
    a_issued.resize(a_at.size());
  }
}

void WarpgroupJob::execute() {
  if (executed) return;
  const std::size_t words = product.words();
  for (std::size_t thread = 0; before && thread < kWarpgroupSize; ++thread)
    if (goes_on[thread])
      std::copy_n(before->sums.begin() + static_cast<std::ptrdiff_t>(thread * words), words,
                  sums.begin() + static_cast<std::ptrdiff_t>(thread * words));
  for (const Taken& each : taken) sums[each.word] = each.from->sums[each.word_there];
  before.reset();
  taken.clear();
  std::vector<Word> a;
  for (const void* const each : a_at) a.push_back(word_at(each));
  multiply(product, sums, a, where);
  executed = true;
}

KnownRegisters* WarpgroupMember::find(const void* const* at, std::size_t count) {
  const auto found = std::find_if(known.begin(), known.end(), [&](const KnownRegisters& registers) {
    return std::equal(registers.at.begin(), registers.at.end(), at, at + count);
  });
  return found == known.end() ? nullptr : &*found;
}

void WarpgroupMember::know(const void* const* at, std::size_t count) {
  constexpr std::size_t kMost = 8; // register sets that kernels alternate between
  KnownRegisters* registers = find(at, count);
  if (!registers) {
    if (known.size() == kMost) known.erase(known.begin());
    registers = &known.emplace_back();
    registers->at.assign(at, at + count);
    registers->values.resize(count);
  }
  std::transform(at, at + count, registers->values.begin(), &word_at);
}

void WarpgroupMember::know_anew() {
  for (KnownRegisters& registers : known)
    std::transform(registers.at.begin(), registers.at.end(), registers.values.begin(), &word_at);
}

Warpgroup::Owner Warpgroup::owner(unsigned thread, const void* sum) {
  const WarpgroupMember& member = members[thread];
  for (std::size_t number = member.issued; number > member.retired; --number) {
    const std::shared_ptr<WarpgroupJob>& job = jobs[number - 1 - over];
    for (WarpgroupJob::Copied& copy : job->copies)
      if (copy.thread == thread && copy.to == sum) return {job, copy.word, &copy};
    if (job->continued[thread]) continue;
    void** const first = job->registers(thread);
    void** const last = first + job->product.words();
    void** const found = std::find(first, last, sum);
    if (found != last) return {job, static_cast<std::size_t>(found - job->at.data())};
  }
  return {};
}

void Warpgroup::release(const Owner& owner) {
  if (owner.copy)
    owner.job->copies.erase(owner.job->copies.begin() + (owner.copy - owner.job->copies.data()));
  else
    owner.job->at[owner.word] = nullptr;
}

void Warpgroup::execute(std::size_t end) {
  for (std::size_t number = over; number < end; ++number) job(number).execute();
}

void Warpgroup::drop_retired() {
  while (!jobs.empty() && jobs.front()->retired == kWarpgroupSize) {
    jobs.pop_front();
    ++over;
  }
}

} // namespace kg::host
