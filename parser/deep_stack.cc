#include "parser/deep_stack.h"

#include <pthread.h>

#include <cstddef>
#include <exception>

#include "sql/error.h"
#include "sql/value_errors.h"

namespace redquel::parser {
namespace {

constexpr std::size_t kStackBytes = std::size_t{128} << 20;

struct Job {
  const std::function<void()>& work;
  std::exception_ptr error;
};

void* run_job(void* argument) {
  Job& job = *static_cast<Job*>(argument);
  try {
    job.work();
  } catch (...) {
    job.error = std::current_exception();
  }
  return nullptr;
}

}  // namespace

void run_on_deep_stack(const std::function<void()>& work) {
  Job job{work, nullptr};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread;
  const int failure = pthread_create(&thread, &attributes, run_job, &job);
  pthread_attr_destroy(&attributes);
  if (failure != 0) throw sql::out_of_memory().detail("No thread for a deeply nested statement.");
  pthread_join(thread, nullptr);
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace redquel::parser
