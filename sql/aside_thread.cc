#include "sql/aside_thread.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <ranges>
#include <thread>
#include <utility>
#include <vector>

#include "sql/interrupts.h"

namespace redquel::sql {

namespace {

constexpr std::size_t kMostThreads = 8;
constexpr int kLowPriority = 10;
/// The time between two checks of the interrupts. The waiting thread serves nothing else meanwhile.
constexpr std::chrono::microseconds kPatience{200};

constinit thread_local bool is_aside = false;

struct Outcome {
  std::mutex mutex;
  std::condition_variable ended;
  bool is_done = false;
  std::exception_ptr failure;
};

}  // namespace

std::shared_ptr<AsideThread> AsideThread::least_busy() {
  struct Threads {
    std::mutex mutex;
    std::vector<std::shared_ptr<AsideThread>> all;
  };
  static Threads& threads = *new Threads;  // the threads use it until the process has ended
  const std::lock_guard lock(threads.mutex);
  const auto least = std::ranges::min_element(threads.all, {}, &AsideThread::tasks);
  if (least != threads.all.end() && ((*least)->tasks() == 0 || threads.all.size() == kMostThreads)) return *least;
  const std::shared_ptr<AsideThread> started(new AsideThread);
  std::thread([started] { started->serve(); }).detach();
  return threads.all.emplace_back(started);
}

bool AsideThread::is_current() { return is_aside; }

std::size_t AsideThread::tasks() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size() + (is_working_ ? 1 : 0);
}

void AsideThread::run(std::function<void()> work) {
  const auto outcome = std::make_shared<Outcome>();
  post([outcome, task = std::move(work)]() mutable {
    std::exception_ptr failure;
    try {
      task();
    } catch (...) {
      failure = std::current_exception();
    }
    task = nullptr;  // what it owns is destroyed in this thread
    const std::lock_guard lock(outcome->mutex);
    outcome->failure = std::move(failure);
    outcome->is_done = true;
    outcome->ended.notify_one();
  });
  std::unique_lock lock(outcome->mutex);
  while (!outcome->ended.wait_for(lock, kPatience, [&] { return outcome->is_done; })) {
    lock.unlock();
    check_interrupts();
    lock.lock();
  }
  if (outcome->failure) std::rethrow_exception(std::exchange(outcome->failure, nullptr));
}

void AsideThread::post(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(work));
  changed_.notify_one();
}

void AsideThread::serve() {
  is_aside = true;
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kLowPriority);  // Linux: of this thread alone
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return !waiting_.empty(); });
    std::function<void()> task = std::move(waiting_.front());
    waiting_.pop_front();
    is_working_ = true;
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
    is_working_ = false;
  }
}

}  // namespace redquel::sql
