// SPDX-License-Identifier: Apache-2.0
//
// How a call across rooms says that something outside went wrong.
//
//   Result<Dump> parse(bytes);            // a value or an Error
//   if (!r) return std::unexpected-like:  return fail(std::move(r.error()).with("reading node3/dump_7"));
//
// What is wrong *inside an input file* is not an Error: it is an ImportProblem (model/import_problem.h), the
// run goes on. What cannot happen at all is a CHECK (base/check.h). Exceptions never cross a file boundary:
// the one file that wraps a throwing library catches them. The alias hides tl::expected, which std::expected
// can replace one day.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace unhang::base {

// What kind of trouble; the command line maps each to an exit code of sysexits.h (DESIGN: cli).
enum class ErrorCode {
  kUsage,        // 64: the call itself is wrong
  kData,         // 65: there is input, and none of it can be read
  kNoInput,      // 66: the input does not exist or cannot be opened
  kUnavailable,  // 69: a service or tool that is needed does not answer
  kInternal,     // 70: our fault
  kIo,           // 74: reading or writing failed
  kTryAgain,     // 75: may work later
  kConfig,       // 78: a configuration file is wrong
};

// A message for a person: what, where, what to do. `with` adds outer context in front ("reading x: no such
// file").
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;

  Error with(const std::string& context) && {
    message.insert(0, context + ": ");
    return std::move(*this);
  }
};

template <class T = void>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}
inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace unhang::base
