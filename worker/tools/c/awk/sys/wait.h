// A program in WASI has no children, so that their status is only what awk_system returns.
#pragma once
#define WIFEXITED(status) 1
#define WEXITSTATUS(status) (status)
#define WIFSIGNALED(status) 0
#define WTERMSIG(status) 0
#define WCOREDUMP(status) 0
