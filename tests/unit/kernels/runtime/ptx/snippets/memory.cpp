// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// PTX ISA, "ld", "st", "cp.async": what a form moves follows from its parts.
#include "tests/unit/kernels/runtime/ptx/snippets/table.h"

#include <algorithm>
#include <sstream>

namespace kg::test::snippets {
namespace {

struct Form {
  std::string text, type, space;
  std::size_t count = 1, bytes = 0; // of elements
  bool is_signed = false;

  explicit Form(const std::string& form) : text(form) {
    std::istringstream words(form);
    for (std::string part; std::getline(words, part, '.');) {
      if (part == "v2") count = 2;
      if (part == "v4") count = 4;
      if (part == "global" || part == "shared" || part == "local" || part == "param" ||
          part == "const")
        space = part;
      type = part;
    }
    bytes = std::stoul(type.substr(1)) / 8;
    is_signed = type[0] == 's';
  }
  // {a0, a1}, or a0
  std::string registers(const std::string& name) const {
    std::string list;
    for (std::size_t i = 0; i < count; ++i) list += (i == 0 ? "" : ", ") + name + std::to_string(i);
    return count == 1 ? list : "{" + list + "}";
  }
  std::string register_type() const {
    if (type[0] == 'f') return type;
    return "b" + std::to_string(std::max<std::size_t>(8 * bytes, 16));
  }
};

// The element at an index of the bytes of some words.
Word element(const Word* words, const Form& form, std::size_t index) {
  Word value = 0;
  __builtin_memcpy(&value, reinterpret_cast<const char*>(words) + index * form.bytes, form.bytes);
  if (!form.is_signed || form.bytes == 8) return value;
  const auto unused = 64 - 8 * form.bytes;
  return static_cast<Word>(static_cast<std::int64_t>(value << unused) >> unused);
}

// Four words of a lane are read and written as the form says, at their first bytes.
constexpr std::size_t kWords = 4;

// Results of the register's type, of which the form fills so many.
Snippet skeleton(const Form& form) {
  Snippet result;
  result.form = form.text;
  result.inputs = std::vector<std::string>(kWords, "u64");
  result.canonical_nan = true; // it moves bits
  if (form.space == "shared") result.shared_bytes = kLanes * 8 * kWords;
  return result;
}
const std::string kTile = "mov.u64 %d0, tile; mul.wide.u32 %d1, %lane, 32; add.s64 %d0, %d0, %d1; ";
// What another instruction stores and loads: 8 bytes at a time.
std::string each_word(const std::string& instruction, bool load) {
  std::string text;
  for (std::size_t i = 0; i < kWords; ++i) {
    const std::string at = "[%d0+" + std::to_string(8 * i) + "]";
    const std::string value = (load ? "%o" : "%i") + std::to_string(i);
    text += instruction + " " + (load ? value + ", " + at : at + ", " + value) + "; ";
  }
  return text;
}

Snippet load(const Form& form) {
  Snippet result = skeleton(form);
  result.outputs = std::vector<std::string>(form.count, form.register_type());
  const std::string local = ".local .align 16 .b8 words[32]; mov.u64 %d0, words; ";
  std::string from = "[%in]";
  if (form.space == "shared")
    result.body = kTile + each_word("st.shared.b64", false), from = "[%d0]";
  if (form.space == "local") result.body = local + each_word("st.local.b64", false), from = "[%d0]";
  if (form.space == "param") from = "[kg_bytes]";
  if (form.space == "const") {
    from = "[" + kernel_name(result) + "_words]";
    result.functions =
        ".const .align 16 .b8 " + kernel_name(result) +
        "_words[16] = {128, 129, 130, 131, 132, 133, 134, 135, 8, 9, 10, 11, 12, 13, 14, 15};";
  }
  result.body += form.text + " " + form.registers("%o") + ", " + from + ";";
  result.oracle = [=](const Word* in, Wanted* out) {
    const Word bytes[2] = {0x8786858483828180, 0x0f0e0d0c0b0a0908}; // of the parameter in run.cpp
    for (unsigned lane = 0; lane < kLanes; ++lane)
      for (std::size_t i = 0; i < form.count; ++i)
        out[lane * form.count + i].bits = element(
            form.space == "param" || form.space == "const" ? bytes : in + lane * kWords, form, i);
  };
  return result;
}

// Over zeros, which stay where it does not write.
Snippet store(const Form& form) {
  Snippet result = skeleton(form);
  result.outputs = std::vector<std::string>(kWords, "u64");
  const std::string space = form.space.empty() ? "global" : form.space;
  result.body = "{ ";
  if (space == "shared") result.body += kTile;
  if (space == "global") result.body += "mov.b64 %d0, %out; ";
  if (space == "local") result.body += ".local .align 16 .b8 words[32]; mov.u64 %d0, words; ";
  result.body += "mov.b64 %d2, 0; ";
  for (std::size_t i = 0; i < kWords; ++i)
    result.body += "st." + space + ".b64 [%d0+" + std::to_string(8 * i) + "], %d2; ";
  for (std::size_t i = 0; i < form.count; ++i) {
    const std::string value = "v" + std::to_string(i), t = "." + form.register_type() + " ";
    result.body +=
        ".reg " + t + value + "; ld.global" + t + value + ", [%in+" + std::to_string(8 * i) + "]; ";
  }
  result.body += form.text + " [%d0], " + form.registers("v") + "; " +
                 each_word("ld." + space + ".b64", true) + "}";
  result.oracle = [=](const Word* in, Wanted* out) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      Word words[kWords]{};
      for (std::size_t i = 0; i < form.count; ++i)
        __builtin_memcpy(reinterpret_cast<char*>(words) + i * form.bytes, in + lane * kWords + i,
                         form.bytes);
      for (std::size_t i = 0; i < kWords; ++i) out[lane * kWords + i].bits = words[i];
    }
  };
  return result;
}

// A lane's 16 bytes, of which so many are taken from memory, and the others are zero.
void add_copies(Table& table) {
  const auto add = [&](const std::string& form, std::size_t bytes, std::size_t taken,
                       const std::string& end) {
    Snippet result;
    result.form = form;
    result.inputs = result.outputs = {"u64", "u64"};
    result.shared_bytes = kLanes * 16;
    result.body = "mov.u64 %d0, tile; mul.wide.u32 %d1, %lane, 16; add.s64 %d0, %d0, %d1; "
                  "st.shared.b64 [%d0], %i1; st.shared.b64 [%d0+8], %i0; ";
    const std::string copy =
        form.starts_with("cp.async.c") && form.find("commit") == std::string::npos
            ? form
            : "cp.async.ca.shared.global";
    result.body += copy + " [%d0], [%in], " + std::to_string(bytes) +
                   (taken < bytes ? ", " + std::to_string(taken) : "") + "; " + end +
                   " ld.shared.b64 %o0, [%d0]; ld.shared.b64 %o1, [%d0+8];";
    result.oracle = [=](const Word* in, Wanted* out) {
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        Word words[2] = {in[lane * 2 + 1], in[lane * 2]};
        __builtin_memset(words, 0, bytes);
        __builtin_memcpy(words, in + lane * 2, taken);
        out[lane * 2].bits = words[0], out[lane * 2 + 1].bits = words[1];
      }
    };
    table.push_back(result);
  };
  const std::string wait = "cp.async.commit_group; cp.async.wait_group 0;";
  add("cp.async.cg.shared.global", 16, 16, wait);
  add("cp.async.ca.shared.global", 8, 5, wait);
  add("cp.async.commit_group", 4, 4, wait);
  add("cp.async.wait_group", 16, 0, wait);
  add("cp.async.wait_all", 16, 3, "cp.async.wait_all;");
  for (const std::string level : {"cg", "ca"})
    for (const std::string size : {"64B", "128B", "256B"})
      add("cp.async." + level + ".shared.global.L2::" + size, 16, 16, wait);
}

} // namespace

void add_memory(Table& table) {
  for (const std::string space : {".global", ".shared", ".local", ""})
    for (const std::string type : {"u8", "s8", "b8", "u16", "s16", "b16", "u32", "s32", "b32",
                                   "u64", "s64", "b64", "f32", "f64"}) {
      table.push_back(load(Form("ld" + space + "." + type)));
      table.push_back(store(Form("st" + space + "." + type)));
    }
  for (const std::string space : {".global", ".shared", ""})
    for (const std::string elements :
         {"v2.u8", "v4.u8", "v2.u16", "v4.u16", "v2.b16", "v4.b16", "v2.u32", "v4.u32", "v2.b32",
          "v4.b32", "v2.f32", "v4.f32", "v2.u64", "v2.b64", "v2.f64"}) {
      table.push_back(load(Form("ld" + space + "." + elements)));
      table.push_back(store(Form("st" + space + "." + elements)));
    }
  // Through the read-only cache, with hints to caches, and seen by other threads.
  for (const std::string type : {"u8", "s8", "b8", "u16", "b16", "u32", "b32", "u64", "f32", "f64",
                                 "v2.u32", "v2.f32", "v4.u8", "v4.u16", "v4.u32", "v4.f32"})
    table.push_back(load(Form("ld.global.nc." + type)));
  for (const char* form :
       {"ld.global.cg.u32",          "ld.global.cs.u32",          "ld.global.lu.u32",
        "ld.global.cv.u32",          "ld.global.ca.f32",          "ld.volatile.global.u32",
        "ld.volatile.global.f32",    "ld.volatile.shared.u32",    "ld.volatile.shared.f32",
        "ld.volatile.u32",           "ld.relaxed.gpu.global.u32", "ld.acquire.gpu.global.u32",
        "ld.relaxed.sys.global.u64", "ld.acquire.cta.shared.u32", "ld.relaxed.gpu.v2.u64",
        "ld.acquire.gpu.u32",        "ld.global.cg.s32",          "ld.global.cg.v4.f32",
        "ld.global.cs.v4.f32",       "ld.global.cs.v4.s32",       "ld.global.cv.s32",
        "ld.global.nc.v2.u16",       "ld.global.nc.v2.u64",       "ld.volatile.global.u64"})
    table.push_back(load(Form(form)));
  for (const char* form :
       {"st.global.cs.u32",          "st.global.cs.v4.u32",       "st.global.wb.u32",
        "st.global.wb.v2.u32",       "st.global.wb.v4.u32",       "st.global.cg.f32",
        "st.global.wt.u32",          "st.volatile.global.u32",    "st.volatile.global.f32",
        "st.volatile.shared.u32",    "st.volatile.shared.f32",    "st.relaxed.gpu.global.u32",
        "st.release.gpu.global.u32", "st.release.cta.shared.u32", "st.global.cg.s32",
        "st.global.cs.f32",          "st.global.cs.v4.f32",       "st.global.cs.v4.s32",
        "st.global.wb.s32",          "st.global.wt.v2.f32",       "st.local.v2.u32",
        "st.volatile.global.u64"})
    table.push_back(store(Form(form)));
  for (const char* form :
       {"ld.const.u8",     "ld.const.u32",    "ld.const.f32",   "ld.const.v4.u32",
        "ld.param.u8",     "ld.param.s8",     "ld.param.b8",    "ld.param.u16",
        "ld.param.s16",    "ld.param.u32",    "ld.param.s32",   "ld.param.b32",
        "ld.param.u64",    "ld.param.b64",    "ld.param.f32",   "ld.param.f64",
        "ld.param.v2.u32", "ld.param.v2.f32", "ld.param.v4.u8", "ld.param.v4.u32",
        "ld.param.v4.f32"})
    table.push_back(load(Form(form)));
  add_copies(table);
}

} // namespace kg::test::snippets
