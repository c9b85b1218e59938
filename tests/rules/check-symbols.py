#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""check-symbols NM LIBGSTNMS STATIC [--library NAME FILE DEBIAN HEADER...]...: the symbols.

A library exports exactly the functions that its public headers declare and that DEBIAN, the symbols
file of its package, lists. It uses only a listed few of the C library and of the math library, and
libnmsaccel what libnmscore exports. The plugin exports the two entry points of a plugin and
contains nmscore. So does the archive STATIC, - if there is none; only weak symbols of C++, which
never clash, are allowed beside them.
"""
import re
import subprocess
import sys

from projectfiles import finish

CORE = {
    # memory and text
    "aligned_alloc", "calloc", "free", "madvise", "malloc", "posix_memalign", "realloc",
    "bcmp", "memcmp", "memcpy", "memmove", "memset", "strcmp", "strlen", "snprintf", "vsnprintf",
    # the instruction set: NMS_ISA, read once
    "getenv", "pthread_once",
    # the threads of nms_run_batch, and the lock of an added engine
    "getpid", "pthread_mutex_init", "pthread_mutex_destroy", "pthread_mutex_lock",
    "pthread_mutex_unlock", "pthread_cond_init", "pthread_cond_destroy", "pthread_cond_wait",
    "pthread_cond_broadcast", "pthread_create", "pthread_join", "pthread_sigmask", "sigfillset",
    # a number that nobody can predict
    "clock_gettime",
    # the floating-point mode, on architectures without access to its register
    "fegetenv", "fesetenv", "feholdexcept",
    # computing a few values in each run
    "fmod", "nextafter", "nextafterf", "rint",
}
ACCEL = CORE | {
    # loading plugins, their one client in a process, and the threads that call them
    "dlopen", "dlsym", "dlerror", "strchr", "strcspn", "strncmp", "pthread_detach",
    "pthread_cond_timedwait", "__cxa_atexit", "__cxa_thread_atexit_impl", "gettid",
    # ending a process in which threads of a plugin still run
    "on_exit", "_exit", "ftrylockfile", "fflush", "stdout",
    # the files of plugins
    "close", "stat", "stat64", "access",
    # the program that opens a plugin first
    "environ", "__environ", "kill", "pipe2", "poll",
    "posix_spawn", "posix_spawn_file_actions_adddup2",
    "posix_spawn_file_actions_addopen", "posix_spawn_file_actions_destroy",
    "posix_spawn_file_actions_init", "posix_spawnattr_destroy", "posix_spawnattr_init",
    "posix_spawnattr_setflags", "posix_spawnattr_setpgroup", "posix_spawnattr_setsigdefault",
    "posix_spawnattr_setsigmask", "read", "sigemptyset", "strsignal", "strtol", "waitpid",
    # programs of lazy tensors: their text
    "open_memstream", "fprintf", "fputs", "fputc", "fwrite", "ferror", "fclose",
    "strrchr", "strstr", "qsort",
    # files of compiled programs
    "open", "open64", "fstat", "fstat64", "pread", "pread64", "fdopen", "geteuid", "mkdir",
    "mkostemp", "mkostemp64",
    "rename", "uname", "unlink",
}
NEEDED = {"nmscore": CORE, "nmsaccel": ACCEL}
# symbols that compilers, C run-times and sanitizers add
ADDED = re.compile(r"__\w+_chk$|__stack_chk_fail$|__cxa_finalize$|__gmon_start__$|_ITM_\w+$"
                   r"|__(asan|ubsan|tsan|msan|lsan|sanitizer|gcov|llvm|tls)_\w+$"
                   r"|__(isoc\w+|errno_location)$")


def symbols(nm, library, which):
    """Returns name -> type of the dynamic symbols, without their versions."""
    out = subprocess.run([nm, "-D", which, library], check=True, text=True,
                         stdout=subprocess.PIPE).stdout
    found = {}
    for line in out.splitlines():
        fields = line.split()
        if len(fields) >= 2:
            found[fields[-1].split("@")[0]] = fields[-2]
    return found


def archive_symbols(nm, archive):
    """Returns the names of the global symbols that are not weak."""
    out = subprocess.run([nm, "-g", "--defined-only", archive], check=True, text=True,
                         stdout=subprocess.PIPE).stdout
    fields = [line.split() for line in out.splitlines()]
    return {f[-1] for f in fields if len(f) == 3 and f[1] not in "VWu"}


def declared(header):
    with open(header, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    text = re.sub(r"^#.*$", "", text, flags=re.M)
    return set(re.findall(r"\bNMS_API\b[^;(]*?\b(\w+)\s*\(", text)), \
        set(re.findall(r"\b(nms_\w+)\s*\((?!\*)[^;{}]*\)\s*;", text))


def library_problems(nm, name, file, debian, headers, offered):
    """Yields the problems of a library. Adds what it exports to `offered`."""
    marked = set()
    for header in headers:
        with_api, prototypes = declared(header)
        marked |= with_api
        for function in sorted(prototypes - with_api):
            yield "%s: %s is declared without NMS_API" % (header, function)
        for function in sorted(with_api):
            if not function.startswith("nms_"):
                yield "%s: %s does not start with nms_" % (header, function)

    exported = {n for n, kind in symbols(nm, file, "--defined-only").items() if kind != "A"}
    for function in sorted(exported - marked):
        yield "lib%s exports %s, which no public header declares" % (name, function)
    for function in sorted(marked - exported):
        yield "lib%s does not export %s, which a public header declares" % (name, function)

    with open(debian, encoding="utf-8") as symbols_file:
        listed = set(re.findall(r"^ (nms_\w+)@", symbols_file.read(), re.M))
    for function in sorted(listed ^ exported):
        yield "lib%s or %s lacks %s" % (name, debian, function)

    for needed in sorted(symbols(nm, file, "--undefined-only")):
        if needed not in NEEDED[name] | offered and not ADDED.match(needed):
            yield "lib%s needs %s" % (name, needed)
    offered |= exported


def main():
    nm, plugin, static = sys.argv[1:4]
    problems, offered = [], set()
    starts = [i for i, word in enumerate(sys.argv) if word == "--library"] + [len(sys.argv)]
    for start, end in zip(starts, starts[1:]):
        name, file, debian, *headers = sys.argv[start + 1:end]
        problems += library_problems(nm, name, file, debian, headers, offered)

    entries = symbols(nm, plugin, "--defined-only")
    points = {"gst_plugin_nms_get_desc", "gst_plugin_nms_register"}
    for name in sorted(set(entries) - points):
        problems.append("the plugin exports %s" % name)
    for name in sorted(points - set(entries)):
        problems.append("the plugin lacks %s" % name)
    for name in sorted(symbols(nm, plugin, "--undefined-only")):
        if name.startswith("nms_"):
            problems.append("the plugin takes %s from outside" % name)

    if static != "-":
        for name in sorted(archive_symbols(nm, static) ^ points):
            problems.append("the static plugin exports %s, or lacks it" % name)

    finish(problems, len(offered) and len(offered) + len(entries))


if __name__ == "__main__":
    main()
