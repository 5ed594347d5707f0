// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "models/safetensors.h"

#include "models/json.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

namespace kg::models {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr std::int64_t kLengthBytes = 8;
constexpr std::int64_t kMostHeader = 100'000'000; // the format's own limit

std::int64_t bytes_each(const std::string& dtype) {
  static const std::map<std::string, std::int64_t> kBytes = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"I16", 2}, {"U16", 2}, {"F16", 2}, {"BF16", 2},
      {"I32", 4},  {"U32", 4}, {"F32", 4}, {"F64", 8}, {"I64", 8}, {"U64", 8}};
  const auto found = kBytes.find(dtype);
  return found == kBytes.end() ? 0 : found->second;
}

// Reads one member of the header.
class Entry {
 public:
  Entry(const std::string& file, const std::string& name, const nlohmann::json& value)
      : what_(file + ": array \"" + name + "\""), value_(value) {}

  StoredArray array(std::int64_t data_begin, std::int64_t data_bytes) const {
    need(value_.is_object() && value_.size() == 3 && value_.contains("dtype") &&
             value_.contains("shape") && value_.contains("data_offsets"),
         "must have dtype, shape and data_offsets, and nothing else");
    need(value_["dtype"].is_string(), "has a dtype that is not text");
    StoredArray array{.dtype = value_["dtype"].get<std::string>(), .shape = numbers("shape")};
    const std::int64_t each = bytes_each(array.dtype);
    need(each > 0, "has the unknown dtype \"" + array.dtype + "\"");
    const std::vector<std::int64_t> offsets = numbers("data_offsets");
    need(offsets.size() == 2, "needs two data_offsets");
    need(offsets[0] <= offsets[1], "ends before it begins");
    need(offsets[1] <= data_bytes, "ends at byte " + std::to_string(offsets[1]) +
                                       " of the data, of which the file has " +
                                       std::to_string(data_bytes));
    need(offsets[1] - offsets[0] == elements(array.shape, each) * each,
         "has " + std::to_string(offsets[1] - offsets[0]) +
             " bytes, which is not what its shape and dtype take");
    array.begin = data_begin + offsets[0];
    array.end = data_begin + offsets[1];
    return array;
  }

 private:
  void need(bool holds, const std::string& why) const {
    if (!holds) throw Error(what_ + " " + why);
  }
  std::vector<std::int64_t> numbers(const char* member) const {
    need(value_[member].is_array(), std::string("has a ") + member + " that is not a list");
    std::vector<std::int64_t> numbers;
    for (const nlohmann::json& each : value_[member]) {
      need(each.is_number_unsigned() &&
               each.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max(),
           std::string("has a ") + member + " with something that is not a whole number from 0 on");
      numbers.push_back(each.get<std::int64_t>());
    }
    return numbers;
  }
  std::int64_t elements(const std::vector<std::int64_t>& shape, std::int64_t each) const {
    std::int64_t product = each; // in bytes, so that the byte count cannot overflow either
    for (const std::int64_t extent : shape)
      need(!__builtin_mul_overflow(product, extent, &product), "has more elements than can be");
    return product / each;
  }

  const std::string what_;
  const nlohmann::json& value_;
};

// In this format every byte belongs to exactly one array.
void require_whole(const std::string& file, const std::map<std::string, StoredArray>& arrays,
                   std::int64_t begin, std::int64_t end) {
  std::vector<std::pair<std::string, StoredArray>> order(arrays.begin(), arrays.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.begin, a.second.end) < std::pair(b.second.begin, b.second.end);
  });
  for (const auto& [name, array] : order) {
    if (array.begin < begin)
      throw Error(file + ": array \"" + name + "\" overlaps the one before it");
    if (array.begin > begin)
      throw Error(file + ": the bytes before array \"" + name + "\" belong to no array");
    begin = array.end;
  }
  if (begin != end) throw Error(file + ": the bytes after the last array belong to no array");
}

float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// IEEE 754 binary16; f32 represents every value exactly.
float from_f16(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1F, fraction = bits & 0x3FF;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000 | fraction << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
  return sign != 0 ? -magnitude : magnitude;
}

template <class T>
std::vector<T> elements_of(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

template <class T>
std::string_view bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string header_of(std::span<const NamedArray> arrays) {
  nlohmann::json header = nlohmann::json::object();
  std::int64_t at = 0;
  for (const NamedArray& each : arrays) {
    const bool is_float = each.values.index() == 0;
    const auto bytes = static_cast<std::int64_t>(
        std::visit([](const auto& values) { return bytes_of(values).size(); }, each.values));
    std::int64_t needed = 4;
    for (const std::int64_t extent : each.shape) needed *= extent;
    require(needed == bytes, each.name + ": its shape is not that of its values");
    require(each.name != "__metadata__" && !header.contains(each.name),
            each.name + ": two arrays of one name, or the name of what is not an array");
    header[each.name] = {{"dtype", is_float ? "F32" : "I32"},
                         {"shape", each.shape},
                         {"data_offsets", {at, at + bytes}}};
    at += bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' '); // the elements begin at a multiple of 8 bytes
  return text;
}

} // namespace

std::int64_t StoredArray::count() const { return (end - begin) / bytes_each(dtype); }

SafetensorsReader::SafetensorsReader(const std::filesystem::path& file) : path_(file.string()) {
  if (!std::filesystem::is_regular_file(file))
    throw Error(path_ + ": no such file, or it is not a regular one");
  file_.open(file, std::ios::binary);
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(file));
  std::uint64_t length = 0;
  file_.read(reinterpret_cast<char*>(&length), kLengthBytes);
  if (!file_)
    throw Error(path_ + ": it is shorter than the 8 bytes that a safetensors file begins with");
  if (length > static_cast<std::uint64_t>(std::min(kMostHeader, size - kLengthBytes)))
    throw Error(
        path_ + ": its header should have " + std::to_string(length) +
        " bytes, more than the file or the format has; it is not a safetensors file, or cut");
  std::string text(length, '\0');
  file_.read(text.data(), static_cast<std::streamsize>(length));
  if (!file_) throw Error(path_ + ": its header cannot be read");
  const std::int64_t begin = kLengthBytes + static_cast<std::int64_t>(length);
  const nlohmann::json header = parse_object(text, path_);
  for (const auto& [name, value] : header.items())
    if (name != "__metadata__")
      arrays_.emplace(name, Entry(path_, name, value).array(begin, size - begin));
  require_whole(path_, arrays_, begin, size);
}

const StoredArray& SafetensorsReader::array(const std::string& name) const {
  const auto found = arrays_.find(name);
  if (found == arrays_.end()) throw Error(path_ + ": no array \"" + name + "\"");
  return found->second;
}

std::string SafetensorsReader::bytes(const StoredArray& array) {
  std::string bytes(static_cast<std::size_t>(array.end - array.begin), '\0');
  file_.seekg(array.begin);
  file_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file_) throw Error(path_ + ": it became shorter while it was read");
  return bytes;
}

std::vector<float> SafetensorsReader::floats(const std::string& name) {
  const StoredArray& stored = array(name);
  if (stored.dtype == "F32") return elements_of<float>(bytes(stored));
  if (stored.dtype != "F16" && stored.dtype != "BF16")
    throw Error(path_ + ": array \"" + name + "\" is of " + stored.dtype +
                "; F32, F16 and BF16 can be read as f32");
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(stored.count()));
  for (const std::uint16_t bits : elements_of<std::uint16_t>(bytes(stored)))
    values.push_back(stored.dtype == "F16" ? from_f16(bits) : from_bf16(bits));
  return values;
}

std::vector<std::int32_t> SafetensorsReader::integers(const std::string& name) {
  const StoredArray& stored = array(name);
  if (stored.dtype != "I32")
    throw Error(path_ + ": array \"" + name + "\" is of " + stored.dtype + ", not of I32");
  return elements_of<std::int32_t>(bytes(stored));
}

void write_safetensors(const std::filesystem::path& file, std::span<const NamedArray> arrays) {
  require_writable(file);
  const std::string header = header_of(arrays);
  const std::uint64_t length = header.size();
  std::filesystem::path part = file;
  part += ".part";
  std::ofstream out(part, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(&length), kLengthBytes);
  out << header;
  for (const NamedArray& each : arrays)
    out << std::visit([](const auto& values) { return bytes_of(values); }, each.values);
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(part, file, error);
  if (!out || error) {
    std::filesystem::remove(part, error);
    throw Error(file.string() + ": it cannot be written; check the path and the space on the disk");
  }
}

} // namespace kg::models
