// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a line of a mailbox character by character into a buffer, as a driver of Unix mailboxes does.
struct stream {
    const char *next, *end;
    char line[1024];
    long size;
};

char* read_line(struct stream* from) {
    char* out = from->line;
    from->size = 0;
    while (from->next < from->end) {
        char character = *from->next++;
        *out++ = character;
        from->size++;
        if (character == '\n' || from->size == (long)sizeof from->line - 1) break;
    }
    *out = 0;
    return from->size ? from->line : 0;
}
