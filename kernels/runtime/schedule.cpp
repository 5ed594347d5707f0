// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/schedule.h"

#include "runtime/error.h"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <system_error>

namespace kg {
namespace {

Schedule from_environment() {
  const char* value = std::getenv("KERNELGRADE_THREAD_ORDER");
  const std::string_view text = value ? value : "forward";
  if (text == "forward") return {ThreadOrder::forward};
  if (text == "reverse") return {ThreadOrder::reverse};
  constexpr std::string_view kRandom = "random:";
  if (text.substr(0, kRandom.size()) == kRandom) {
    const char* const first = text.data() + kRandom.size();
    const char* const last = text.data() + text.size();
    std::uint64_t seed = 0;
    const auto [end, error] = std::from_chars(first, last, seed);
    if (error == std::errc{} && end == last) return {ThreadOrder::random, seed};
  }
  fail("KERNELGRADE_THREAD_ORDER is \"" + std::string(text) +
       "\"; use forward, reverse or random:<seed>, a number below 2^64");
}

struct Shared {
  std::mutex mutex;
  Schedule schedule = from_environment();
};

Shared& shared() {
  static Shared instance;
  return instance;
}

} // namespace

std::string to_string(const Schedule& schedule) {
  switch (schedule.order) {
  case ThreadOrder::forward: return "forward";
  case ThreadOrder::reverse: return "reverse";
  case ThreadOrder::random: return "random:" + std::to_string(schedule.seed);
  }
  return "";
}

Schedule schedule() {
  std::lock_guard lock(shared().mutex);
  return shared().schedule;
}

void set_schedule(const Schedule& schedule) {
  std::lock_guard lock(shared().mutex);
  shared().schedule = schedule;
}

} // namespace kg
