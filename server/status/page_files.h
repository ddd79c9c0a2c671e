#pragma once

#include <span>
#include <string_view>

namespace redquel::server {

/// A file of the folder server/status/page, made part of the program by cmake/embed_page.cmake.
struct PageFile {
  std::string_view path, type, text;
};

std::span<const PageFile> page_files();

}  // namespace redquel::server
