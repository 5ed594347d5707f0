// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The main function of an operation's correctness test: prints backend and device, and skips (or
// fails, if a GPU is required) if there is none.
#include "runtime/backend.h"
#include "runtime/device.h"
#include "runtime/environment.h"
#include "runtime/error.h"
#include "tests/support/given_gpu.h"
#include "tests/support/run_tests.h"
#include "tests/support/selected_tests.h"

#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <malloc.h>
#include <string>

namespace {

bool runs_nothing(int argc, char** argv) {
  if (kg::test::asks_for_help(argc, argv)) return true;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--gtest_list_tests", 18) == 0) return true;
  }
  return false;
}

std::string describe_device() {
  const kg::DeviceProperties& device = kg::device_properties();
  return fmt::format("backend {}, device {}{} ({} multiprocessors, compute capability {}.{})",
                     kg::name(kg::backend), device.name, device.emulated ? ", emulated" : "",
                     device.sm_count, device.compute_major, device.compute_minor);
}

// Thousands of tensors and expectations are allocated and freed; the system clears each new mapping
// page by page, a tenth of the tests' time. So malloc keeps freed memory. Only blocks above 32 MiB,
// the largest threshold malloc accepts, are still mapped, as large_stride_rows.h requires.
void keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

} // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  kg::test::take_given_gpu();
  bool promised = false;
  try {
    kg::require_switches();
    const bool strict = kg::is_set("KERNELGRADE_STRICT");
    promised =
        kg::is_set("KERNELGRADE_REQUIRE_GPU") || kg::is_set("KERNELGRADE_EMULATED") || strict;
  } catch (const kg::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return kg::test::kExitUsage;
  }
  const std::string reason = kg::device_unavailable_reason();
  if (!reason.empty() && !runs_nothing(argc, argv)) {
    std::printf("%s: %s\n", promised ? "FAILED, a GPU was promised" : "skipped, no GPU",
                reason.c_str());
    return promised ? 1 : kg::test::kExitSkipped;
  }
  return kg::test::run_tests(
      argc, argv, [&] { return reason.empty() ? describe_device() : "no device: " + reason; });
}
