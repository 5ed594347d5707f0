// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/schedule.h"

#include "runtime/error.h"

#include <cstdlib>
#include <mutex>
#include <string_view>

namespace kg {
namespace {

Schedule from_environment() {
  const char* value = std::getenv("KERNELGRADE_THREAD_ORDER");
  const std::string_view text = value ? value : "forward";
  if (text == "forward") return {ThreadOrder::forward};
  if (text == "reverse") return {ThreadOrder::reverse};
  constexpr std::string_view kRandom = "random:";
  if (text.substr(0, kRandom.size()) == kRandom) {
    const std::string digits(text.substr(kRandom.size()));
    if (!digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos) {
      return {ThreadOrder::random, std::strtoull(digits.c_str(), nullptr, 10)};
    }
  }
  fail("KERNELGRADE_THREAD_ORDER is \"" + std::string(text) +
       "\"; use forward, reverse or random:<seed>");
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
