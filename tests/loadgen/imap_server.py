# SPDX-License-Identifier: GPL-2.0-or-later
"""An IMAP server for tests. It may use every form of reply that RFC 3501, RFC 9051 and their extensions allow.

Each connection has mailboxes of its own, so that the server needs no locks.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import re
import select
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

FORMS = {
    "plain": "the usual replies",
    "rev2": "IMAP4rev2 alone: no RECENT, ESEARCH, extended LIST data, a literal of at most 4096 bytes without waiting",
    "warnings": "untagged NO and BAD in the replies to commands that succeed",
    "quoted": "texts as quoted strings, with escapes",
    "nil": "header texts as NIL",
    "literals": "mailbox names, names of header fields and tags of ESEARCH as literals",
    "binary": "literals announced with ~{n} and {n+}",
    "lower": "keywords, flags and INBOX in lower case",
    "upper": "keywords and flags in upper case",
    "preauth": "a greeting with PREAUTH: LOGIN is an error",
    "text-first": "FETCH items in another order: the text before its size",
    "split": "the items of a message in several FETCH responses",
    "unsolicited": "EXISTS, RECENT, FLAGS, FETCH and EXPUNGE at every time at which they are allowed",
    "codes": "capabilities in response codes, which change after LOGIN; codes that no client knows",
    "braces": "texts for people that end like the announcement of a literal",
    "synchronising": "no LITERAL+: the client waits for the continuation of APPEND, with and without text",
    "extensions": "responses of extensions, with literals and MODSEQ",
    "long": "lines of 200 kB",
    "bytes": "one byte a packet",
    "bye": "an empty BYE before the tagged reply to LOGOUT",
}
"""The forms of replies, and what distinguishes each."""

_HEADER_FIELDS = re.compile(r"BODY(?:\.PEEK)?\[HEADER\.FIELDS \(.*\)\]")


@dataclass
class Message:
    uid: int
    text: bytes
    flags: set[str] = field(default_factory=set)

    @property
    def header(self) -> bytes:
        head, separator, _ = self.text.partition(b"\r\n\r\n")
        return head + separator


class Session:
    """One connection. `line` and `read` return bytes of the client, `write` sends bytes to it."""

    def __init__(
        self, form: str, line: Callable[[], bytes], read: Callable[[int], bytes], write: Callable[[bytes], object]
    ) -> None:
        assert form in FORMS
        self.form, self._line, self._read, self._write = form, line, read, write
        self._numbers = itertools.count(1)
        self.boxes = {name: [self._message() for _ in range(6)] for name in ("INBOX", "Sent", "Drafts", 'a "b" \\ c')}
        self.box: list[Message] = []
        self.selected = ""
        self.tag = ""

    def _message(self) -> Message:
        number = next(self._numbers)
        if self.form == "quoted":  # a quoted string holds no line ends
            return Message(number, f'Subject: the "budget" \\ {number}'.encode())
        text = f"From: a@example.org\r\nSubject: the budget of {number}\r\n\r\nline {{3}}\r\n.\r\n* BYE\r\n"
        return Message(number, text.encode())

    # Output
    def _put(self, text: bytes) -> None:
        self._write(text)

    def say(self, keywords: str, rest: bytes | str = b"", people: str = "") -> None:
        """A line: keywords and flags, whose case is free; bytes that must stay; text for people."""
        if self.form in ("lower", "upper"):
            keywords = keywords.lower() if self.form == "lower" else keywords.upper()
        if people and self.form == "braces":
            people += " {5}"
        rest = rest.encode() if isinstance(rest, str) else rest
        self._put(keywords.encode() + rest + people.encode() + b"\r\n")

    def cased(self, text: str) -> bytes:
        return (text.lower() if self.form == "lower" else text.upper() if self.form == "upper" else text).encode()

    def literal(self, content: bytes) -> bytes:
        return b"{%d}\r\n%b" % (len(content), content)

    def nstring(self, content: bytes, header: bool = False) -> bytes:
        if self.form == "nil" and header:
            return b"NIL"
        if self.form == "quoted" and (header or b"\r\n" not in content):
            content = b"" if header else content
            return b'"' + content.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'
        if self.form == "binary":
            mark = b"~{%d}\r\n" if header else b"{%d+}\r\n"
            return mark % len(content) + content
        return self.literal(content)

    def astring(self, content: str) -> bytes:
        if self.form == "literals":
            return self.literal(content.encode())
        if self.form == "lower" and content == "INBOX":
            return b"inbox"
        if content.isalnum():
            return content.encode()
        return b'"' + content.replace("\\", "\\\\").replace('"', '\\"').encode() + b'"'

    def flags(self, message: Message) -> bytes:
        flags = sorted(message.flags)
        if self.form == "long":
            flags = [f"$Keyword{number}" for number in range(16_000)] + flags
        return self.cased("FLAGS") + b" (" + self.cased(" ".join(flags)) + b")"

    def fetched(self, number: int, *items: bytes) -> None:
        groups = [(item,) for item in items] if self.form == "split" else [items]
        for group in groups:
            self._put(b"* %d " % number + self.cased("FETCH") + b" (" + b" ".join(group) + b")\r\n")

    # Untagged responses that no command asks for
    def interrupt(self, command: str) -> None:
        if self.form == "warnings":
            self.say("* NO ", "[ALERT] ", "Mailbox is at 95% of quota")
            self.say("* BAD ", people="I did not understand something else")
        elif self.form == "extensions":
            self._put(b'* QUOTA "" (STORAGE 10 512)\r\n* XLIST {3}\r\nabc (X {2}\r\n)) "y")\r\n')
            self._put(b"* VANISHED (EARLIER) 300:310\r\n")
            self._put(b'* ENABLED X\r\n* ID ("name" NIL)\r\n* METADATA "" (/shared/a ~{4}\r\n\x00{1})\r\n')
        elif self.form == "codes":
            self.say("* OK ", "[X-UNKNOWN (a b) ", "]] a code")
            self.say("* OK ", "[CAPABILITY IMAP4rev1 LITERAL+ MOVE IDLE] ", "changed")
        elif self.form == "unsolicited" and self.selected:
            self.say("* OK ", people="Still here")
            if command not in ("FETCH", "UID FETCH", "STORE", "SEARCH"):
                extra = self._message()
                self.box.append(extra)
                self.say("* ", f"{len(self.box)} EXISTS")
                self.box.pop(0)
                self.say("* 1 EXPUNGE")
            self.say(f"* {len(self.box)} EXISTS")
            self.say("* 0 RECENT")
            self.say("* FLAGS ", r"(\Answered \Flagged \Deleted \Seen $Own)")
            for number, message in enumerate(self.box, 1):
                self.fetched(number, self.flags(message))

    # Input
    def command(self) -> tuple[str, str] | None:
        """The command without its tag, and its literals put in place; None at the end."""
        text = ""
        while line := self._line():
            text += line.decode("latin-1").rstrip("\r\n")
            announced = re.search(r"\{(\d+)(\+?)\}$", text)
            if not announced:
                tag, _, rest = text.partition(" ")
                return tag, rest
            if not announced[2]:
                assert self.form == "synchronising" or (self.form == "rev2" and int(announced[1]) > 4096), text
                self._put(b"+\r\n" if int(announced[1]) % 2 else b"+ go ahead {5}\r\n")
            else:
                assert self.form != "synchronising" and (self.form != "rev2" or int(announced[1]) <= 4096), text
            text += self._read(int(announced[1])).decode("latin-1")
        return None

    def serve(self) -> None:
        features = "IMAP4rev1 LITERAL+ MOVE IDLE"
        features = {"rev2": "IMAP4rev2", "synchronising": "IMAP4rev1 IDLE MOVE"}.get(self.form, features)
        early = "IMAP4rev1 LITERAL-" if self.form == "codes" else features
        self.say("* PREAUTH " if self.form == "preauth" else "* OK ", f"[CAPABILITY {early}] ", "ready")
        while command := self.command():
            self.tag, text = command
            word = re.match(r"(?:UID )?\w+", text)
            name = word[0].upper() if word else ""
            self.interrupt(name)
            code = ""
            if name == "LOGIN" and self.form == "preauth":
                self.say(f"{self.tag} BAD ", people="already authenticated")
                continue
            if name == "LOGIN" and self.form == "codes":
                code = f"[CAPABILITY {features}] "
            if name == "CAPABILITY":
                self.say("* CAPABILITY ", features)
            elif name == "LOGOUT":
                self.say("* BYE" if self.form == "bye" else "* BYE ", people="" if self.form == "bye" else "see you")
            elif name == "IDLE":
                self.idle()
            else:
                reply = getattr(self, "on_" + name.lower().replace(" ", "_"), None)
                code = (reply(text) if reply else "") or code
            self._put(self.tag.encode() + b" " + self.cased("OK") + b" ")
            self.say("", code, "done")
            if name == "LOGOUT":
                return

    def idle(self) -> None:
        self._put(b"+\r\n" if self.form == "synchronising" else b"+ idling {5}\r\n")
        if self.selected:
            self.box.append(self._message())
            self.say(f"* {len(self.box)} EXISTS")
        assert self._line().strip() in (b"DONE", b"")  # empty: the load has ended

    # Commands
    def mailbox(self, text: str) -> str:
        found = re.search(r'(?:"((?:[^"\\]|\\.)*)"|([^\s"()]+))(?: \(.*\))?$', text)
        assert found, text
        name = re.sub(r"\\(.)", r"\1", found[1]) if found[1] is not None else found[2]
        return "INBOX" if name.upper() == "INBOX" else name

    def on_namespace(self, text: str) -> None:
        self.say("* NAMESPACE ", '(("" "/")) NIL NIL')

    def on_list(self, text: str) -> None:
        self._put(b"* " + self.cased(r"LIST (\Noselect)") + b' "/" ' + self.astring("Gone") + b"\r\n")
        extended = b' ("CHILDINFO" ("SUBSCRIBED"))' if self.form == "rev2" else b""
        if extended:
            self._put(b'* LIST (\\NonExistent \\HasChildren) "/" Never\r\n')
        for name in self.boxes:
            delimiter = b'"\\\\"' if self.form == "quoted" else b"NIL" if self.form == "nil" else b'"/"'
            attributes = self.cased(r"LIST (\HasNoChildren)")
            self._put(b"* " + attributes + b" " + delimiter + b" " + self.astring(name) + extended + b"\r\n")

    def on_select(self, text: str) -> str:
        if self.selected and self.form == "rev2":
            self.say("* OK ", "[CLOSED] ", "Previous mailbox closed")
        self.selected = self.mailbox(text)
        self.box = self.boxes[self.selected]
        self.say("* FLAGS ", self.cased(r"(\Answered \Flagged \Deleted \Seen \Draft)"))
        self.say(f"* {len(self.box)} EXISTS")
        if self.form != "rev2":
            self.say("* 0 RECENT")
        self.say("* OK ", "[UIDVALIDITY 3857529045] ", "valid")
        self.say("* OK ", r"[PERMANENTFLAGS (\Deleted \Seen \*)] ", "limited")
        return "[READ-WRITE] "

    def chosen(self, text: str) -> list[int]:
        by_uid = text.upper().startswith("UID")
        found = re.search(r"(?:FETCH|STORE|COPY|MOVE) (\d+)(?::(\*|\d+))?", text, re.I)
        assert found, text
        highest = self.box[-1].uid if by_uid and self.box else len(self.box)
        low = int(found[1])
        high = highest if found[2] == "*" else int(found[2] or low)
        low, high = min(low, high), max(low, high)
        return [n for n, one in enumerate(self.box, 1) if low <= (one.uid if by_uid else n) <= high]

    def on_fetch(self, text: str) -> None:
        items = text.upper()
        for number in self.chosen(text):
            message = self.box[number - 1]
            uid = self.cased("UID") + b" %d" % message.uid
            size = self.cased("RFC822.SIZE") + b" %d" % len(message.text)
            said = [uid, size, self.flags(message)]
            if self.form == "extensions":
                said += [
                    b"MODSEQ (12121231000)",
                    b'ENVELOPE (NIL "a" (("n" NIL {3}\r\na"b "h")) {2}\r\n))) BODY ("X" (NIL) 3)',
                ]
            if "BODY" in items:
                section = _HEADER_FIELDS.search(items)
                name = self.cased("BODY[HEADER]" if "HEADER" in items else "BODY[]")
                if section:
                    one = self.literal(b"Sub]ject") if self.form == "literals" else b'"From" "a ] ( b"'
                    name = self.cased("BODY[HEADER.FIELDS") + b" (" + one + b" Subject)]"
                header = "HEADER" in items
                place = 0 if self.form == "text-first" else len(said)
                said.insert(place, name + b" " + self.nstring(message.header if header else message.text, header))
            self.fetched(number, *said)

    on_uid_fetch = on_fetch

    def on_store(self, text: str) -> None:
        flags = re.search(r"\((.*)\)", text)
        assert flags, text
        for number in self.chosen(text):
            system = (flag[1:].capitalize() for flag in flags[1].split() if flag.startswith("\\"))
            self.box[number - 1].flags |= {f"\\{flag}" for flag in system}
            self.fetched(number, self.flags(self.box[number - 1]))

    def remove(self, number: int) -> None:
        self.box.pop(number - 1)
        self.say(f"* {number} EXPUNGE")

    def on_expunge(self, text: str) -> None:
        for number in range(len(self.box), 0, -1):
            if "\\Deleted" in self.box[number - 1].flags:
                self.remove(number)
        if len(self.box) < 3:
            self.box += [self._message() for _ in range(3)]
            self.say(f"* {len(self.box)} EXISTS")

    def on_copy(self, text: str) -> str:
        target = self.boxes[self.mailbox(text)]
        target += [Message(next(self._numbers), self.box[number - 1].text) for number in self.chosen(text)]
        if target is self.box:
            self.say(f"* {len(self.box)} EXISTS")
        return "[COPYUID 38505 304 3956] "

    def on_move(self, text: str) -> None:
        numbers = self.chosen(text)
        self.on_copy(text)
        self.say("* OK ", "[COPYUID 38505 304 3956] ", "moved")
        for number in reversed(numbers):
            self.remove(number)

    def on_append(self, text: str) -> str:
        found = re.match(r'APPEND ("(?:[^"\\]|\\.)*"|\S+) \{\d+\+?\}(.*)$', text, re.S)
        assert found, text
        target = self.boxes[self.mailbox(found[1])]
        target.append(Message(next(self._numbers), found[2].encode("latin-1")))
        if target is self.box:
            self.say(f"* {len(self.box)} EXISTS")
        return "[APPENDUID 38505 3955] "

    def on_status(self, text: str) -> None:
        name = self.mailbox(text)
        box = self.boxes[name]
        numbers = f"UIDNEXT {max((one.uid for one in box), default=0) + 1} UNSEEN 0 MESSAGES {len(box)}"
        self._put(b"* " + self.cased("STATUS") + b" " + self.astring(name) + b" (" + self.cased(numbers) + b")\r\n")

    def on_search(self, text: str) -> None:
        subject = re.match(r'SEARCH SUBJECT "?([^"]*)"?$', text, re.I)
        word = subject[1].lower().encode() if subject else b""
        found = [
            number for number, one in enumerate(self.box, 1) if word in one.header.lower() or self.form == "quoted"
        ]
        if self.form in ("rev2", "literals"):
            tag = self.literal(self.tag.encode()) if self.form == "literals" else f'"{self.tag}"'.encode()
            ranges = f"{found[0]}:{found[-1]}" if found else ""
            result = f" ALL {ranges} COUNT {len(found)}" if found else " COUNT 0"
            self._put(b'* ESEARCH (TAG "z9") ALL 1:100\r\n* ESEARCH (TAG ' + tag + b")" + result.encode() + b"\r\n")
            return
        ending = [
            *([] if self.form != "long" else range(1000, 41_000)),
            *(["(MODSEQ 917162500)"] if self.form == "extensions" else []),
        ]
        self.say("* SEARCH", "".join(f" {one}" for one in [*found, *ending]))

    def on_create(self, text: str) -> None:
        self.boxes[self.mailbox(text)] = []

    def on_delete(self, text: str) -> None:
        self.boxes.pop(self.mailbox(text))

    def on_rename(self, text: str) -> None:
        old = re.match(r'RENAME ("(?:[^"\\]|\\.)*"|\S+) ', text)
        assert old, text
        self.boxes[self.mailbox(text)] = self.boxes.pop(self.mailbox(old[1]))


@dataclass
class ImapServer:
    """A running server. errors: what its sessions did not understand."""

    address: str
    errors: list[BaseException] = field(default_factory=list)
    connections: list[socket.socket] = field(default_factory=list)
    using: threading.Lock = field(default_factory=threading.Lock)
    """Of a connection: TLS allows one thread at a time to read or write."""

    def end(self, last_words: bytes) -> None:
        """All connections end after these bytes."""
        for connection in self.connections:
            with contextlib.suppress(OSError), self.using:  # the client may end at the end of the first
                connection.sendall(last_words)
                connection.shutdown(socket.SHUT_RDWR)


@dataclass
class Received(io.RawIOBase):
    """What a connection receives. It waits without the lock, and reads with it."""

    connection: socket.socket
    using: threading.Lock

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        pending = isinstance(self.connection, ssl.SSLSocket) and self.connection.pending()
        if not pending:
            select.select([self.connection], [], [])
        with self.using:
            return self.connection.recv_into(buffer)


@contextlib.contextmanager
def imap_server(
    form: str, certificate: ssl.SSLContext | None = None, change: Callable[[bytes], bytes] = bytes
) -> Iterator[ImapServer]:
    """A server that replies in this form.

    change: what becomes of the bytes of a reply.
    """

    def talk(plain: socket.socket) -> None:
        with contextlib.suppress(OSError), plain:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client = certificate.wrap_socket(plain, True) if certificate else plain
            server.connections.append(client)
            with client, io.BufferedReader(Received(client, server.using)) as reader:

                def write(text: bytes) -> None:
                    text = change(text)
                    with server.using:
                        for part in (bytes((byte,)) for byte in text) if form == "bytes" else (text,):
                            client.sendall(part)

                try:
                    Session(form, reader.readline, reader.read, write).serve()
                except OSError:
                    raise
                except Exception as error:  # the client is wrong, or the bytes were changed
                    server.errors.append(error)

    def serve(listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=talk, args=(listener.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = ImapServer(f"127.0.0.1:{listener.getsockname()[1]}")
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        yield server
        listener.shutdown(socket.SHUT_RDWR)
