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
#include "tests/contract/huge_tests.h"
#include "tests/contract/own_test.h"
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

struct Arguments {
  std::string library;
  std::vector<std::string> shapes;
  bool huge = false;
};

// In the child: runs the tests.
int judge(const Card& card, const Arguments& arguments, int argc, char** argv) {
  try {
    // Registered tests refer to it until the process ends.
    static const Card candidate = candidate_card(card, arguments.library, arguments.shapes);
    register_contract(candidate);
    if (arguments.huge) own_test("RowsBeyond32Bits", rows_beyond_32_bits, __FILE__, __LINE__);
    return test::run_tests(argc, argv, [] { return describe(candidate); });
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", without_places(error.what()).c_str());
    return test::kExitUsage;
  }
}

// In the parent, which never runs code of the candidate.
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

// Loads nothing of the candidate before the fork: libraries may run code when loaded.
int watch(const Card& card, const Arguments& arguments, int argc, char** argv) {
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
  const int code = judge(card, arguments, argc, argv);
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
    "       kernelgrade-try OP LIBRARY [--huge] [--shape SHAPE]... [GoogleTest's options]\n"
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
    Arguments arguments{argv[2], {}};
    if (arguments.library == "--signature") return fmt::print("{}", stub(card, {})), EXIT_SUCCESS;
    int used = 2; // arguments consumed; the program's name replaces the last
    arguments.huge = argc > 3 && argv[3] == std::string_view("--huge");
    if (arguments.huge) ++used;
    for (; used + 2 < argc && argv[used + 1] == std::string_view("--shape"); used += 2)
      arguments.shapes.emplace_back(argv[used + 2]);
    argv[used] = argv[0];
    return watch(card, arguments, argc - used, argv + used);
  } catch (const kg::Error& error) {
    std::fprintf(stderr, "kernelgrade-try: %s\n", kg::without_places(error.what()).c_str());
    return kg::test::kExitUsage;
  }
}
