// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/cost/source_advice.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <regex>
#include <set>
#include <utility>

namespace kg::cost {
namespace {

using count::Launch;

// "add3" for "ns::add3<float>".
std::string plain_name(const std::string& kernel) {
  const std::string name = kernel.substr(0, kernel.find('<'));
  return name.substr(name.rfind(':') == name.npos ? 0 : name.rfind(':') + 1);
}

std::uint64_t bytes_of(const Launch& launch) {
  return 32 * (launch.unique_read + launch.unique_written); // bytes per sector
}

std::string place_at(const std::string& file, const std::string& text, std::ptrdiff_t position) {
  return fmt::format("{}:{}", file, 1 + std::count(text.begin(), text.begin() + position, '\n'));
}

bool has_atomics(const Launch& launch) {
  return std::any_of(launch.sites.begin(), launch.sites.end(),
                     [](const auto& site) { return site.access == count::Access::atomic; });
}

double volume(const std::array<unsigned, 3>& extents) {
  return static_cast<double>(extents[0]) * extents[1] * extents[2];
}

// Of a thread, between loads and stores.
double round_trips(const Launch& launch) {
  return static_cast<double>(launch.round_trips) / volume(launch.grid);
}

// How much faster with all loads in flight at once; 0 if enough are.
double overlap_factor(const Launch& launch) {
  constexpr double kResident = 2048; // threads of a multiprocessor of compute capability 9.0
  const double threads = volume(launch.grid) * volume(launch.block), trips = round_trips(launch);
  const double resident = std::min(kResident, std::ceil(threads / kMultiprocessors));
  const double in_flight = resident * static_cast<double>(bytes_of(launch)) / (threads * trips);
  const double factor = std::min(trips, kNeededInFlight / in_flight);
  return factor > 1 ? factor : 0;
}

bool goes_back_and_forth(const Launch& launch) {
  return round_trips(launch) >= kLeastTrips && bytes_of(launch) >= kLeastBytes &&
         launch.barriers == 0 && launch.barrier_phases == 0 && !has_atomics(launch);
}

// Whether one pointer parameter is const, another is not, and none is __restrict__.
bool may_alias(const std::string& parameters) {
  static const std::regex kRestrict("restrict", std::regex::icase); // also within a macro's name
  static const std::regex kPointer("(^|,)([^,*]*)\\*");
  if (std::regex_search(parameters, kRestrict)) return false;
  bool reads = false, writes = false;
  for (std::sregex_iterator at(parameters.begin(), parameters.end(), kPointer), end; at != end;
       ++at)
    ((*at)[2].str().find("const") != std::string::npos ? reads : writes) = true;
  return reads && writes;
}

// The longest sequence of launches of a kernel with the same grid; the last launch of it, or null.
std::pair<std::uint64_t, const Launch*> repeated(const std::vector<Launch>& launches,
                                                 const std::string& name) {
  std::uint64_t row = 0, longest = 0;
  const Launch *last = nullptr, *of_longest = nullptr;
  for (const Launch& launch : launches) {
    const bool same = plain_name(launch.kernel) == name;
    row = !same                                                                ? 0
          : last && last->kernel == launch.kernel && last->grid == launch.grid ? row + 1
                                                                               : 1;
    last = &launch;
    if (row > longest) {
      longest = row;
      of_longest = last;
    }
  }
  return {longest, of_longest};
}

} // namespace

std::vector<Advice> alias_advice(const std::vector<Launch>& launches, const std::string& file,
                                 const std::string& text) {
  std::vector<Advice> all;
  std::set<std::string> said;
  for (const Launch& launch : launches) {
    const std::string name = plain_name(launch.kernel);
    const bool is_word = std::all_of(
        name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
    if (!is_word || !goes_back_and_forth(launch) || !said.insert(name).second) continue;
    const std::regex definition("__global__[^;{}()]*(\\([^()]*\\)[^;{}()]*)?\\b" + name +
                                "\\s*\\(([^)]*)\\)\\s*\\{");
    std::smatch found;
    if (!std::regex_search(text, found, definition) || !may_alias(found[2])) continue;
    all.push_back({place_at(file, text, found.position(2)),
                   fmt::format("loads of kernel {} wait for the stores before them, because its "
                               "pointers may overlap: declare them __restrict__ if they do not",
                               name),
                   overlap_factor(launch)});
  }
  return all;
}

std::vector<Advice> cache_advice(const std::vector<Launch>& launches, const std::string& file,
                                 const std::string& text) {
  // A function ends with a brace in the first column.
  static const std::regex kWord(
      "(//[^\n]*)|(\n\\})|(\\bnow\\s*\\(\\)|\\bclock\\s*\\(\\)|\\bclock_gettime\\s*\\(|"
      "\\bgettimeofday\\s*\\(|\\bomp_get_wtime\\s*\\(|\\bcudaEventRecord\\s*\\()|"
      "(\\b(?:for|while|do)\\b)|(\\bcudaMemset)|(\\w*(?:[fF]lush|L2)\\w*)|"
      "\\b(\\w+)\\s*(?:<[^<>;]*>)?\\s*<<<");
  std::vector<Advice> all;
  std::set<std::string> said;
  struct Timed {
    std::string kernel;
    std::ptrdiff_t position;
  };
  std::vector<Timed> begun; // since the clock was read
  bool timed = false, looped = false, flushed = false;
  const auto judge = [&](const Timed& one) {
    const auto [row, launch] = repeated(launches, one.kernel);
    if (row < kLeastRepeats || bytes_of(*launch) > kL2Bytes || bytes_of(*launch) < kLeastBytes ||
        !said.insert(one.kernel).second)
      return;
    all.push_back(
        {place_at(file, text, one.position),
         fmt::format("{} launches in a row move {:.3g} MiB, which stay in the L2 cache "
                     "of an H200, {} MiB, up to {} times as fast as its memory; time larger "
                     "arrays, or fill another one in between",
                     row, static_cast<double>(bytes_of(*launch)) / (1 << 20), kL2Bytes >> 20,
                     kL2OverMemory),
         0});
  };
  for (std::sregex_iterator at(text.begin(), text.end(), kWord), end; at != end; ++at) {
    const std::smatch& word = *at;
    if (word[2].matched) {
      timed = looped = flushed = false;
      begun.clear();
    } else if (word[3].matched) {
      if (!flushed) std::for_each(begun.begin(), begun.end(), judge);
      timed = true;
      begun.clear();
    } else if (word[4].matched) {
      looped = true;
    } else if (word[5].matched) {
      flushed = flushed || looped; // memory filled outside the loop is data
    } else if (word[6].matched) {
      flushed = true;
    } else if (timed) {
      begun.push_back({word[7], word.position()});
    }
  }
  return all;
}

} // namespace kg::cost
