// git_not_run prints that a program of a repository's configuration was not started. Once for each program.
void git_not_run(const char *what, const char *program);
// git_not_looked prints that a submodule's own changes are not part of the answer.
void git_not_looked(const char *path);
// git_say_refused prints that git only reads, if it tried to write and failed.
void git_say_refused(int code);
// The commands that this git has not, or not all of.
int cmd_git_writes(int argc, const char **argv, const char *prefix);
int cmd_git_network(int argc, const char **argv, const char *prefix);
int cmd_git_branch(int argc, const char **argv, const char *prefix);
int cmd_git_remote(int argc, const char **argv, const char *prefix);
int cmd_git_tag(int argc, const char **argv, const char *prefix);
int cmd_git_worktree(int argc, const char **argv, const char *prefix);
int cmd_git_stash(int argc, const char **argv, const char *prefix);
