// SPDX-License-Identifier: GPL-2.0-or-later
#include "callbacks.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "c_client.h"

namespace s80::uw {

Events& events() {
    static Events all;
    return all;
}

std::string Events::take_error(const char* otherwise) {
    return error.empty() ? std::string(otherwise) : std::exchange(error, {});
}

}  // namespace s80::uw

using s80::uw::events;

extern "C" {

void mm_searched(MAILSTREAM*, unsigned long number) {
    events().searched.push_back(number);
}

void mm_exists(MAILSTREAM*, unsigned long) {}  // the session looks at the count itself

void mm_expunged(MAILSTREAM* stream, unsigned long number) {
    if (stream != events().selected) {
        return;
    }
    events().expunged.push_back(number);
    std::erase(events().flagged, number);
    for (unsigned long& flagged : events().flagged) {
        if (flagged > number) {
            --flagged;
        }
    }
}

void mm_flags(MAILSTREAM* stream, unsigned long number) {
    if (stream == events().selected) {
        events().flagged.push_back(number);
    }
}

void mm_notify(MAILSTREAM*, char* text, long) {
    events().error = text;  // among them [TRYCREATE]
}

void mm_list(MAILSTREAM*, int delimiter, char* name, long attributes) {
    events().listed.push_back({name, static_cast<char>(delimiter), attributes});
}

void mm_lsub(MAILSTREAM*, int, char*, long) {}
void mm_status(MAILSTREAM*, char*, MAILSTATUS*) {}

void mm_log(char* text, long kind) {
    if (kind == ERROR || kind == WARN) {
        events().error = text;
    }
}

void mm_dlog(char*) {}
void mm_login(NETMBX*, char*, char*, long) {}
void mm_critical(MAILSTREAM*) {}  // no signal comes while c-client works
void mm_nocritical(MAILSTREAM*) {}

/// Writing a mailbox has failed. Where that leaves it half-written c-client tries again until it can.
long mm_diskerror(MAILSTREAM*, long code, long serious) {
    std::fprintf(stderr, "s80-uw: writing a mailbox failed: %s\n", strerror(static_cast<int>(code)));
    if (serious != 0) {
        sleep(1);
    }
    return serious == 0;
}

void mm_fatal(char* text) {
    std::fprintf(stderr, "s80-uw: fatal error in c-client: %s\n", text);
}
}
