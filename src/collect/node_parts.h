// SPDX-License-Identifier: Apache-2.0
//
// The parts of node_look.h: each looks at one thing and adds what it saw to the facts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "collect/node_look.h"
#include "collect/worker_processes.h"
#include "os/child_reader.h"

namespace unhang::collect {

// What all parts need.
struct NodeView {
  const NodeLook& look;
  const Workers& workers;
  const os::ProcessTable& table;  // everybody, with the variables that may be looked at
  os::ReadDeadlines deadlines;

  std::string variable(std::string_view name) const;      // of the caller; empty: not set
  const os::Process* process_of(std::int64_t pid) const;  // nullptr: it is not there (any more)
  const std::string* variable_of(std::size_t worker, std::string_view name) const;
  // In front of a path of worker `i`, to get there from here; empty: it sees the file system that we see.
  std::string reach_of(std::size_t i) const;
  std::string read(const std::string& path) const;                   // empty: not readable
  std::string trimmed(const std::string& path) const;                // the same without the line break
  std::vector<std::string> names_in(const std::string& path) const;  // ascending
  std::vector<model::PathFacts> paths(const std::string& reach, const std::vector<std::string>& paths,
                                      bool follow_last = true) const;
};

void look_at_workers(const NodeView& view, model::NodeFacts& facts);
void look_at_dumps(const NodeView& view, model::NodeFacts& facts);
void look_at_fifos(const NodeView& view, model::NodeFacts& facts);
void look_at_ras(const NodeView& view, model::NodeFacts& facts);
void look_at_engines(const NodeView& view, model::NodeFacts& facts);
void look_at_machine(const NodeView& view,
                     model::NodeFacts& facts);  // clock, tools, rights, disk, core files
void look_at_memory(const NodeView& view, model::NodeFacts& facts);
void look_at_devices(const NodeView& view, model::NodeFacts& facts);

// For tests: the text of /proc/PID/limits, /proc/driver/nvidia/version, the name of an RDMA-capable adapter.
std::optional<std::uint64_t> memlock_of(std::string_view limits);
std::string kernel_driver_of(std::string_view version);
// The value of "NAME:" in /proc/PID/status, without blanks around it.
std::string_view status_value(std::string_view status, std::string_view name);
std::vector<std::int64_t> numbers_in(std::string_view text);
// "7.5.1" of `__version__ = '7.5.1+cu128'`; empty: none.
std::string torch_release_of(std::string_view version_py);

}  // namespace unhang::collect
