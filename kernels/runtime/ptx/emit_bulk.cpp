// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bulk copies, and the fences between the generic and the asynchronous proxy (PTX ISA, "Data
// Movement and Conversion Instructions: cp.async.bulk", "Parallel Synchronization and Communication
// Instructions: membar, fence"; runtime/host/bulk_copy.h).
#include "runtime/ptx/emitter.h"

#include <fmt/format.h>

namespace kg::ptx_run {

// cp.async.bulk
bool Emitter::bulk() {
  const auto& parts = now_->parts;
  if (parts[0] == "cp" && parts.size() > 3 && parts[1] == "reduce" && parts[3] == "bulk") {
    bulk_reduction();
    return true;
  }
  if (parts[0] != "cp" || parts.size() < 3 || parts[1] != "async" || parts[2] != "bulk")
    return false;
  if (has("tensor")) {
    tensor();
  } else if (has("commit_group")) {
    only_parts({"cp", "async", "bulk", "commit_group"});
    line(fmt::format("bulk_commit({});", where()));
  } else if (has("wait_group")) {
    only_parts({"cp", "async", "bulk", "wait_group", "read"});
    line(fmt::format("bulk_wait({}, {}, {});", in(0, "u32"), has("read"), where()));
  } else if (has("prefetch")) {
    // A prefetch changes no value.
    only_parts({"cp", "async", "bulk", "prefetch", "L2", "global", "L2::cache_hint"});
  } else if (has("mbarrier::complete_tx::bytes")) {
    only_parts({"cp", "async", "bulk", "shared::cluster", "shared::cta", "global",
                "mbarrier::complete_tx::bytes", "multicast::cluster", "L2::cache_hint"});
    if (!has("global")) {
      line(fmt::format("bulk_send({}, {}, {}, reinterpret_cast<u64*>({}), {});",
                       address(operand(0), "shared::cluster"), address(operand(1), "shared"),
                       in(2, "u32"), address(operand(3), "shared::cluster"), where()));
      return true;
    }
    const bool multicast = has("multicast::cluster");
    line(fmt::format("{}({}, {}, {}, reinterpret_cast<u64*>({}), {}{});",
                     multicast ? "bulk_multicast" : "bulk_load",
                     address(operand(0), shared_space()), address(operand(1), "global"),
                     in(2, "u32"), address(operand(3), shared_space()),
                     multicast ? in(4, "u16") + ", " : "", where()));
  } else {
    only_parts({"cp", "async", "bulk", "global", "shared::cta", "bulk_group", "L2::cache_hint"});
    line(fmt::format("bulk_store({}, {}, {}, {});", address(operand(0), "global"),
                     address(operand(1), "shared"), in(2, "u32"), where()));
  }
  return true;
}

// cp.reduce.async.bulk, of elements or of a tensor's box.
void Emitter::bulk_reduction() {
  const std::pair<const char*, const char*> ops[] = {
      {"add", "add"}, {"min", "min"},     {"max", "max"},   {"inc", "inc"},
      {"dec", "dec"}, {"and", "bit_and"}, {"or", "bit_or"}, {"xor", "bit_xor"}};
  std::string op;
  for (const auto& [part, name] : ops)
    if (has(part)) op = std::string("kg::ReduceOp::") + name;
  if (has("tensor")) {
    only_parts({"cp",  "reduce",      "async", "bulk",       "tensor",        "1d",
                "2d",  "3d",          "4d",    "5d",         "tile",          "global",
                "add", "shared::cta", "min",   "max",        "inc",           "dec",
                "and", "or",          "xor",   "bulk_group", "L2::cache_hint"});
    const auto [map, coordinates] = box_of(operand(0));
    line(fmt::format("{{ {} tensor_reduce({}, {}, at, {}, {}, {}); }}", coordinates_of(coordinates),
                     op, address(map, ""), coordinates.parts.size(), address(operand(1), "shared"),
                     where()));
    return;
  }
  const bool sends = has("shared::cluster");
  only({"cp", "reduce", "async", "bulk", "shared::cta", sends ? "shared::cluster" : "global",
        sends ? "mbarrier::complete_tx::bytes" : "bulk_group", "L2::cache_hint", "noftz", "add",
        "min", "max", "inc", "dec", "and", "or", "xor"});
  std::string type = this->type();
  if (type[0] == 'b' && type != "bf16") type[0] = 'u'; // b32, b64
  if (sends) {
    line(fmt::format("bulk_send_reduction({}, kg::ReduceType::{}, {}, {}, {}, "
                     "reinterpret_cast<u64*>({}), {});",
                     op, type, address(operand(0), "shared::cluster"),
                     address(operand(1), "shared"), in(2, "u32"),
                     address(operand(3), "shared::cluster"), where()));
    return;
  }
  line(fmt::format("bulk_reduce({}, kg::ReduceType::{}, {}, {}, {}, {});", op, type,
                   address(operand(0), "global"), address(operand(1), "shared"), in(2, "u32"),
                   where()));
}

// The parts of the operand [map, {coordinates}].
std::pair<Operand, Operand> Emitter::box_of(Operand box) {
  if (box.parts.size() != 1 || !has(std::to_string(box.parts[0].parts.size()) + "d"))
    refuse("as many coordinates are expected as the tensor has dimensions");
  const Operand coordinates = box.parts[0];
  box.parts.clear();
  return {box, coordinates};
}

std::string Emitter::coordinates_of(const Operand& coordinates) {
  std::string at = "const u32 at[] = {";
  for (const Operand& coordinate : coordinates.parts) at += read(coordinate, "b32") + ", ";
  return at + "};";
}

// cp.async.bulk.tensor: one operand is [map, {coordinates}], and behind a load's mbarrier follow
// {offsets} in im2col mode.
void Emitter::tensor() {
  const bool prefetches = has("prefetch");
  const bool loads = has("mbarrier::complete_tx::bytes");
  if (prefetches) {
    only_parts({"cp", "async", "bulk", "prefetch", "tensor", "1d", "2d", "3d", "4d", "5d", "L2",
                "global", "tile", "im2col", "L2::cache_hint"});
  } else if (loads) {
    only_parts({"cp", "async", "bulk", "tensor", "1d", "2d", "3d", "4d", "5d", "shared::cluster",
                "shared::cta", "global", "tile", "im2col", "mbarrier::complete_tx::bytes",
                "multicast::cluster", "L2::cache_hint"});
  } else {
    only_parts({"cp", "async", "bulk", "tensor", "1d", "2d", "3d", "4d", "5d", "global",
                "shared::cta", "tile", "im2col_no_offs", "bulk_group", "L2::cache_hint"});
  }
  const auto [map, coordinates] = box_of(operand(loads ? 1 : 0));
  if (prefetches) return; // a prefetch changes no value
  const std::size_t rank = coordinates.parts.size();
  std::string at = coordinates_of(coordinates);
  const bool im2col = has("im2col") || has("im2col_no_offs");
  if (im2col && rank < 3) refuse("im2col mode has tensors of 3 to 5 dimensions");
  if (im2col) { // offsets of W, H and D
    at += " const u16 by[] = {";
    if (has("im2col")) {
      if (operand(3).parts.size() != rank - 2)
        refuse("im2col mode expects an offset for each of W, H, D");
      for (const Operand& offset : operand(3).parts) at += read(offset, "u16") + ", ";
    } else {
      at += "0, 0, 0";
    }
    at += "};";
  }
  const char* const by = im2col ? "by" : "nullptr";
  if (loads) {
    const bool multicast = has("multicast::cluster");
    line(fmt::format("{{ {} {}({}, {}, at, {}, {}, reinterpret_cast<u64*>({}), {}{}); }}", at,
                     multicast ? "tensor_multicast" : "tensor_load",
                     address(operand(0), shared_space()), address(map, ""), by, rank,
                     address(operand(2), shared_space()),
                     multicast ? in(im2col ? 4 : 3, "u16") + ", " : "", where()));
  } else {
    line(fmt::format("{{ {} tensor_store({}, at, {}, {}, {}, {}); }}", at, address(map, ""), by,
                     rank, address(operand(1), "shared"), where()));
  }
}

void Emitter::proxy_fence() {
  if (has("mbarrier_init")) {
    only_parts({"fence", "mbarrier_init", "release", "cluster"});
    line("proxy_fence(Covered::mbarrier_init);");
    return;
  }
  if (has("tensormap::generic")) { // maps are read in program order
    only_parts({"fence", "proxy", "tensormap::generic", "acquire", "release", "cta", "cluster",
                "gpu", "sys"});
    line(fmt::format("fence({});", has("cta") ? "true" : "false"));
    return;
  }
  only_parts({"fence", "proxy", "async", "global", "shared::cta", "shared::cluster"});
  if (!has("async")) refuse("of proxy fences only fence.proxy.async is executed");
  const bool shared = has("shared::cta") || has("shared::cluster");
  line(fmt::format("proxy_fence(Covered::{});", has("global") ? "global"
                                                : shared      ? "shared"
                                                              : "both"));
}

} // namespace kg::ptx_run
