// Included before each file of git: what WASI lacks. A program in WASI starts no other and has no users, terminals,
// signals or sockets. wasi.c has the bodies.
#pragma once
#define _GNU_SOURCE 1
#define _WASI_EMULATED_GETPID
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

// Users.
struct passwd { char *pw_name, *pw_gecos, *pw_dir; uid_t pw_uid; gid_t pw_gid; };
struct group { char *gr_name; gid_t gr_gid; char **gr_mem; };
struct passwd *getpwuid(uid_t id);
struct passwd *getpwnam(const char *name);
struct group *getgrnam(const char *name);
uid_t getuid(void);
uid_t geteuid(void);
gid_t getgid(void);
gid_t getegid(void);

// Processes.
#define WNOHANG 1
#define WIFEXITED(s) 1
#define WEXITSTATUS(s) (s)
#define WIFSIGNALED(s) 0
#define WTERMSIG(s) 0
pid_t getpid(void);
pid_t getppid(void);
pid_t fork(void);
pid_t setsid(void);
pid_t waitpid(pid_t pid, int *status, int options);
int kill(pid_t pid, int sig);
int pipe(int fds[2]);
int dup(int fd);
int dup2(int from, int to);
int execve(const char *name, char *const args[], char *const env[]);
int execv(const char *name, char *const args[]);
int execlp(const char *name, const char *arg, ...);
unsigned alarm(unsigned seconds);
int gethostname(char *name, size_t size);
mode_t umask(mode_t mode);
int chmod(const char *name, mode_t mode);
int fchmod(int fd, mode_t mode);
pid_t getpgid(pid_t pid);
pid_t tcgetpgrp(int fd);
int mkstemp(char *name);
char *mkdtemp(char *name);
void flockfile(FILE *f);
void funlockfile(FILE *f);

// Signals.
#define __NEED_sigset_t
#include <bits/alltypes.h>
#define SIG_BLOCK 0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2
#define SA_RESTART 0
struct sigaction { void (*sa_handler)(int); sigset_t sa_mask; int sa_flags; };
int sigaction(int sig, const struct sigaction *to, struct sigaction *old);
int sigemptyset(sigset_t *set);
int sigfillset(sigset_t *set);
int sigaddset(sigset_t *set, int sig);
int sigprocmask(int how, const sigset_t *set, sigset_t *old);
#define ITIMER_REAL 0
struct itimerval { struct timeval it_interval, it_value; };
int setitimer(int which, const struct itimerval *to, struct itimerval *old);

// Hosts and terminals.
struct hostent { char *h_name, **h_aliases; int h_addrtype, h_length; char **h_addr_list; };
struct hostent *gethostbyname(const char *name);
char *getpass(const char *prompt);

// Resources.
#ifndef RLIMIT_NOFILE
#define RLIMIT_NOFILE 7
#endif
typedef unsigned long long rlim_t;
struct rlimit { rlim_t rlim_cur, rlim_max; };
int getrlimit(int which, struct rlimit *limit);

#ifndef S_ISUID
#define S_ISUID 04000
#define S_ISGID 02000
#define S_ISVTX 01000
#endif

// The program has no terminal.
#define isatty git_isatty
int git_isatty(int fd);
