// WASI preview1, case by case, from its specification (legacy/preview1/docs.md): one
// function a case, "ok NAME" or "FAIL NAME: why" a line. Descriptor 3 is "/", which may be
// written; 4 is "/ro", which may not and holds f ("read only") and d/. An argument runs one
// case alone.
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <wasi/api.h>

typedef const char *(*test)(void);
static struct { const char *name; test f; } tests[400];
static int count;
static char why[256];

#define T(n) static const char *t_##n(void); __attribute__((constructor)) static void r_##n(void) { tests[count].name = #n; tests[count++].f = t_##n; } static const char *t_##n(void)
#define IS(expr, want) do { long long g_ = (long long)(expr), w_ = (long long)(want); if (g_ != w_) { snprintf(why, sizeof why, "line %d: %s is %lld, want %lld", __LINE__, #expr, g_, w_); return why; } } while (0)
#define OK(expr) IS(expr, 0)
#define YES(expr) IS(!!(expr), 1)
#define RAW(n) __attribute__((import_module("wasi_snapshot_preview1"), import_name(#n)))

RAW(sock_accept) int raw_sock_accept(int, int, int);
RAW(path_open) int raw_path_open(int, int, const char *, int, int, uint64_t, uint64_t, int, void *);
RAW(path_symlink) int raw_path_symlink(const char *, int, int, const char *, int);
RAW(fd_write) int raw_fd_write(int, void *, int, void *);
RAW(fd_read) int raw_fd_read(int, void *, int, void *);
RAW(random_get) int raw_random_get(void *, int);
RAW(fd_prestat_dir_name) int raw_prestat_dir_name(int, void *, int);
RAW(path_filestat_get) int raw_stat(int, int, const char *, int, void *);
RAW(fd_readdir) int raw_readdir(int, void *, int, uint64_t, void *);
RAW(poll_oneoff) int raw_poll(void *, void *, int, void *);
RAW(args_get) int raw_args_get(void *, void *);
RAW(fd_seek) int raw_seek(int, int64_t, int, void *);
RAW(path_create_directory) int raw_mkdir(int, const char *, int);
RAW(path_unlink_file) int raw_unlink(int, const char *, int);
RAW(path_rename) int raw_rename(int, const char *, int, int, const char *, int);
RAW(clock_time_get) int raw_clock(int, uint64_t, void *);
RAW(fd_filestat_get) int raw_fdstat(int, void *);

enum { BADF = 8, EXIST = 20, FAULT = 21, FBIG = 22, ILSEQ = 25, INVAL = 28, ISDIR = 31, MFILE = 33, NAMETOOLONG = 37, NOENT = 44, NOTDIR = 54, NOTEMPTY = 55, NOTSOCK = 57,
  NOTSUP = 58, PERM = 63, ROFS = 69, SPIPE = 70, XDEV = 75, NOTCAPABLE = 76, BUSY = 10 };
enum { CREAT = 1, DIRECTORY = 2, EXCL = 4, TRUNC = 8, APPEND = 1 };
#define R_READ 2ull
#define R_SEEK 4ull
#define R_WRITE 64ull
#define FILE_RIGHTS (0x8e001ffull & ~0ull)
#define RW (R_READ | R_SEEK | R_WRITE | 1 | 8 | 16 | 32 | 128 | 256 | 0x200000 | 0x400000 | 0x800000 | 0x8000000)
#define RO (RW & ~(R_WRITE | 256 | 0x400000))
#define DIR_RIGHTS 0x07bfffb9ull & ~(0x1a2ull)

static void *wild = (void *)0xfffffff0u;

static int open_at(int fd, const char *p, int oflags, uint64_t rights, int flags, int *out) {
  return raw_path_open(fd, 0, p, strlen(p), oflags, rights, RW, flags, out);
}
static int mk(const char *p, const char *text) { // makes a file
  int fd, e = open_at(3, p, CREAT | TRUNC, RW, 0, &fd);
  if (e) return e;
  __wasi_ciovec_t v = {(const uint8_t *)text, strlen(text)};
  __wasi_size_t n;
  if (v.buf_len && ((e = __wasi_fd_write(fd, &v, 1, &n)) || n != v.buf_len)) return e ? e : -1;
  return __wasi_fd_close(fd);
}
static int mkd(const char *p) { return raw_mkdir(3, p, strlen(p)); }
static int st(const char *p, __wasi_filestat_t *s) { return raw_stat(3, 0, p, strlen(p), s); }
static int rm(const char *p) { return raw_unlink(3, p, strlen(p)); }
static int mv(const char *a, const char *b) { return raw_rename(3, a, strlen(a), 3, b, strlen(b)); }
static int wr(int fd, const char *s) {
  __wasi_ciovec_t v = {(const uint8_t *)s, strlen(s)};
  __wasi_size_t n = 0;
  int e = __wasi_fd_write(fd, &v, 1, &n);
  return e ? -e : (int)n;
}
static char got[4096];
static int rd(int fd, int len) {
  __wasi_iovec_t v = {(uint8_t *)got, len};
  __wasi_size_t n = 0;
  memset(got, 0, sizeof got);
  int e = __wasi_fd_read(fd, &v, 1, &n);
  return e ? -e : (int)n;
}
static const char *text(const char *p) { // what is in a file
  int fd;
  if (open_at(3, p, 0, RO, 0, &fd)) return "(not there)";
  int n = rd(fd, sizeof got - 1);
  __wasi_fd_close(fd);
  return n < 0 ? "(not readable)" : got;
}
static __wasi_filestat_t s;
static __wasi_fdstat_t f;
static __wasi_size_t n;
static __wasi_filesize_t at;
static int fd, fd2;

// --- arguments and environment ---
T(args_sizes) { __wasi_size_t c, b; OK(__wasi_args_sizes_get(&c, &b)); IS(c, 3); IS(b, sizeof "conform" + sizeof "all" + sizeof "\xc3\xbc"); return 0; }
T(args_get) { uint8_t *p[3], b[64]; OK(__wasi_args_get(p, b)); OK(strcmp((char *)p[0], "conform")); OK(strcmp((char *)p[2], "\xc3\xbc")); return 0; }
T(args_get_fault) { IS(raw_args_get(wild, wild), FAULT); return 0; }
T(environ_sizes) { __wasi_size_t c, b; OK(__wasi_environ_sizes_get(&c, &b)); IS(c, 2); IS(b, sizeof "KEY=value" + sizeof "EMPTY="); return 0; }
T(environ_get) { uint8_t *p[2], b[64]; OK(__wasi_environ_get(p, b)); OK(strcmp((char *)p[0], "KEY=value")); OK(strcmp((char *)p[1], "EMPTY=")); return 0; }
// --- clocks ---
T(clock_res_realtime) { __wasi_timestamp_t t; OK(__wasi_clock_res_get(0, &t)); IS(t, 1000000); return 0; }
T(clock_res_monotonic) { __wasi_timestamp_t t; OK(__wasi_clock_res_get(1, &t)); IS(t, 1000000); return 0; }
T(clock_res_bad) { __wasi_timestamp_t t; IS(__wasi_clock_res_get(9, &t), INVAL); return 0; }
T(clock_realtime) { __wasi_timestamp_t t; OK(__wasi_clock_time_get(0, 1, &t)); YES(t > 1700000000000000000ull); return 0; }
T(clock_realtime_coarse) { __wasi_timestamp_t t; OK(__wasi_clock_time_get(0, 1, &t)); IS(t % 1000000, 0); return 0; }
T(clock_monotonic) { __wasi_timestamp_t a, b; OK(__wasi_clock_time_get(1, 1, &a)); OK(__wasi_clock_time_get(1, 1, &b)); YES(b >= a); return 0; }
T(clock_monotonic_moves) { __wasi_timestamp_t a, b; OK(__wasi_clock_time_get(1, 1, &a)); do OK(__wasi_clock_time_get(1, 1, &b)); while (b == a); return 0; }
T(clock_cputime) { __wasi_timestamp_t t; OK(__wasi_clock_time_get(2, 1, &t)); return 0; }
T(clock_bad) { __wasi_timestamp_t t; IS(__wasi_clock_time_get(77, 1, &t), INVAL); return 0; }
T(clock_fault) { IS(raw_clock(0, 1, wild), FAULT); return 0; }
// --- random, yield ---
T(random) { uint8_t b[32] = {0}; OK(__wasi_random_get(b, 32)); int x = 0; for (int i = 0; i < 32; i++) x |= b[i]; YES(x); return 0; }
T(random_differs) { uint64_t a, b; OK(__wasi_random_get((uint8_t *)&a, 8)); OK(__wasi_random_get((uint8_t *)&b, 8)); YES(a != b); return 0; }
T(random_large) { static uint8_t b[200000]; OK(__wasi_random_get(b, sizeof b)); YES(b[199999] | b[199998] | b[199997] | b[199996]); return 0; }
T(random_none) { OK(__wasi_random_get((uint8_t *)&n, 0)); return 0; }
T(random_fault) { IS(raw_random_get(wild, 64), FAULT); return 0; }
T(sched_yield) { OK(__wasi_sched_yield()); return 0; }
// --- sockets ---
T(sock_accept_file) { OK(mk("sa", "")); OK(open_at(3, "sa", 0, RW, 0, &fd)); IS(raw_sock_accept(fd, 0, (int)&fd2), NOTSOCK); return 0; }
T(sock_accept_badf) { IS(raw_sock_accept(999, 0, (int)&fd2), BADF); return 0; }
T(sock_recv) { __wasi_iovec_t v = {(uint8_t *)got, 1}; __wasi_roflags_t fl; IS(__wasi_sock_recv(0, &v, 1, 0, &n, &fl), NOTSOCK); return 0; }
T(sock_recv_badf) { __wasi_iovec_t v = {(uint8_t *)got, 1}; __wasi_roflags_t fl; IS(__wasi_sock_recv(999, &v, 1, 0, &n, &fl), BADF); return 0; }
T(sock_send) { __wasi_ciovec_t v = {(uint8_t *)got, 1}; IS(__wasi_sock_send(1, &v, 1, 0, &n), NOTSOCK); return 0; }
T(sock_send_badf) { __wasi_ciovec_t v = {(uint8_t *)got, 1}; IS(__wasi_sock_send(999, &v, 1, 0, &n), BADF); return 0; }
T(sock_shutdown) { IS(__wasi_sock_shutdown(3, 1), NOTSOCK); return 0; }
T(sock_shutdown_badf) { IS(__wasi_sock_shutdown(999, 1), BADF); return 0; }
// --- preopens ---
T(prestat) { __wasi_prestat_t p; OK(__wasi_fd_prestat_get(3, &p)); IS(p.tag, 0); IS(p.u.dir.pr_name_len, 1); return 0; }
T(prestat_second) { __wasi_prestat_t p; OK(__wasi_fd_prestat_get(4, &p)); IS(p.u.dir.pr_name_len, 3); return 0; }
T(prestat_none) { __wasi_prestat_t p; IS(__wasi_fd_prestat_get(5, &p), BADF); return 0; }
T(prestat_stdin) { __wasi_prestat_t p; IS(__wasi_fd_prestat_get(0, &p), BADF); return 0; }
T(prestat_name) { char b[4] = "xxxx"; OK(raw_prestat_dir_name(4, b, 3)); OK(memcmp(b, "/rox", 4)); return 0; }
T(prestat_name_short) { char b[4]; IS(raw_prestat_dir_name(4, b, 2), NAMETOOLONG); return 0; }
T(prestat_opened_dir) { __wasi_prestat_t p; OK(mkd("po")); OK(open_at(3, "po", DIRECTORY, 0x4000, 0, &fd)); IS(__wasi_fd_prestat_get(fd, &p), BADF); return 0; }
// --- standard streams ---
T(stdin_end) { IS(rd(0, 10), 2); OK(memcmp(got, "in", 2)); IS(rd(0, 10), 0); return 0; }
T(stdin_seek) { IS(raw_seek(0, 0, 0, &at), SPIPE); return 0; }
T(stdin_write) { IS(wr(0, "x"), -NOTCAPABLE); return 0; }
T(stdin_type) { OK(__wasi_fd_fdstat_get(0, &f)); YES(f.fs_filetype != 4 && f.fs_filetype != 3); YES(f.fs_rights_base & R_READ); return 0; }
T(stdout_type) { OK(__wasi_fd_fdstat_get(1, &f)); YES(f.fs_filetype != 4 && f.fs_filetype != 3); YES(f.fs_rights_base & R_WRITE); return 0; }
T(stdout_read) { IS(rd(1, 1), -NOTCAPABLE); return 0; }
T(stdout_seek) { IS(raw_seek(1, 0, 1, &at), SPIPE); return 0; }
T(stdout_empty) { IS(wr(1, ""), 0); return 0; }
T(stderr_write) { IS(wr(2, "e\n"), 2); return 0; }
T(stdout_filestat) { OK(__wasi_fd_filestat_get(1, &s)); IS(s.size, 0); return 0; }
T(stdout_fault) { IS(raw_fd_write(1, wild, 4, &n), FAULT); return 0; }
T(stdout_fault_buf) { __wasi_ciovec_t v = {wild, 100}; IS(raw_fd_write(1, &v, 1, &n), FAULT); return 0; }
T(stdout_too_many) { IS(raw_fd_write(1, &n, 100000, &n), INVAL); return 0; }
// --- open ---
T(open_missing) { IS(open_at(3, "nope", 0, RO, 0, &fd), NOENT); return 0; }
T(open_create) { OK(open_at(3, "oc", CREAT, RW, 0, &fd)); OK(st("oc", &s)); IS(s.size, 0); IS(s.filetype, 4); return 0; }
T(open_create_existing) { OK(mk("oce", "abc")); OK(open_at(3, "oce", CREAT, RW, 0, &fd)); OK(strcmp(text("oce"), "abc")); return 0; }
T(open_excl) { OK(open_at(3, "oe", CREAT | EXCL, RW, 0, &fd)); IS(open_at(3, "oe", CREAT | EXCL, RW, 0, &fd), EXIST); return 0; }
T(open_trunc) { OK(mk("ot", "abc")); OK(open_at(3, "ot", TRUNC, RW, 0, &fd)); OK(st("ot", &s)); IS(s.size, 0); return 0; }
T(open_directory_flag) { OK(mk("odf", "")); IS(open_at(3, "odf", DIRECTORY, 0x4000, 0, &fd), NOTDIR); return 0; }
T(open_directory) { OK(mkd("od")); OK(open_at(3, "od", DIRECTORY, 0x4000, 0, &fd)); OK(__wasi_fd_fdstat_get(fd, &f)); IS(f.fs_filetype, 3); return 0; }
T(open_directory_write) { OK(mkd("odw")); IS(open_at(3, "odw", 0, R_WRITE, 0, &fd), ISDIR); return 0; }
T(open_directory_trunc) { OK(mkd("odt")); IS(open_at(3, "odt", TRUNC, RW, 0, &fd), ISDIR); return 0; }
T(open_create_directory) { IS(open_at(3, "ocd", CREAT | DIRECTORY, RW, 0, &fd), INVAL); return 0; }
T(open_slash_file) { OK(mk("osf", "")); IS(open_at(3, "osf/", 0, RO, 0, &fd), NOTDIR); return 0; }
T(open_slash_create) { IS(open_at(3, "osc/", CREAT, RW, 0, &fd), ISDIR); return 0; }
T(open_slash_dir) { OK(mkd("osd")); OK(open_at(3, "osd/", DIRECTORY, 0x4000, 0, &fd)); return 0; }
T(open_below_file) { OK(mk("obf", "")); IS(open_at(3, "obf/x", CREAT, RW, 0, &fd), NOTDIR); return 0; }
T(open_below_missing) { IS(open_at(3, "obm/x", CREAT, RW, 0, &fd), NOENT); return 0; }
T(open_empty) { IS(open_at(3, "", 0, RO, 0, &fd), NOENT); return 0; }
T(open_absolute) { OK(mk("oa", "")); IS(open_at(3, "/oa", 0, RO, 0, &fd), PERM); return 0; }
T(open_dotdot) { IS(open_at(3, "..", 0, RO, 0, &fd), PERM); return 0; }
T(open_dotdot_deep) { OK(mkd("odd")); IS(open_at(3, "odd/../../x", 0, RO, 0, &fd), PERM); return 0; }
T(open_dotdot_inside) { OK(mkd("odi")); OK(mk("odi2", "x")); OK(open_at(3, "odi/../odi2", 0, RO, 0, &fd)); return 0; }
T(open_dotdot_missing) { OK(mk("odm", "x")); IS(open_at(3, "no/../odm", 0, RO, 0, &fd), NOENT); return 0; }
T(open_dotdot_of_dir) { OK(mkd("odx")); OK(open_at(3, "odx", DIRECTORY, DIR_RIGHTS, 0, &fd)); IS(open_at(fd, "../odx", DIRECTORY, 0, 0, &fd2), PERM); return 0; }
T(open_dot) { OK(open_at(3, ".", DIRECTORY, 0x4000, 0, &fd)); return 0; }
T(open_dots) { OK(mk("ods", "x")); OK(open_at(3, "././ods", 0, RO, 0, &fd)); return 0; }
T(open_long_name) { char b[300]; memset(b, 'a', 256); b[256] = 0; IS(open_at(3, b, CREAT, RW, 0, &fd), NAMETOOLONG); return 0; }
T(open_longest_name) { char b[300]; memset(b, 'a', 255); b[255] = 0; OK(open_at(3, b, CREAT, RW, 0, &fd)); return 0; }
T(open_long_path) { static char b[5001]; memset(b, '/', 5000); b[0] = '.'; IS(open_at(3, b, 0, RO, 0, &fd), NAMETOOLONG); return 0; }
T(open_not_utf8) { IS(open_at(3, "\xff\xfe", CREAT, RW, 0, &fd), ILSEQ); return 0; }
T(open_nul) { IS(raw_path_open(3, 0, "a\0b", 3, CREAT, RW, 0, 0, &fd), INVAL); return 0; }
T(open_utf8) { OK(mk("\xe6\xbc\xa2\xe5\xad\x97", "x")); OK(strcmp(text("\xe6\xbc\xa2\xe5\xad\x97"), "x")); return 0; }
T(open_fault) { IS(raw_path_open(3, 0, wild, 100, 0, RO, 0, 0, &fd), FAULT); return 0; }
T(open_fault_out) { OK(mk("ofo", "")); IS(raw_path_open(3, 0, "ofo", 3, 0, RO, 0, 0, wild + 14), FAULT); return 0; }
T(open_badf) { IS(open_at(999, "x", 0, RO, 0, &fd), BADF); return 0; }
T(open_on_file) { OK(mk("oof", "")); OK(open_at(3, "oof", 0, RW, 0, &fd)); IS(open_at(fd, "x", 0, RO, 0, &fd2), NOTDIR); return 0; }
T(open_lowest_fd) { OK(mk("ol", "")); OK(open_at(3, "ol", 0, RW, 0, &fd)); OK(__wasi_fd_close(fd)); OK(open_at(3, "ol", 0, RW, 0, &fd2)); IS(fd, fd2); return 0; }
T(open_bad_oflags) { IS(open_at(3, "bof", 64, RO, 0, &fd), INVAL); return 0; }
T(open_rights_kept) { OK(mk("ork", "")); OK(open_at(3, "ork", 0, R_READ, 0, &fd)); OK(__wasi_fd_fdstat_get(fd, &f)); IS(f.fs_rights_base, R_READ); return 0; }
T(open_rights_write) { OK(mk("orw", "")); OK(open_at(3, "orw", 0, R_READ, 0, &fd)); IS(wr(fd, "x"), -NOTCAPABLE); return 0; }
T(open_rights_read) { OK(mk("orr", "x")); OK(open_at(3, "orr", 0, R_WRITE, 0, &fd)); IS(rd(fd, 1), -NOTCAPABLE); return 0; }
T(open_rights_more) { OK(mkd("orm")); OK(mk("orm/f", "")); OK(raw_path_open(3, 0, "orm", 3, DIRECTORY, 0x2000, R_READ, 0, &fd)); IS(open_at(fd, "f", 0, R_WRITE, 0, &fd2), NOTCAPABLE); return 0; }
T(open_rights_no_open) { OK(mkd("orn")); OK(raw_path_open(3, 0, "orn", 3, DIRECTORY, 0x4000, R_READ, 0, &fd)); IS(raw_path_open(fd, 0, "f", 1, 0, R_READ, 0, 0, &fd2), NOTCAPABLE); return 0; }
T(open_nested) { OK(mkd("on")); OK(mkd("on/a")); OK(mkd("on/a/b")); OK(mk("on/a/b/c", "deep")); OK(open_at(3, "on/a", DIRECTORY, DIR_RIGHTS, 0, &fd)); OK(open_at(fd, "b/c", 0, RO, 0, &fd2)); IS(rd(fd2, 10), 4); return 0; }
// --- read, write, seek ---
T(write_read) { OK(open_at(3, "wr", CREAT, RW, 0, &fd)); IS(wr(fd, "hello"), 5); OK(raw_seek(fd, 0, 0, &at)); IS(rd(fd, 10), 5); OK(strcmp(got, "hello")); return 0; }
T(read_end) { OK(mk("re", "x")); OK(open_at(3, "re", 0, RO, 0, &fd)); IS(rd(fd, 1), 1); IS(rd(fd, 1), 0); return 0; }
T(read_vectors) { OK(mk("rv", "abcdef")); OK(open_at(3, "rv", 0, RO, 0, &fd)); __wasi_iovec_t v[3] = {{(uint8_t *)got, 2}, {(uint8_t *)got + 10, 0}, {(uint8_t *)got + 20, 9}}; OK(__wasi_fd_read(fd, v, 3, &n)); IS(n, 6); OK(memcmp(got + 20, "cdef", 4)); return 0; }
T(write_vectors) { OK(open_at(3, "wv", CREAT, RW, 0, &fd)); __wasi_ciovec_t v[2] = {{(uint8_t *)"ab", 2}, {(uint8_t *)"cd", 2}}; OK(__wasi_fd_write(fd, v, 2, &n)); IS(n, 4); OK(strcmp(text("wv"), "abcd")); return 0; }
T(read_dir) { OK(open_at(3, ".", DIRECTORY, 0x4000 | R_READ, 0, &fd)); YES(rd(fd, 1) < 0); return 0; }
T(read_badf) { IS(rd(999, 1), -BADF); return 0; }
T(write_badf) { IS(wr(999, "x"), -BADF); return 0; }
T(read_fault) { OK(mk("rf", "abc")); OK(open_at(3, "rf", 0, RO, 0, &fd)); __wasi_iovec_t v = {wild, 100}; IS(raw_fd_read(fd, &v, 1, &n), FAULT); return 0; }
T(read_closed) { OK(mk("rc", "abc")); OK(open_at(3, "rc", 0, RO, 0, &fd)); OK(__wasi_fd_close(fd)); IS(rd(fd, 1), -BADF); return 0; }
T(seek_set) { OK(mk("ss", "abcdef")); OK(open_at(3, "ss", 0, RO, 0, &fd)); OK(raw_seek(fd, 4, 0, &at)); IS(at, 4); IS(rd(fd, 9), 2); return 0; }
T(seek_cur) { OK(mk("sc", "abcdef")); OK(open_at(3, "sc", 0, RO, 0, &fd)); IS(rd(fd, 2), 2); OK(raw_seek(fd, 1, 1, &at)); IS(at, 3); return 0; }
T(seek_end) { OK(mk("se", "abcdef")); OK(open_at(3, "se", 0, RO, 0, &fd)); OK(raw_seek(fd, -2, 2, &at)); IS(at, 4); return 0; }
T(seek_negative) { OK(mk("sn", "abc")); OK(open_at(3, "sn", 0, RO, 0, &fd)); IS(raw_seek(fd, -1, 0, &at), INVAL); return 0; }
T(seek_whence) { OK(mk("sw", "abc")); OK(open_at(3, "sw", 0, RO, 0, &fd)); IS(raw_seek(fd, 0, 3, &at), INVAL); return 0; }
T(seek_beyond) { OK(mk("sb", "abc")); OK(open_at(3, "sb", 0, RW, 0, &fd)); OK(raw_seek(fd, 10, 0, &at)); IS(rd(fd, 1), 0); IS(wr(fd, "x"), 1); OK(st("sb", &s)); IS(s.size, 11); return 0; }
T(seek_hole) { OK(mk("sh", "a")); OK(open_at(3, "sh", 0, RW, 0, &fd)); OK(raw_seek(fd, 3, 0, &at)); IS(wr(fd, "b"), 1); OK(raw_seek(fd, 0, 0, &at)); IS(rd(fd, 9), 4); OK(memcmp(got, "a\0\0b", 4)); return 0; }
T(seek_rights) { OK(mk("sr", "abc")); OK(open_at(3, "sr", 0, R_READ, 0, &fd)); IS(raw_seek(fd, 1, 0, &at), NOTCAPABLE); return 0; }
T(seek_dir) { OK(open_at(3, ".", DIRECTORY, 0x4000, 0, &fd)); IS(raw_seek(fd, 0, 0, &at), BADF); return 0; }
T(tell) { OK(mk("te", "abc")); OK(open_at(3, "te", 0, RO, 0, &fd)); IS(rd(fd, 2), 2); OK(__wasi_fd_tell(fd, &at)); IS(at, 2); return 0; }
T(tell_stdin) { IS(__wasi_fd_tell(0, &at), SPIPE); return 0; }
T(pread) { OK(mk("pr", "abcdef")); OK(open_at(3, "pr", 0, RO, 0, &fd)); __wasi_iovec_t v = {(uint8_t *)got, 2}; OK(__wasi_fd_pread(fd, &v, 1, 3, &n)); IS(n, 2); OK(memcmp(got, "de", 2)); OK(__wasi_fd_tell(fd, &at)); IS(at, 0); return 0; }
T(pread_beyond) { OK(mk("pb", "abc")); OK(open_at(3, "pb", 0, RO, 0, &fd)); __wasi_iovec_t v = {(uint8_t *)got, 2}; OK(__wasi_fd_pread(fd, &v, 1, 99, &n)); IS(n, 0); return 0; }
T(pwrite) { OK(mk("pw", "abcdef")); OK(open_at(3, "pw", 0, RW, 0, &fd)); __wasi_ciovec_t v = {(uint8_t *)"XY", 2}; OK(__wasi_fd_pwrite(fd, &v, 1, 2, &n)); IS(n, 2); OK(strcmp(text("pw"), "abXYef")); OK(__wasi_fd_tell(fd, &at)); IS(at, 0); return 0; }
T(pwrite_grows) { OK(mk("pg", "a")); OK(open_at(3, "pg", 0, RW, 0, &fd)); __wasi_ciovec_t v = {(uint8_t *)"z", 1}; OK(__wasi_fd_pwrite(fd, &v, 1, 4, &n)); OK(st("pg", &s)); IS(s.size, 5); return 0; }
T(pread_stdin) { __wasi_iovec_t v = {(uint8_t *)got, 2}; IS(__wasi_fd_pread(0, &v, 1, 0, &n), SPIPE); return 0; }
T(append) { OK(mk("ap", "abc")); OK(open_at(3, "ap", 0, RW, APPEND, &fd)); IS(wr(fd, "d"), 1); OK(raw_seek(fd, 0, 0, &at)); IS(wr(fd, "e"), 1); OK(strcmp(text("ap"), "abcde")); return 0; }
T(append_set_later) { OK(mk("asl", "abc")); OK(open_at(3, "asl", 0, RW, 0, &fd)); OK(__wasi_fd_fdstat_set_flags(fd, APPEND)); IS(wr(fd, "d"), 1); OK(strcmp(text("asl"), "abcd")); return 0; }
T(two_handles) { OK(mk("th", "")); OK(open_at(3, "th", 0, RW, 0, &fd)); OK(open_at(3, "th", 0, RO, 0, &fd2)); IS(wr(fd, "now"), 3); IS(rd(fd2, 9), 3); return 0; }
T(write_large) { static char b[300000]; memset(b, 'q', sizeof b); OK(open_at(3, "wl", CREAT, RW, 0, &fd)); __wasi_ciovec_t v = {(uint8_t *)b, sizeof b}; for (int i = 0; i < 4; i++) { OK(__wasi_fd_write(fd, &v, 1, &n)); IS(n, sizeof b); } OK(st("wl", &s)); IS(s.size, 4 * sizeof b); OK(rm("wl")); return 0; }
// --- descriptors ---
T(close) { OK(mk("cl", "")); OK(open_at(3, "cl", 0, RW, 0, &fd)); OK(__wasi_fd_close(fd)); IS(__wasi_fd_close(fd), BADF); return 0; }
T(close_badf) { IS(__wasi_fd_close(12345), BADF); return 0; }
T(renumber) { OK(mk("rn", "abc")); OK(mk("rn2", "xyz")); OK(open_at(3, "rn", 0, RO, 0, &fd)); OK(open_at(3, "rn2", 0, RO, 0, &fd2)); OK(__wasi_fd_renumber(fd, fd2)); IS(rd(fd, 1), -BADF); IS(rd(fd2, 3), 3); OK(strcmp(got, "abc")); return 0; }
T(renumber_badf) { IS(__wasi_fd_renumber(999, 1), BADF); return 0; }
T(renumber_to_badf) { OK(mk("rtb", "")); OK(open_at(3, "rtb", 0, RO, 0, &fd)); IS(__wasi_fd_renumber(fd, 999), BADF); return 0; }
T(fdstat_flags) { OK(mk("ff", "")); OK(open_at(3, "ff", 0, RW, APPEND, &fd)); OK(__wasi_fd_fdstat_get(fd, &f)); IS(f.fs_flags, APPEND); IS(f.fs_filetype, 4); return 0; }
T(fdstat_badf) { IS(__wasi_fd_fdstat_get(999, &f), BADF); return 0; }
T(fdstat_set_flags_bad) { OK(mk("fsf", "")); OK(open_at(3, "fsf", 0, RW, 0, &fd)); IS(__wasi_fd_fdstat_set_flags(fd, 0x40), INVAL); return 0; }
T(set_rights_fewer) { OK(mk("srf", "")); OK(open_at(3, "srf", 0, RW, 0, &fd)); OK(__wasi_fd_fdstat_set_rights(fd, R_READ, 0)); IS(wr(fd, "x"), -NOTCAPABLE); return 0; }
T(set_rights_more) { OK(mk("srm", "")); OK(open_at(3, "srm", 0, R_READ, 0, &fd)); IS(__wasi_fd_fdstat_set_rights(fd, R_READ | R_WRITE, 0), NOTCAPABLE); return 0; }
T(advise) { OK(mk("ad", "abc")); OK(open_at(3, "ad", 0, RW, 0, &fd)); for (int i = 0; i < 6; i++) OK(__wasi_fd_advise(fd, 0, 0, i)); return 0; }
T(advise_bad) { OK(mk("adb", "abc")); OK(open_at(3, "adb", 0, RW, 0, &fd)); IS(__wasi_fd_advise(fd, 0, 0, 6), INVAL); return 0; }
T(advise_dir) { OK(open_at(3, ".", DIRECTORY, 0x4000, 0, &fd)); IS(__wasi_fd_advise(fd, 0, 0, 0), BADF); return 0; }
T(allocate) { OK(mk("al", "abc")); OK(open_at(3, "al", 0, RW, 0, &fd)); OK(__wasi_fd_allocate(fd, 0, 100)); OK(st("al", &s)); IS(s.size, 100); return 0; }
T(allocate_within) { OK(mk("aw", "abcdef")); OK(open_at(3, "aw", 0, RW, 0, &fd)); OK(__wasi_fd_allocate(fd, 0, 2)); OK(st("aw", &s)); IS(s.size, 6); return 0; }
T(allocate_none) { OK(mk("an", "")); OK(open_at(3, "an", 0, RW, 0, &fd)); IS(__wasi_fd_allocate(fd, 0, 0), INVAL); return 0; }
T(sync) { OK(mk("sy", "x")); OK(open_at(3, "sy", 0, RW, 0, &fd)); OK(__wasi_fd_sync(fd)); OK(__wasi_fd_datasync(fd)); return 0; }
T(sync_badf) { IS(__wasi_fd_sync(999), BADF); IS(__wasi_fd_datasync(999), BADF); return 0; }
T(set_size_grow) { OK(mk("sg", "abc")); OK(open_at(3, "sg", 0, RW, 0, &fd)); OK(__wasi_fd_filestat_set_size(fd, 5)); IS(rd(fd, 9), 5); OK(memcmp(got, "abc\0\0", 5)); return 0; }
T(set_size_shrink) { OK(mk("sk", "abc")); OK(open_at(3, "sk", 0, RW, 0, &fd)); OK(__wasi_fd_filestat_set_size(fd, 1)); OK(strcmp(text("sk"), "a")); return 0; }
T(set_size_shrink_grow) { OK(mk("sx", "abc")); OK(open_at(3, "sx", 0, RW, 0, &fd)); OK(__wasi_fd_filestat_set_size(fd, 1)); OK(__wasi_fd_filestat_set_size(fd, 3)); IS(rd(fd, 9), 3); OK(memcmp(got, "a\0\0", 3)); return 0; }
T(set_size_rights) { OK(mk("sz", "abc")); OK(open_at(3, "sz", 0, R_READ, 0, &fd)); IS(__wasi_fd_filestat_set_size(fd, 1), NOTCAPABLE); return 0; }
T(set_size_huge) { OK(mk("sq", "abc")); OK(open_at(3, "sq", 0, RW, 0, &fd)); IS(__wasi_fd_filestat_set_size(fd, 1ull << 40), FBIG); return 0; }
// --- filestat ---
T(fd_filestat) { OK(mk("fs", "abcd")); OK(open_at(3, "fs", 0, RW, 0, &fd)); OK(__wasi_fd_filestat_get(fd, &s)); IS(s.size, 4); IS(s.filetype, 4); IS(s.nlink, 1); YES(s.ino); return 0; }
T(fd_filestat_fault) { IS(raw_fdstat(3, wild), FAULT); return 0; }
T(path_filestat_dir) { OK(mkd("pfd")); OK(st("pfd", &s)); IS(s.filetype, 3); return 0; }
T(path_filestat_missing) { IS(st("pfm", &s), NOENT); return 0; }
T(path_filestat_root) { OK(st(".", &s)); IS(s.filetype, 3); return 0; }
T(filestat_ino) { OK(mk("fi", "")); OK(mk("fi2", "")); OK(st("fi", &s)); uint64_t a = s.ino; OK(st("fi2", &s)); YES(a != s.ino); return 0; }
T(filestat_same) { OK(mk("fsa", "")); OK(st("fsa", &s)); uint64_t a = s.ino, d = s.dev; OK(open_at(3, "fsa", 0, RO, 0, &fd)); OK(__wasi_fd_filestat_get(fd, &s)); IS(s.ino, a); IS(s.dev, d); return 0; }
T(filestat_dev) { OK(st(".", &s)); uint64_t a = s.dev; OK(raw_stat(4, 0, "f", 1, &s)); YES(a != s.dev); return 0; }
T(set_times_fd) { OK(mk("stf", "")); OK(open_at(3, "stf", 0, RW, 0, &fd)); OK(__wasi_fd_filestat_set_times(fd, 1000000000, 2000000000, 1 | 4)); OK(__wasi_fd_filestat_get(fd, &s)); IS(s.atim, 1000000000); IS(s.mtim, 2000000000); return 0; }
T(set_times_path) { OK(mk("stp", "")); OK(__wasi_path_filestat_set_times(3, 0, "stp", 0, 5000000000ull, 4)); OK(st("stp", &s)); IS(s.mtim, 5000000000ull); return 0; }
T(set_times_ns) { OK(mk("stx", "")); OK(__wasi_path_filestat_set_times(3, 0, "stx", 1700000000123456789ull, 1700000000987654321ull, 1 | 4)); OK(st("stx", &s)); IS(s.atim, 1700000000123456789ull); IS(s.mtim, 1700000000987654321ull); return 0; }
T(open_dir_write) { IS(open_at(3, ".", DIRECTORY, R_READ | R_WRITE, 0, &fd), ISDIR); OK(open_at(3, ".", DIRECTORY, R_READ, 0, &fd)); return 0; }
T(set_times_now) { OK(mk("stn", "")); OK(__wasi_path_filestat_set_times(3, 0, "stn", 0, 0, 2 | 8)); OK(st("stn", &s)); YES(s.mtim > 1700000000000000000ull); return 0; }
T(set_times_both) { OK(mk("stb", "")); IS(__wasi_path_filestat_set_times(3, 0, "stb", 0, 0, 4 | 8), INVAL); IS(__wasi_path_filestat_set_times(3, 0, "stb", 0, 0, 1 | 2), INVAL); return 0; }
T(set_times_missing) { IS(__wasi_path_filestat_set_times(3, 0, "stm", 0, 0, 8), NOENT); return 0; }
T(mtime_moves) { OK(mk("mm", "")); OK(__wasi_path_filestat_set_times(3, 0, "mm", 0, 1000, 4)); OK(open_at(3, "mm", 0, RW, 0, &fd)); IS(wr(fd, "x"), 1); OK(st("mm", &s)); YES(s.mtim > 1700000000000000000ull); return 0; }
// --- folders ---
T(mkdir) { OK(mkd("md")); OK(st("md", &s)); IS(s.filetype, 3); return 0; }
T(mkdir_exists) { OK(mkd("me")); IS(mkd("me"), EXIST); return 0; }
T(mkdir_over_file) { OK(mk("mf", "")); IS(mkd("mf"), EXIST); return 0; }
T(mkdir_missing) { IS(mkd("no/md"), NOENT); return 0; }
T(mkdir_slash) { OK(mkd("ms/")); OK(st("ms", &s)); return 0; }
T(mkdir_dot) { IS(mkd("."), EXIST); return 0; }
T(mkdir_empty) { IS(mkd(""), NOENT); return 0; }
T(mkdir_dotdot) { IS(mkd("../x"), PERM); return 0; }
T(rmdir) { OK(mkd("rd")); OK(__wasi_path_remove_directory(3, "rd")); IS(st("rd", &s), NOENT); return 0; }
T(rmdir_slash) { OK(mkd("rs")); OK(__wasi_path_remove_directory(3, "rs/")); return 0; }
T(rmdir_not_empty) { OK(mkd("rne")); OK(mk("rne/x", "")); IS(__wasi_path_remove_directory(3, "rne"), NOTEMPTY); return 0; }
T(rmdir_file) { OK(mk("rfi", "")); IS(__wasi_path_remove_directory(3, "rfi"), NOTDIR); return 0; }
T(rmdir_missing) { IS(__wasi_path_remove_directory(3, "rmi"), NOENT); return 0; }
T(unlink) { OK(mk("ul", "")); OK(rm("ul")); IS(st("ul", &s), NOENT); return 0; }
T(unlink_dir) { OK(mkd("ud")); IS(rm("ud"), ISDIR); return 0; }
T(unlink_missing) { IS(rm("um"), NOENT); return 0; }
T(unlink_slash) { OK(mk("us", "")); IS(rm("us/"), NOTDIR); return 0; }
T(unlink_open) { OK(mk("uo", "still")); OK(open_at(3, "uo", 0, RW, 0, &fd)); OK(rm("uo")); IS(rd(fd, 9), 5); OK(__wasi_fd_filestat_get(fd, &s)); IS(s.nlink, 0); return 0; }
// --- rename ---
T(rename) { OK(mk("ra", "abc")); OK(mv("ra", "rb")); IS(st("ra", &s), NOENT); OK(strcmp(text("rb"), "abc")); return 0; }
T(rename_over) { OK(mk("roa", "new")); OK(mk("rob", "old")); OK(mv("roa", "rob")); OK(strcmp(text("rob"), "new")); return 0; }
T(rename_same) { OK(mk("rsa", "x")); OK(mv("rsa", "rsa")); OK(strcmp(text("rsa"), "x")); return 0; }
T(rename_missing) { IS(mv("rmx", "rmy"), NOENT); return 0; }
T(rename_dir) { OK(mkd("rda")); OK(mk("rda/f", "in")); OK(mv("rda", "rdb")); OK(strcmp(text("rdb/f"), "in")); return 0; }
T(rename_dir_over_empty) { OK(mkd("rea")); OK(mkd("reb")); OK(mv("rea", "reb")); return 0; }
T(rename_dir_over_full) { OK(mkd("rfa")); OK(mkd("rfb")); OK(mk("rfb/x", "")); IS(mv("rfa", "rfb"), NOTEMPTY); return 0; }
T(rename_file_over_dir) { OK(mk("rga", "")); OK(mkd("rgb")); IS(mv("rga", "rgb"), ISDIR); return 0; }
T(rename_dir_over_file) { OK(mkd("rha")); OK(mk("rhb", "")); IS(mv("rha", "rhb"), NOTDIR); return 0; }
T(rename_into_itself) { OK(mkd("ria")); IS(mv("ria", "ria/b"), INVAL); return 0; }
T(rename_into_missing) { OK(mk("rja", "")); IS(mv("rja", "no/b"), NOENT); return 0; }
T(rename_out) { OK(mk("rka", "")); IS(mv("rka", "../b"), PERM); return 0; }
T(rename_across) { OK(mk("rla", "")); IS(raw_rename(3, "rla", 3, 4, "x", 1), XDEV); return 0; }
T(rename_slash) { OK(mk("rna", "")); YES(mv("rna/", "rnb") == NOTDIR); return 0; }
T(rename_open) { OK(mk("rpa", "abc")); OK(open_at(3, "rpa", 0, RW, 0, &fd)); OK(mv("rpa", "rpb")); IS(wr(fd, "X"), 1); OK(strcmp(text("rpb"), "Xbc")); return 0; }
T(rename_root) { IS(mv(".", "x"), BUSY); return 0; }
// --- links ---
static int sl(const char *to, const char *p) { return raw_path_symlink(to, strlen(to), 3, p, strlen(p)); }
static int fst(const char *p, __wasi_filestat_t *s) { return raw_stat(3, 1, p, strlen(p), s); } // follows
static int fopen_at(const char *p, int oflags, int *out) { return raw_path_open(3, 1, p, strlen(p), oflags, RW, RW, 0, out); }
T(symlink) { OK(mk("slt", "abc")); OK(sl("slt", "sl")); OK(st("sl", &s)); IS(s.filetype, 7); IS(s.size, 3); OK(fst("sl", &s)); IS(s.filetype, 4); IS(open_at(3, "sl", 0, RW, 0, &fd), 32); OK(fopen_at("sl", 0, &fd)); IS(rd(fd, 9), 3); OK(rm("sl")); OK(st("slt", &s)); return 0; }
T(symlink_dir) { OK(mkd("sld")); OK(mk("sld/f", "in")); OK(sl("sld", "sl")); OK(strcmp(text("sl/f"), "in")); IS(open_at(3, "sl", DIRECTORY, 0, 0, &fd), NOTDIR); OK(open_at(3, "sl/", DIRECTORY, 0, 0, &fd)); OK(open_at(3, "sl/.", DIRECTORY, 0, 0, &fd)); IS(__wasi_path_remove_directory(3, "sl"), NOTDIR); OK(rm("sl")); OK(st("sld/f", &s)); return 0; }
T(symlink_up) { OK(mkd("slu")); OK(mkd("slu/d")); OK(mk("slu/f", "up")); OK(sl("../f", "slu/d/sl")); OK(fopen_at("slu/d/sl", 0, &fd)); IS(rd(fd, 9), 2); OK(rm("slu/d/sl")); return 0; }
T(symlink_out) { OK(mkd("slo")); OK(sl("../../ro/f", "slo/sl")); IS(fopen_at("slo/sl", 0, &fd), PERM); IS(fst("slo/sl", &s), PERM); OK(rm("slo/sl")); OK(open_at(3, "slo", DIRECTORY, 0x07bfffb9ull & ~0x1a2ull, 0, &fd)); OK(sl("../slt", "slo/sl")); IS(raw_path_open(fd, 1, "sl", 2, 0, R_READ, 0, 0, &fd2), PERM); OK(rm("slo/sl")); return 0; }
T(symlink_absolute) { IS(sl("/ro/f", "sla"), PERM); IS(sl("", "sla"), NOENT); IS(st("sla", &s), NOENT); return 0; }
T(symlink_loop) { OK(sl("b/x", "a")); OK(sl("a", "b")); IS(fst("a", &s), 32); IS(fst("a/x", &s), 32); IS(fopen_at("b", CREAT, &fd), 32); OK(rm("a")); OK(rm("b")); return 0; }
T(symlink_bomb) { char from[4], to[12]; for (int i = 0; i < 40; i++) { snprintf(from, 4, "c%d", i); snprintf(to, 12, i ? "c%d" : ".", i - 1); OK(sl(to, from)); } OK(fst("c31", &s)); IS(fst("c32", &s), 32); IS(fst("c20/c20", &s), 32); for (int i = 0; i < 40; i++) { snprintf(from, 4, "c%d", i); OK(rm(from)); } return 0; }
T(symlink_creates) { OK(sl("slc2", "slc")); OK(fopen_at("slc", CREAT, &fd)); IS(wr(fd, "x"), 1); OK(strcmp(text("slc2"), "x")); IS(open_at(3, "slc", CREAT | EXCL, RW, 0, &fd), EXIST); OK(rm("slc")); return 0; }
T(symlink_rename) { OK(sl("none", "slr")); OK(mv("slr", "slr2")); OK(st("slr2", &s)); IS(s.filetype, 7); OK(rm("slr2")); return 0; }
T(symlink_times) { OK(mk("slm", "")); OK(sl("slm", "sl")); OK(__wasi_path_filestat_set_times(3, 0, "sl", 0, 123456789, 4)); OK(st("sl", &s)); IS(s.mtim, 123456789); OK(st("slm", &s)); YES(s.mtim != 123456789); OK(rm("sl")); return 0; }
T(symlink_ro) { IS(raw_path_symlink("f", 1, 4, "sl", 2), ROFS); IS(__wasi_path_link(4, 0, "f", 4, "l"), ROFS); return 0; }
T(symlink_slash) { IS(sl("t", "sls/"), NOENT); return 0; }
T(symlink_fault) { IS(raw_path_symlink(wild, 9, 3, "x", 1), FAULT); return 0; }
T(readlink) { OK(sl("target", "rl")); memset(got, 'z', 10); OK(__wasi_path_readlink(3, "rl", (uint8_t *)got, 9, &n)); IS(n, 6); OK(memcmp(got, "targetzz", 8)); OK(__wasi_path_readlink(3, "rl", (uint8_t *)got, 2, &n)); IS(n, 2); OK(rm("rl")); return 0; }
T(symlink_exists) { OK(mk("sle", "")); IS(raw_path_symlink("t", 1, 3, "sle", 3), EXIST); return 0; }
T(readlink_file) { OK(mk("rlf", "")); IS(__wasi_path_readlink(3, "rlf", (uint8_t *)got, 9, &n), INVAL); return 0; }
T(readlink_missing) { IS(__wasi_path_readlink(3, "rlm", (uint8_t *)got, 9, &n), NOENT); return 0; }
T(link) { OK(mk("li", "one")); OK(__wasi_path_link(3, 0, "li", 3, "li2")); OK(st("li2", &s)); IS(s.nlink, 2); uint64_t i = s.ino; OK(st("li", &s)); IS(s.ino, i); OK(open_at(3, "li2", 0, RW, 0, &fd)); IS(wr(fd, "ON"), 2); OK(strcmp(text("li"), "ONe")); OK(rm("li2")); OK(st("li", &s)); IS(s.nlink, 1); return 0; }
T(link_then_gone) { OK(mk("lg", "kept")); OK(__wasi_path_link(3, 0, "lg", 3, "lg2")); OK(rm("lg")); OK(strcmp(text("lg2"), "kept")); return 0; }
T(link_symlink) { OK(sl("none", "ls")); OK(__wasi_path_link(3, 0, "ls", 3, "ls2")); OK(st("ls2", &s)); IS(s.filetype, 7); IS(__wasi_path_link(3, 1, "ls", 3, "ls3"), INVAL); OK(rm("ls")); OK(rm("ls2")); return 0; }
T(link_across) { IS(__wasi_path_link(4, 0, "f", 3, "lx"), XDEV); return 0; }
T(link_slash) { OK(mk("lsl", "")); IS(__wasi_path_link(3, 0, "lsl", 3, "lsl2/"), NOENT); return 0; }
T(leave_links) { OK(mk("left", "text")); OK(mk("old", "new")); OK(sl("left", "soft")); OK(__wasi_path_link(3, 0, "old", 3, "hard")); OK(rm("gone")); OK(rm("d/gone")); OK(sl("../left", "d/gone")); OK(sl("none", "gone")); return 0; }
T(leave_symlink) { OK(mk("left", "text")); OK(sl("left", "soft")); return 0; }
T(leave_out) { OK(mk("left", "text")); OK(mkd("d2")); OK(sl("../../x", "d2/out")); return 0; }
T(leave_hard) { OK(mk("left", "text")); OK(__wasi_path_link(3, 0, "left", 3, "hard")); return 0; }
T(link_dir) { OK(mkd("lid")); IS(__wasi_path_link(3, 0, "lid", 3, "lid2"), PERM); return 0; }
T(link_missing) { IS(__wasi_path_link(3, 0, "lim", 3, "lim2"), NOENT); return 0; }
T(link_exists) { OK(mk("lie", "")); IS(__wasi_path_link(3, 0, "lie", 3, "lie"), EXIST); return 0; }
// --- readdir ---
static int list(int fd, int size, char *names) { // every name, by as many calls as it takes
  static uint8_t b[4096];
  uint64_t cookie = 0;
  int rows = 0;
  names[0] = 0;
  for (int calls = 0; calls < 1000; calls++) {
    uint32_t used;
    if (raw_readdir(fd, b, size, cookie, &used)) return -1;
    uint32_t p = 0;
    while (p + 24 <= used) {
      __wasi_dirent_t d;
      memcpy(&d, b + p, sizeof d);
      if (p + 24 + d.d_namlen > used) break;
      strncat(names, (char *)b + p + 24, d.d_namlen);
      strcat(names, d.d_type == 3 ? "/ " : " ");
      cookie = d.d_next;
      p += 24 + d.d_namlen;
      rows++;
    }
    if (used < (uint32_t)size) return rows;
    if (!p) return -2;
  }
  return -3;
}
T(readdir) { char b[400]; OK(mkd("ls")); OK(mk("ls/a", "")); OK(mkd("ls/b")); OK(open_at(3, "ls", DIRECTORY, 0x4000, 0, &fd)); IS(list(fd, 4096, b), 4); YES(strstr(b, "./ ") && strstr(b, "../ ") && strstr(b, "a ") && strstr(b, "b/ ")); return 0; }
T(readdir_small_buffer) { char b[4000]; OK(mkd("lb")); for (int i = 0; i < 50; i++) { char p[20]; snprintf(p, 20, "lb/file%d", i); OK(mk(p, "")); } OK(open_at(3, "lb", DIRECTORY, 0x4000, 0, &fd)); IS(list(fd, 100, b), 52); YES(strstr(b, "file49 ")); return 0; }
T(readdir_cookie) { uint8_t b[200]; uint32_t u; OK(mkd("lc")); OK(mk("lc/x", "")); OK(open_at(3, "lc", DIRECTORY, 0x4000, 0, &fd)); OK(raw_readdir(fd, b, 200, 2, &u)); IS(u, 25); IS(b[24], 'x'); return 0; }
T(readdir_end) { uint8_t b[200]; uint32_t u; OK(mkd("le")); OK(open_at(3, "le", DIRECTORY, 0x4000, 0, &fd)); OK(raw_readdir(fd, b, 200, 2, &u)); IS(u, 0); return 0; }
T(readdir_changes) { char b[400]; OK(mkd("lg")); OK(mk("lg/a", "")); OK(open_at(3, "lg", DIRECTORY, 0x4000, 0, &fd)); IS(list(fd, 4096, b), 3); OK(mk("lg/b", "")); IS(list(fd, 4096, b), 4); return 0; }
T(readdir_while_removing) { uint8_t b[30]; uint32_t u; OK(mkd("lr")); OK(mk("lr/a", "")); OK(mk("lr/b", "")); OK(mk("lr/c", "")); OK(open_at(3, "lr", DIRECTORY, 0x4000, 0, &fd)); OK(raw_readdir(fd, b, 30, 0, &u)); OK(rm("lr/a")); OK(raw_readdir(fd, b, 30, 3, &u)); IS(b[24], 'b'); return 0; }
T(readdir_ino) { uint8_t b[200]; uint32_t u; OK(mkd("li0")); OK(mk("li0/x", "")); OK(open_at(3, "li0", DIRECTORY, 0x4000, 0, &fd)); OK(raw_readdir(fd, b, 200, 2, &u)); __wasi_dirent_t d; memcpy(&d, b, sizeof d); OK(st("li0/x", &s)); IS(d.d_ino, s.ino); return 0; }
T(readdir_file) { OK(mk("lf", "")); OK(open_at(3, "lf", 0, RW, 0, &fd)); IS(raw_readdir(fd, got, 100, 0, &n), NOTDIR); return 0; }
T(readdir_rights) { OK(mkd("lt")); OK(open_at(3, "lt", DIRECTORY, 0x2000, 0, &fd)); IS(raw_readdir(fd, got, 100, 0, &n), NOTCAPABLE); return 0; }
T(readdir_fault) { IS(raw_readdir(3, wild, 100, 0, &n), FAULT); return 0; }
// --- read-only mount ---
T(ro_read) { OK(open_at(4, "f", 0, RO, 0, &fd)); IS(rd(fd, 20), 9); OK(strcmp(got, "read only")); return 0; }
T(ro_write) { IS(open_at(4, "f", 0, RW, 0, &fd), ROFS); return 0; }
T(ro_create) { IS(open_at(4, "new", CREAT, RW, 0, &fd), ROFS); return 0; }
T(ro_trunc) { IS(open_at(4, "f", TRUNC, RO, 0, &fd), ROFS); return 0; }
T(ro_mkdir) { IS(raw_mkdir(4, "x", 1), ROFS); return 0; }
T(ro_unlink) { IS(raw_unlink(4, "f", 1), ROFS); return 0; }
T(ro_rename) { IS(raw_rename(4, "f", 1, 4, "g", 1), ROFS); return 0; }
T(ro_rmdir) { IS(__wasi_path_remove_directory(4, "d"), ROFS); return 0; }
T(ro_times) { IS(__wasi_path_filestat_set_times(4, 0, "f", 0, 0, 8), ROFS); return 0; }
T(ro_escape) { IS(open_at(4, "../x", 0, RO, 0, &fd), PERM); return 0; }
// --- poll ---
static __wasi_subscription_t sub[4];
static __wasi_event_t ev[4];
static void tick(int i, uint64_t ns, int clock) { memset(&sub[i], 0, sizeof sub[i]); sub[i].userdata = 100 + i; sub[i].u.u.clock.timeout = ns; sub[i].u.u.clock.id = clock; }
static void want(int i, int tag, int fd) { memset(&sub[i], 0, sizeof sub[i]); sub[i].userdata = 100 + i; sub[i].u.tag = tag; sub[i].u.u.fd_read.file_descriptor = fd; }
T(poll_none) { IS(raw_poll(sub, ev, 0, &n), INVAL); return 0; }
T(poll_clock) { __wasi_timestamp_t a, b; tick(0, 30000000, 1); OK(__wasi_clock_time_get(1, 1, &a)); OK(__wasi_poll_oneoff(sub, ev, 1, &n)); OK(__wasi_clock_time_get(1, 1, &b)); IS(n, 1); IS(ev[0].userdata, 100); IS(ev[0].type, 0); IS(ev[0].error, 0); YES(b - a >= 28000000); return 0; }
T(poll_clock_now) { tick(0, 0, 1); OK(__wasi_poll_oneoff(sub, ev, 1, &n)); IS(n, 1); return 0; }
T(poll_clock_first) { tick(0, 5000000000ull, 1); tick(1, 1000000, 1); OK(__wasi_poll_oneoff(sub, ev, 2, &n)); IS(n, 1); IS(ev[0].userdata, 101); return 0; }
T(poll_clock_absolute) { __wasi_timestamp_t a; OK(__wasi_clock_time_get(0, 1, &a)); tick(0, a - 5, 0); sub[0].u.u.clock.flags = 1; OK(__wasi_poll_oneoff(sub, ev, 1, &n)); IS(n, 1); return 0; }
T(poll_clock_bad) { tick(0, 1, 99); OK(__wasi_poll_oneoff(sub, ev, 1, &n)); IS(n, 1); IS(ev[0].error, INVAL); return 0; }
T(poll_write) { want(0, 2, 1); OK(__wasi_poll_oneoff(sub, ev, 1, &n)); IS(n, 1); IS(ev[0].type, 2); IS(ev[0].error, 0); return 0; }
T(poll_stdin_end) { want(0, 1, 0); OK(__wasi_poll_oneoff(sub, ev, 1, &n)); IS(n, 1); IS(ev[0].type, 1); return 0; }
T(poll_file) { OK(mk("pf", "abc")); OK(open_at(3, "pf", 0, RO, 0, &fd)); want(0, 1, fd); OK(__wasi_poll_oneoff(sub, ev, 1, &n)); IS(n, 1); IS(ev[0].fd_readwrite.nbytes, 3); return 0; }
T(poll_badf) { want(0, 1, 999); OK(__wasi_poll_oneoff(sub, ev, 1, &n)); IS(n, 1); IS(ev[0].error, BADF); return 0; }
T(poll_both) { want(0, 2, 1); tick(1, 5000000000ull, 1); OK(__wasi_poll_oneoff(sub, ev, 2, &n)); IS(n, 1); IS(ev[0].userdata, 100); return 0; }
T(poll_fault) { IS(raw_poll(wild, ev, 1, &n), FAULT); return 0; }

int main(int argc, char **argv) {
  const char *only = argc > 1 ? argv[1] : "all";
  for (int i = 0; i < count; i++) {
    if (strcmp(only, "all") ? strcmp(only, tests[i].name) : !strncmp(tests[i].name, "leave_", 6)) continue; // those leave links behind
    const char *e = tests[i].f();
    if (e) printf("FAIL %s: %s\n", tests[i].name, e);
    else printf("ok %s\n", tests[i].name);
    for (int fd = 5; fd < 40; fd++) __wasi_fd_close(fd);
  }
  if (!strcmp(only, "exit")) __wasi_proc_exit(42);
  return 0;
}
