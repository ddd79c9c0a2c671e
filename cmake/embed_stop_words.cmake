# cmake -DROOT=<source folder> -DOUTPUT=<file.cc> -P embed_stop_words.cmake
#
# Writes the files sql/text_search/stop_words/LANGUAGE.txt as C++ constants: stop_word_lists() of sql/text_search/stop_words.h.
cmake_policy(VERSION 3.25)
set(entries "")
file(GLOB files ${ROOT}/sql/text_search/stop_words/*.txt)
foreach(file IN LISTS files)
  get_filename_component(language ${file} NAME_WE)
  file(READ ${file} words)
  string(APPEND entries "    {\"${language}\", R\"words(${words})words\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Made by cmake/embed_stop_words.cmake.\n#include \"sql/text_search/stop_words.h\"\n\nnamespace {\nconst redquel::sql::text_search::StopWordList kLists[] = {\n${entries}};\n}\n\nstd::span<const redquel::sql::text_search::StopWordList> redquel::sql::text_search::stop_word_lists() { return kLists; }\n")
