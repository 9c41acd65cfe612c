// Tries to leave its folder by every path that could lead out, on every call that takes a
// path, and prints "FAIL …" for each that does not end in an error that says so. Descriptor 3
// is "/", a folder with f, d/f and d/e/f and a secret beside it; 4 is "/ro", which may not be
// written and holds f and d/. The last lines count what was tried.
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wasi/api.h>

#define RAW(n) __attribute__((import_module("wasi_snapshot_preview1"), import_name(#n)))
RAW(path_open) int raw_open(int, int, const char *, int, int, uint64_t, uint64_t, int, void *);
RAW(path_filestat_get) int raw_stat(int, int, const char *, int, void *);
RAW(path_filestat_set_times) int raw_times(int, int, const char *, int, uint64_t, uint64_t, int);
RAW(path_create_directory) int raw_mkdir(int, const char *, int);
RAW(path_remove_directory) int raw_rmdir(int, const char *, int);
RAW(path_unlink_file) int raw_unlink(int, const char *, int);
RAW(path_rename) int raw_rename(int, const char *, int, int, const char *, int);
RAW(path_symlink) int raw_symlink(const char *, int, int, const char *, int);
RAW(path_link) int raw_link(int, int, const char *, int, int, const char *, int);
RAW(path_readlink) int raw_readlink(int, const char *, int, void *, int, void *);
RAW(fd_read) int raw_read(int, void *, int, void *);
RAW(fd_write) int raw_write(int, void *, int, void *);
RAW(fd_fdstat_get) int raw_fdstat(int, void *);
RAW(fd_fdstat_set_rights) int raw_set_rights(int, uint64_t, uint64_t);
RAW(fd_prestat_get) int raw_prestat(int, void *);

enum { OK = 0, BADF = 8, EXIST = 20, ILSEQ = 25, INVAL = 28, NAMETOOLONG = 37, NOENT = 44, NOTDIR = 54, NOTSUP = 58, PERM = 63, ROFS = 69, XDEV = 75, NOTCAPABLE = 76 };
enum { CREAT = 1, DIRECTORY = 2, EXCL = 4, TRUNC = 8 };
#define READ 2ull
#define WRITE 64ull

static int calls, fails;
static uint64_t all_dir, all_below;

static void show(const char *p, int n) {
  for (int i = 0; i < n && i < 60; i++) p[i] >= ' ' && p[i] < 127 ? putchar(p[i]) : printf("\\x%02x", (unsigned char)p[i]);
}

static void stopped(const char *call, const char *from, const char *p, int n, int e) {
  calls++;
  if (e == PERM || e == INVAL || e == ILSEQ || e == NOTDIR || e == NOENT) return;
  if (e == NOTSUP && strstr(call, "link")) return; // there are no links at all
  printf("FAIL %s of ", call);
  show(p, n);
  printf(" from %s: errno %d\n", from, e);
  fails++;
}

static void want(const char *what, int e, int w) {
  calls++;
  if (e != w) printf("FAIL %s: errno %d, want %d\n", what, e, w), fails++;
}

static void leave(int dir, const char *from, const char *p, int n) {
  static uint8_t buf[256];
  uint32_t out[4];
  stopped("create_directory", from, p, n, raw_mkdir(dir, p, n));
  stopped("remove_directory", from, p, n, raw_rmdir(dir, p, n));
  stopped("unlink_file", from, p, n, raw_unlink(dir, p, n));
  stopped("rename from", from, p, n, raw_rename(dir, p, n, dir, "x", 1));
  stopped("rename to", from, p, n, raw_rename(3, "f", 1, dir, p, n));
  stopped("symlink", from, p, n, raw_symlink("target", 6, dir, p, n));
  stopped("link from", from, p, n, raw_link(dir, 0, p, n, dir, "x", 1));
  stopped("link to", from, p, n, raw_link(3, 0, "f", 1, dir, p, n));
  stopped("set_times", from, p, n, raw_times(dir, 0, p, n, 0, 0, 8));
  stopped("filestat_get", from, p, n, raw_stat(dir, 0, p, n, buf));
  stopped("filestat_get, links followed", from, p, n, raw_stat(dir, 1, p, n, buf));
  stopped("readlink", from, p, n, raw_readlink(dir, p, n, buf, sizeof buf, out));
  for (int o = 0; o < 16; o++) {
    stopped("open to read", from, p, n, raw_open(dir, 1, p, n, o, READ, 0, 0, out));
    stopped("open to write", from, p, n, raw_open(dir, 1, p, n, o, READ | WRITE, 0, 0, out));
    stopped("open as a folder", from, p, n, raw_open(dir, 0, p, n, o, all_dir, all_below, 0, out));
  }
}

static int starts(const char *p, int n, const char *with) { return n >= (int)strlen(with) && !memcmp(p, with, strlen(with)); }

static int leads_out(void) {
  static const char *ups[] = {"..", "../..", "./..", "d/../..", "d/e/../../..", "d/./../..", "d//../..", "/", "//", "/..", "f/../..", "none/../.."};
  static const char *rests[] = {"", "/", "/secret", "/beside/secret", "/jail/../secret", "/new", "/beside/"};
  static const struct { const char *p; int n; } odd[] = {{"..\0/secret", 10}, {"\0", 1}, {"secret\0", 7}, {"..\xff/secret", 10}};
  static const char *froms[] = {".", "d", "d/e"};
  int paths = 0;
  for (int f = 0; f < 3; f++) {
    int dir;
    want(froms[f], raw_open(3, 0, froms[f], strlen(froms[f]), DIRECTORY, all_dir, all_below, 0, &dir), OK);
    char p[128];
    for (int u = 0; u < 12; u++)
      for (int r = 0; r < 7; r++) {
        int n = snprintf(p, sizeof p, "%s%s", ups[u], rests[r]);
        paths += !f;
        if (f && (starts(p, n, "d/") || starts(p, n, "none"))) continue; // there is no such folder below this one
        leave(dir, froms[f], p, n);
      }
    for (int o = 0; o < 4; o++) paths += !f, leave(dir, froms[f], odd[o].p, odd[o].n);
  }
  return paths;
}

static void inside(void) {
  static char lng[300], dots[5000];
  memset(lng, 'x', sizeof lng);
  static const struct { const char *p; int n, e, size; } rows[] = {
    {"f", 1, OK, 6}, {"./f", 3, OK, 6}, {"d//f", 4, OK, 8}, {"d/./f", 5, OK, 8}, {"d/../f", 6, OK, 6}, {"d/e/../../f", 11, OK, 6}, {"d/e/.././../d/e/f", 17, OK, 10},
    {"d/", 2, OK, 0}, {"d/.", 3, OK, 0}, {".", 1, OK, 0}, {"d/..", 4, OK, 0}, {"./", 2, OK, 0}, {"", 0, NOENT, 0}, {"..", 2, PERM, 0}, {"../secret", 9, PERM, 0}, {"../jail/f", 9, PERM, 0},
    {"d/../../secret", 14, PERM, 0}, {"d/e/../../../beside/secret", 26, PERM, 0}, {"./../f", 6, PERM, 0}, {"/", 1, PERM, 0}, {"/f", 2, PERM, 0}, {"//f", 3, PERM, 0}, {"/../secret", 10, PERM, 0},
    {"none/../f", 9, NOENT, 0}, {"f/../f", 6, NOTDIR, 0}, {"f/", 2, NOTDIR, 0}, {"f/.", 3, NOTDIR, 0}, {"f/x", 3, NOTDIR, 0}, {"f\0", 2, INVAL, 0}, {"f\0/../../secret", 15, INVAL, 0}, {"\xff", 1, ILSEQ, 0},
    {"..\\secret", 9, NOENT, 0}, {"..\xe2\x88\x95secret", 11, NOENT, 0}, {"...", 3, NOENT, 0}, {lng, 255, NOENT, 0}, {lng, 256, NAMETOOLONG, 0}, {dots, 4095, OK, 6}, {dots, 4097, NAMETOOLONG, 0}};
  for (int i = 0; i < 4998; i += 2) dots[i] = '.', dots[i + 1] = '/';
  for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
    uint64_t st[8] = {0};
    if (rows[i].p == dots) dots[rows[i].n - 1] = 'f';
    int e = raw_stat(3, 1, rows[i].p, rows[i].n, st);
    if (rows[i].p == dots) dots[rows[i].n - 1] = '.';
    want(rows[i].p == dots ? "a path of dots" : rows[i].p, e, rows[i].e);
    if (!e && (uint8_t)st[2] != 3) want("a size", st[4], rows[i].size);
  }
}

static void apart(void) {
  uint32_t fd;
  uint64_t pre;
  want("the first mount", raw_prestat(3, &pre), OK);
  want("the second mount", raw_prestat(4, &pre), OK);
  want("after the last mount", raw_prestat(5, &pre), BADF);
  int e = raw_rename(3, "f", 1, 4, "x", 1);
  want("rename into a read-only mount", e == ROFS ? XDEV : e, XDEV);
  e = raw_rename(4, "f", 1, 3, "x", 1);
  want("rename out of a read-only mount", e == ROFS ? XDEV : e, XDEV);
  want("make a folder in a read-only mount", raw_mkdir(4, "x", 1), ROFS);
  want("remove a folder of a read-only mount", raw_rmdir(4, "d", 1), ROFS);
  want("unlink in a read-only mount", raw_unlink(4, "f", 1), ROFS);
  want("rename in a read-only mount", raw_rename(4, "f", 1, 4, "x", 1), ROFS);
  want("times in a read-only mount", raw_times(4, 0, "f", 1, 0, 0, 8), ROFS);
  want("create in a read-only mount", raw_open(4, 0, "new", 3, CREAT, READ, 0, 0, &fd), ROFS);
  want("cut in a read-only mount", raw_open(4, 0, "f", 1, TRUNC, READ, 0, 0, &fd), ROFS);
  want("write in a read-only mount", raw_open(4, 0, "f", 1, 0, READ | WRITE, 0, 0, &fd), ROFS);
  want("read in a read-only mount", raw_open(4, 0, "f", 1, 0, READ, 0, 0, &fd), OK);
}

static void rights(void) {
  int r, w, dir, fd;
  uint32_t n;
  __wasi_iovec_t v = {(uint8_t *)"x", 1};
  want("open to read", raw_open(3, 0, "f", 1, 0, READ, 0, 0, &r), OK);
  want("open to write", raw_open(3, 0, "d/f", 3, 0, WRITE, 0, 0, &w), OK);
  int e = raw_write(r, &v, 1, &n);
  want("write to one to be read", e == BADF ? NOTCAPABLE : e, NOTCAPABLE);
  e = raw_read(w, &v, 1, &n);
  want("read from one to be written", e == BADF ? NOTCAPABLE : e, NOTCAPABLE);
  want("more rights", raw_set_rights(r, READ | WRITE, 0), NOTCAPABLE);
  want("open below a file", raw_open(r, 0, "x", 1, 0, 0, 0, 0, &fd), NOTDIR);
  want("open below nothing", raw_open(99, 0, "x", 1, 0, 0, 0, 0, &fd), BADF);
  // A folder's rights bound what is opened through it: path_open and fd_readdir, then only read.
  want("a folder with few rights", raw_open(3, 0, "d", 1, DIRECTORY, 1 << 13 | 1 << 14, READ, 0, &dir), OK);
  want("read through it", raw_open(dir, 0, "f", 1, 0, READ, 0, 0, &fd), OK);
  want("write through it", raw_open(dir, 0, "f", 1, 0, READ | WRITE, 0, 0, &fd), NOTCAPABLE);
  want("create through it", raw_open(dir, 0, "new", 3, CREAT, READ, 0, 0, &fd), NOTCAPABLE);
  want("cut through it", raw_open(dir, 0, "f", 1, TRUNC, READ, 0, 0, &fd), NOTCAPABLE);
  want("make a folder through it", raw_mkdir(dir, "x", 1), NOTCAPABLE);
  want("remove a folder through it", raw_rmdir(dir, "e", 1), NOTCAPABLE);
  want("unlink through it", raw_unlink(dir, "f", 1), NOTCAPABLE);
  want("rename through it", raw_rename(dir, "f", 1, 3, "x", 1), NOTCAPABLE);
  uint64_t st[8];
  want("look through it", raw_stat(dir, 0, "f", 1, st), NOTCAPABLE);
}

int main(void) {
  uint64_t st[3];
  if (raw_fdstat(3, st)) return puts("FAIL the rights of the mount"), 1;
  all_dir = st[1], all_below = st[2];
  int paths = leads_out();
  inside();
  apart();
  rights();
  printf("%d paths\n%d calls\n", paths, calls);
  return fails != 0;
}
