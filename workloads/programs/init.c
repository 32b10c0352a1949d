/* SPDX-License-Identifier: GPL-2.0-or-later
 * The guest's first process: executes the programs that /runs names, one after the other. A line of
 * /runs has the name of a program and its arguments. What a program prints goes to the guest's second
 * serial port, one JSON object a line. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

enum { most_words = 8, longest_line = 256 };

static void report(const char* event, const char* message) {
    printf("{\"event\": \"%s\", \"message\": \"%s\"}\n", event, message);
    fflush(stdout);
}

static void sleep_forever(void) {
    for (;;) pause();
}

static void fail(const char* message) {
    report("error", message);
    sleep_forever();
}

static void execute(char* line) {
    char* words[most_words + 1] = {0};
    int count = 0;
    for (char* word = strtok(line, " \n"); word != NULL && count < most_words; word = strtok(NULL, " \n")) {
        words[count++] = word;
    }
    const pid_t child = fork();
    if (child == 0) {
        execv(words[0], words);
        _exit(127);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) fail("a program failed");
}

int main(void) {
    mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
    const int output = open("/dev/ttyS1", O_RDWR);
    if (output < 0 || dup2(output, 1) < 0) sleep_forever();
    FILE* const runs = fopen("/runs", "r");
    if (runs == NULL) fail("/runs cannot be read");
    char line[longest_line];
    while (fgets(line, sizeof line, runs) != NULL) execute(line);
    report("result", "all programs have ended");
    sleep_forever();
}
