# ccache in front of the compiler and mold behind it, when they are installed.
#
# ccache must be told that precompiled headers are trustworthy (pch_defines, time_macros) and that the build directory is no
# part of the result (base_dir, nohashdir): then several build directories share their hits.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
    CCACHE_NOHASHDIR=1
    ${CMAKE_SOURCE_DIR}/cmake/cached_compiler ${CCACHE_PROGRAM})
endif()

find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()
