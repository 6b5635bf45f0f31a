// SPDX-License-Identifier: Apache-2.0
//
// Names that nobody reads and values that are not parsed as meant.
#include <algorithm>
#include <set>

#include "checks/env_rules.h"
#include "checks/variable_names.h"

namespace unhang::checks {
namespace {

using Status = model::CheckStatus;

bool is_torch(std::string_view name) {
  return name.starts_with("TORCH_");
}

std::string release_words(const EnvSubject& subject, bool torch) {
  return torch ? "PyTorch " + subject.software.torch.text() : "NCCL " + subject.software.nccl.text();
}

bool reads_since(const EnvSubject& subject, bool torch, int since) {
  return torch ? subject.software.torch_since(since) : subject.software.nccl_since(since);
}

// Calls `visit` with each variable that is in force: of one name, the last.
template <class Visit>
Outcomes each_variable(const EnvSubject& subject, Visit visit) {
  Outcomes outcomes;
  bool any = false;
  for (const Variable& variable : subject.environment.variables) {
    if (!variable.known || subject.environment.find(variable.name) != &variable) continue;
    any = true;
    visit(variable, outcomes);
  }
  return any && outcomes.empty() ? passed() : outcomes;
}

// What another rule asks for, or wants to be gone whatever it is called.
bool is_needed_by_its_old_name(const EnvSubject& subject, const Variable& variable) {
  if (variable.name == "TORCH_NCCL_TRACE_BUFFER_SIZE")
    return subject.environment.has("TORCH_NCCL_DEBUG_INFO_PIPE_FILE");
  return variable.name == "NCCL_BLOCKING_WAIT" && waits_blocking(subject);
}

Outcomes renamed(const EnvSubject& subject) {
  return each_variable(subject, [&](const Variable& variable, Outcomes& out) {
    for (const RenamedVariable& renamed : renamed_variables()) {
      if (variable.name != renamed.old_name) continue;
      const bool torch = renamed.is_torch;
      const bool gone = renamed.old_until > 0 && reads_since(subject, torch, renamed.old_until);
      if (!gone && !reads_since(subject, torch, renamed.new_since)) continue;
      // The FIFO is made only where the old name is set, too: both side by side are right.
      if (!gone &&
          (subject.environment.has(renamed.new_name) || is_needed_by_its_old_name(subject, variable)))
        continue;
      const std::string by = release_words(subject, torch);
      if (gone && renamed.new_name.empty()) {
        out.push_back(about(Status::kWarn, variable, variable.name + " is not read any more by " + by,
                            removal(subject, variable.name)));
        continue;
      }
      const bool other_scale =
          !torch && (renamed.new_name == "NCCL_PROTO" || renamed.new_name == "NCCL_ALGO" ||
                     renamed.new_name == "NCCL_NET_GDR_LEVEL");
      std::string fix =
          other_scale ? removal(subject, variable.name) : set_line(subject, renamed.new_name, variable.value);
      out.push_back(about(gone ? Status::kFail : Status::kWarn, variable,
                          variable.name + (gone ? " is not read any more by " : " is an old name in ") + by +
                              ": it is called " + std::string(renamed.new_name) + " now",
                          std::move(fix)));
    }
  });
}

// A name that came later than the release that is to read it.
Outcomes too_new(const EnvSubject& subject) {
  return each_variable(subject, [&](const Variable& variable, Outcomes& out) {
    const KnownVariable* known = find_known(variable.name);
    if (known == nullptr || known->since == 0) return;
    const bool torch = is_torch(variable.name);
    if (reads_since(subject, torch, known->since)) return;
    std::string fix = removal(subject, variable.name);
    for (const RenamedVariable& renamed : renamed_variables()) {
      if (renamed.new_name == variable.name) {
        if (subject.environment.has(renamed.old_name)) return;  // the old name beside it is read
        fix = set_line(subject, renamed.old_name, variable.value);
      }
    }
    out.push_back(about(Status::kWarn, variable,
                        variable.name + " is not read by " + release_words(subject, torch) +
                            ", only since 2." + std::to_string(known->since),
                        std::move(fix)));
  });
}

Outcomes misspelt(const EnvSubject& subject) {
  return each_variable(subject, [&](const Variable& variable, Outcomes& out) {
    const NameVerdict verdict = verdict_of_name(variable.name);
    if (verdict.kind == NameKind::kNobodys) {
      out.push_back(about(Status::kWarn, variable, "neither NCCL nor PyTorch reads " + variable.name,
                          removal(subject, variable.name)));
    } else if (verdict.kind == NameKind::kMisspelt) {
      out.push_back(about(
          Status::kFail, variable,
          variable.name + " is not read by anybody: " + std::string(verdict.meant) + " is probably meant",
          set_line(subject, verdict.meant, variable.value)));
    }
  });
}

// NCCL's strtoll makes 0 of any word, also of "true". A word for off is what it says then, by chance.
Outcome word_for_number(const EnvSubject& subject, const Variable& variable, bool on, bool off) {
  const bool digits = variable.value.find_first_of("0123456789") == 0;
  const std::string number = std::to_string(nccl_integer_of(variable.value));
  const bool takes_default = subject.software.nccl_since(31) && !digits;
  // The default is known to be 0 of the switches that disable something.
  if (off && (!takes_default || variable.name.ends_with("_DISABLE"))) {
    return about(Status::kWarn, variable,
                 shown(variable) +
                     " is no number: NCCL takes 0 for it, which is what is meant, and would take " +
                     "0 for true as well",
                 set_line(subject, variable.name, "0"));
  }
  return about(
      Status::kFail, variable,
      shown(variable) + " is no number: " +
          (takes_default ? std::string("NCCL takes its default for it") : "NCCL takes it for " + number),
      set_line(subject, variable.name,
               digits ? number
               : on   ? "1"
                      : "0"));
}

Outcomes not_parsed(const EnvSubject& subject) {
  return each_variable(subject, [&](const Variable& variable, Outcomes& out) {
    const KnownVariable* known = find_known(variable.name);
    if (known == nullptr || variable.value.empty() || variable.carriage_return) return;
    const std::optional<bool> meant = torch_boolean_of(variable.value);
    const auto is_word = [&](std::string_view small, std::string_view capitals) {
      return variable.value == small || variable.value == capitals;
    };
    const auto lower_on = [&] { return meant ? *meant : is_word("on", "ON"); };
    switch (known->kind) {
      case ValueKind::kNcclInteger:
        if (integer_of(variable.value)) return;
        out.push_back(
            word_for_number(subject, variable, lower_on(), meant ? !*meant : is_word("off", "OFF")));
        return;
      case ValueKind::kTorchBoolean:
        if (meant) return;
        out.push_back(
            about(Status::kFail, variable,
                  shown(variable) + " is no boolean: PyTorch takes 0 or 1 and ends when it makes "
                                    "the first process group",
                  set_line(subject, variable.name, lower_on() || integer_of(variable.value) ? "1" : "0")));
        return;
      case ValueKind::kTorchInteger:
      case ValueKind::kInteger:
        if (integer_of(variable.value)) return;
        out.push_back(about(Status::kFail, variable,
                            shown(variable) + " is no whole number: the process ends when it is read",
                            removal(subject, variable.name)));
        return;
      case ValueKind::kText:
        return;
    }
  });
}

Outcomes wrong_word(const EnvSubject& subject) {
  struct Words {
    std::string_view name;
    std::vector<std::string_view> allowed;
    std::string_view effect, instead;
  };
  static const std::vector<Words> all_words{
      {"NCCL_DEBUG",
       {"NONE", "VERSION", "WARN", "INFO", "ABORT", "TRACE"},
       "NCCL then prints nothing at all",
       "INFO"},
      {"TORCH_DISTRIBUTED_DEBUG", {"OFF", "INFO", "DETAIL"}, "PyTorch then refuses to start", "OFF"},
      {"NCCL_SOCKET_FAMILY",
       {"AF_INET", "AF_INET6"},
       "NCCL then takes whatever family comes first",
       "AF_INET"}};
  return each_variable(subject, [&](const Variable& variable, Outcomes& out) {
    for (const Words& words : all_words) {
      if (variable.name != words.name || variable.value.empty() || variable.carriage_return) continue;
      std::string upper = variable.value;
      std::transform(upper.begin(), upper.end(), upper.begin(),
                     [](unsigned char c) { return static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c); });
      if (std::find(words.allowed.begin(), words.allowed.end(), upper) != words.allowed.end()) continue;
      std::string list;
      for (const std::string_view word : words.allowed)
        list += (list.empty() ? "" : ", ") + std::string(word);
      out.push_back(about(Status::kFail, variable,
                          shown(variable) + " is none of " + list + ": " + std::string(words.effect),
                          set_line(subject, variable.name, words.instead)));
    }
  });
}

Outcomes quotes(const EnvSubject& subject) {
  return each_variable(subject, [&](const Variable& variable, Outcomes& out) {
    if (variable.kept_quotes) {
      out.push_back(about(Status::kWarn, variable,
                          "the value of " + variable.name +
                              " stands in quotes: docker --env-file makes them a part of the value",
                          base::env_line(base::EnvForm::kPlain, variable.name, variable.value)));
    }
    if (variable.carriage_return) {
      out.push_back(
          about(Status::kFail, variable,
                "the line of " + variable.name + " ends as on Windows: the value ends in a carriage return",
                "sed -i 's/\\r$//' FILE"));
    }
    if (!variable.not_text) return;
    if (subject.environment.form == base::EnvForm::kCompose) {
      // Numbers may stand bare, and a word in the place of a number is not mended by quotes.
      const KnownVariable* known = find_known(variable.name);
      const bool wants_number = known != nullptr && known->kind == ValueKind::kNcclInteger;
      if (wants_number || variable.value.find_first_of("0123456789") != std::string::npos) return;
      out.push_back(about(Status::kWarn, variable,
                          shown(variable) + " is no text: some releases of docker compose refuse it without "
                                            "quotes",
                          set_line(subject, variable.name, variable.value)));
    } else {
      out.push_back(about(Status::kFail, variable,
                          shown(variable) + " is no text: Kubernetes refuses it without quotes",
                          set_line(subject, variable.name, variable.value)));
    }
  });
}

Outcomes twice(const EnvSubject& subject) {
  Outcomes outcomes;
  const auto& variables = subject.environment.variables;
  std::set<std::string> seen;
  for (const Variable& variable : variables) {
    const Variable* last = subject.environment.find(variable.name);
    if (last == &variable || !seen.insert(variable.name).second) continue;
    if (last->known && variable.known && last->value == variable.value) continue;
    outcomes.push_back({Status::kWarn,
                        shown(variable) + " is set again with another value; the last counts",
                        last->known
                            ? set_line(subject, variable.name, last->value) + "\n# and no other line with it"
                            : "# keep one line with " + variable.name,
                        {variable.where, last->where}});
  }
  if (outcomes.empty() && !variables.empty()) return passed();
  return outcomes;
}

constexpr Check<EnvSubject> kRules[] = {
    {"old-name", "each variable has the name that these releases prefer",
     "An old name still works as long as both are read, and then it silently does not.", &renamed},
    {"too-new", "each variable is read by these releases",
     "What is not read has no effect, and nobody says so.", &too_new},
    {"unknown-name", "no name is misspelt", "A variable that nobody reads has no effect, and nobody says so.",
     &misspelt},
    {"not-a-number", "each value is parsed as it is meant",
     "NCCL reads numbers only and never complains; PyTorch reads a word it does not know as an error.",
     &not_parsed},
    {"wrong-word", "each value is one of those that are known", "The setting does not do what it says.",
     &wrong_word},
    {"quoting", "values arrive as they are written",
     "The process gets another value than the one that is read here.", &quotes},
    {"set-twice", "no variable is set twice with different values",
     "Who reads the file sees one value, and the process gets another.", &twice},
};

}  // namespace

std::span<const Check<EnvSubject>> env_rules_of_values() {
  return kRules;
}

}  // namespace unhang::checks
