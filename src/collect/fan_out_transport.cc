// SPDX-License-Identifier: Apache-2.0
#include "collect/fan_out_transport.h"

#include <algorithm>
#include <array>
#include <fstream>

#include "base/sha256.h"

namespace unhang::collect {
namespace {

constexpr std::string_view kOwnFile = "/proc/self/exe";

// Runs in any POSIX shell. ssh hands it over through the login shell of the user, whatever that is: no quotes
// ('), no backslashes, no '!', one line. Its exit status is that of the capture, or 97 when that could not be
// started, with a line "unhang: WHY".
//
// The folders are tried one after the other, since /tmp is often mounted so that nothing can be executed
// there. The file is removed before the program runs from its open descriptor: a kill leaves nothing behind.
constexpr std::string_view kScript =
    "begun=$(date +%s); architecture=$1; version=$2; hash=$3; bytes=$4; budget=$5; shift 5; umask 077; "
    "fail() { echo \"unhang: $1\" >&2; exit 97; }; "
    "if command -v unhang >/dev/null 2>&1 && "
    "[ \"$(unhang version 2>/dev/null </dev/null | head -n 1)\" = \"unhang $version\" ]; then "
    "exec unhang capture --stream --budget \"${budget}ms\" \"$@\" </dev/null; fi; "
    "machine=$(uname -m); "
    "[ \"$machine\" = \"$architecture\" ] || fail \"the architecture there is $machine, and this program is "
    "for "
    "$architecture: install unhang for $machine there\"; "
    "file=; clean() { [ -z \"$file\" ] || rm -f -- \"$file\"; }; "
    "trap clean EXIT; trap \"clean; exit 97\" HUP INT TERM PIPE; "
    "for folder in \"${TMPDIR:-/tmp}\" /tmp /var/tmp /dev/shm \"${HOME:-/}\"; do "
    "file=$(mktemp \"$folder/unhang.XXXXXX\" 2>/dev/null) || { file=; continue; }; "
    "echo : >\"$file\"; chmod 700 \"$file\"; if \"$file\" >/dev/null 2>&1; then break; fi; clean; file=; "
    "done; "
    "[ -n \"$file\" ] || fail \"no folder there takes a program (tried TMPDIR, /tmp, /var/tmp, /dev/shm and "
    "the "
    "home): install unhang there\"; "
    "head -c \"$bytes\" >\"$file\" || fail \"there is no room for the program in $folder there\"; "
    "sum=$(sha256sum \"$file\" 2>/dev/null); "
    "[ \"${sum%% *}\" = \"$hash\" ] || fail \"the program did not arrive whole there (its SHA-256 is "
    "another, or "
    "sha256sum is missing)\"; "
    "left=$((budget - ($(date +%s) - begun) * 1000)); "
    "[ \"$left\" -ge 300 ] || fail \"copying the program took all the time: give more with --budget, or "
    "install "
    "unhang there\"; "
    "exec 3<\"$file\" && clean && file= && "
    "exec /proc/self/fd/3 capture --stream --budget \"${left}ms\" \"$@\" </dev/null";

std::vector<std::string> remote_words(const OwnProgram& program, std::int64_t budget_ms,
                                      const std::vector<std::string>& flags) {
  std::vector<std::string> words{"sh",
                                 "-c",
                                 std::string(kScript),
                                 "unhang",
                                 program.architecture,
                                 program.version,
                                 program.sha256,
                                 std::to_string(program.bytes),
                                 std::to_string(budget_ms)};
  words.insert(words.end(), flags.begin(), flags.end());
  return words;
}

std::string machine_name() {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "other";
#endif
}

}  // namespace

base::Result<OwnProgram> own_program(std::string version) {
  OwnProgram program;
  program.path = kOwnFile;
  program.version = std::move(version);
  program.architecture = machine_name();
  std::ifstream file(program.path, std::ios::binary);
  base::Sha256 sum;
  std::array<char, 1 << 16> piece;
  while (file.read(piece.data(), piece.size()) || file.gcount() > 0) {
    sum.add({piece.data(), static_cast<std::size_t>(file.gcount())});
    program.bytes += static_cast<std::uint64_t>(file.gcount());
  }
  if (program.bytes == 0)
    return base::fail(base::ErrorCode::kIo, program.path + ": this program cannot read its own file");
  program.sha256 = sum.hex();
  return program;
}

std::string shell_quoted(std::string_view word) {
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::vector<std::string> member_command(const Member& member, const OwnProgram& program,
                                        std::int64_t budget_ms, const std::vector<std::string>& flags) {
  const std::vector<std::string> remote = remote_words(program, budget_ms, flags);
  std::vector<std::string> words;
  switch (member.kind) {
    case MemberKind::kHost: {
      std::string line;
      for (const std::string& word : remote) line += (line.empty() ? "" : " ") + shell_quoted(word);
      // Nobody is there to type a password or to answer a question.
      return {"ssh",          "-T",
              "-o",           "BatchMode=yes",
              "-o",           "ConnectTimeout=" + std::to_string(std::max<std::int64_t>(1, budget_ms / 2000)),
              "--",           member.name,
              std::move(line)};
    }
    case MemberKind::kPod:
      words = {"kubectl", "exec", "-i", member.name, "--container=" + member.container};
      if (!member.scope.empty()) words.push_back("--namespace=" + member.scope);
      words.emplace_back("--");
      break;
    case MemberKind::kSlurmNode:
      // A step beside those that run, with what the job has.
      words = {"srun",       "--jobid=" + member.scope,   "--overlap", "--nodes=1",
               "--ntasks=1", "--nodelist=" + member.name, "--quiet",   "--kill-on-bad-exit=0"};
      break;
  }
  words.insert(words.end(), remote.begin(), remote.end());
  return words;
}

}  // namespace unhang::collect
