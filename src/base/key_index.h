// SPDX-License-Identifier: Apache-2.0
//
// Numbers distinct byte strings in order of first use. For tables that keep the values themselves elsewhere
// and want to find a value's number again. Not thread-safe while adding.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace unhang::base {

class KeyIndex {
 public:
  KeyIndex() = default;
  KeyIndex(KeyIndex&&) = default;
  KeyIndex& operator=(KeyIndex&&) = default;
  KeyIndex(const KeyIndex&) = delete;
  KeyIndex& operator=(const KeyIndex&) = delete;

  // The number of `key`; calls `on_new()` first when it was not known, so that the caller can store the
  // value.
  template <class OnNew>
  std::uint32_t add(std::string_view key, OnNew&& on_new) {
    if (const auto found = x_numbers.find(key); found != x_numbers.end()) return found->second;
    x_keys.emplace_back(key);
    const auto number = static_cast<std::uint32_t>(x_keys.size() - 1);
    x_numbers.emplace(x_keys.back(), number);
    on_new();
    return number;
  }

  std::size_t size() const { return x_keys.size(); }

 private:
  std::deque<std::string> x_keys;  // never moves its elements: the map's keys point into it
  std::unordered_map<std::string_view, std::uint32_t> x_numbers;
};

}  // namespace unhang::base
