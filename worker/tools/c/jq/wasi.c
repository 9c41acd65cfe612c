// What jq needs and WASI lacks.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "pthread.h"

static void *values[32];
static unsigned keys;

int pthread_key_create(pthread_key_t *key, void (*destroy)(void *))
{
	if (keys == sizeof values / sizeof *values)
		return EAGAIN;
	*key = keys++;
	return 0;
}

int pthread_setspecific(pthread_key_t key, const void *value)
{
	values[key] = (void *)value;
	return 0;
}

void *pthread_getspecific(pthread_key_t key) { return values[key]; }

// realpath is for the paths of modules. There are no links, so that a path names itself.
char *realpath(const char *name, char *out) { return out ? strcpy(out, name) : strdup(name); }

// The option --run-tests is for jq's own build.
int jq_testsuite(void *libs, int verbose, int n, char **args)
{
	fputs("jq: --run-tests is not built in\n", stderr);
	return 2;
}
