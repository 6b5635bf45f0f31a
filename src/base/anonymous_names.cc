// SPDX-License-Identifier: Apache-2.0
#include "base/anonymous_names.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/address_shape.h"
#include "base/ascii_class.h"
#include "base/host_shape.h"
#include "base/user_folder.h"

namespace unhang::base {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::size_t kLongestUser = 64;
constexpr std::size_t kCutAt = 190;  // texts of evidence are cut at 200 bytes or more
constexpr std::size_t kLongestTail = 255;
constexpr std::size_t kPseudonymsKept = 4096;
constexpr std::string_view kEllipsis = "…";

std::size_t name_end(std::string_view text, std::size_t at) {
  while (at < text.size() && is_name_character(text[at])) ++at;
  return at;
}

// Without the full stop of a sentence.
std::string_view trimmed(std::string_view name) {
  while (!name.empty() && !is_alphanumeric(name.back())) name.remove_suffix(1);
  return name;
}

// "example.com": the last part is no number, as in "torch@2.1" it would be.
bool has_domain(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == kNone || name.size() - dot < 3) return false;
  return std::all_of(name.begin() + static_cast<std::ptrdiff_t>(dot) + 1, name.end(), is_letter);
}

// "ip-10-0-1-2", how AWS names its machines: its length, or 0.
std::size_t aws_name_length(std::string_view text) {
  if (!equals_any_case(text.substr(0, 2), "ip")) return 0;
  std::size_t at = 2;
  for (int part = 0; part < 4; ++part) {
    if (at >= text.size() || text[at++] != '-') return 0;
    const std::size_t begin = at;
    while (at < text.size() && at - begin < 4 && is_digit(text[at])) ++at;
    if (at == begin || at - begin > 3) return 0;
  }
  return at < text.size() && is_alphanumeric(text[at]) ? 0 : at;
}

bool in_cluster_domain(std::string_view name) {
  for (const std::string_view domain : {".cluster.local", ".ec2.internal", ".compute.internal"}) {
    if (name.size() > domain.size() && name.ends_with(domain)) return true;
  }
  return false;
}

// Behind which a host stands that counts everywhere; others are followed by sites, buckets and images.
bool is_sure_scheme(std::string_view before) {
  for (const std::string_view scheme : {"tcp", "grpc", "ssh", "nfs", "redis", "etcd"}) {
    if (before.ends_with(scheme)) return true;
  }
  return false;
}

// "n2" of "failed on node n2": the word for it, one blank, and a name with a number in it, or a node list.
bool is_named_node(std::string_view text, std::size_t word_begin, std::size_t word_end) {
  const std::string_view word = text.substr(word_begin, word_end - word_begin);
  if (!equals_any_case(word, "node") && !equals_any_case(word, "nodes") && !equals_any_case(word, "host"))
    return false;
  const std::size_t begin = word_end + 1, end = name_end(text, begin);
  if (end <= begin || text[word_end] != ' ' || !is_letter(text[begin])) return false;
  if (end < text.size() && text[end] == '[') return true;
  const std::string_view name = trimmed(text.substr(begin, end - begin));
  return std::any_of(name.begin(), name.end(), is_digit);
}

// "[host]:29500", as c10d writes it, beginning at the bracket.
bool is_bracketed_host(std::string_view text, std::size_t at) {
  const std::size_t end = name_end(text, at + 1);
  if (end == at + 1 || !text.substr(end).starts_with("]:")) return false;
  std::size_t digits = end + 2;
  while (digits < text.size() && digits < end + 8 && is_digit(text[digits])) ++digits;
  if (digits - end - 2 < 4 || digits - end - 2 > 5) return false;
  return digits >= text.size() || (text[digits] != '-' && !is_alphanumeric(text[digits]));  // no date
}

}  // namespace

struct AnonymousNames::Scan {
  std::string_view text;
  bool is_cut = false;
  std::vector<CutEnds::Span> cuts = {};  // ascending
  std::size_t next_cut = 0;
  std::string out = {};
  std::size_t at = 0;
  std::size_t run_begin = 0, run_end = 0;  // of name characters
  std::size_t host_at = kNone;             // there the text names a host
  bool host_is_sure = false;               // so sure that the name counts everywhere
  std::size_t user_at = kNone;

  bool is_boundary() const { return at == 0 || !is_alphanumeric(text[at - 1]); }
  void put(std::string_view instead, std::size_t end) {
    out += instead;
    at = end;
  }
  void keep(std::size_t end) { put(text.substr(at, end - at), end); }
  // What was cut here is left out. A known name that holds it was replaced as a whole.
  bool take_cut() {
    while (next_cut < cuts.size() && cuts[next_cut].begin < at) ++next_cut;
    if (next_cut == cuts.size() || cuts[next_cut].begin != at) return false;
    put(kEllipsis, cuts[next_cut].end);
    return true;
  }
  void name_host(std::size_t where, bool sure) {
    host_at = where;
    host_is_sure = sure;
  }
};

void AnonymousNames::add_host(std::string_view name) {
  if (const std::size_t list = name.find('['); list != kNone && list > 0) {
    // Of a node list one member is enough: the others have the same name and another number.
    std::size_t end = list + 1;
    while (end < name.size() && is_digit(name[end])) ++end;
    x_names.add_host(std::string(name.substr(0, list)).append(name.substr(list + 1, end - list - 1)));
    return;
  }
  if (name.starts_with('[')) name = name.substr(1, name.find(']') - 1);
  if (const std::size_t port = name.find('<'); port != kNone && name.ends_with('>'))
    name = name.substr(0, port);
  if (const std::size_t port = name.rfind(':');
      port != kNone && name.size() - port > 1 && digits_at_end(name) == name.size() - port - 1)
    name = name.substr(0, port);
  if (name.empty()) return;
  const AddressShape address =
      is_alphanumeric(name[0]) || name[0] == ':' ? address_at(name, 0) : AddressShape{};
  if (address.end == 0) x_names.add_host(name);
}

std::string AnonymousNames::pseudonym_of(NameKind kind, std::string_view name) {
  std::string index = std::to_string(static_cast<int>(kind)) + std::string(name);
  if (const auto it = x_pseudonyms.find(index); it != x_pseudonyms.end()) return it->second;
  if (x_pseudonyms.size() >= kPseudonymsKept) x_pseudonyms.clear();
  return x_pseudonyms.emplace(std::move(index), pseudonym(kind, x_key, name)).first->second;
}

bool AnonymousNames::take_address(Scan& scan) {
  const AddressShape shape = address_at(scan.text, scan.at);
  if (shape.end == 0) return false;
  if (shape.names_nobody) {
    scan.keep(shape.end);
  } else {
    scan.put(pseudonym_of(shape.kind, shape.canonical), shape.end);
  }
  return true;
}

// "alice@node3", "alice@example.com"; not "torch@2.1", "memcpy@GLIBC_2.14".
bool AnonymousNames::take_user_at_host(Scan& scan) {
  const std::size_t sign = scan.run_end;
  if (sign >= scan.text.size() || scan.text[sign] != '@' || sign - scan.at > kLongestUser) return false;
  const std::size_t host = sign + 1, end = name_end(scan.text, host);
  if (end == host || !is_alphanumeric(scan.text[host])) return false;
  const std::string_view name = trimmed(scan.text.substr(host, end - host));
  const bool is_known = x_names.at(scan.text, host, host, end).end != 0;
  if (!is_known && !has_domain(name) && address_at(scan.text, host).end == 0) return false;
  const std::string_view user = scan.text.substr(scan.at, sign - scan.at);
  if (!is_shared_account(user)) {
    scan.put(pseudonym_of(NameKind::kUser, user), sign);
  } else {
    scan.keep(sign);
  }
  scan.keep(host);
  scan.name_host(host, false);
  return true;
}

// Where the text says that a host stands.
bool AnonymousNames::take_named_host(Scan& scan) {
  const std::string_view name = trimmed(scan.text.substr(scan.at, scan.run_end - scan.at));
  const bool named = scan.host_at == scan.at;
  if (!named && !in_cluster_domain(name)) return false;
  scan.host_at = kNone;
  if (named && scan.run_end < scan.text.size() && scan.text[scan.run_end] == '[') {
    const KnownNames::Found list = x_names.node_list_at(scan.text, scan.at, scan.run_end);
    if (list.end != 0) return scan.put(list.text, list.end), true;
  }
  if (!can_name_host(name) || is_public_site(name)) return false;
  if (named && scan.host_is_sure) x_names.add_host(name);
  scan.put(x_names.host_text(lower_case(name)), scan.at + name.size());
  return true;
}

// What is left of a name or an address at the end of a text that was cut.
bool AnonymousNames::take_cut_end(Scan& scan) {
  std::size_t end = scan.text.size();
  if (scan.text.ends_with(kEllipsis)) end -= kEllipsis.size();
  if (!scan.is_cut || scan.run_end != end || end - scan.at > kLongestTail) return false;
  const std::string_view tail = scan.text.substr(scan.at, end - scan.at);
  const bool numbers =
      tail.size() > 2 && tail.find_first_not_of("0123456789.") == kNone && tail.find('.') != kNone;
  if (!numbers && !x_names.begins_name(trimmed(tail))) return false;
  scan.put(kEllipsis, scan.text.size());
  return true;
}

// "remoteGidsfe80::…", as NCCL writes it. With an IPv4 address in its end it is found there.
bool AnonymousNames::take_glued_address(Scan& scan, std::size_t word_end) {
  constexpr std::string_view kLabel = "Gids";
  const std::size_t label = scan.text.substr(0, word_end).find(kLabel, scan.at);
  if (label == kNone || !scan.text.substr(word_end).starts_with(':')) return false;
  const std::size_t begin = label + kLabel.size();
  if (scan.next_cut < scan.cuts.size() && scan.cuts[scan.next_cut].begin == begin) return false;
  const AddressShape shape = address_at(scan.text, begin);
  if (shape.end == 0 || shape.names_nobody) return false;
  if (scan.text.substr(begin, shape.end - begin).find('.') != kNone) return false;
  scan.keep(begin);
  scan.put(pseudonym_of(shape.kind, shape.canonical), shape.end);
  return true;
}

// Values that are hosts by the word in front: "MASTER_ADDR=node3", "host      : node3".
void AnonymousNames::look_for_value(Scan& scan) {
  constexpr std::array<std::string_view, 13> kHosts{
      "master_addr",     "master_address", "hostname", "host",           "nodename",
      "node_name",       "pod_name",       "nodelist", "slurm_nodelist", "slurm_job_nodelist",
      "slurmd_nodename", "rdzv_endpoint",  "head_node"};
  constexpr std::array<std::string_view, 4> kUsers{"USER", "LOGNAME", "USERNAME", "SLURM_JOB_USER"};
  const std::string_view word = scan.text.substr(scan.at, scan.run_end - scan.at);
  if (is_named_node(scan.text, scan.at, scan.run_end)) return scan.name_host(scan.run_end + 1, true);
  const bool is_user = std::find(kUsers.begin(), kUsers.end(), word) != kUsers.end();
  const bool is_host = std::any_of(kHosts.begin(), kHosts.end(),
                                   [&](std::string_view key) { return equals_any_case(word, key); });
  if (!is_user && !is_host) return;
  std::size_t at = scan.run_end;
  const auto skip = [&](std::string_view which) {
    const std::size_t begin = at;
    while (at < scan.text.size() && at - begin < 16 && which.find(scan.text[at]) != kNone) ++at;
    return at - begin;
  };
  const std::size_t blanks = skip(" \t\"'");
  const std::size_t sign = at;
  if (skip(":=") != 1) return;
  skip(" \t\"'");
  if (is_user) {
    if (scan.text[sign] == '=' && blanks == 0) scan.user_at = at;
    return;
  }
  // "host: unreachable" tells no host; torchrun's table, with its blanks, and variables do.
  const std::string_view value = trimmed(scan.text.substr(at, name_end(scan.text, at) - at));
  const bool distinctive = value.find_first_of("0123456789.-") != kNone;
  const bool is_variable = word.find('_') != kNone || (scan.text[sign] == '=' && blanks == 0);
  if (distinctive || is_variable || blanks > 1) scan.name_host(at, true);
}

// A part of a path that is somebody's home, or the name of a user who is known.
bool AnonymousNames::take_folder(Scan& scan) {
  UserFolder folder =
      scan.text[scan.at] == '~' ? tilde_user_at(scan.text, scan.at) : user_folder_at(scan.text, scan.at);
  if (folder.end == 0 && scan.text[scan.at] != '~' && !x_users.empty()) {
    const std::string_view rest = scan.text.substr(scan.at + 1, kLongestUser + 1);
    const std::size_t end = std::min(rest.find_first_of("/\\ \t\r\n\"'`:,;()[]<>|&"), rest.size());
    if (x_users.contains(std::string(rest.substr(0, end))))
      folder = {.begin = scan.at + 1, .end = scan.at + 1 + end, .is_sure = true};
  }
  if (folder.end == 0) return false;
  const std::string_view user = scan.text.substr(folder.begin, folder.end - folder.begin);
  if (pseudonym_at(user, 0) == user.size()) return false;
  if (folder.is_sure && user.size() > 2) x_users.emplace(user);
  scan.keep(folder.begin);
  scan.put(pseudonym_of(NameKind::kUser, user), folder.end);
  return true;
}

bool AnonymousNames::take_word(Scan& scan) {
  if (scan.at >= scan.run_end) {
    scan.run_begin = scan.at;
    scan.run_end = name_end(scan.text, scan.at);
  }
  if (const std::size_t length = pseudonym_at(scan.text, scan.at); length > 0) {
    scan.keep(scan.at + length);
    return true;
  }
  if (scan.user_at == scan.at) {
    const std::string_view user = trimmed(scan.text.substr(scan.at, scan.run_end - scan.at));
    if (!user.empty() && user.size() <= kLongestUser && !is_shared_account(user)) {
      scan.put(pseudonym_of(NameKind::kUser, user), scan.at + user.size());
      return true;
    }
  }
  if (take_address(scan)) return true;
  if (scan.at == scan.run_begin && (take_user_at_host(scan) || take_named_host(scan))) return true;
  const std::string_view run = scan.text.substr(scan.at, scan.run_end - scan.at);
  if (const std::size_t length = aws_name_length(run.substr(0, 20)); length > 0) {
    scan.put(x_names.host_text(lower_case(run.substr(0, length))), scan.at + length);
    return true;
  }
  if (take_cut_end(scan)) return true;
  if (const KnownNames::Found found = x_names.at(scan.text, scan.at, scan.run_begin, scan.run_end);
      found.end != 0) {
    scan.put(found.text, found.end);
    return true;
  }
  if (scan.at == scan.run_begin) look_for_value(scan);
  return false;
}

std::string AnonymousNames::scan_all(std::string_view text, bool is_cut, std::vector<CutEnds::Span> cuts) {
  Scan scan{.text = text, .is_cut = is_cut};
  scan.cuts = std::move(cuts);
  scan.out.reserve(text.size() + text.size() / 4);
  while (scan.at < text.size()) {
    if (scan.take_cut()) continue;
    const char c = text[scan.at];
    if (is_alphanumeric(c)) {
      if (scan.is_boundary() && take_word(scan)) continue;
      std::size_t end = scan.at + 1;
      while (end < text.size() && is_alphanumeric(text[end])) ++end;
      if (take_glued_address(scan, end)) continue;
      if (scan.next_cut < scan.cuts.size())
        end = std::clamp(scan.cuts[scan.next_cut].begin, scan.at + 1, end);
      scan.keep(end);
      continue;
    }
    const std::string_view rest = text.substr(scan.at, 3);
    if (c == ':' && rest == "://") {
      scan.name_host(scan.at + 3, is_sure_scheme(scan.out));
    } else if (c == ':' && rest.starts_with("::") && scan.is_boundary() &&
               (scan.at == 0 || text[scan.at - 1] != ':')) {
      if (take_address(scan)) continue;
    } else if ((c == '/' || c == '\\' || c == '~') && take_folder(scan)) {
      continue;
    } else if (c == '[' && is_bracketed_host(text, scan.at)) {
      scan.name_host(scan.at + 1, true);
    }
    scan.keep(scan.at + 1);
  }
  return std::move(scan.out);
}

std::string AnonymousNames::replace(std::string_view text) {
  return scan_all(text, false, {});
}

std::string AnonymousNames::replace_cut(std::string_view text) {
  return scan_all(text, text.size() >= kCutAt || text.ends_with(kEllipsis), x_cuts.in(text));
}

}  // namespace unhang::base
