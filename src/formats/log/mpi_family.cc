// SPDX-License-Identifier: Apache-2.0
//
// What MPI libraries say of their own connections. It is not NCCL's, but the same interfaces and firewalls
// stand in the way of both, and MPI meets them first.
#include <array>

#include "formats/log/families.h"
#include "formats/log/fields.h"

namespace unhang::formats::log {
namespace {

using model::LogEventKind;

// Open MPI: "[HOST][[39817,1],2][btl_tcp_endpoint.c:796:…] connect() to 172.17.0.1 failed: Connection refused
// (111)"; "…tcp_peer_recv_connect_ack: received unexpected process identifier …".
bool take_open_mpi(const Line& line, Facts& facts) {
  const std::string_view text = line.whole;
  if (!has(text, "btl_tcp") && !has(text, "oob_tcp") && !has(text, "btl/tcp")) return false;
  if (const auto to = behind(text, "connect() to ")) {
    const std::string_view peer = first_word(*to);
    const auto code = behind(*to, "(");
    facts.add(event_of(LogEventKind::kConnectFailed, code ? leading_number(*code).value_or(0) : 0, -1, {}, {},
                       peer),
              line);
    return true;
  }
  return has(text, "unexpected process identifier");
}

class MpiFamily final : public Family {
 public:
  std::span<const std::string_view> triggers() const override {
    static constexpr std::array<std::string_view, 3> kTriggers{"btl_tcp", "oob_tcp", "btl/tcp"};
    return kTriggers;
  }
  bool take(const Line& line, Facts& facts) override { return take_open_mpi(line, facts); }
};

}  // namespace

std::unique_ptr<Family> mpi_family() {
  return std::make_unique<MpiFamily>();
}

}  // namespace unhang::formats::log
