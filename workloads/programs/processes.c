/* SPDX-License-Identifier: GPL-2.0-or-later
 * Processes and mappings that the guest's kernel tells of: a heap, anonymous memory that moves, a thread, a
 * child with memory of its own, and the program itself, executed again. Dynamic: it maps the C library.
 *
 * With the argument "again" it only ends with code 7. Its region never ends. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "marker.h"

enum { pages = 16, page = 4096, code = 7 };

static char* map(size_t bytes) {
    char* const memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) exit(1);
    memory[0] = 1;
    return memory;
}

static void show(const char* name, const void* address) {
    printf("{\"event\": \"address\", \"of\": \"%s\", \"pid\": %d, \"at\": %lu}\n", name, getpid(),
           (unsigned long)address);
    fflush(stdout);
}

static void* thread(void* unused) {
    int local = 0;
    show("thread", &local);
    return unused;
}

static void bind_processors(void) {
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    for (long p = 0; p < processors; ++p) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET((size_t)p, &set);
        if (sched_setaffinity(0, sizeof set, &set) != 0) exit(1);
        MARK(mark_processor, p);
    }
}

int main(int count, char** words) {
    if (count > 1 && strcmp(words[1], "again") == 0) return code;
    int local = 0;
    bind_processors();
    MARK(mark_region_begin, 0);
    char* const heap = malloc(100);
    char* moved = map(pages * page);
    map(page); /* the memory cannot grow in its place */
    moved = mremap(moved, pages * page, 2 * pages * page, MREMAP_MAYMOVE);
    if (heap == NULL || moved == MAP_FAILED) return 1;
    moved[pages * page] = 1;
    show("heap", heap);
    show("stack", &local);
    show("moved", moved + pages * page);
    show("main", (void*)main);
    show("library", (void*)qsort);
    pthread_t other;
    if (pthread_create(&other, NULL, thread, NULL) != 0) return 1;
    pthread_join(other, NULL);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        show("child", map(page));
        show("inherited", moved + pages * page);
        execl(words[0], words[0], "again", NULL);
        _exit(1);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != code) return 1;
    return 0;
}
