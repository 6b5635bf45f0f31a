// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>

#include "formats/log/errno_text.h"
#include "formats/log/fields.h"
#include "formats/log/nccl_texts.h"

namespace unhang::formats::log {
namespace {

using model::LogEventKind;

// Up to a blank, comma or closing bracket.
std::string_view word_behind(std::string_view text, std::string_view mark) {
  const std::string_view rest = text_behind(text, mark);
  return rest.substr(0, std::min<std::size_t>(rest.find_first_of(" ,;)\t"), 128));
}

// "status=IBV_WC_RETRY_EXC_ERR(12)", "status=12", "error 12": opcode and length of a failed completion are
// not defined and are not read.
bool completion(std::string_view text, const Line& line, Facts& facts) {
  const std::size_t begin = find_text(text, "Got completion ");
  if (begin == std::string_view::npos) return false;
  const std::string_view rest = text.substr(begin);
  std::int64_t status = number_after(rest, "with error ");
  if (status < 0) {
    const std::string_view word = text_behind(rest, "status=");
    status = number_at(word) ? number_at(word)->value : number_after(word.substr(0, 64), "(");
  }
  if (status < 0) return false;
  std::int64_t vendor = number_after(rest, "vendor err ");
  if (vendor < 0) vendor = number_after(rest, "vendor_err=");
  model::LogEvent event = event_of(LogEventKind::kCompletionError, status, -1, {}, word_behind(rest, " hca "),
                                   address_at(text_behind(rest, "from peer ")));
  if (vendor >= 0) event.detail = "vendor " + std::to_string(vendor);
  facts.add(std::move(event), line);
  return true;
}

// The second warning of a completion since 2.30: says nothing that the first does not.
bool completion_queue_entry(std::string_view text, const Line& line, Facts& facts) {
  (void)line, (void)facts;
  return has(text, "Got CQE with error");
}

bool queue_pair(std::string_view text, const Line& line, Facts& facts) {
  const bool modify = has(text, "ibv_modify_qp failed") || has(text, "ibv_modify_qp returned");
  if (!modify) return false;
  const std::string_view rest = text_behind(text, "ibv_modify_qp");
  std::int64_t code = number_after(rest, "errno ");
  if (code < 0) code = number_after(rest, "with ");
  if (code < 0) code = errno_in(rest);
  model::LogEvent event = event_of(LogEventKind::kQueuePairFailed, code, -1, {}, word_behind(rest, "on dev "),
                                   word_behind(rest, "remote GID "));
  if (const std::int64_t index = number_after(rest, "GID index "); index >= 0) {
    event.detail = "gid " + std::to_string(index);
    if (const auto local = word_behind(rest, "local GID "); !local.empty() && !local.starts_with("index")) {
      event.detail += " " + std::string(local);
    } else if (const auto next = text_behind(text_behind(rest, "local GID index "), "local GID ");
               !next.empty()) {
      event.detail += " " + std::string(next.substr(0, std::min<std::size_t>(next.find_first_of(" ,"), 64)));
    }
  }
  facts.add(std::move(event), line);
  return true;
}

// Memory that cannot be locked or mapped, queues that cannot be made.
bool verbs_call(std::string_view text, const Line& line, Facts& facts) {
  for (const std::string_view call :
       {"ibv_create_cq", "ibv_reg_mr", "ibv_reg_dmabuf_mr", "ibv_create_qp", "ibv_alloc_pd"}) {
    if (!has(text, call) || !has(text, "failed")) continue;
    const std::string_view rest = text_behind(text, call);
    std::int64_t code = number_after(rest, "errno ");
    if (code < 0) code = errno_in(rest);
    facts.add(event_of(LogEventKind::kMemoryLock, code, -1, call), line);
    return true;
  }
  if (has(text, "ibv_open_device failed") || has(text, "Unable to open device ")) {
    facts.add(event_of(LogEventKind::kDeviceNotAccessible, errno_in(text), -1, {},
                       word_behind(text, "open device ")),
              line);
    return true;
  }
  if (has(text, "ibv_get_async_event failed")) {
    facts.add(event_of(LogEventKind::kAdapterEvent, 1, -1, "ibv_get_async_event failed"), line);
    return true;
  }
  return false;
}

bool async_event(std::string_view text, const Line& line, Facts& facts) {
  const bool fatal_word = has(text, "async fatal event");
  const std::string_view mark = fatal_word ? "async fatal event" : "async event";
  if (!has(text, mark) && !has(text, "GID table changed")) return false;
  std::string_view detail = has(text, mark) ? text_behind(text, mark) : std::string_view("GID table change");
  while (detail.starts_with(' ') || detail.starts_with(':')) detail.remove_prefix(1);
  // "NET/IB : mlx5_1:1 Got async event : port error": the device stands in front in some releases.
  std::string_view device = text_behind(text, "NET/IB : ");
  device = device.substr(0, device.find_first_of(" \t"));
  if (device.find(':') == std::string_view::npos || device.starts_with(":")) device = {};
  while (device.ends_with(':')) device.remove_suffix(1);
  const bool fatal =
      fatal_word || has(detail, "port error") || has(detail, "fatal") || has(detail, "catastrophic");
  const bool benign = has(text, "non-fatal");
  facts.add(event_of(LogEventKind::kAdapterEvent, fatal && !benign ? 1 : 0, -1, detail, device), line);
  return true;
}

bool size_mismatch(std::string_view text, const Line& line, Facts& facts) {
  if (has(text, "collective mismatch error")) {
    std::string detail = "local " + std::to_string(number_after(text, "local size "));
    std::int64_t remote = number_after(text, "remote size ");
    if (remote < 0) remote = number_after(text, "remote ");
    detail += " remote " + std::to_string(remote);
    facts.add(
        event_of(LogEventKind::kNetSizeMismatch, 0, -1, detail, {}, address_at(text_behind(text, "peer "))),
        line);
    return true;
  }
  if (has(text, "posted incorrect receive info")) {
    facts.add(
        event_of(LogEventKind::kNetSizeMismatch, 0, -1, "size " + std::to_string(number_after(text, "size ")),
                 {}, address_at(text_behind(text, "peer "))),
        line);
    return true;
  }
  return false;
}

}  // namespace

bool take_rdma_warning(std::string_view text, const Line& line, Facts& facts) {
  return completion(text, line, facts) || completion_queue_entry(text, line, facts) ||
         queue_pair(text, line, facts) || verbs_call(text, line, facts) || async_event(text, line, facts) ||
         size_mismatch(text, line, facts);
}

}  // namespace unhang::formats::log
