// Asio's function bodies, compiled once for the whole program (BOOST_ASIO_SEPARATE_COMPILATION in CMakeLists.txt).

#include <boost/asio/impl/src.hpp>
