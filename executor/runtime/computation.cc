#include "executor/runtime/computation.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <cxxabi.h>
#include <vector>

#include "executor/runtime/event_loop_turn.h"
#include "sql/catalog/role_set.h"
#include "sql/computation_pause.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/type.h"
#include "sql/types/user_types.h"
#include "sql/value_errors.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define REDQUEL_ONE_STACK 1  // sanitizers know one stack for each thread
#else
#define REDQUEL_ONE_STACK 0
#endif

namespace redquel::executor {

namespace {

/// The size of a thread's stack. Pages that nothing has touched take no memory.
constexpr std::size_t kStackBytes = std::size_t{8} << 20, kGuardBytes = std::size_t{64} << 10;
/// Left for what the innermost level of a recursion still calls, see check_stack_depth().
constexpr std::size_t kReserve = std::size_t{512} << 10;
/// Stacks of one thread that wait for their next use.
constexpr std::size_t kKeptStacks = 4;

class Stack {
 public:
  Stack() : memory_(::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0)) {
    if (memory_ == MAP_FAILED) throw sql::out_of_memory().detail("There is no memory for a stack.");
    ::mprotect(memory_, kGuardBytes, PROT_NONE);
  }
  ~Stack() { ::munmap(memory_, kStackBytes); }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  void* memory() const { return memory_; }
  std::uintptr_t lowest() const { return reinterpret_cast<std::uintptr_t>(memory_) + kGuardBytes + kReserve; }

 private:
  void* memory_;
};

std::vector<std::unique_ptr<Stack>>& kept_stacks() {
  thread_local std::vector<std::unique_ptr<Stack>> kept;
  return kept;
}

/// The C++ runtime's state of exceptions that the thread handles.
class HandledExceptions {
 public:
  /// Makes these the thread's, and takes those of the thread.
  void exchange() {
    std::array<char, kBytes> of_thread;
    void* const place = abi::__cxa_get_globals();
    std::memcpy(of_thread.data(), place, kBytes);
    std::memcpy(place, bytes_.data(), kBytes);
    bytes_ = of_thread;
  }

 private:
  static constexpr std::size_t kBytes = sizeof(void*) + sizeof(unsigned int);  // of __cxa_eh_globals in the Itanium C++ ABI
  std::array<char, kBytes> bytes_{};
};

}  // namespace

struct Computation::State final : sql::ComputationPause {
  explicit State(std::function<void()> function) : work(std::move(function)) {
    if (!kept_stacks().empty()) {
      stack = std::move(kept_stacks().back());
      kept_stacks().pop_back();
    } else {
      stack = std::make_unique<Stack>();
    }
    ::getcontext(&own);
    own.uc_stack.ss_sp = stack->memory();
    own.uc_stack.ss_size = kStackBytes;
    own.uc_link = &loop;
    const auto address = reinterpret_cast<std::uintptr_t>(this);
    ::makecontext(&own, reinterpret_cast<void (*)()>(&State::begin), 2, static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
  }
  ~State() override {
    if (kept_stacks().size() < kKeptStacks) kept_stacks().push_back(std::move(stack));
  }

  static void begin(unsigned high, unsigned low) {
    auto* const self = reinterpret_cast<State*>((static_cast<std::uintptr_t>(high) << 32) | low);
    try {
      self->work();
    } catch (...) {
      self->failure = std::current_exception();
    }
    self->is_done = true;
    self->handled.exchange();
  }

  void run() {
    sql::ComputationPause* const outer = sql::exchange_pause(this);
    const std::uintptr_t limit = sql::exchange_stack_limit(stack->lowest());
    turn = EventLoopTurn();
    if (!has_begun) types = sql::known_types();
    has_begun = true;
    handled.exchange();
    const sql::KnownTypes* const outer_types = sql::exchange_known_types(types);
    ::swapcontext(&loop, &own);
    types = sql::exchange_known_types(outer_types);
    sql::exchange_stack_limit(limit);
    sql::exchange_pause(outer);
  }

  bool is_turn_over() const override { return turn.is_over(); }
  void pause() override {
    handled.exchange();
    ::swapcontext(&own, &loop);
    if (must_end) throw sql::SqlError(sqlstate::kQueryCanceled, "canceling statement due to user request");
  }

  std::function<void()> work;
  const sql::RoleSetPtr roles = sql::known_roles();  // others may make new ones known meanwhile
  const sql::KnownTypes* types = nullptr;  // of the function's innermost scope, while it stands still
  std::unique_ptr<Stack> stack;
  ucontext_t loop{}, own{};
  HandledExceptions handled;  // of the function while it stands still, of the thread while it runs
  EventLoopTurn turn;
  std::exception_ptr failure;
  bool has_begun = false, is_done = false, must_end = false;
};

Computation::Computation(std::function<void()> work) : state_(std::make_unique<State>(std::move(work))) {}

Computation::~Computation() {
  state_->must_end = true;
  while (state_->has_begun && !state_->is_done) state_->run();
}

bool Computation::resume() {
#if REDQUEL_ONE_STACK
  state_->work();
  return true;
#else
  state_->run();
  if (state_->failure) std::rethrow_exception(state_->failure);
  return state_->is_done;
#endif
}

bool may_take_long(std::span<const sql::ExpressionPtr> expressions) {
  const auto is_long = [](const sql::Expression& one) {
    const sql::TypeInfo* const type = sql::find_type(one.type.oid);
    return type == nullptr || type->length < 0;
  };
  return std::ranges::any_of(expressions, [&](const sql::ExpressionPtr& expression) {
    if (!expression || std::holds_alternative<sql::ColumnRef>(expression->node) || std::holds_alternative<sql::Constant>(expression->node)) return false;
    bool found = is_long(*expression);
    sql::for_each_child(*expression, [&](const sql::ExpressionPtr& child) { found = found || is_long(*child) || may_take_long({&child, 1}); });
    return found;
  });
}

}  // namespace redquel::executor
