// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/atomic_file.h"

#include "runtime/descriptor.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace kg {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_;
};

// Removes a file at the end of the scope, unless it has been renamed to its destination.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  void moved() { path_.clear(); }

 private:
  std::string path_;
};

// Names the kind of a file that is not regular. Such files are rejected, because reading or
// replacing a pipe, a device or a link may have side effects.
std::string_view kind_of(const struct stat& file) {
  switch (file.st_mode & S_IFMT) {
  case S_IFREG: return "";
  case S_IFLNK: return "a symbolic link";
  case S_IFDIR: return "a folder";
  case S_IFIFO: return "a pipe";
  case S_IFCHR:
  case S_IFBLK: return "a device";
  case S_IFSOCK: return "a socket";
  default: return "something else";
  }
}

void require_regular(const struct stat& file, const std::filesystem::path& path) {
  const std::string_view kind = kind_of(file);
  if (!kind.empty())
    throw Error(fmt::format("{}: it is {}, not a regular file; name a file", path.string(), kind));
}

// Opens without blocking: a pipe without a writer would never open.
int open_to_read(const std::filesystem::path& path) {
  return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

struct stat look_at(const Descriptor& file, const std::filesystem::path& path) {
  struct stat opened {};
  if (::fstat(file.number(), &opened) != 0) fail_with_errno("look at", path);
  require_regular(opened, path);
  return opened;
}

// Called if open() finds no file at `path`: a dangling link must not pass for a missing file.
void require_nothing(const std::filesystem::path& path) {
  std::error_code none;
  const std::filesystem::path target = std::filesystem::read_symlink(path, none);
  if (!none)
    throw Error(fmt::format("{}: it is a link to {}, which does not exist; restore that file or "
                            "remove the link",
                            path.string(), target.string()));
}

} // namespace

std::optional<std::string> read_file(const std::filesystem::path& path) {
  const Descriptor file(open_to_read(path));
  if (!file && errno == ENOENT) {
    require_nothing(path);
    return std::nullopt;
  }
  if (!file) fail_with_errno("open", path);
  look_at(file, path);
  std::string contents;
  std::array<char, 1 << 16> block;
  for (;;) {
    const ssize_t got = ::read(file.number(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_with_errno("read", path);
    if (got == 0) return contents;
    contents.append(block.data(), static_cast<std::size_t>(got));
  }
}

MappedFile::MappedFile(const std::filesystem::path& path) {
  const Descriptor file(open_to_read(path));
  if (!file) fail_with_errno("open", path);
  const auto bytes = static_cast<std::size_t>(look_at(file, path).st_size);
  if (bytes == 0) return; // an empty file cannot be mapped
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (mapped == MAP_FAILED) fail_with_errno("map", path);
  contents_ = {static_cast<const char*>(mapped), bytes};
}

MappedFile::~MappedFile() {
  if (!contents_.empty()) ::munmap(const_cast<char*>(contents_.data()), contents_.size());
}

void require_writable(const std::filesystem::path& path) {
  if (path == "-" || path.empty())
    throw Error(fmt::format("\"{}\" is not the name of a file; name one to write", path.string()));
  struct stat there {};
  if (::lstat(path.c_str(), &there) == 0) return require_regular(there, path);
  if (errno != ENOENT) fail_with_errno("write", path);
  if (!path.has_filename())
    throw Error(fmt::format("{}: it is the name of a folder; name a file", path.string()));
}

void write_file(const std::filesystem::path& path, std::string_view contents) {
  require_writable(path);
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    errno = error.value();
    fail_with_errno("make the folder of", path);
  }
  // In the same folder, because a rename is atomic only within one file system.
  std::string name = path.string() + ".XXXXXX";
  const Descriptor file(::mkostemp(name.data(), O_CLOEXEC));
  if (!file) fail_with_errno("write a temporary file beside", path);
  TemporaryFile temporary(name);
  // mkostemp creates files readable by the owner only; these are committed and read by everyone.
  if (::fchmod(file.number(), 0644) != 0) fail_with_errno("set the permissions of", path);
  write_all(file.number(), contents, path);
  if (::rename(name.c_str(), path.c_str()) != 0) fail_with_errno("replace", path);
  temporary.moved();
}

} // namespace kg
