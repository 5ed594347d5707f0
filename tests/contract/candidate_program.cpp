// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/candidate_program.h"

#include "runtime/backend.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/without_places.h"
#include "tests/contract/batch_page.h"
#include "tests/contract/candidate.h"
#include "tests/contract/contract.h"
#include "tests/contract/signature.h"
#include "tests/support/run_tests.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
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
int judge(const Card& card, const std::string& library, const std::vector<std::string>& shapes,
          int argc, char** argv) {
  try {
    // GoogleTest's tests refer to it until the process ends.
    static const Card candidate = candidate_card(card, library, shapes);
    register_contract(candidate);
    return test::run_tests(argc, argv, [] { return describe(candidate); });
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", without_places(error.what()).c_str());
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

// Nothing of the candidate is loaded before the fork, not even what a library does by itself.
int watch(const Card& card, const std::string& library, const std::vector<std::string>& shapes,
          int argc, char** argv) {
  int ends[2];
  require(pipe(ends) == 0, fmt::format("pipe: {}", std::strerror(errno)));
  std::fflush(nullptr);
  const pid_t child = fork();
  require(child >= 0, fmt::format("fork: {}", std::strerror(errno)));
  if (child > 0) {
    close(ends[1]);
    return wait_for(child, ends[0]);
  }
  close(ends[0]);
  const int code = judge(card, library, shapes, argc, argv);
  std::fflush(nullptr);
  if (write(ends[1], &code, sizeof code) != sizeof code) std::perror("write");
  _exit(code);
}

const Card& card_named(const std::string& op) {
  std::vector<std::string> names;
  for (const Card* card : cards()) {
    if (card->name == op) return *card;
    names.push_back(card->name);
  }
  fail(fmt::format("no descriptor of an operation {}; there are: {}", op, fmt::join(names, ", ")));
}

constexpr const char* kUsage =
    "usage: kernelgrade-try OP --signature\n"
    "       kernelgrade-try --batch-invariance\n"
    "       kernelgrade-try OP LIBRARY [--shape SHAPE]... [GoogleTest's options]\n"
    "`kernelgrade try` compiles a source and starts this.\n";

} // namespace
} // namespace kg::card

int main(int argc, char** argv) {
  using namespace kg::card;
  const bool page = argc == 2 && std::string_view(argv[1]) == "--batch-invariance";
  if (argc < 3 && !page) return std::fputs(kUsage, stderr), kg::test::kExitUsage;
  try {
    if (page) return fmt::print("{}", batch_page(cards())), EXIT_SUCCESS;
    const Card& card = card_named(argv[1]);
    const std::string library = argv[2];
    if (library == "--signature") return fmt::print("{}", stub(card, {})), EXIT_SUCCESS;
    std::vector<std::string> shapes;
    int used = 2; // arguments, and the program's name in the place of the last
    for (; used + 2 < argc && argv[used + 1] == std::string_view("--shape"); used += 2)
      shapes.emplace_back(argv[used + 2]);
    argv[used] = argv[0];
    return watch(card, library, shapes, argc - used, argv + used);
  } catch (const kg::Error& error) {
    std::fprintf(stderr, "kernelgrade-try: %s\n", kg::without_places(error.what()).c_str());
    return kg::test::kExitUsage;
  }
}
