// SPDX-License-Identifier: Apache-2.0
//
// Names that are known to be those of hosts, and how they are found in a text. Part of
// base/anonymous_names.h.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/pseudonym.h"

namespace unhang::base {

class KnownNames {
 public:
  explicit KnownNames(std::string key) : x_key(std::move(key)) {}

  // Short or with its domain: "node3" and "node3.cluster.example" are one host. False: it cannot name a host
  // (host_shape.h), or nobody else would be found by it.
  bool add_host(std::string_view name);
  // Of an instance, a job: replaced where it stands as a whole.
  void add_name(std::string_view name);

  struct Found {
    std::size_t end = 0;  // behind it; 0: nothing known begins here
    std::string text;     // what stands there instead
  };
  // A known name that begins at text[at], the longest of several. `run_begin` and `run_end` bound the name
  // characters around it; in front of text[at] stands no letter or digit. O(1) but for the length of names.
  Found at(std::string_view text, std::size_t at, std::size_t run_begin, std::size_t run_end) const;

  // Whether a known name begins like this and is longer, and none is just this.
  bool begins_name(std::string_view tail) const;

  // A host, known or not, that the text names for one: the domain is replaced by itself.
  std::string host_text(std::string_view name) const;
  // "node[01-04,7]" at text[at]: its members if they are few, else one pseudonym.
  Found node_list_at(std::string_view text, std::size_t at, std::size_t bracket) const;

 private:
  struct Hash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard library's word
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  using Set = std::unordered_set<std::string, Hash, std::equal_to<>>;

  Found in_other_spelling(std::string_view small, std::size_t end) const;
  Found in_domain(std::string_view text, std::size_t at, std::size_t run_end) const;
  void add(const std::string& name, std::string replacement);

  std::string x_key;
  std::unordered_map<std::string, std::string, Hash, std::equal_to<>> x_names;  // in small letters
  std::set<std::string, std::less<>> x_sorted;                                  // the names of x_names
  Set x_domains;
  Set x_prefixes;  // "node" of "node3", "gpu-b07-" of "gpu-b07-412"
  Set x_first;     // the first part of each name and prefix, without its number
  std::size_t x_most_parts = 1;
};

}  // namespace unhang::base
