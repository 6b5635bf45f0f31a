// SPDX-License-Identifier: Apache-2.0
#include "collect/bundle_stream.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <sstream>
#include <system_error>
#include <thread>
#include <vector>

#include "collect/bundle_tar.h"
#include "os/paced_output.h"

namespace unhang::collect {
namespace {

namespace fs = std::filesystem;

// How often it is looked for files that are new.
constexpr std::chrono::milliseconds kLooking{400};
constexpr std::string_view kManifest = "manifest.json";

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace

class BundleStream::Sender {
 public:
  Sender(std::string folder, int fd, std::chrono::steady_clock::time_point deadline,
         std::function<void()> on_broken)
      : x_folder(std::move(folder)), x_fd(fd), x_deadline(deadline), x_on_broken(std::move(on_broken)) {
    x_thread = std::thread([this] { run(); });
  }
  ~Sender() { finish(); }

  bool finish() {
    {
      const std::lock_guard lock(x_mutex);
      x_ending = true;
      x_changed.notify_all();
    }
    if (x_thread.joinable()) x_thread.join();
    return x_well;
  }

 private:
  void run() {
    for (bool last = false; x_well && !last;) {
      {
        std::unique_lock lock(x_mutex);
        x_changed.wait_for(lock, kLooking, [this] { return x_ending; });
        last = x_ending;
      }
      send_news();
    }
    if (x_well) send(tar_end());
    if (!x_well) x_on_broken();
  }

  // The manifest is read first and sent last: what it lists is there by then.
  void send_news() {
    const std::string manifest = content(x_folder + "/" + std::string(kManifest));
    // Whoever reads finds the beginning by the manifest.
    if (x_sent_manifest.empty() && !manifest.empty()) send_manifest(manifest);
    if (x_sent_manifest.empty()) return;
    for (const std::string& path : new_files()) {
      if (x_well) send_file(path);
    }
    if (x_well && manifest != x_sent_manifest) send_manifest(manifest);
  }

  void send_manifest(const std::string& manifest) {
    send(tar_header(kManifest, manifest.size()) + manifest + tar_padding(manifest.size()));
    x_sent_manifest = manifest;
  }

  std::vector<std::string> new_files() {
    std::vector<std::string> out;
    std::error_code error;
    for (fs::recursive_directory_iterator at(x_folder, error), end; !error && at != end;
         at.increment(error)) {
      const std::string name = at->path().filename().string();
      // What is not whole yet is hidden.
      if (name.starts_with('.') || !at->is_regular_file(error)) continue;
      const std::string path = at->path().lexically_relative(x_folder).string();
      if (path != kManifest && x_sent.insert(path).second) out.push_back(path);
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  void send_file(const std::string& path) {
    std::ifstream file(x_folder + "/" + path, std::ios::binary);
    std::error_code error;
    std::uint64_t left = fs::file_size(x_folder + "/" + path, error);
    // What nobody would take is left out; the manifest lists it all the same.
    if (error || !file || left > BundleTarLimits().max_file_bytes) return;
    send(tar_header(path, left));
    const std::string padding = tar_padding(left);
    std::array<char, 1 << 16> piece;
    while (x_well && left > 0) {
      const auto wanted = static_cast<std::streamsize>(std::min<std::uint64_t>(left, piece.size()));
      file.read(piece.data(), wanted);
      // A file of a bundle does not change; where the disk fails the stream cannot go on.
      if (file.gcount() <= 0) x_well = false;
      send({piece.data(), static_cast<std::size_t>(file.gcount())});
      left -= static_cast<std::uint64_t>(file.gcount());
    }
    send(padding);
  }

  void send(std::string_view bytes) { x_well = x_well && os::write_until(x_fd, bytes, x_deadline); }

  const std::string x_folder;
  const int x_fd;
  const std::chrono::steady_clock::time_point x_deadline;
  const std::function<void()> x_on_broken;
  std::set<std::string> x_sent;
  std::string x_sent_manifest;
  bool x_well = true;  // of the thread, until it has ended
  std::mutex x_mutex;
  std::condition_variable x_changed;
  bool x_ending = false;
  std::thread x_thread;
};

BundleStream::BundleStream(std::string folder, int fd, std::chrono::steady_clock::time_point deadline,
                           std::function<void()> on_broken)
    : x_sender(std::make_shared<Sender>(std::move(folder), fd, deadline, std::move(on_broken))) {}
BundleStream::~BundleStream() = default;

bool BundleStream::finish() {
  return x_sender->finish();
}

}  // namespace unhang::collect
