// What the tests of package worker run: one program, a word for each thing it does.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wasi/api.h>

extern char **environ;

static int recurse(volatile int n) {
  volatile char room[256];
  room[n & 255] = n;
  return recurse(n + 1) + room[n & 255];
}

static int copy(FILE *f) {
  static char buf[65536];
  size_t n;
  while ((n = fread(buf, 1, sizeof buf, f)) > 0) fwrite(buf, 1, n, stdout);
  return ferror(f) ? 1 : 0;
}

int main(int argc, char **argv) {
  const char *word = argc > 1 ? argv[1] : "";
  if (!strcmp(word, "hello")) {
    for (int i = 0; i < argc; i++) printf("%d %s\n", i, argv[i]);
    for (char **e = environ; *e; e++) printf("env %s\n", *e);
    fprintf(stderr, "to stderr\n");
    return 0;
  }
  if (!strcmp(word, "exit")) return atoi(argv[2]);
  if (!strcmp(word, "cat")) {
    if (argc == 2) return copy(stdin);
    for (int i = 2; i < argc; i++) {
      FILE *f = fopen(argv[i], "r");
      if (!f) return fprintf(stderr, "%s: %s\n", argv[i], strerror(errno)), 1;
      if (copy(f)) return 1;
      fclose(f);
    }
    return 0;
  }
  if (!strcmp(word, "upper")) {
    int c;
    while ((c = getchar()) != EOF) putchar(c >= 'a' && c <= 'z' ? c - 32 : c);
    return 0;
  }
  if (!strcmp(word, "head")) { // lines
    char line[4096];
    for (int n = atoi(argv[2]); n > 0 && fgets(line, sizeof line, stdin); n--) fputs(line, stdout);
    return 0;
  }
  if (!strcmp(word, "write")) { // path text
    FILE *f = fopen(argv[2], argc > 4 ? argv[4] : "w");
    if (!f) return fprintf(stderr, "%s: %s\n", argv[2], strerror(errno)), 1;
    fputs(argv[3], f);
    return fclose(f) ? 1 : 0;
  }
  if (!strcmp(word, "rename")) return rename(argv[2], argv[3]) ? perror("rename"), 1 : 0;
  if (!strcmp(word, "rm")) return remove(argv[2]) ? perror("rm"), 1 : 0;
  if (!strcmp(word, "spin")) {
    printf("before\n");
    fflush(stdout);
    for (volatile long i = 0;; i++) {}
  }
  if (!strcmp(word, "grow")) { // pages, one after the other; prints how many it got
    long n = 0, most = argc > 2 ? atol(argv[2]) : 1 << 20;
    while (n < most && __builtin_wasm_memory_grow(0, 1) != (size_t)-1) n++;
    printf("%lu\n", (unsigned long)__builtin_wasm_memory_size(0));
    return 0;
  }
  if (!strcmp(word, "flood")) {
    static char line[1024];
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\n';
    for (;;) fwrite(line, 1, sizeof line, stdout);
  }
  if (!strcmp(word, "drip")) { // many small writes
    long n = atol(argv[2]);
    for (long i = 0; i < n; i++) {
      char b[32];
      int k = snprintf(b, sizeof b, "%ld\n", i);
      if (write(1, b, k) != k) return 1;
    }
    return 0;
  }
  if (!strcmp(word, "count")) // a point for each piece of work, without end
    for (;;) {
      for (volatile long i = 2000000; i > 0; i--) {}
      printf(".");
      fflush(stdout);
    }
  if (!strcmp(word, "recurse")) return recurse(0);
  if (!strcmp(word, "trap")) {
    printf("so far\n");
    fflush(stdout);
    __builtin_trap();
  }
  if (!strcmp(word, "sleep")) {
    struct timespec t = {atol(argv[2]) / 1000, atol(argv[2]) % 1000 * 1000000};
    return nanosleep(&t, NULL);
  }
  if (!strcmp(word, "open")) { // how many can be open at once
    long n = 0;
    while (n < 100000 && fopen(argv[2], "r")) n++;
    printf("%ld %d\n", n, errno);
    return 0;
  }
  if (!strcmp(word, "random")) {
    unsigned char b[16];
    getentropy(b, sizeof b);
    for (int i = 0; i < 16; i++) printf("%02x", b[i]);
    printf("\n");
    return 0;
  }
  if (!strcmp(word, "clock")) {
    struct timespec t;
    for (int i = 0; i < 3; i++) {
      clock_gettime(CLOCK_REALTIME, &t);
      printf("%lld.%09ld\n", (long long)t.tv_sec, t.tv_nsec);
    }
    clock_getres(CLOCK_REALTIME, &t);
    printf("%ld\n", t.tv_nsec);
    return 0;
  }
  fprintf(stderr, "no such word: %s\n", word);
  return 2;
}
