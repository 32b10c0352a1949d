/* SPDX-License-Identifier: GPL-2.0-or-later
 * The first process of the guest of `s80lab exec` (docs/reference/interfaces/exec-guest.md).
 *
 * Until the checkpoint: it mounts the kernel's file systems, loads the modules of /modules in the order of
 * their names, and waits for a file system image in the reserved range of memory, /dev/pmem0. The host
 * writes the image when it has restored the guest.
 * After it: it makes the image the root of the guest, executes the program that the image's job names, and
 * relays what the program prints to two virtio ports. The measured region lasts from the start of the
 * program to its end. Messages to the host are JSON objects, one a line, on the second serial port. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <linux/random.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "../programs/marker.h"

struct words {
    int count;
    char** word; /* then a null pointer */
};

enum {
    page_bytes = 4096,
    line_bytes = 512,
    message_bytes = 400,
    relay_bytes = 65536,
    streams = 2,
    ready_ms = 60000,
    settle_us = 200000,
    shell_words = 3,
    open_files = 65536,
    wait_ms = 30000,
    entropy_bytes = 32,
    code_bytes = 64 << 20,
    not_found = 127,
    not_executable = 126,
};
static const char job_path[] = "/lower/.s80lab/job"; /* an archive of the user cannot replace it */
static const char archive_path[] = "/root/.s80lab/root.tar";
static const char input_path[] = "/lower/.s80lab/stdin";
/* erofs: Documentation/filesystems/erofs.rst; the superblock begins at byte 1024 with its magic number. */
static const long superblock_at = 1024;
static const uint32_t erofs_magic = 0xE0F5E1E2;

/* What is done before a program runs. */
enum step { at_program, at_files, at_user, at_folder };
static const char* const step_name[] = {"program", "files", "user", "folder"};

static int to_host = -1;

static void tell(const char* form, ...) __attribute__((format(printf, 1, 2)));
static void tell(const char* form, ...) {
    char line[line_bytes];
    va_list arguments;
    va_start(arguments, form);
    vsnprintf(line, sizeof line - 1, form, arguments);
    va_end(arguments);
    const size_t length = strlen(line);
    line[length] = '\n';
    if (write(to_host, line, length + 1) < 0) return; /* the host sees that nothing comes */
}

static void wait_for_end(void) {
    for (;;) pause();
}

/* Nothing can go on: the host prints the sentence. What names of files may contain and JSON may not becomes
 * `?`. */
static void fail_because(const char* what, const char* why) {
    char message[message_bytes];
    snprintf(message, sizeof message, "%s: %s", what, why);
    for (char* c = message; *c != '\0'; ++c) {
        if (*c < ' ' || *c > '~' || *c == '"' || *c == '\\') *c = '?';
    }
    tell("{\"event\": \"error\", \"message\": \"%s\"}", message);
    wait_for_end();
}

static void fail(const char* what) {
    fail_because(what, strerror(errno));
}

static void attach(const char* device, const char* place, const char* kind, unsigned long flags,
                   const char* options) {
    mkdir(place, 0755);
    if (mount(device, place, kind, flags, options) != 0) fail(place);
}

static void load_module(const char* name) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "/modules/%s", name);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || syscall(SYS_finit_module, file, "", 0) != 0) fail(path);
    close(file);
}

/* The names begin with a number that gives the order. */
static void load_modules(void) {
    struct dirent** entries;
    const int count = scandir("/modules", &entries, NULL, alphasort);
    if (count < 0) fail("/modules");
    for (int i = 0; i < count; ++i) {
        if (entries[i]->d_name[0] != '.') load_module(entries[i]->d_name);
    }
}

/* Opens a device that its driver makes some time after the module is loaded. */
static int await_device(const char* path, int flags) {
    for (int ms = 0; ms < wait_ms; ++ms) {
        const int file = open(path, flags | O_CLOEXEC);
        if (file >= 0) return file;
        usleep(1000);
    }
    fail(path);
    return -1;
}

static void start_loopback(void) {
    struct ifreq request = {.ifr_name = "lo"};
    const int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (s < 0 || ioctl(s, SIOCGIFFLAGS, &request) != 0) fail("loopback");
    request.ifr_flags |= IFF_UP;
    if (ioctl(s, SIOCSIFFLAGS, &request) != 0) fail("loopback");
    close(s);
}

static void open_serial_port(void) {
    to_host = open("/dev/ttyS1", O_RDWR | O_NOCTTY | O_CLOEXEC);
    struct termios settings;
    if (to_host < 0 || tcgetattr(to_host, &settings) != 0) wait_for_end();
    cfmakeraw(&settings);
    tcsetattr(to_host, TCSANOW, &settings);
}

/* The page cache of the device must not keep what was there before: direct reads. */
static void await_image(void) {
    const int device = await_device("/dev/pmem0", O_RDONLY | O_DIRECT);
    static char page[page_bytes] __attribute__((aligned(page_bytes)));
    for (;;) {
        uint32_t magic = 0;
        if (pread(device, page, sizeof page, 0) != sizeof page) fail("/dev/pmem0");
        memcpy(&magic, page + superblock_at, sizeof magic);
        if (magic == erofs_magic) break;
        usleep(1000);
    }
    close(device);
}

static void move(const char* place) {
    char to[PATH_MAX];
    snprintf(to, sizeof to, "/root%s", place);
    if (mount(place, to, NULL, MS_MOVE, NULL) != 0) fail(to);
}

/* Unpacks the archive of the user, if there is one, over the files of the image. Links of the archive may be
 * absolute, so this happens in the root to be. It happens before the kernel's file systems move there: they
 * cover what an archive has in /dev or /proc. */
static void unpack_root(void) {
    struct stat status;
    if (stat(archive_path, &status) != 0) return;
    int errors[2];
    if (pipe2(errors, O_CLOEXEC) != 0) fail("pipe");
    const pid_t pid = fork();
    if (pid == 0) {
        if (dup2(errors[1], 2) < 0 || chroot("/root") != 0 || chdir("/") != 0) _exit(not_executable);
        execl("/opt/busybox/tar", "tar", "-x", "-f", archive_path + strlen("/root"), NULL);
        _exit(not_executable);
    }
    close(errors[1]);
    /* The last line says why tar gave up. */
    char text[message_bytes / 2] = "", last[sizeof text] = "";
    FILE* const lines = fdopen(errors[0], "r");
    while (lines != NULL && fgets(text, sizeof text, lines) != NULL) {
        text[strcspn(text, "\n")] = '\0';
        strcpy(last, text);
    }
    if (lines != NULL) fclose(lines);
    int code = 0;
    while (waitpid(pid, &code, 0) < 0 && errno == EINTR) continue;
    if (code != 0)
        fail_because("--rootfs: unpack the archive and give its folder; the guest could not unpack it", last);
}

/* The image, /lower, is read-only. What the program writes goes to memory. */
static void enter_image(void) {
    attach("upper", "/upper", "tmpfs", MS_NOATIME, "mode=755");
    mkdir("/upper/files", 0755);
    mkdir("/upper/work", 0755);
    attach("overlay", "/root", "overlay", MS_NOATIME,
           "lowerdir=/lower,upperdir=/upper/files,workdir=/upper/work");
    if (mount("/busybox", "/root/opt/busybox", NULL, MS_BIND, NULL) != 0) fail("/opt/busybox");
    unpack_root();
    move("/dev");
    move("/proc");
    move("/sys");
    move("/run");
    /* A program built in /tmp may have its libraries there: so the image's own /tmp stays. */
    if (chmod("/root/tmp", 01777) != 0) fail("/tmp");
    if (chdir("/root") != 0 || mount(".", "/", NULL, MS_MOVE, NULL) != 0 || chroot(".") != 0 ||
        chdir("/") != 0) {
        fail("the root of the image");
    }
}

/* The job: words, each ended by a zero byte, in the order of these fields. */
struct job {
    const char* folder;
    const char* user;
    const char* group;
    const char* limit_ns;   /* of the guest's clock; 0: none */
    const char* seed;       /* 32 bytes in hexadecimal digits */
    const char* begins;     /* 1: the measured region begins at the program's start; 0: elsewhere */
    const char* ends;       /* the same of its end */
    const char* warmups;    /* how often the program is executed before the measured run */
    const char* setup;      /* a command of the shell that is executed first; empty: none */
    const char* background; /* a command of the shell that runs beside the program; empty: none */
    const char* ready;      /* a TCP port or a path: the background command is awaited there */
    struct words files;     /* paths of files that the host wants back */
    struct words program;
    struct words environment;
};

static char* read_file(const char* path, size_t* size) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) fail(path);
    *size = (size_t)status.st_size;
    char* content = malloc(*size + 1);
    if (content == NULL || read(file, content, *size) != (ssize_t)*size) fail(path);
    content[*size] = '\0';
    close(file);
    return content;
}

/* The next word of the job; a job that ends too early is an error. */
static const char* next_word(char** at, const char* end) {
    errno = EINVAL;
    if (*at >= end) fail(job_path);
    const char* word = *at;
    *at += strlen(word) + 1;
    return word;
}

/* A number, and as many words. */
static struct words next_words(char** at, const char* end) {
    struct words words = {.count = atoi(next_word(at, end))};
    words.word = calloc((size_t)words.count + 1, sizeof(char*));
    if (words.word == NULL) fail(job_path);
    for (int i = 0; i < words.count; ++i) words.word[i] = (char*)next_word(at, end);
    return words;
}

static struct job read_job(void) {
    size_t size = 0;
    char* at = read_file(job_path, &size);
    const char* const end = at + size;
    struct job job;
    job.folder = next_word(&at, end);
    job.user = next_word(&at, end);
    job.group = next_word(&at, end);
    job.limit_ns = next_word(&at, end);
    job.seed = next_word(&at, end);
    job.begins = next_word(&at, end);
    job.ends = next_word(&at, end);
    job.warmups = next_word(&at, end);
    job.setup = next_word(&at, end);
    job.background = next_word(&at, end);
    job.ready = next_word(&at, end);
    job.files = next_words(&at, end);
    job.program = next_words(&at, end);
    job.environment = next_words(&at, end);
    errno = EINVAL;
    if (job.program.count < 1) fail(job_path);
    return job;
}

/* Address layouts and the kernel's random numbers follow the seed. */
static void seed_random_numbers(const char* seed) {
    struct {
        struct rand_pool_info info;
        unsigned char bytes[entropy_bytes];
    } pool = {.info = {.entropy_count = 8 * entropy_bytes, .buf_size = entropy_bytes}};
    for (int i = 0; i < entropy_bytes; ++i) {
        unsigned value = 0;
        if (sscanf(seed + 2 * i, "%2x", &value) != 1) fail("the seed of the job");
        pool.bytes[i] = (unsigned char)value;
    }
    memcpy(pool.info.buf, pool.bytes, sizeof pool.bytes);
    const int random = open("/dev/urandom", O_RDWR | O_CLOEXEC);
    if (random < 0 || ioctl(random, RNDADDENTROPY, &pool.info) != 0 || ioctl(random, RNDRESEEDCRNG) != 0) {
        fail("/dev/urandom");
    }
    close(random);
}

static void run_on(const cpu_set_t* set) {
    if (sched_setaffinity(0, sizeof *set, set) != 0) fail("sched_setaffinity");
}

/* The plugin learns which processor of QEMU is which of the guest. From then on it models the guest. */
static void bind_processors(void) {
    cpu_set_t all;
    if (sched_getaffinity(0, sizeof all, &all) != 0) fail("sched_getaffinity");
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    for (long p = 0; p < processors; ++p) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET((size_t)p, &one);
        run_on(&one);
        MARK(mark_processor, p);
    }
    run_on(&all);
}

static void set_limit(int resource, rlim_t limit) {
    const struct rlimit both = {limit, limit};
    setrlimit((__rlimit_resource_t)resource, &both);
}

/* Executes the program that a word means: a path if it has a slash, else the first in the PATH of the
 * environment. execvp would let the shell read a program for another processor. Returns only if that fails.
 */
static void execute_word(const struct words* program) {
    const char* const name = program->word[0];
    if (strchr(name, '/') != NULL) {
        execve(name, program->word, environ);
        return;
    }
    int why = ENOENT;
    const char* folders = getenv("PATH");
    for (const char* at = folders == NULL ? "" : folders; *at != '\0';) {
        const int length = (int)strcspn(at, ":");
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%.*s/%s", length, at, name);
        execve(path, program->word, environ);
        if (errno != ENOENT && errno != ENOTDIR) why = errno;
        if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) break;
        at += length + (at[length] == ':');
    }
    errno = why;
}

/* In the child: becomes the program. Returns only if that fails: what failed, as the event `exit` names it.
 */
static int execute(const struct job* job, const struct words* program, int input, int output, int errors,
                   const sigset_t* signals) {
    sigprocmask(SIG_SETMASK, signals, NULL);
    if (setsid() < 0 || dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(errors, 2) < 0) return at_files;
    const gid_t group = (gid_t)atol(job->group);
    const uid_t user = (uid_t)atol(job->user);
    if (setresgid(group, group, group) != 0 || setresuid(user, user, user) != 0) return at_user;
    if (chdir(job->folder) != 0) return at_folder;
    environ = job->environment.word; /* its PATH finds the program */
    execute_word(program);
    return at_program;
}

/* What the program prints, on its way to the host. */
struct stream {
    int from;
    int to;
    int open;
};

static void relay(struct stream* s) {
    static char buffer[relay_bytes];
    const ssize_t size = read(s->from, buffer, sizeof buffer);
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) {
        s->open = 0;
        return;
    }
    for (ssize_t at = 0; at < size;) {
        const ssize_t written = write(s->to, buffer + at, (size_t)(size - at));
        if (written < 0 && errno != EINTR) fail("a virtio port");
        if (written > 0) at += written;
    }
}

/* Reaps what has ended. Returns 1 if the program is among it. */
static int reap(pid_t program, int* status) {
    int ended = 0;
    for (;;) {
        int one = 0;
        const pid_t pid = waitpid(-1, &one, WNOHANG);
        if (pid <= 0) return ended;
        if (pid == program) {
            *status = one;
            ended = 1;
        }
    }
}

static long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

/* Relays until the program ends. Returns 0 if the limit of the guest's time came first. */
static int relay_until_end(pid_t program, int signals, struct stream* s, long limit_ns, int* status) {
    const long end = limit_ns > 0 ? now_ns() + limit_ns : LONG_MAX;
    for (;;) {
        struct pollfd wanted[streams + 1] = {{.fd = signals, .events = POLLIN}};
        for (int i = 0; i < streams; ++i) {
            wanted[i + 1] = (struct pollfd){.fd = s[i].open ? s[i].from : -1, .events = POLLIN};
        }
        struct timespec left = {0, 0};
        const long ns = limit_ns > 0 ? end - now_ns() : 0;
        if (limit_ns > 0 && ns <= 0) return 0;
        left.tv_sec = ns / 1000000000L;
        left.tv_nsec = ns % 1000000000L;
        if (ppoll(wanted, streams + 1, limit_ns > 0 ? &left : NULL, NULL) < 0 && errno != EINTR)
            fail("ppoll");
        for (int i = 0; i < streams; ++i) {
            if (wanted[i + 1].revents != 0) relay(&s[i]);
        }
        if (wanted[0].revents != 0) {
            struct signalfd_siginfo info;
            if (read(signals, &info, sizeof info) < 0 && errno != EAGAIN) fail("signalfd");
            if (reap(program, status)) return 1;
        }
    }
}

/* What is left in the pipes. Processes that the program left behind may hold them open. */
static void relay_rest(struct stream* s) {
    for (int i = 0; i < streams; ++i) {
        fcntl(s[i].from, F_SETFL, O_NONBLOCK);
        struct pollfd wanted = {.fd = s[i].from, .events = POLLIN};
        while (s[i].open && poll(&wanted, 1, 0) > 0) relay(&s[i]);
    }
}

/* The files and signals of all programs. */
struct world {
    int input;
    int signals;
    sigset_t before;
    const int* ports;
};

static struct world open_world(const int* ports, int input) {
    struct world world = {.ports = ports, .input = input};
    if (world.input < 0) world.input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &world.before);
    world.signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    if (world.input < 0 || world.signals < 0) fail("the program's files");
    return world;
}

/* Why a program was not executed: the number of the error, 0 if it was executed; and what failed. */
struct broken {
    int why;
    int step;
};

/* The program's end. */
struct end {
    int status;
    struct broken broken;
    int in_time;
};

static pid_t start(const struct world* world, const struct job* job, const struct words* program, int output,
                   int errors, int broken) {
    lseek(world->input, 0, SEEK_SET);
    const pid_t pid = fork();
    if (pid < 0) fail("fork");
    if (pid == 0) {
        struct broken what;
        what.step = execute(job, program, world->input, output, errors, &world->before);
        what.why = errno;
        if (write(broken, &what, sizeof what) < 0) _exit(1);
        _exit(what.why == ENOENT ? not_found : not_executable);
    }
    return pid;
}

/* Executes a program to its end. `measured`: in a region of its own, with its output relayed as it is;
 * otherwise all output goes to stderr. */
static struct end run(const struct world* world, const struct job* job, const struct words* program,
                      int measured) {
    int output[2], errors[2], broken[2];
    if (pipe2(output, O_CLOEXEC) != 0 || pipe2(errors, O_CLOEXEC) != 0 || pipe2(broken, O_CLOEXEC) != 0) {
        fail("pipe");
    }
    struct end end = {0};
    if (measured) MARK(mark_run_begin, job->begins[0] == '1');
    const pid_t pid = start(world, job, program, output[1], errors[1], broken[1]);
    /* The name of a task gives its process class. Up to here the program and this process share a name. */
    if (measured) prctl(PR_SET_NAME, "s80-relay");
    close(output[1]);
    close(errors[1]);
    close(broken[1]);
    struct stream s[streams] = {{output[0], world->ports[measured ? 0 : 1], 1},
                                {errors[0], world->ports[1], 1}};
    end.in_time = relay_until_end(pid, world->signals, s, measured ? atol(job->limit_ns) : 0, &end.status);
    /* The limit of time ends a region, too. */
    if (measured) MARK(mark_run_end, job->ends[0] == '1' || !end.in_time);
    if (!end.in_time) {
        kill(-1, SIGKILL);
        while (waitpid(pid, &end.status, 0) < 0 && errno == EINTR) continue;
    } else if (measured) {
        /* Other processes, such as endless forks, take no more time. Stopped ones keep their memory, which
         * gives names. */
        kill(-1, SIGSTOP);
    }
    relay_rest(s);
    if (read(broken[0], &end.broken, sizeof end.broken) != sizeof end.broken) end.broken.why = 0;
    close(output[0]);
    close(errors[0]);
    close(broken[0]);
    return end;
}

static void tell_end(const char* event, const struct end* end) {
    const int status = end->status;
    tell(
        "{\"event\": \"%s\", \"code\": %d, \"signal\": %d, \"errno\": %d, \"step\": \"%s\", \"in_time\": %d}",
        event, WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0,
        end->broken.why, step_name[end->broken.step], end->in_time);
}

static struct words shell(const char* command) {
    static char* word[shell_words + 1];
    word[0] = "sh";
    word[1] = "-c";
    word[2] = (char*)command;
    return (struct words){shell_words, word};
}

static int connects(int port) {
    const int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int done = s >= 0 && connect(s, (const struct sockaddr*)&address, sizeof address) == 0;
    if (s >= 0) close(s);
    return done;
}

static int is_ready(const char* ready) {
    struct stat status;
    return ready[0] == '/' ? stat(ready, &status) == 0 : connects(atoi(ready));
}

/* Starts the command that runs beside the program, and waits until it is ready. Nothing relays its output, so
 * it goes to a file. The file's first bytes go to stderr if the command does not become ready. */
static void start_background(const struct world* world, const struct job* job) {
    const int log = open("/run/background.log", O_CREAT | O_RDWR | O_APPEND | O_CLOEXEC, 0644);
    int broken[2];
    if (log < 0 || pipe2(broken, O_CLOEXEC) != 0) fail("/run/background.log");
    const struct words command = shell(job->background);
    const pid_t pid = start(world, job, &command, log, log, broken[1]);
    close(broken[1]);
    int ended = 0, status = 0;
    for (int ms = 0; ms < ready_ms; ++ms) {
        if (is_ready(job->ready)) return;
        /* The process of a daemon ends before the daemon is ready. */
        if (!ended && waitpid(pid, &status, WNOHANG) == pid) ended = 1;
        if (ended && status != 0) break;
        usleep(1000);
    }
    static char text[relay_bytes];
    const ssize_t size = pread(log, text, sizeof text, 0);
    if (size > 0 && write(world->ports[1], text, (size_t)size) < 0) fail("a virtio port");
    tell_end("not ready", &(struct end){.status = status, .in_time = ended});
    wait_for_end();
}

/* The files that the host wants, and those in which processes name the code that they compiled, up to a
 * limit.
 */
static struct words files_and_code(const struct words* files) {
    glob_t found = {0};
    if (glob("/tmp/perf-[0-9]*.map", 0, NULL, &found) != 0) found.gl_pathc = 0;
    struct words all = {files->count, calloc((size_t)files->count + found.gl_pathc + 1, sizeof(char*))};
    if (all.word == NULL) fail("the files");
    if (files->count > 0) memcpy(all.word, files->word, (size_t)files->count * sizeof(char*));
    long bytes = 0;
    for (size_t i = 0; i < found.gl_pathc; ++i) {
        struct stat status;
        if (lstat(found.gl_pathv[i], &status) != 0 || !S_ISREG(status.st_mode)) continue;
        bytes += status.st_size;
        if (bytes <= code_bytes) all.word[all.count++] = found.gl_pathv[i];
    }
    return all;
}

/* Sends files to the third port, as a tar archive. */
static void send_files(const struct words* files) {
    const int port = open("/dev/vport0p3", O_WRONLY | O_CLOEXEC);
    if (port < 0) fail("/dev/vport0p3");
    char** const words = calloc((size_t)files->count + 5, sizeof(char*));
    if (words == NULL) fail("the files");
    words[0] = "tar";
    words[1] = "-c";
    words[2] = "-f";
    words[3] = "-";
    memcpy(words + 4, files->word, (size_t)files->count * sizeof(char*));
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(port, 1);
        execv("/opt/busybox/tar", words);
        _exit(not_executable);
    }
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    close(port);
}

static void do_job(const struct job* job, const int* ports, int input) {
    const struct world world = open_world(ports, input);
    if (job->setup[0] != '\0') {
        const struct words command = shell(job->setup);
        const struct end end = run(&world, job, &command, 0);
        tell_end("setup", &end);
        if (end.status != 0) wait_for_end();
    }
    if (job->background[0] != '\0') start_background(&world, job);
    for (int n = atoi(job->warmups); n > 0; --n) run(&world, job, &job->program, 0);
    tell("{\"event\": \"begin\"}");
    const struct end end = run(&world, job, &job->program, 1);
    /* If the kernel killed the program because the memory was full, there may be none to look for the code.
     */
    const int killed = end.in_time && WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGKILL;
    const struct words files = killed ? job->files : files_and_code(&job->files);
    if (files.count > 0) send_files(&files);
    /* The host now looks at the memory, at a moment of its own: what the kernel frees late is free by then.
     */
    usleep(settle_us);
    tell_end("exit", &end);
}

int main(void) {
    attach("dev", "/dev", "devtmpfs", MS_NOATIME, NULL);
    open_serial_port();
    attach("proc", "/proc", "proc", MS_NOATIME, NULL);
    attach("sys", "/sys", "sysfs", MS_NOATIME, NULL);
    attach("run", "/run", "tmpfs", MS_NOATIME, "mode=755");
    attach("shm", "/dev/shm", "tmpfs", MS_NOATIME, "mode=1777");
    attach("pts", "/dev/pts", "devpts", MS_NOATIME, "mode=620,ptmxmode=666");
    start_loopback();
    if (sethostname("s80", 3) != 0) fail("sethostname");
    load_modules();
    const int ports[streams] = {await_device("/dev/vport0p1", O_WRONLY),
                                await_device("/dev/vport0p2", O_WRONLY)};
    close(await_device("/dev/pmem0", O_RDONLY));
    set_limit(RLIMIT_NOFILE, open_files);
    set_limit(RLIMIT_CORE, 0);
    tell("{\"event\": \"ready\"}");
    await_image();
    bind_processors();
    attach("/dev/pmem0", "/lower", "erofs", MS_RDONLY | MS_NOATIME, "dax");
    const struct job job = read_job();
    const int input = open(input_path, O_RDONLY | O_CLOEXEC);
    enter_image();
    const uid_t user = (uid_t)atol(job.user);
    if (user != 0 && chown("/work", user, (gid_t)atol(job.group)) != 0) fail("/work");
    seed_random_numbers(job.seed);
    do_job(&job, ports, input);
    wait_for_end();
}
