// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/candidate/confine.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kg::candidate {
namespace {

// Rights of Landlock versions 2 and 3, not all in the headers of Debian 12.
constexpr std::uint64_t kRefer = 1ULL << 13, kTruncate = 1ULL << 14;

long landlock_version() {
  return syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

std::string failure(const std::string& what) { return what + ": " + std::strerror(errno); }

// The rights that change files.
std::uint64_t changes(long version) {
  std::uint64_t rights = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                         LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                         LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                         LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                         LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
  if (version >= 2) rights |= kRefer;
  if (version >= 3) rights |= kTruncate;
  return rights;
}

// Devices such as /dev/null may be written to, but not created.
std::string allow(int rules, const std::string& folder, std::uint64_t rights) {
  landlock_path_beneath_attr beneath{};
  beneath.allowed_access = rights;
  beneath.parent_fd = open(folder.c_str(), O_PATH | O_CLOEXEC);
  if (beneath.parent_fd < 0) return failure(folder);
  const long result =
      syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
  const std::string words = result == 0 ? "" : failure("landlock_add_rule " + folder);
  close(beneath.parent_fd);
  return words;
}

std::string without_writes(const std::vector<std::string>& writable) {
  const long version = landlock_version();
  if (version < 1) return failure("landlock_create_ruleset");
  landlock_ruleset_attr handled{};
  handled.handled_access_fs = changes(version);
  const auto rules = static_cast<int>(
      syscall(SYS_landlock_create_ruleset, &handled, sizeof handled.handled_access_fs, 0));
  if (rules < 0) return failure("landlock_create_ruleset");
  std::string words =
      allow(rules, "/dev", LANDLOCK_ACCESS_FS_WRITE_FILE | (handled.handled_access_fs & kTruncate));
  for (const std::string& folder : writable)
    if (words.empty()) words = allow(rules, folder, handled.handled_access_fs);
  if (words.empty() && syscall(SYS_landlock_restrict_self, rules, 0) != 0)
    words = failure("landlock_restrict_self");
  close(rules);
  return words;
}

// Sockets of IPv4 and IPv6, and io_uring, which opens sockets without a call visible to the filter.
std::string without_network() {
#if defined(__x86_64__)
  constexpr std::uint32_t kForeignCalls = 0x40000000; // of the x32 ABI
  constexpr auto kNumber = static_cast<std::uint32_t>(offsetof(seccomp_data, nr));
  constexpr auto kFamily = static_cast<std::uint32_t>(offsetof(seccomp_data, args));
  constexpr auto kMachine = static_cast<std::uint32_t>(offsetof(seccomp_data, arch));
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kMachine),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 7),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumber),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kForeignCalls, 5, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kFamily),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(filter)), filter};
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return failure("seccomp");
#endif
  return "";
}

} // namespace

bool can_confine() { return landlock_version() >= 1; }

std::string confine(const std::vector<std::string>& writable) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failure("PR_SET_NO_NEW_PRIVS");
  const std::string words = without_writes(writable);
  return words.empty() ? without_network() : words;
}

} // namespace kg::candidate
