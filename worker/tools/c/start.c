// What each C program does before main.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void start(void)
{
	// A program in WASI starts in /. The working folder is the variable PWD.
	const char *dir = getenv("PWD");
	if (dir != NULL && strcmp(dir, "/") != 0 && chdir(dir) != 0) {
		fprintf(stderr, "the working folder %s can't be entered\n", dir);
		exit(2);
	}
	// The C library reads and writes 1 KiB at a time, and each time is a call out of WebAssembly.
	setvbuf(stdin, NULL, _IOFBF, 64 << 10);
	setvbuf(stdout, NULL, _IOFBF, 64 << 10);
}
