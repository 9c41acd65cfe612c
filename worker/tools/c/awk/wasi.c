// What awk needs and WASI lacks. A program in WASI starts no other, so that system() and pipes to commands are errors.
#include <stdio.h>
#include <stdlib.h>
#undef fopen
#include "awk.h"

extern Node *winner;
int awk_stage;

_Noreturn void awk_leave(void)
{
	if (awk_stage < 2) {
		awk_stage = 2;
		if (winner->narg[2] != NULL)
			execute(winner->narg[2]);
	}
	closeall();
	exit(errorflag);
}

static _Noreturn void no_commands(const char *command)
{
	fflush(stdout);
	fprintf(stderr, "awk: can't run '%s': a program in WebAssembly starts no other; use a pipe of the shell instead\n", command);
	exit(2);
}

FILE *awk_popen(const char *command, const char *mode) { no_commands(command); }
int awk_pclose(FILE *f) { return -1; }
int awk_system(const char *command) { no_commands(command); }

// The C library reads and writes 1 KiB at a time, and each time is a call out of WebAssembly.
FILE *awk_fopen(const char *name, const char *mode)
{
	FILE *f = fopen(name, mode);
	if (f != NULL)
		setvbuf(f, NULL, _IOFBF, 64 << 10);
	return f;
}
