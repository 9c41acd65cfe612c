// What git needs of POSIX and WASI lacks, and the rule that git changes no file.
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <wasi/api.h>
#include "wasi.h"
#include "refused.h"

// No user is root in a sandbox, and each file belongs to the one who runs git: the gate decides who reads what.
uid_t getuid(void) { return 0; }
uid_t geteuid(void) { return 0; }
gid_t getgid(void) { return 0; }
gid_t getegid(void) { return 0; }
struct passwd *getpwuid(uid_t id)
{
	static struct passwd user = {"user", "user", "/", 0, 0};
	return &user;
}
struct passwd *getpwnam(const char *name) { return NULL; }
struct group *getgrnam(const char *name) { return NULL; }

static int no(void)
{
	errno = ENOSYS;
	return -1;
}

pid_t getpid(void) { return 1; }
pid_t getppid(void) { return 0; }
pid_t fork(void) { return no(); }
pid_t setsid(void) { return no(); }
pid_t waitpid(pid_t pid, int *status, int options) { return no(); }
int kill(pid_t pid, int sig) { return no(); }
int pipe(int fds[2]) { return no(); }
int dup(int fd) { return no(); }
int dup2(int from, int to) { return no(); }
int execve(const char *name, char *const args[], char *const env[]) { return no(); }
int execv(const char *name, char *const args[]) { return no(); }
int execlp(const char *name, const char *arg, ...) { return no(); }
unsigned alarm(unsigned seconds) { return 0; }
mode_t umask(mode_t mode) { return 022; }
int chmod(const char *name, mode_t mode) { return no(); }
int fchmod(int fd, mode_t mode) { return no(); }
pid_t getpgid(pid_t pid) { return 1; }
pid_t tcgetpgrp(int fd) { return 0; }
int mkstemp(char *name) { return no(); }
char *mkdtemp(char *name)
{
	no();
	return NULL;
}
void flockfile(FILE *f) {}
void funlockfile(FILE *f) {}
struct hostent *gethostbyname(const char *name) { return NULL; }
char *getpass(const char *prompt) { return NULL; }
int gethostname(char *name, size_t size)
{
	strncpy(name, "localhost", size);
	return 0;
}

int sigaction(int sig, const struct sigaction *to, struct sigaction *old) { return 0; }
int sigemptyset(sigset_t *set) { return 0; }
int sigfillset(sigset_t *set) { return 0; }
int sigaddset(sigset_t *set, int sig) { return 0; }
int sigprocmask(int how, const sigset_t *set, sigset_t *old) { return 0; }
int setitimer(int which, const struct itimerval *to, struct itimerval *old) { return 0; }
int getrlimit(int which, struct rlimit *limit)
{
	limit->rlim_cur = limit->rlim_max = 64; // open packs
	return 0;
}
int git_isatty(int fd) { return 0; }

// A file's rights are not known: all may be read, and a folder may be entered. For git a folder without any right is
// another kind of entry.
static int with_rights(int failed, struct stat *st)
{
	if (!failed)
		st->st_mode |= S_ISDIR(st->st_mode) ? 0755 : S_ISLNK(st->st_mode) ? 0777 : 0644;
	return failed;
}

int __real_stat(const char *name, struct stat *st);
int __real_lstat(const char *name, struct stat *st);
int __real_fstat(int fd, struct stat *st);
int __wrap_stat(const char *name, struct stat *st) { return with_rights(__real_stat(name, st), st); }
int __wrap_lstat(const char *name, struct stat *st) { return with_rights(__real_lstat(name, st), st); }
int __wrap_fstat(int fd, struct stat *st) { return with_rights(__real_fstat(fd, st), st); }

// Each change of a file goes through one of these functions of the C library, which the linker replaces (--wrap). So the
// program does not even import WASI's calls that change files, and opens none for writing.
int git_refused;

static __wasi_errno_t refuse(void)
{
	git_refused = 1;
	return __WASI_ERRNO_ROFS;
}

__wasi_errno_t __real___wasi_path_open(__wasi_fd_t, __wasi_lookupflags_t, const char *, __wasi_oflags_t, __wasi_rights_t, __wasi_rights_t, __wasi_fdflags_t, __wasi_fd_t *);

__wasi_errno_t __wrap___wasi_path_open(__wasi_fd_t dir, __wasi_lookupflags_t lookup, const char *name, __wasi_oflags_t how, __wasi_rights_t rights, __wasi_rights_t inherited, __wasi_fdflags_t flags, __wasi_fd_t *fd)
{
	const __wasi_rights_t writes = __WASI_RIGHTS_FD_WRITE | __WASI_RIGHTS_FD_ALLOCATE | __WASI_RIGHTS_FD_FILESTAT_SET_SIZE | __WASI_RIGHTS_FD_FILESTAT_SET_TIMES |
		__WASI_RIGHTS_PATH_CREATE_DIRECTORY | __WASI_RIGHTS_PATH_CREATE_FILE | __WASI_RIGHTS_PATH_LINK_SOURCE | __WASI_RIGHTS_PATH_LINK_TARGET | __WASI_RIGHTS_PATH_RENAME_SOURCE |
		__WASI_RIGHTS_PATH_RENAME_TARGET | __WASI_RIGHTS_PATH_FILESTAT_SET_SIZE | __WASI_RIGHTS_PATH_FILESTAT_SET_TIMES | __WASI_RIGHTS_PATH_SYMLINK |
		__WASI_RIGHTS_PATH_REMOVE_DIRECTORY | __WASI_RIGHTS_PATH_UNLINK_FILE;
	if (how & (__WASI_OFLAGS_CREAT | __WASI_OFLAGS_TRUNC) || rights & __WASI_RIGHTS_FD_WRITE)
		return refuse();
	return __real___wasi_path_open(dir, lookup, name, how, rights & ~writes, inherited & ~writes, flags, fd);
}

__wasi_errno_t __wrap___wasi_path_create_directory(__wasi_fd_t dir, const char *name) { return refuse(); }
__wasi_errno_t __wrap___wasi_path_remove_directory(__wasi_fd_t dir, const char *name) { return refuse(); }
__wasi_errno_t __wrap___wasi_path_unlink_file(__wasi_fd_t dir, const char *name) { return refuse(); }
__wasi_errno_t __wrap___wasi_path_rename(__wasi_fd_t dir, const char *name, __wasi_fd_t to, const char *next) { return refuse(); }
__wasi_errno_t __wrap___wasi_path_symlink(const char *to, __wasi_fd_t dir, const char *name) { return refuse(); }
__wasi_errno_t __wrap___wasi_path_link(__wasi_fd_t dir, __wasi_lookupflags_t lookup, const char *name, __wasi_fd_t to, const char *next) { return refuse(); }
__wasi_errno_t __wrap___wasi_path_filestat_set_times(__wasi_fd_t dir, __wasi_lookupflags_t lookup, const char *name, __wasi_timestamp_t a, __wasi_timestamp_t m, __wasi_fstflags_t flags) { return refuse(); }
__wasi_errno_t __wrap___wasi_fd_filestat_set_times(__wasi_fd_t fd, __wasi_timestamp_t a, __wasi_timestamp_t m, __wasi_fstflags_t flags) { return refuse(); }
__wasi_errno_t __wrap___wasi_fd_filestat_set_size(__wasi_fd_t fd, __wasi_filesize_t size) { return refuse(); }
__wasi_errno_t __wrap___wasi_fd_allocate(__wasi_fd_t fd, __wasi_filesize_t at, __wasi_filesize_t size) { return refuse(); }
