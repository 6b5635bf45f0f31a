// SPDX-License-Identifier: Apache-2.0
#include "collect/socket_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace unhang::collect {
namespace {

// include/net/tcp_states.h
constexpr std::array<std::string_view, 13> kStates{
    "?",     "ESTABLISHED", "SYN_SENT", "SYN_RECV", "FIN_WAIT1", "FIN_WAIT2",   "TIME_WAIT",
    "CLOSE", "CLOSE_WAIT",  "LAST_ACK", "LISTEN",   "CLOSING",   "NEW_SYN_RECV"};

std::optional<std::uint64_t> number_of(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (words.size() < 16) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty()) break;
    words.push_back(line.substr(0, line.find(' ')));
    line.remove_prefix(words.back().size());
  }
  return words;
}

using Ipv6 = std::array<unsigned, 8>;

// The longest row of zero groups becomes "::" (RFC 5952).
std::string text_of(const Ipv6& groups) {
  std::size_t best = 0, length = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::size_t end = i;
    while (end < groups.size() && groups[end] == 0) ++end;
    if (end - i > length) {
      best = i;
      length = end - i;
    }
  }
  std::string text;
  for (std::size_t i = 0; i < groups.size();) {
    if (length > 1 && i == best) {
      text += "::";
      i += length;
      continue;
    }
    if (!text.empty() && !text.ends_with(':')) text += ':';
    text += fmt::format("{:x}", groups[i++]);
  }
  return text;
}

}  // namespace

std::string address_of_hex(std::string_view hex) {
  const std::size_t colon = hex.find(':');
  if (colon != 8 && colon != 32) return {};
  const auto port = number_of(hex.substr(colon + 1), 16);
  if (!port || *port > 0xffff) return {};
  std::vector<unsigned> bytes;
  for (std::size_t word = 0; word < colon; word += 8) {
    for (int byte = 3; byte >= 0; --byte) {  // of a little-endian machine, which all that this runs on are
      const auto value = number_of(hex.substr(word + 2 * static_cast<std::size_t>(byte), 2), 16);
      if (!value) return {};
      bytes.push_back(static_cast<unsigned>(*value));
    }
  }
  const auto dotted = [&](std::size_t at) {
    return fmt::format("{}.{}.{}.{}:{}", bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3], *port);
  };
  if (bytes.size() == 4) return dotted(0);
  const bool mapped = std::all_of(bytes.begin(), bytes.begin() + 10, [](unsigned b) { return b == 0; }) &&
                      bytes[10] == 0xff && bytes[11] == 0xff;
  if (mapped) return dotted(12);
  Ipv6 groups{};
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i] = bytes[2 * i] << 8 | bytes[2 * i + 1];
  return fmt::format("[{}]:{}", text_of(groups), *port);
}

std::vector<TcpSocket> parse_tcp_table(std::string_view table) {
  std::vector<TcpSocket> sockets;
  while (!table.empty()) {
    const std::size_t end = std::min(table.find('\n'), table.size());
    const auto words = words_of(table.substr(0, end));
    table.remove_prefix(std::min(end + 1, table.size()));
    // sl local remote st tx:rx tr:when retransmits uid timeout inode
    if (words.size() < 10 || !words[0].ends_with(':')) continue;
    TcpSocket socket;
    socket.local = address_of_hex(words[1]);
    socket.remote = address_of_hex(words[2]);
    const auto state = number_of(words[3], 16), retransmits = number_of(words[6], 16),
               inode = number_of(words[9], 10);
    const std::size_t colon = words[4].find(':');
    const auto sent = number_of(words[4].substr(0, colon), 16);
    const auto received =
        colon == std::string_view::npos ? std::nullopt : number_of(words[4].substr(colon + 1), 16);
    if (socket.local.empty() || socket.remote.empty() || !state || !retransmits || !inode || !sent ||
        !received)
      continue;
    socket.state = kStates[*state < kStates.size() ? *state : 0];
    socket.send_queue = *sent;
    socket.receive_queue = *received;
    socket.retransmits = *retransmits;
    socket.inode = *inode;
    sockets.push_back(std::move(socket));
  }
  return sockets;
}

}  // namespace unhang::collect
