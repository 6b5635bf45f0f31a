// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>

#include "formats/log/errno_text.h"
#include "formats/log/fields.h"
#include "formats/log/nccl_texts.h"
#include "formats/log/scanner.h"

namespace unhang::formats::log {
namespace {

using model::LogEventKind;

bool no_interface(std::string_view text, const Line& line, Facts& facts) {
  if (!has(text, "socket interface found") && !has(text, "NET/Socket : no interface found") &&
      !has(text, "No interface found in the same subnet") && !has(text, "no usable interface") &&
      !(has(text, "No interface found") && has(text, "socket"))) {
    return false;
  }
  if (!has(text, "no socket") && !has(text, "o interface found") && !has(text, "No socket")) return false;
  model::LogEvent event;
  event.kind = LogEventKind::kInterfaceMissing;
  if (const auto subnet = text_behind(text, "remote address "); !subnet.empty())
    event.peer = address_at(subnet);
  if (const auto name = text_behind(text, "NCCL_SOCKET_IFNAME="); !name.empty())
    event.subject = address_at(name);
  facts.add(std::move(event), line);
  return true;
}

// All releases; the address follows one of these words.
bool connect(std::string_view text, const Line& line, Facts& facts) {
  constexpr std::array<std::string_view, 5> kWords{"Connect to ", "connect to ", "Call to connect to ",
                                                   "connecting to address ", "connection attempt to "};
  std::string_view address;
  for (const std::string_view word : kWords) {
    if (address = text_behind(text, word); !address.empty()) break;
  }
  const bool without_address = has(text, "Call to connect failed") || has(text, "Call to connect timeout") ||
                               has(text, "Call to connect returned");
  if (address.empty() && !without_address) return false;
  const std::int64_t code = errno_in(text);
  const bool failed =
      has(text, "failed") || has(text, "returned") || has(text, "exceeded") || has(text, "timeout");
  if (!failed && code == 0) return false;
  const bool retries = has(text, "retrying") ||
                       (has(text, "returned") && !has(text, "exceeded") && line.nccl == NcclLevel::kInfo);
  model::LogEvent event;
  event.kind = retries ? LogEventKind::kConnectRetry : LogEventKind::kConnectFailed;
  event.code = code;
  event.peer = address_at(address);
  facts.add(std::move(event), line);
  return true;
}

bool closed(std::string_view text, const Line& line, Facts& facts) {
  if (has(text, "Connection closed by localRank")) {
    facts.add(event_of(LogEventKind::kServiceClosed, 0, rank_after(text, "localRank")), line);
    return true;
  }
  if (const auto peer = text_behind(text, "onnection closed by remote peer");
      !peer.empty() || text.ends_with("closed by remote peer")) {
    facts.add(event_of(LogEventKind::kConnectionClosed, 0, -1, {}, {}, address_at(peer)), line);
    return true;
  }
  for (const std::string_view call :
       {"Call to recv from ", "Call to send to ", "Call to recv ", "Call to send "}) {
    const auto peer = text_behind(text, call);
    if (peer.empty() || !(has(peer, "failed") || errno_in(peer) != 0)) continue;
    const bool named = call.ends_with("from ") || call.ends_with("to ");
    facts.add(event_of(LogEventKind::kConnectionReset, errno_in(peer), -1, {}, {},
                       named ? address_at(peer) : std::string_view()),
              line);
    return true;
  }
  return false;
}

// "peer P message truncated : receiving A bytes instead of B" of data; of the start it has "received".
bool truncated(std::string_view text, const Line& line, Facts& facts) {
  if (!has(text, "essage truncated")) return false;
  std::int64_t got = number_after(text, "receiving ");
  const std::int64_t wanted = number_after(text, "instead of ");
  if (got >= 0) {
    const auto peer = text_behind(text, "peer ");
    facts.add(
        event_of(LogEventKind::kNetSizeMismatch, 0, -1,
                 "local " + std::to_string(wanted) + " remote " + std::to_string(got), {}, address_at(peer)),
        line);
    return true;
  }
  got = number_after(text, "received ");
  if (got < 0) return false;
  facts.add(event_of(LogEventKind::kBootstrapTruncated, 0, -1,
                     "received " + std::to_string(got) + " bytes instead of " + std::to_string(wanted)),
            line);
  return true;
}

}  // namespace

bool take_socket_warning(std::string_view text, const Line& line, Facts& facts) {
  return closed(text, line, facts) || truncated(text, line, facts) || no_interface(text, line, facts) ||
         connect(text, line, facts);
}

}  // namespace unhang::formats::log
