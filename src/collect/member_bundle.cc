// SPDX-License-Identifier: Apache-2.0
#include "collect/member_bundle.h"

#include <algorithm>
#include <utility>

#include "base/printable.h"
#include "formats/bundle/bundle_manifest.h"
#include "formats/evidence.h"

namespace unhang::collect {
namespace {

constexpr std::string_view kManifest = "manifest.json";
constexpr std::uint64_t kLargestManifest = 32 << 20;
// A bundle is a folder of folders of files.
constexpr std::ptrdiff_t kDeepest = 4;
constexpr std::size_t kLongestPath = 512;

bool is_manifest(const std::string& text) {
  formats::Evidence evidence;
  formats::bundle::parse_manifest(text, evidence);
  return evidence.bundles.size() == 1;
}

}  // namespace

MemberBundle::MemberBundle(CaptureContext& context, std::string folder, BundleTarLimits limits)
    : x_context(context),
      x_folder(std::move(folder)),
      x_reader({[this](const std::string& path, std::uint64_t size) { return begin(path, size); },
                [this](std::string_view more) { return bytes(more); }, [this] { return end(); }},
               limits) {}

bool MemberBundle::feed(std::string_view more) {
  return x_fault.empty() && x_reader.feed(more);
}

bool MemberBundle::refuse(std::string why) {
  x_fault = std::move(why);
  return false;
}

bool MemberBundle::begin(const std::string& path, std::uint64_t size) {
  if (path == kManifest) {
    if (size > kLargestManifest) return refuse("what it sent has a manifest that is too large");
    x_manifest.clear();
    return true;
  }
  if (!x_has_manifest) return refuse("what it sent is no bundle: it does not begin with a manifest");
  if (path.size() > kLongestPath || std::count(path.begin(), path.end(), '/') > kDeepest)
    return refuse("what it sent has a path that is too long or too deep");
  // Other names that a bundle never has could meet when they are made harmless.
  if (clean_path(path) != path) return refuse("what it sent has a name that no bundle has; not taken");
  if (!x_paths.insert(path).second) return refuse("what it sent has a file twice");
  // A file where a folder is needed, or the other way round.
  for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    if (x_paths.count(path.substr(0, slash)) != 0) return refuse("what it sent has a file in a file");
  }
  if (const auto next = x_paths.lower_bound(path + "/");
      next != x_paths.end() && next->starts_with(path + "/"))
    return refuse("what it sent has a file in a file");
  auto entry = x_context.open(x_folder + "/" + path);
  if (!entry) return refuse(std::move(entry.error().message));
  x_entry.emplace(std::move(*entry));
  return true;
}

bool MemberBundle::bytes(std::string_view more) {
  if (!x_entry) {
    x_manifest += more;
    return true;
  }
  const auto written = x_entry->write(more);
  return written ? true : refuse(written.error().message);
}

bool MemberBundle::end() {
  if (!x_entry) return end_manifest();
  model::BundleFile facts;
  facts.captured_ns = x_context.wall_ns();
  BundleEntry entry = std::move(*x_entry);
  x_entry.reset();
  if (const auto closed = x_context.close(std::move(entry), std::move(facts)); !closed)
    return refuse(closed.error().message);
  ++x_kept;
  return true;
}

bool MemberBundle::end_manifest() {
  if (!is_manifest(x_manifest)) return refuse("what it sent is no bundle: its manifest is none");
  if (const auto put = x_context.put_manifest(x_folder, x_manifest); !put) return refuse(put.error().message);
  x_has_manifest = true;
  return true;
}

}  // namespace unhang::collect
