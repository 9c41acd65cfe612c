// The program of the worker.*, wasi.* and pool.* benches. It is also built natively, for comparison.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t h[8];
static const uint32_t k[64] = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
#define ROR(x, n) ((x) >> (n) | (x) << (32 - (n)))

static void block(const uint8_t *p) {
  uint32_t w[64], s[8];
  for (int i = 0; i < 16; i++) w[i] = (uint32_t)p[4 * i] << 24 | p[4 * i + 1] << 16 | p[4 * i + 2] << 8 | p[4 * i + 3];
  for (int i = 16; i < 64; i++)
    w[i] = w[i - 16] + (ROR(w[i - 15], 7) ^ ROR(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] + (ROR(w[i - 2], 17) ^ ROR(w[i - 2], 19) ^ w[i - 2] >> 10);
  memcpy(s, h, sizeof s);
  for (int i = 0; i < 64; i++) {
    uint32_t a = s[0], e = s[4];
    uint32_t t = s[7] + (ROR(e, 6) ^ ROR(e, 11) ^ ROR(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + k[i] + w[i];
    uint32_t u = (ROR(a, 2) ^ ROR(a, 13) ^ ROR(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
    memmove(s + 1, s, 28);
    s[4] += t;
    s[0] = t + u;
  }
  for (int i = 0; i < 8; i++) h[i] += s[i];
}

static int sha256(FILE *f) { // a whole number of blocks, and the padding for it
  static const uint32_t begin[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  static uint8_t buf[65536];
  uint64_t all = 0;
  size_t n;
  memcpy(h, begin, sizeof h);
  while ((n = fread(buf, 1, sizeof buf, f)) > 0) {
    if (n % 64) return 1;
    all += n;
    for (size_t i = 0; i < n; i += 64) block(buf + i);
  }
  memset(buf, 0, 64);
  buf[0] = 0x80;
  for (int i = 0; i < 8; i++) buf[63 - i] = (all * 8) >> (8 * i);
  block(buf);
  for (int i = 0; i < 8; i++) printf("%08x", h[i]);
  printf("\n");
  return 0;
}

static int before(const void *a, const void *b) { return strcmp(*(char **)a, *(char **)b); }

static char *all(size_t *n) {
  size_t room = 1 << 20, got;
  char *b = malloc(room);
  *n = 0;
  while ((got = fread(b + *n, 1, room - *n - 1, stdin)) > 0)
    if ((*n += got) == room - 1) b = realloc(b, room *= 2);
  b[*n] = 0;
  return b;
}

int main(int argc, char **argv) {
  const char *word = argc > 1 ? argv[1] : "";
  if (!strcmp(word, "sha256")) {
    FILE *f = fopen(argv[2], "r");
    return f ? sha256(f) : 1;
  }
  if (!strcmp(word, "files")) { // reads f/0 to f/n-1
    long n = atol(argv[2]), sum = 0;
    char path[32], buf[256];
    for (long i = 0; i < n; i++) {
      snprintf(path, sizeof path, "f/%ld", i);
      FILE *f = fopen(path, "r");
      if (!f) return 1;
      sum += fread(buf, 1, sizeof buf, f);
      fclose(f);
    }
    printf("%ld\n", sum);
    return 0;
  }
  if (!strcmp(word, "work")) {
    for (volatile long i = atol(argv[2]); i > 0; i--) {}
    return 0;
  }
  static char line[65536];
  if (!strcmp(word, "cat")) {
    size_t n;
    while ((n = fread(line, 1, sizeof line, stdin)) > 0) fwrite(line, 1, n, stdout);
  } else if (!strcmp(word, "grep")) {
    while (fgets(line, sizeof line, stdin)) if (strstr(line, argv[2])) fputs(line, stdout);
  } else if (!strcmp(word, "sort")) {
    size_t n, lines = 0, room = 1 << 16;
    char *b = all(&n), **list = malloc(room * sizeof *list);
    for (char *p = strtok(b, "\n"); p; p = strtok(NULL, "\n")) {
      if (lines == room) list = realloc(list, (room *= 2) * sizeof *list);
      list[lines++] = p;
    }
    qsort(list, lines, sizeof *list, before);
    for (size_t i = 0; i < lines; i++) puts(list[i]);
  } else if (!strcmp(word, "uniq")) {
    static char last[65536];
    long n = 0;
    while (fgets(line, sizeof line, stdin)) {
      if (n && strcmp(line, last)) printf("%7ld %s", n, last), n = 0;
      strcpy(last, line);
      n++;
    }
    if (n) printf("%7ld %s", n, last);
  }
  return 0;
}
