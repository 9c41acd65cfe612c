// The sqlite3 command for WASI. It reads SQL from the arguments or the input, and prints results in
// one of eight forms. SQLite itself is the amalgamation in github.com/mattn/go-sqlite3. SQLite's own
// shell is not part of it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sqlite3-binding.h"

enum mode { LIST, CSV, TABS, JSON, LINE, MARKDOWN, COLUMN, QUOTE };
static const char *const mode_names[] = {"list", "csv", "tabs", "json", "line", "markdown", "column", "quote"};

static sqlite3 *db;
static enum mode mode = LIST;
static int headers, bail, failed;
static const char *separator, *null_text = "";

static int mode_of(const char *name) {
  for (int i = 0; i <= QUOTE; i++)
    if (!strcmp(name, mode_names[i])) return i;
  return -1;
}

static void csv_cell(const char *s) {
  if (!*s || !strpbrk(s, "\",\r\n")) { // an empty text is "" so that it is no NULL
    fputs(*s ? s : "\"\"", stdout);
    return;
  }
  putchar('"');
  for (; *s; s++) {
    if (*s == '"') putchar('"');
    putchar(*s);
  }
  putchar('"');
}

static void json_text(const char *s, int n) {
  putchar('"');
  for (int i = 0; i < n; i++) {
    unsigned char c = s[i];
    if (c == '"' || c == '\\') printf("\\%c", c);
    else if (c == '\n') fputs("\\n", stdout);
    else if (c == '\t') fputs("\\t", stdout);
    else if (c < 32) printf("\\u%04x", c);
    else putchar(c);
  }
  putchar('"');
}

static void quoted(sqlite3_stmt *s, int i) {
  char *q = NULL;
  switch (sqlite3_column_type(s, i)) {
  case SQLITE_NULL: fputs("NULL", stdout); return;
  case SQLITE_TEXT: q = sqlite3_mprintf("%Q", sqlite3_column_text(s, i)); break;
  case SQLITE_BLOB: {
    const unsigned char *b = sqlite3_column_blob(s, i);
    fputs("X'", stdout);
    for (int j = 0, n = sqlite3_column_bytes(s, i); j < n; j++) printf("%02x", b[j]);
    putchar('\'');
    return;
  }
  default: q = sqlite3_mprintf("%s", sqlite3_column_text(s, i));
  }
  fputs(q ? q : "", stdout);
  sqlite3_free(q);
}

static void json_cell(sqlite3_stmt *s, int i) {
  switch (sqlite3_column_type(s, i)) {
  case SQLITE_NULL: fputs("null", stdout); break;
  case SQLITE_INTEGER: case SQLITE_FLOAT: fputs((const char *)sqlite3_column_text(s, i), stdout); break;
  default: json_text((const char *)sqlite3_column_text(s, i), sqlite3_column_bytes(s, i));
  }
}

// All cells of a table, kept because the widths of the columns are known only at its end.
struct cells { char **at; size_t n, room; };

static void keep(struct cells *t, const char *s) {
  if (t->n == t->room) {
    t->room = t->room ? t->room * 2 : 64;
    t->at = realloc(t->at, t->room * sizeof *t->at);
    if (!t->at) { fputs("sqlite3: out of memory\n", stderr); exit(1); }
  }
  t->at[t->n++] = strdup(s);
}

static int chars(const char *s) { // of UTF-8, not bytes
  int n = 0;
  for (; *s; s++) n += (*s & 0xc0) != 0x80;
  return n;
}

static void print_table(struct cells *t, int columns) {
  int *width = calloc(columns, sizeof *width);
  for (size_t i = 0; i < t->n; i++)
    if (chars(t->at[i]) > width[i % columns]) width[i % columns] = chars(t->at[i]);
  for (size_t row = 0; row < t->n / columns; row++) {
    for (int pass = 0; pass < (row == 0 ? 2 : 1); pass++) { // the line below the names
      for (int c = 0; c < columns; c++) {
        const char *s = t->at[row * columns + c];
        int pad = width[c] - chars(s);
        if (mode == MARKDOWN) fputs(pass ? "|-" : "| ", stdout);
        else if (c) fputs("  ", stdout);
        if (pass) for (int i = 0; i < width[c]; i++) putchar('-');
        else {
          fputs(s, stdout);
          if (mode == MARKDOWN || c < columns - 1) printf("%*s", pad, "");
        }
        if (mode == MARKDOWN) putchar(pass ? '-' : ' ');
      }
      puts(mode == MARKDOWN ? "|" : "");
    }
  }
  for (size_t i = 0; i < t->n; i++) free(t->at[i]);
  free(t->at);
  free(width);
}

static void print_row(sqlite3_stmt *s, int columns, long row) {
  const char *sep = separator ? separator : mode == LIST ? "|" : mode == TABS ? "\t" : ",";
  if (mode == JSON) fputs(row ? ",\n{" : "[{", stdout);
  for (int i = 0; i < columns; i++) {
    const char *text = (const char *)sqlite3_column_text(s, i);
    const char *name = sqlite3_column_name(s, i);
    switch (mode) {
    case JSON:
      if (i) putchar(',');
      json_text(name, strlen(name));
      putchar(':');
      json_cell(s, i);
      break;
    case LINE: printf("%s = %s\n", name, text ? text : null_text); break;
    case QUOTE:
      if (i) putchar(',');
      quoted(s, i);
      break;
    default:
      if (i) fputs(sep, stdout);
      if (!text) fputs(null_text, stdout);
      else if (mode == CSV) csv_cell(text);
      else fputs(text, stdout);
    }
  }
  if (mode == JSON) putchar('}');
  else if (mode != LINE) putchar('\n');
}

static int complain(const char *what) {
  fflush(stdout);
  fprintf(stderr, "Error: %s: %s\n", what, sqlite3_errmsg(db));
  failed = 1;
  return 1;
}

static int statement(sqlite3_stmt *s) {
  int columns = sqlite3_column_count(s), rc;
  int table = mode == COLUMN || mode == MARKDOWN;
  struct cells cells = {0};
  long row = 0;
  while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
    if (!row && table)
      for (int i = 0; i < columns; i++) keep(&cells, sqlite3_column_name(s, i));
    if (!row && headers && (mode == LIST || mode == CSV || mode == TABS)) {
      const char *sep = separator ? separator : mode == LIST ? "|" : mode == TABS ? "\t" : ",";
      for (int i = 0; i < columns; i++) {
        if (i) fputs(sep, stdout);
        if (mode == CSV) csv_cell(sqlite3_column_name(s, i));
        else fputs(sqlite3_column_name(s, i), stdout);
      }
      putchar('\n');
    }
    if (row && mode == LINE) putchar('\n');
    if (table)
      for (int i = 0; i < columns; i++) {
        const char *text = (const char *)sqlite3_column_text(s, i);
        keep(&cells, text ? text : null_text);
      }
    else print_row(s, columns, row);
    row++;
  }
  if (row && mode == JSON) puts("]");
  if (table && columns) print_table(&cells, columns);
  if (sqlite3_finalize(s) != SQLITE_OK || rc != SQLITE_DONE) return complain("stepping");
  return 0;
}

static int run(const char *sql) {
  while (*sql) {
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &s, &sql) != SQLITE_OK) return complain("in prepare");
    if (s && statement(s) && bail) return 1;
    if (failed) return 1;
  }
  return 0;
}

static int run_dumped(const char *sql) { // a query whose rows are statements
  enum mode was = mode;
  mode = LIST;
  int had = headers;
  headers = 0;
  int rc = run(sql);
  mode = was, headers = had;
  return rc;
}

static int dump(void) {
  puts("PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;");
  sqlite3_stmt *s = NULL;
  if (sqlite3_prepare_v2(db, "SELECT name, sql FROM sqlite_schema WHERE type='table' AND name NOT LIKE 'sqlite_%' AND sql NOT LIKE 'CREATE VIRTUAL%'", -1, &s, NULL)) return complain("dump");
  while (sqlite3_step(s) == SQLITE_ROW) {
    const char *name = (const char *)sqlite3_column_text(s, 0);
    printf("%s;\n", sqlite3_column_text(s, 1));
    char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", name);
    sqlite3_stmt *rows = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &rows, NULL)) return complain("dump");
    sqlite3_free(sql);
    while (sqlite3_step(rows) == SQLITE_ROW) {
      char *into = sqlite3_mprintf("INSERT INTO \"%w\" VALUES(", name);
      fputs(into, stdout);
      sqlite3_free(into);
      for (int i = 0, n = sqlite3_column_count(rows); i < n; i++) {
        if (i) putchar(',');
        quoted(rows, i);
      }
      puts(");");
    }
    sqlite3_finalize(rows);
  }
  sqlite3_finalize(s);
  run_dumped("SELECT sql || ';' FROM sqlite_schema WHERE type IN ('index','trigger','view') AND sql IS NOT NULL");
  puts("COMMIT;");
  return 0;
}

static int dot(char *line) {
  char *arg = strchr(line, ' ');
  if (arg) {
    *arg++ = 0;
    while (*arg == ' ') arg++;
  }
  if (!strcmp(line, ".tables"))
    return run_dumped("SELECT name FROM sqlite_schema WHERE type IN ('table','view') AND name NOT LIKE 'sqlite_%' ORDER BY 1");
  if (!strcmp(line, ".schema"))
    return run_dumped("SELECT sql || ';' FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'");
  if (!strcmp(line, ".dump")) return dump();
  if (!strcmp(line, ".headers") && arg) return headers = !strcmp(arg, "on"), 0;
  if (!strcmp(line, ".mode") && arg && mode_of(arg) >= 0) return mode = mode_of(arg), headers |= mode == CSV, 0;
  if (!strcmp(line, ".quit") || !strcmp(line, ".exit")) exit(failed);
  fprintf(stderr, "Error: unknown command %s; there are .tables .schema .dump .headers on|off .mode NAME .quit\n", line);
  return failed = 1;
}

static char *read_all(FILE *f) {
  size_t n = 0, room = 1 << 16;
  char *s = malloc(room);
  while (s) {
    size_t got = fread(s + n, 1, room - n - 1, f);
    if (!got) break;
    if ((n += got) >= room - 1) s = realloc(s, room *= 2);
  }
  if (!s) { fputs("sqlite3: out of memory\n", stderr); exit(1); }
  s[n] = 0;
  return s;
}

// script runs SQL. Between statements it may have lines that begin with a dot, such as ".tables".
static int script(char *text) {
  char *from = text;
  while (*text && !(failed && bail)) {
    char *end = strchr(text, '\n');
    if (*text == '.' && from == text) {
      if (end) *end = 0;
      dot(text);
      if (!end) return failed;
      from = text = end + 1;
      continue;
    }
    text = end ? end + 1 : text + strlen(text);
    char was = *text;
    *text = 0;
    int whole = sqlite3_complete(from) || !was;
    if (whole) run(from);
    *text = was;
    if (whole) from = text;
  }
  return failed;
}

static const char help[] =
    "Usage: sqlite3 [OPTIONS] [FILE [SQL]...]\n"
    "Query and change SQLite databases. Without SQL it is read from the input.\n\n"
    "  -list -csv -tabs -json -line -markdown -column -quote   the form of results\n"
    "  -header -noheader    -separator TEXT    -nullvalue TEXT    -readonly    -bail\n"
    "  .tables .schema .dump .headers on|off .mode NAME stand in lines of their own.\n";

int main(int argc, char **argv) {
  int i = 1, flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  if (i < argc && !strcmp(argv[i], "sqlite3")) i++;
  for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
    const char *o = argv[i] + 1 + (argv[i][1] == '-');
    if (mode_of(o) >= 0) mode = mode_of(o);
    else if (!strcmp(o, "header")) headers = 1;
    else if (!strcmp(o, "noheader")) headers = 0;
    else if (!strcmp(o, "readonly")) flags = SQLITE_OPEN_READONLY;
    else if (!strcmp(o, "bail")) bail = 1;
    else if (!strcmp(o, "separator") && i + 1 < argc) separator = argv[++i];
    else if (!strcmp(o, "nullvalue") && i + 1 < argc) null_text = argv[++i];
    else if (!strcmp(o, "version")) return puts(sqlite3_libversion()), 0;
    else if (!strcmp(o, "help")) return fputs(help, stdout), 0;
    else return fprintf(stderr, "sqlite3: unknown option: %s\n", argv[i]), 1;
  }
  const char *file = i < argc ? argv[i++] : ":memory:";
  if (sqlite3_open_v2(file, &db, flags, NULL) != SQLITE_OK) {
    fprintf(stderr, "Error: unable to open database \"%s\": %s\n", file, sqlite3_errmsg(db));
    return 1;
  }
  // Only one program uses the database and there is no shared memory, so the journal can be in memory.
  sqlite3_exec(db, "PRAGMA journal_mode=MEMORY; PRAGMA temp_store=MEMORY;", NULL, NULL, NULL);
  if (i == argc) script(read_all(stdin));
  for (; i < argc && !failed; i++) script(argv[i]);
  sqlite3_close(db);
  return failed;
}
