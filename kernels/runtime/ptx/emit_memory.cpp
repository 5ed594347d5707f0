// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Accesses to memory (PTX ISA, "Data Movement and Conversion Instructions").
#include "runtime/host/observer.h"
#include "runtime/ptx/emitter.h"

#include <algorithm>
#include <fmt/format.h>

namespace kg::ptx_run {
namespace {

// Qualifiers for caches and for the threads that see an access (emit_atomic.cpp).
bool is_hint(const std::string& part) {
  for (const char* known :
       {"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "weak", "volatile", "relaxed", "acquire",
        "release", "mmio", "cta", "cluster", "gpu", "sys"})
    if (part == known) return true;
  return part.starts_with("L1::") || part.starts_with("L2::");
}

bool is_space(const std::string& part) {
  for (const char* known :
       {"global", "shared", "local", "param", "const", "shared::cta", "shared::cluster"})
    if (part == known) return true;
  return false;
}

// The vector type in which one access moves `count` elements of `bytes` bytes.
std::string vector_type(std::size_t bytes, std::size_t count) {
  return fmt::format("v{}u{}u", count, 8 * bytes);
}

// The operand of an access. Triton also writes a single register in braces.
const Operand& without_braces(const Operand& operand) {
  const bool single = operand.kind == Operand::Kind::vector && operand.parts.size() == 1;
  return single ? operand.parts[0] : operand;
}

struct Access {
  std::string space;
  std::size_t count = 1; // elements
  std::string strange;   // the first unknown part
};

Access access_of(const Instruction& instruction) {
  Access access;
  for (std::size_t i = 1; i + 1 < instruction.parts.size(); ++i) {
    const std::string& part = instruction.parts[i];
    if (is_space(part))
      access.space = part == "shared::cta" ? "shared" : part;
    else if (part == "v2")
      access.count = 2;
    else if (part == "v4")
      access.count = 4;
    else if (!is_hint(part) && access.strange.empty())
      access.strange = part;
  }
  return access;
}

} // namespace

bool Emitter::memory() {
  const std::string& family = now_->parts[0];
  if (family == "ld") {
    load();
  } else if (family == "st") {
    store();
  } else if (family == "tex") {
    fetch_texture();
  } else if (family == "prefetch" || family == "prefetchu" || family == "discard" ||
             family == "applypriority") {
    // They change no value. A discarded line is written before it is read.
  } else {
    return false;
  }
  return true;
}

void Emitter::load() {
  const Access access = access_of(*now_);
  if (!access.strange.empty()) refuse("." + access.strange + " is not executed");
  const std::string type = this->type();
  const std::string from = address(operand(1), access.space);
  const Operand& to = without_braces(operand(0));
  if (has("nc") && host::observer && host::observer->holds_to_cuda())
    line(fmt::format("read_only({}, {}, {});", from, access.count * size_of(type), where()));
  if (to.kind != Operand::Kind::vector) {
    const std::string as = cpp_type(type);
    line(write(to, type,
               is_polled() ? looked(as, strong_load(as, from), from)
                           : fmt::format("memory<{}>({})", as, from)));
    return;
  }
  const auto& parts = to.parts;
  if (parts.size() != access.count) refuse("it names another number of registers than of elements");
  if (is_strong()) { // a vector access is not one atomic access
    const std::string as = cpp_type(type);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::string at = fmt::format("{} + {}", from, i * size_of(type));
      line(write(parts[i], type, looked(as, strong_load(as, at), at)));
    }
    return;
  }
  const std::string loaded = fmt::format("v{}", temporaries_++);
  std::string text = fmt::format("{{ const {0} {1} = memory<{0}>({2});",
                                 vector_type(size_of(type), access.count), loaded, from);
  // A signed type is sign-extended. Always a cast: from a plain element, clang++ 14 takes the bits
  // of the first one for a float.
  const std::string as = type[0] == 's' ? type : "b" + std::to_string(8 * size_of(type));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string element = fmt::format("static_cast<{}>({}[{}])", cpp_type(as), loaded, i);
    text += " " + write(parts[i], as, element);
  }
  line(text + " }");
}

// tex.geometry.v4.type.of_coordinates {d0, d1, d2, d3}, [object, {coordinates}]
void Emitter::fetch_texture() {
  const auto& parts = now_->parts;
  if (parts.size() != 5 || (!has("1d") && !has("2d")) || !has("v4"))
    refuse("of textures only tex.1d and tex.2d into four registers are executed");
  const Operand& texture = operand(1);
  if (texture.parts.size() != 1 || operand(0).parts.size() != 4)
    refuse("a texture object with its coordinates, and four registers, are expected");
  const Operand& given = texture.parts[0];
  const std::vector<Operand> coordinates =
      given.kind == Operand::Kind::vector ? given.parts : std::vector<Operand>{given};
  const std::size_t dimensions = has("1d") ? 1 : 2;
  if (coordinates.size() < dimensions) refuse("a coordinate is missing");
  Operand object;
  object.text = texture.text;
  std::string text = "{ u32 t[4]; const u32 at[] = {";
  for (std::size_t i = 0; i < dimensions; ++i) text += read(coordinates[i], "b32") + ", ";
  text += fmt::format("}}; fetch_texture(t, {}, at, {}, {}, '{}', [](const void* p, u32 n) {{ "
                      "return load_channel(p, n); }}, {});",
                      read(object, "b64"), dimensions, type() == "s32", parts[3][0], where());
  for (std::size_t i = 0; i < 4; ++i)
    text += " " + write(operand(0).parts[i], "b32", fmt::format("t[{}]", i));
  line(text + " }");
}

void Emitter::store() {
  const Access access = access_of(*now_);
  if (!access.strange.empty()) refuse("." + access.strange + " is not executed");
  const std::string type = this->type();
  order_before();
  const std::string to = address(operand(0), access.space);
  const Operand& source = without_braces(operand(1));
  if (source.kind != Operand::Kind::vector) {
    line(is_strong() ? strong_store(cpp_type(type), to, read(source, type)) : stored(to, source));
    return;
  }
  if (source.parts.size() != access.count)
    refuse("it names another number of registers than of elements");
  if (is_strong()) {
    for (std::size_t i = 0; i < source.parts.size(); ++i)
      line(strong_store(cpp_type(type), fmt::format("{} + {}", to, i * size_of(type)),
                        read(source.parts[i], type)));
    return;
  }
  line(stored(to, source));
}

// One access that moves a register, or all registers in braces.
std::string Emitter::stored(const std::string& to, const Operand& source) {
  const std::string type = this->type();
  if (source.kind != Operand::Kind::vector)
    return fmt::format("memory<{}>({}) = {};", cpp_type(type), to, read(source, type));
  const std::string bits = "b" + std::to_string(8 * size_of(type));
  std::string elements;
  for (const Operand& part : source.parts)
    elements += (elements.empty() ? "" : ", ") + read(part, bits);
  return fmt::format("memory<{0}>({1}) = {0}{{{2}}};",
                     vector_type(size_of(type), source.parts.size()), to, elements);
}

std::string Emitter::shared_space() const {
  if (has("shared::cluster")) return "shared::cluster";
  return has("shared") || has("shared::cta") ? "shared" : "";
}

// cp.async
bool Emitter::asynchronous() {
  if (now_->parts[0] != "cp" || now_->parts.size() < 3 || now_->parts[1] != "async") return false;
  const std::string what = now_->parts[2];
  if (what == "commit_group") {
    line(fmt::format("commit_async({});", where()));
  } else if (what == "wait_group") {
    line(fmt::format("wait_async({}, {});", in(0, "u32"), where()));
  } else if (what == "wait_all") {
    line(fmt::format("wait_all_async({});", where()));
  } else if (what == "mbarrier") {
    only({"async", "mbarrier", "arrive", "noinc", "shared", "shared::cta"});
    line(fmt::format("arrive_async(reinterpret_cast<u64*>({}), {}, {});",
                     address(operand(0), shared_space()), has("noinc"), where()));
  } else if (what == "ca" || what == "cg") {
    const std::string bytes = in(2, "u32");
    line(fmt::format("copy_async({}, {}, {}, {}, {});", address(operand(0), "shared"),
                     address(operand(1), "global"), bytes,
                     now_->operands.size() > 3 ? in(3, "u32") : bytes, where()));
  } else {
    refuse("of asynchronous copies only cp.async to shared memory is executed; compile the kernel "
           "for sm_80 as well");
  }
  return true;
}

} // namespace kg::ptx_run
