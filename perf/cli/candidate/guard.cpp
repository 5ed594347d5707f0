// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade-guard [LIMIT NUMBER]... -- PROGRAM ARGUMENT...: runs an untrusted program and leaves
// none of its processes behind, however the program, or the process that started the guard, ends.
//
//   --with-parent 1    ends with the process that started it
//   --seconds      of wall time; then exit code 124
//   --processes    at once
//   --megabytes    of memory held by all of them
//   --file-megabytes   of each file
//   --write FOLDER     repeatable: write only below these folders, and no network (confine.h)
//
// If another limit is exceeded, or a process stops itself, the exit code is 125 and standard error
// has the reason. Otherwise the guard ends like the program, by exit code or signal.
//
// If the user may create one (root, or by a user namespace), the program runs in a PID namespace:
// it cannot signal outside processes, and all its processes end with the namespace's first process,
// however fast they fork. Otherwise orphans become the guard's children (PR_SET_CHILD_SUBREAPER),
// so that processes that leave their group or session are still found; there, the program may kill
// the guard.
#include "perf/cli/candidate/confine.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <map>
#include <optional>
#include <sched.h>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr int kTimedOut = 124, kBeyond = 125, kUsage = 2;

struct Limits {
  long with_parent = 0, seconds = 0, processes = 0, megabytes = 0, file_megabytes = 0; // 0: none
  rlim_t tasks = 0; // threads of all processes, as counted by the Linux kernel (RLIMIT_NPROC)
  std::vector<std::string> writable; // empty: not restricted
};

struct Process {
  pid_t id = 0, parent = 0;
  char state = 0;
  long pages = 0; // resident
};

// Parses /proc/ID/stat: the name in parentheses may contain anything.
std::optional<Process> process_of(const char* id) {
  char text[1024];
  std::snprintf(text, sizeof text, "/proc/%s/stat", id);
  std::FILE* const file = std::fopen(text, "re");
  if (file == nullptr) return std::nullopt; // it has ended
  const std::size_t size = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[size] = '\0';
  const char* const behind = std::strrchr(text, ')');
  Process process;
  process.id = static_cast<pid_t>(std::strtol(id, nullptr, 10));
  if (behind == nullptr ||
      std::sscanf(behind + 1,
                  " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %*u "
                  "%*u %ld",
                  &process.state, &process.parent, &process.pages) != 3)
    return std::nullopt;
  return process;
}

// All descendants of this process, except zombies.
std::vector<Process> below() {
  std::multimap<pid_t, Process> children;
  DIR* const folder = opendir("/proc");
  if (folder == nullptr) return {};
  while (const dirent* const entry = readdir(folder))
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
      if (const auto process = process_of(entry->d_name))
        children.emplace(process->parent, *process);
  closedir(folder);
  std::vector<Process> found;
  std::vector<pid_t> parents = {getpid()};
  while (!parents.empty()) {
    const auto [first, last] = children.equal_range(parents.back());
    parents.pop_back();
    for (auto at = first; at != last; ++at) {
      parents.push_back(at->first == at->second.id ? 0 : at->second.id);
      if (at->second.state != 'Z') found.push_back(at->second);
    }
  }
  return found;
}

// `first` is the first process of a namespace, with which the Linux kernel kills all others, or 0.
// In that case processes are stopped before they are killed, so that none starts another.
void end_all(pid_t first) {
  if (first > 0) {
    kill(first, SIGKILL);
    while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
    }
    return;
  }
  constexpr int kTries = 1000; // a process that cannot be killed must not block forever
  for (int round = 0; round < kTries; ++round) {
    std::size_t running = 1;
    for (int again = 0; again < 20 && running > 0; ++again) {
      running = 0;
      for (const Process& process : below())
        if (process.state != 'T') {
          ++running;
          kill(process.id, SIGSTOP);
        }
    }
    for (const Process& process : below()) kill(process.id, SIGKILL);
    pid_t ended = 0;
    do ended = waitpid(-1, nullptr, WNOHANG);
    while (ended > 0);
    if (ended < 0 && errno == ECHILD) return;
    usleep(1000);
  }
}

// The exceeded limit; empty if none. `space`: the namespace's first process, which does not belong
// to the program, or 0. `stopped` counts the checks that found a stopped process.
std::string beyond(const Limits& limits, pid_t space, int& stopped) {
  const std::vector<Process> all = below();
  long pages = 0;
  bool any_stopped = false;
  for (const Process& process : all) {
    pages += process.pages;
    any_stopped = any_stopped || process.state == 'T';
  }
  stopped = any_stopped ? stopped + 1 : 0;
  if (limits.processes > 0 &&
      static_cast<long>(all.size()) - (space > 0 ? 1 : 0) > limits.processes)
    return "it had more than " + std::to_string(limits.processes) + " processes at once";
  if (limits.megabytes > 0 && pages > limits.megabytes * ((1 << 20) / sysconf(_SC_PAGESIZE)))
    return "it held more than " + std::to_string(limits.megabytes) + " MiB of memory";
  constexpr int kLooks = 10; // tolerates a terminal that stops and continues it
  return limits.seconds > 0 && stopped > kLooks
             ? "a process of it has stopped, and nobody continues it"
             : "";
}

[[noreturn]] void exec_command(char** command, const Limits& limits, const sigset_t& before) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (isatty(STDIN_FILENO) == 0) setpgid(0, 0); // kill(0, ...) affects only its own group
  sigprocmask(SIG_SETMASK, &before, nullptr);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (limits.file_megabytes > 0) {
    const auto bytes = static_cast<rlim_t>(limits.file_megabytes) << 20;
    const rlimit files{bytes, bytes};
    setrlimit(RLIMIT_FSIZE, &files);
  }
  if (limits.tasks > 0) {
    const rlimit tasks{limits.tasks, limits.tasks};
    setrlimit(RLIMIT_NPROC, &tasks);
  }
  if (!limits.writable.empty())
    if (const std::string why = kg::candidate::confine(limits.writable); !why.empty()) {
      std::fprintf(stderr, "FAILED: the sandbox cannot be made: %s\n", why.c_str());
      _exit(kBeyond);
    }
  execvp(command[0], command);
  std::fprintf(stderr, "kernelgrade-guard: %s: %s\n", command[0], std::strerror(errno));
  _exit(127);
}

bool write_line(const char* path, const std::string& line) {
  std::FILE* const file = std::fopen(path, "we");
  if (file == nullptr) return false;
  const bool written = std::fputs(line.c_str(), file) >= 0;
  return std::fclose(file) == 0 && written;
}

// From now on children start a PID namespace. Without privileges this needs a user namespace, which
// maps user and group to themselves.
bool unshare_processes() {
  if (unshare(CLONE_NEWPID) == 0) return true;
  const std::string user = std::to_string(geteuid()), group = std::to_string(getegid());
  return unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0 && write_line("/proc/self/setgroups", "deny") &&
         write_line("/proc/self/uid_map", user + " " + user + " 1") &&
         write_line("/proc/self/gid_map", group + " " + group + " 1");
}

// Tried in a child: a failure halfway leaves a process without a valid user.
bool may_unshare_processes() {
  const pid_t child = fork();
  if (child == 0) _exit(unshare_processes() ? 0 : 1);
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

// Limits a fork bomb before the guard notices it; 0 if impossible. Linux counts per user, and per
// user namespace since 5.14, but does not limit root. A process has a thread per core, and a few
// more.
rlim_t most_tasks(long processes) {
  utsname kernel{};
  int major = 0, minor = 0;
  if (processes == 0 || geteuid() == 0 || uname(&kernel) != 0 ||
      std::sscanf(kernel.release, "%d.%d", &major, &minor) != 2 || major * 100 + minor < 514)
    return 0;
  constexpr long kMore = 8;
  return static_cast<rlim_t>(processes * (sysconf(_SC_NPROCESSORS_ONLN) + kMore));
}

// The first process of a namespace. Linux does not deliver unhandled signals to it, so a program in
// its place would not end by abort(). Writes the program's exit status.
[[noreturn]] void begin_namespace(char** command, const Limits& limits, const sigset_t& before,
                                  int result) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const pid_t first = fork();
  if (first == 0) {
    close(result);
    exec_command(command, limits, before);
  }
  int status = 0;
  for (pid_t ended = 0; first > 0 && (ended = wait(&status)) != first;)
    if (ended < 0 && errno != EINTR) _exit(kUsage);
  _exit(first > 0 && write(result, &status, sizeof status) == sizeof status ? 0 : kUsage);
}

// Ends like the program.
int end_as(int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  const int signal = WTERMSIG(status);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  std::signal(signal, SIG_DFL);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  std::raise(signal);
  return 128 + signal;
}

// Checks at every tenth tick; at once if the system's tasks multiply, as a fork bomb's do within
// ticks.
class Looks {
 public:
  bool is_time_to_look(long processes) {
    constexpr int kTicks = 10;
    struct sysinfo now {};
    sysinfo(&now);
    const bool many = processes > 0 && now.procs > tasks_ + processes;
    if (!many && ++tick_ < kTicks) return false;
    tick_ = 0;
    tasks_ = now.procs;
    return true;
  }

 private:
  int tick_ = 0;
  long tasks_ = 0; // at the last check
};

int guard(char** command, Limits limits) {
  using std::chrono::steady_clock;
  if (limits.with_parent > 0) prctl(PR_SET_PDEATHSIG, SIGTERM);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t watched, before;
  sigemptyset(&watched);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT}) sigaddset(&watched, signal);
  sigprocmask(SIG_BLOCK, &watched, &before);
  int result[2]; // the program's exit status, from its namespace's first process
  if (pipe2(result, O_CLOEXEC) != 0) return std::perror("kernelgrade-guard: pipe"), kUsage;
  const bool apart = may_unshare_processes() && unshare_processes();
  if (apart) limits.tasks = most_tasks(limits.processes);
  // A guard that shares its core with thousands of tasks would be too late. Only root may do this.
  const sched_param before_others{.sched_priority = 1};
  sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &before_others);
  const pid_t first = fork();
  if (first < 0) return std::perror("kernelgrade-guard: fork"), kUsage;
  if (first == 0 && apart) begin_namespace(command, limits, before, result[1]);
  if (first == 0) exec_command(command, limits, before);
  close(result[1]);
  const pid_t space = apart ? first : 0;

  const auto end = steady_clock::now() + std::chrono::seconds(limits.seconds);
  int stopped = 0;
  Looks looks;
  for (;;) {
    constexpr timespec kTick{0, 5'000'000};
    const int signal = sigtimedwait(&watched, nullptr, &kTick);
    if (signal > 0 && signal != SIGCHLD) {
      end_all(space);
      return end_as(signal); // WTERMSIG of a signal number is the signal itself
    }
    int status = 0;
    for (pid_t ended = 0; (ended = waitpid(-1, &status, WNOHANG)) > 0;)
      if (ended == first) {
        end_all(0); // Linux has ended the others with a namespace's first process
        if (apart && read(result[0], &status, sizeof status) != sizeof status)
          return std::fputs("FAILED: the program could not be started\n", stderr), kBeyond;
        return end_as(status);
      }
    if (!looks.is_time_to_look(limits.processes)) continue;
    if (const std::string why = beyond(limits, space, stopped); !why.empty()) {
      end_all(space);
      std::fprintf(stderr, "FAILED: %s\n", why.c_str());
      return kBeyond;
    }
    if (limits.seconds > 0 && steady_clock::now() >= end) {
      end_all(space);
      std::fprintf(stderr, "FAILED: it was not done after %ld s\n", limits.seconds);
      return kTimedOut;
    }
  }
}

} // namespace

int main(int argc, char** argv) {
  Limits limits;
  const std::map<std::string_view, long*> options = {{"--with-parent", &limits.with_parent},
                                                     {"--seconds", &limits.seconds},
                                                     {"--processes", &limits.processes},
                                                     {"--megabytes", &limits.megabytes},
                                                     {"--file-megabytes", &limits.file_megabytes}};
  int at = 1;
  for (; at + 1 < argc && argv[at] != std::string_view("--"); at += 2) {
    if (argv[at] == std::string_view("--write")) {
      limits.writable.emplace_back(argv[at + 1]);
      continue;
    }
    const auto option = options.find(argv[at]);
    char* end = nullptr;
    const long number = std::strtol(argv[at + 1], &end, 10);
    if (option == options.end() || *end != '\0' || number < 1) {
      std::fprintf(
          stderr,
          "kernelgrade-guard: '%s %s' is not a limit; give --with-parent, --seconds, --processes, "
          "--megabytes or --file-megabytes, and a number from 1, or --write and a folder\n",
          argv[at], argv[at + 1]);
      return kUsage;
    }
    *option->second = number;
  }
  if (at + 1 >= argc) {
    std::fputs("usage: kernelgrade-guard [LIMIT NUMBER]... -- PROGRAM ARGUMENT...\n", stderr);
    return kUsage;
  }
  return guard(argv + at + 1, limits);
}
