#pragma once

namespace redquel::sql {

/// A visitor of a variant, made of one function per alternative. A missing alternative does not compile.
template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};

}  // namespace redquel::sql
