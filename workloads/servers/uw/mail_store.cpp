// SPDX-License-Identifier: GPL-2.0-or-later
#include "mail_store.h"

#include <sys/file.h>
#include <unistd.h>

#include "c_client.h"

namespace s80::uw {

namespace {

constexpr const char* kHost = "mail.s80.example";

char* text(const std::string& value) {
    return const_cast<char*>(value.c_str());  // c-client's parameters are not const
}

void set(long parameter, const void* value) {
    mail_parameters(nullptr, parameter, const_cast<void*>(value));
}

/// c-client's own holds alarms back around each malloc() and free(), a system call every time: three quarters
/// of all that a session makes. No alarm is ever set here.
void* hold_no_alarms(int, void* data) {
    return data;
}

/// The file of a mailbox, as the unix driver finds it.
std::string file_of(const std::string& mailbox) {
    char path[MAILTMPLEN];
    const char* found = mailboxfile(path, text(mailbox));
    if (found == nullptr) {
        return {};
    }
    return *found == '\0' ? sysinbox() : found;
}

}  // namespace

void begin_mail(const std::string& user, const std::string& home) {
    set(SET_BLOCKNOTIFY, reinterpret_cast<const void*>(&hold_no_alarms));
    mail_link(&unixdriver);
    mail_link(&dummydriver);  // empty files, and directories
    // Neither DNS nor the password file is asked for anything.
    set(SET_LOCALHOST, kHost);
    set(SET_DISABLEAUTOSHAREDNS, VOIDT);
    env_init(text(user), text(home + "/mail"));
    set(SET_SYSINBOX, (home + "/inbox").c_str());
    // Where no lock file can be made beside a mailbox, flock() alone has to do, without a word.
    set(SET_LOCKEACCESERROR, nullptr);
}

void check_mailbox_name(const std::string& name) {
    const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
    constexpr std::string_view kSpecial = "/~#{";
    constexpr std::size_t kLongest = 200;  // c-client's buffers hold the home and this
    if (name.empty() || name.size() > kLongest || kSpecial.find(name.front()) != std::string_view::npos ||
        name.find("..") != std::string::npos || name.find("//") != std::string::npos ||
        std::any_of(name.begin(), name.end(), control)) {
        throw Refused("Not allowed as a mailbox name");
    }
}

std::vector<Listed> list_mailboxes(const std::string& reference, const std::string& pattern) {
    if (!reference.empty()) {
        check_mailbox_name(reference);
    }
    if (!pattern.empty()) {
        check_mailbox_name(pattern);
    }
    events().listed.clear();
    mail_list(nullptr, text(reference), text(pattern));
    return std::move(events().listed);
}

void create_mailbox(const std::string& name) {
    check_mailbox_name(name);
    const std::string as_mbox = "#driver.unix/" + name;
    if (!mail_create(nullptr, text(name == "INBOX" ? name : as_mbox))) {
        throw Refused(events().take_error("CREATE failed"));
    }
}

void delete_mailbox(const std::string& name) {
    check_mailbox_name(name);
    if (!mail_delete(nullptr, text(name))) {
        throw Refused(events().take_error("DELETE failed"));
    }
}

void rename_mailbox(const std::string& from, const std::string& to) {
    check_mailbox_name(from);
    check_mailbox_name(to);
    if (!mail_rename(nullptr, text(from), text(to))) {
        throw Refused(events().take_error("RENAME failed"));
    }
}

void append_message(const std::string& mailbox, const std::string& flags, const std::string& date,
                    const std::string& message) {
    check_mailbox_name(mailbox);
    STRING source;
    INIT(&source, mail_string, text(message), message.size());
    if (!mail_append_full(nullptr, text(mailbox), flags.empty() ? nullptr : text(flags),
                          date.empty() ? nullptr : text(date), &source)) {
        throw Refused(events().take_error("APPEND failed"));
    }
}

/// A writer holds the same lock as a session that has the mailbox selected, without its process number in the
/// lock file; a SELECT that meets it would be given the mailbox read-only.
void await_writers(const std::string& mailbox) {
    constexpr useconds_t kMomentUs = 2000;
    constexpr int kMost = 5000;
    const std::string file = file_of(mailbox);
    for (int moments = 0; moments < kMost && !file.empty(); ++moments) {
        char lock[MAILTMPLEN];
        long holder = 0;
        const int fd = lockname(lock, text(file), LOCK_EX | LOCK_NB, &holder);
        if (fd >= 0) {
            unlink(lock);  // while it is held: whoever waits for it then makes a new one
            close(fd);
            return;
        }
        if (holder != 0 || access(file.c_str(), F_OK) != 0) {
            return;
        }
        usleep(kMomentUs);
    }
}

}  // namespace s80::uw
