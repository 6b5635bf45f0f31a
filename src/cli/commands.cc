// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"

namespace unhang::cli {

// One line a command: X(name) stands for commands/name.cc, which defines make_name_command().
#define UNHANG_COMMANDS(X) \
  X(diagnose)              \
  X(collectives)           \
  X(timeline)              \
  X(slow)                  \
  X(stacks)                \
  X(logs_init)             \
  X(logs_merge)            \
  X(logs_warnings)         \
  X(capture)               \
  X(attach)                \
  X(probe)                 \
  X(run)                   \
  X(nvml)                  \
  X(ras_status)            \
  X(ras_watch)             \
  X(ras_events)            \
  X(watch)                 \
  X(env_normal)            \
  X(env_incident)          \
  X(env_check)             \
  X(doctor)                \
  X(env_calibrate)         \
  X(explain)               \
  X(simulate)              \
  X(completion)            \
  X(man)                   \
  X(version)

#define UNHANG_DECLARE(name) std::unique_ptr<CommandBase> make_##name##_command();
UNHANG_COMMANDS(UNHANG_DECLARE)
#undef UNHANG_DECLARE

CommandList make_commands() {
  CommandList list;
#define UNHANG_ADD(name) list.push_back(make_##name##_command());
  UNHANG_COMMANDS(UNHANG_ADD)
#undef UNHANG_ADD
  return list;
}

std::vector<Command> describe_all(CommandList& commands) {
  std::vector<Command> descriptions;
  for (const auto& command : commands) descriptions.push_back(command->describe());
  return descriptions;
}

}  // namespace unhang::cli
