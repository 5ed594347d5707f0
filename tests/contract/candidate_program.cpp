// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/candidate_program.h"

#include "runtime/backend.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "tests/contract/candidate.h"
#include "tests/contract/contract.h"
#include "tests/contract/signature.h"
#include "tests/support/run_tests.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

namespace kg::card {
namespace {

std::string describe(const Card& card) {
  std::string dtypes;
  for (const Dtype dtype : card.dtypes) dtypes += fmt::format(" {}", name(dtype));
  return fmt::format("candidate for {}, types that it has:{}; backend {}, device {}", card.name,
                     dtypes, name(backend), device_properties().name);
}

// In the child: what the tests say.
int judge(const Card& card, int argc, char** argv) {
  try {
    static Card candidate; // GoogleTest's tests refer to it until the process ends
    candidate = candidate_card(card);
    register_contract(candidate);
    return test::run_tests(argc, argv, [] { return describe(candidate); });
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return test::kExitUsage;
  }
}

// In the parent, in which nothing of the candidate ever runs.
int wait_for(pid_t child, int verdict) {
  int code = 0;
  const bool whole = read(verdict, &code, sizeof code) == sizeof code;
  int status = 0;
  waitpid(child, &status, 0);
  if (whole && WIFEXITED(status) && WEXITSTATUS(status) == code) return code;
  if (WIFSIGNALED(status))
    std::printf("FAILED: signal %d (%s) ended the tests\n", WTERMSIG(status),
                strsignal(WTERMSIG(status)));
  else
    std::printf("FAILED: the candidate ended the process, with exit code %d, before the tests were "
                "over\n",
                WEXITSTATUS(status));
  return EXIT_FAILURE;
}

} // namespace

int run_candidate(const Card& card, int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--signature") {
    fmt::print("{}", stub(card, {}));
    return EXIT_SUCCESS;
  }
  int ends[2];
  if (pipe(ends) != 0) return std::perror("pipe"), EXIT_FAILURE;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) return std::perror("fork"), EXIT_FAILURE;
  if (child > 0) {
    close(ends[1]);
    return wait_for(child, ends[0]);
  }
  close(ends[0]);
  const int code = judge(card, argc, argv);
  std::fflush(nullptr);
  if (write(ends[1], &code, sizeof code) != sizeof code) std::perror("write");
  _exit(code);
}

} // namespace kg::card
