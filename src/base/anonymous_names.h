// SPDX-License-Identifier: Apache-2.0
//
// Takes out of a text what tells whose machines it speaks of: names of hosts, users, addresses. Each is
// replaced by a pseudonym that depends on the name and a key alone (base/pseudonym.h), not on the file, the
// order or the command, so that one can still see that two lines speak of the same machine.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/cut_ends.h"
#include "base/known_names.h"
#include "base/pseudonym.h"

namespace unhang::base {

// Replaced without being told: IPv4 and IPv6 addresses (ports stay, and so do loopback, 0.0.0.0, netmasks and
// version numbers; also as /proc/net/tcp writes them), MAC addresses, InfiniBand GUIDs (as numbers only
// behind a word that calls them so: communicators are numbers, too), UUIDs of GPUs; the user in /home/USER,
// /Users/USER, /scratch/USER, /data/USER, ~USER, USER=… and user@host; hosts in scheme://host, [host]:port
// and user@host (public sites stay), behind MASTER_ADDR=, "node n2" and the like; ip-10-0-1-2, and names in
// domains of clusters (".svc.cluster.local").
//
// Replaced because add_host named them: hosts, wherever they stand as a word or as a part of a file's name,
// with their domain or without, in any case, with '-' or '_'; with them those of the same name and another
// number ("node7", where "node3" is known), other hosts of the same domain, and node lists of Slurm
// ("node[01-04,7]").
//
// Never replaced: devices ("mlx5_0", "eth0", "GPU0"), numbers, words of logs ("node", "worker", "localhost").
// What was replaced once stays as it is. Memory: the names; time: linear in the text.
class AnonymousNames {
 public:
  explicit AnonymousNames(std::string key = {}) : x_key(key), x_names(std::move(key)) {}

  // "node3", "node3.cluster.example", or with what stands behind the host of an address: "node3<45678>",
  // "[node3]:29500"; or a node list, "node[01-04]". Addresses need not be told, and what cannot be told from
  // a word of logs is not taken.
  void add_host(std::string_view name);
  // A name that tells something and is no host: of an instance, a job, a namespace.
  void add_name(std::string_view name) { x_names.add_name(name); }

  // Hosts and users that the text names for such count as known from now on. To have the same names replaced
  // in all texts, replace each of them once for that alone.
  std::string replace(std::string_view text);
  // Of a text that may have been cut to a length: the beginning of a name at its end becomes "…", and so does
  // what an address, an e-mail address or a host with a domain is cut to, in front of "…" and where a text
  // that remember_cut was given is quoted.
  std::string replace_cut(std::string_view text);
  // A text from outside as it was kept: it was cut if it reaches the bound of such texts, 200 bytes.
  void remember_cut(std::string_view text) { x_cuts.remember(text); }

 private:
  struct Scan;

  bool take_word(Scan& scan);
  bool take_address(Scan& scan);
  bool take_user_at_host(Scan& scan);
  bool take_named_host(Scan& scan);
  bool take_cut_end(Scan& scan);
  bool take_glued_address(Scan& scan, std::size_t word_end);
  bool take_folder(Scan& scan);
  void look_for_value(Scan& scan);
  std::string scan_all(std::string_view text, bool is_cut, std::vector<CutEnds::Span> cuts);
  std::string pseudonym_of(NameKind kind, std::string_view name);

  std::string x_key;
  KnownNames x_names;
  CutEnds x_cuts;
  std::unordered_set<std::string> x_users;                    // as written
  std::unordered_map<std::string, std::string> x_pseudonyms;  // of addresses: those that were asked for last
};

}  // namespace unhang::base
