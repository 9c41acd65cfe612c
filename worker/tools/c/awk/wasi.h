// Included before each file of awk: what WASI lacks.
#pragma once
#include <stdio.h>
FILE *awk_popen(const char *command, const char *mode);
int awk_pclose(FILE *f);
int awk_system(const char *command);
FILE *awk_fopen(const char *name, const char *mode);
#define popen awk_popen
#define pclose awk_pclose
#define system awk_system
#define fopen awk_fopen
