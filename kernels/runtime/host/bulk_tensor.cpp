// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/bulk_tensor.h"

#include "runtime/host/block.h"
#include "runtime/host/mbarrier.h"
#include "runtime/host/warpgroup_observer.h"

#include <fmt/format.h>
#include <optional>

namespace kg::host {
namespace {

constexpr std::size_t kMapAlignment = 64;
constexpr std::size_t kBoxAlignment = 128;

void align(Block& block, const void* address, std::size_t to, const char* name, const char* which,
           Location where) {
  const std::size_t over = reinterpret_cast<std::uintptr_t>(address) % to;
  if (over != 0)
    block.trap(fmt::format("{}: the {} is {} bytes behind a multiple of {}; align it to {} bytes",
                           name, which, over, to, to),
               where);
}

void demand_rank(Block& block, unsigned rank, const BoxOrigin& origin, const char* name,
                 Location where) {
  if (rank != origin.rank)
    block.trap(fmt::format("{} with {} coordinates of a tensor of rank {}; name {}", name,
                           origin.rank, rank, rank),
               where);
}

// Throws Error unless a column may begin at `origin` (PTX ISA, "Im2col mode: Bounding Box").
void demand_column(Block& block, const Im2colTensor& tensor, const BoxOrigin& origin,
                   const char* name, Location where) {
  constexpr unsigned kMostOffset[] = {0xFFFF, 0xFF, 0x1F}; // of ranks 3 to 5
  const unsigned most = kMostOffset[tensor.image.rank - 3];
  for (unsigned axis = 0; axis < tensor.axes(); ++axis) {
    const std::int32_t at = origin.at[axis + 1];
    if (at < tensor.lower[axis] || at > tensor.last(axis))
      block.trap(fmt::format("{}: coordinate {} of dimension {} is outside of the bounding box, "
                             "which reaches from {} to {}; begin within it",
                             name, at, axis + 1, tensor.lower[axis], tensor.last(axis)),
                 where);
    if ((*origin.offsets)[axis] > most)
      block.trap(fmt::format("{}: offset {} of dimension {}; with rank {} it is 0 to {}", name,
                             (*origin.offsets)[axis], axis + 1, tensor.image.rank, most),
                 where);
  }
}

// What a copy moves, and how it lies in shared memory.
struct Tile {
  BulkMove move;
  Swizzle swizzle;
};

Tile tile(Block& block, const void* shared, const void* map, const BoxOrigin& origin,
          const char* name, const char* which, Location where) {
  align(block, map, kMapAlignment, name, "tensor map", where);
  align(block, shared, kBoxAlignment, name, which, where);
  const auto& encoded = *static_cast<const TensorMap*>(map);
  const auto to = reinterpret_cast<std::uintptr_t>(shared);
  const auto of = [](const TiledTensor& tensor, std::vector<BoxPiece> pieces, std::size_t bytes) {
    return Tile{{std::move(pieces), bytes, outside_byte(tensor), tensor.type == TensorType::tf32},
                tensor.swizzle};
  };
  if (!origin.offsets) {
    const TiledTensor tensor = decode(encoded, where);
    demand_rank(block, tensor.rank, origin, name, where);
    return of(tensor, pieces_of_box(tensor, origin.at, to), tensor.box_bytes());
  }
  const Im2colTensor tensor = decode_im2col(encoded, where);
  demand_rank(block, tensor.image.rank, origin, name, where);
  demand_column(block, tensor, origin, name, where);
  return of(tensor.image, pieces_of_column(tensor, origin.at, *origin.offsets, to),
            tensor.column_bytes());
}

// The type by which boxes of the tensor are reduced; nullopt: they are not.
std::optional<ReduceType> reduced_as(TensorType type) {
  switch (type) {
  case TensorType::u32: return ReduceType::u32;
  case TensorType::s32: return ReduceType::s32;
  case TensorType::u64: return ReduceType::u64;
  case TensorType::s64: return ReduceType::s64;
  case TensorType::f16: return ReduceType::f16;
  case TensorType::bf16: return ReduceType::bf16;
  case TensorType::f32: return ReduceType::f32;
  case TensorType::f64: return ReduceType::f64;
  case TensorType::u8:
  case TensorType::u16:
  case TensorType::tf32: break;
  }
  return std::nullopt;
}

// Calls load(block, box).
template <class Load>
void load_box(void* to, const void* map, const BoxOrigin& origin, const char* name, Location where,
              const Load& load) {
  Block& block = running_block(name, where);
  block.perturb(name, where);
  Tile box = tile(block, to, map, origin, name, "destination", where);
  if (warpgroup_observer) warpgroup_observer->tiles_swizzled(box.swizzle);
  load(block, std::move(box.move));
  if (warpgroup_observer) warpgroup_observer->tiles_swizzled(std::nullopt);
}

} // namespace

void tensor_load(void* to, const void* map, const BoxOrigin& origin, std::uint64_t* barrier,
                 const char* name, Location where) {
  load_box(to, map, origin, name, where, [&](Block& block, BulkMove box) {
    mbarrier_check(barrier, name, where);
    block.bulk_copies().load(std::move(box), barrier, where);
  });
}

void tensor_multicast(void* to, const void* map, const BoxOrigin& origin, std::uint64_t* barrier,
                      unsigned blocks, const char* name, Location where) {
  load_box(to, map, origin, name, where, [&](Block& block, const BulkMove& box) {
    block.bulk_copies().multicast(box, to, barrier, blocks, name, where);
  });
}

void tensor_store(const void* map, const BoxOrigin& origin, const void* from, const char* name,
                  Location where) {
  Block& block = running_block(name, where);
  block.perturb(name, where);
  block.bulk_copies().store(tile(block, from, map, origin, name, "source", where).move, where);
}

void tensor_reduce(ReduceOp op, const void* map, const BoxOrigin& origin, const void* from,
                   const char* name, Location where) {
  Block& block = running_block(name, where);
  block.perturb(name, where);
  BulkMove box = tile(block, from, map, origin, name, "source", where).move;
  const std::optional<ReduceType> type =
      reduced_as(decode(*static_cast<const TensorMap*>(map), where).type);
  if (!type || !reduces_in_bulk(op, *type))
    block.trap(fmt::format("{}: the tensor's elements have a type without this reduction; sums and "
                           "bits need 32 or 64 bits, f16 or bf16: encode the map with another type",
                           name),
               where);
  box.reduction = BulkReduction{op, *type};
  block.bulk_copies().store(std::move(box), where);
}

} // namespace kg::host
