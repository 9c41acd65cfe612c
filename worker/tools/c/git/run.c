// What git does elsewhere by starting other programs, by a terminal or by the network. Here it is an error, or it is left out,
// and the message names it.
#include "cache.h"
#include "config.h"
#include "builtin.h"
#include "help.h"
#include "levenshtein.h"
#include "parse-options.h"
#include "run-command.h"
#include "transport.h"
#include "run.h"
#include "version.h"
#include "refused.h"

void git_not_run(const char *what, const char *program)
{
	static struct strbuf said = STRBUF_INIT;
	struct strbuf line = STRBUF_INIT;
	const char *p;

	strbuf_addf(&line, "warning: %s '", what);
	for (p = program; *p && p - program < 200; p++)
		strbuf_addch(&line, iscntrl(*p) ? '?' : *p);
	strbuf_addstr(&line, "' was not run: git starts no other program here\n");
	if (said.len < 65536 && !strstr(said.buf, line.buf)) {
		fflush(stdout);
		fputs(line.buf, stderr);
		strbuf_addbuf(&said, &line);
	}
	strbuf_release(&line);
}

void git_not_looked(const char *path)
{
	warning("changes in the submodule '%s' are not shown here: run git status in its folder", path);
}

// run-command.c, of which only the failure is left.

void child_process_init(struct child_process *child)
{
	struct child_process blank = CHILD_PROCESS_INIT;
	memcpy(child, &blank, sizeof(*child));
}

void child_process_clear(struct child_process *child)
{
	strvec_clear(&child->args);
	strvec_clear(&child->env);
}

int start_command(struct child_process *cmd)
{
	int missing = cmd->silent_exec_failure;

	if (!missing && cmd->args.nr)
		git_not_run(cmd->git_cmd ? "git's own command" : "the program", cmd->args.v[0]);
	if (cmd->in > 0)
		close(cmd->in);
	if (cmd->out > 0)
		close(cmd->out);
	if (cmd->err > 0)
		close(cmd->err);
	child_process_clear(cmd);
	errno = missing ? ENOENT : EPERM;
	return -1;
}

int finish_command(struct child_process *cmd) { return -1; }
int finish_command_in_signal(struct child_process *cmd) { return -1; }
int run_command(struct child_process *cmd) { return start_command(cmd); }
int run_auto_maintenance(int quiet) { return 0; }
int is_executable(const char *name) { return 0; }
int exists_in_PATH(const char *command) { return 0; }
int pipe_command(struct child_process *cmd, const char *in, size_t in_len, struct strbuf *out, size_t out_hint, struct strbuf *err, size_t err_hint)
{
	return start_command(cmd);
}
int start_async(struct async *async)
{
	errno = ENOSYS;
	return error("git has no threads here");
}
int finish_async(struct async *async) { return -1; }
int in_async(void) { return 0; }
int async_with_fork(void) { return 0; }
void check_pipe(int err) {}
void run_processes_parallel(const struct run_process_parallel_opts *opts) { die("git starts no other program here"); }
void prepare_other_repo_env(struct strvec *env, const char *new_git_dir) {}
enum start_bg_result start_bg_command(struct child_process *cmd, start_bg_wait_cb *wait_cb, void *cb_data, unsigned int timeout_sec)
{
	start_command(cmd);
	return SBGR_ERROR;
}
int sane_execvp(const char *file, char *const argv[])
{
	git_not_run("the program", file);
	errno = EPERM;
	return -1;
}

// The network.

static NORETURN void no_network(void) { die("git has no network here"); }
struct transport *transport_get(struct remote *remote, const char *url) { no_network(); }
int transport_connect(struct transport *transport, const char *name, const char *exec, int fd[2]) { no_network(); }
int transport_disconnect(struct transport *transport) { return 0; }
const struct ref *transport_get_remote_refs(struct transport *transport, struct transport_ls_refs_options *options) { no_network(); }

// What is called at the end. The program has no copies of itself that would call it too.
#undef atexit
int git_atexit(void (*handler)(void)) { return atexit(handler); }

// Commands that this git has not.

static const char reading[] =
	"  what changed:  status, diff, log, show, whatchanged, shortlog, reflog, stash list, cherry, range of commits: rev-list\n"
	"  who and when:  blame, annotate, describe, name-rev, merge-base, show-branch\n"
	"  what is there: ls-files, ls-tree, cat-file, grep, archive, branch, tag, remote -v, worktree list, for-each-ref, show-ref\n"
	"  and:           rev-parse, symbolic-ref, config --get and --list, check-ignore, check-attr, check-mailmap, count-objects,\n"
	"                 diff-files, diff-index, diff-tree, format-patch --stdout, hash-object, var, version\n";

static void usage_text(FILE *f)
{
	fputs("usage: git [-C DIR] [-c NAME=VALUE] [--git-dir=DIR] [--work-tree=DIR] COMMAND [ARGUMENT]...\n"
	      "This is git " GIT_VERSION " in a sandbox. It only reads: it changes no file, starts no other program (hooks, filters, drivers\n"
	      "of diff, pagers, editors, aliases with !) and has no network. git COMMAND -h shows a command's options.\n", f);
	fputs(reading, f);
}

static const char advice[] =
	"Change files with the shell or the file tools. Ask the user to run git add, commit, push and so on in their own terminal.\n";

void git_say_refused(int code)
{
	if (!git_refused || !code)
		return;
	fflush(stdout);
	fprintf(stderr, "git: git only reads here, and this would change or make a file. Nothing was changed. %s", advice);
}

static int missing(const char *cmd, const char *why)
{
	fprintf(stderr, "git: '%s' %s. Nothing was changed. %sgit help lists the commands that read.\n", cmd, why, advice);
	return 128;
}

int cmd_git_writes(int argc, const char **argv, const char *prefix)
{
	return missing(argv[0], "changes a repository, and git only reads here");
}

int cmd_git_network(int argc, const char **argv, const char *prefix)
{
	return missing(argv[0], "needs the network or another program, and git has neither here");
}

static int any(const char *arg, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(arg, *list))
			return 1;
	return 0;
}

// writes returns an option that writes: a short one of letters, or a long one that begins as one of the list, or NULL.
static const char *writes(int argc, const char **argv, const char *letters, const char *const *list)
{
	int i;
	const char *const *l;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (argv[i][0] == '-' && argv[i][1] && strchr(letters, argv[i][1]))
			return argv[i];
		for (l = list; *l; l++)
			if (starts_with(argv[i], *l))
				return argv[i];
	}
	return NULL;
}

static int part(const char *cmd, const char *arg)
{
	struct strbuf name = STRBUF_INIT;

	strbuf_addf(&name, "%s %s", cmd, arg);
	return missing(name.buf, "changes a repository, and git only reads here");
}

int cmd_git_branch(int argc, const char **argv, const char *prefix)
{
	static const char *const list[] = {"--delete", "--move", "--copy", "--force", "--set-upstream", "--unset-upstream", "--edit-description", "--track", NULL};
	const char *arg = writes(argc, argv, "dDmMcCfut", list);

	return arg ? part("branch", arg) : cmd_branch(argc, argv, prefix);
}

int cmd_git_tag(int argc, const char **argv, const char *prefix)
{
	static const char *const list[] = {"--annotate", "--sign", "--local-user", "--delete", "--force", "--message", "--file", "--edit", "--create-reflog", NULL};
	const char *arg = writes(argc, argv, "asudfmFe", list);

	return arg ? part("tag", arg) : cmd_tag(argc, argv, prefix);
}

int cmd_git_remote(int argc, const char **argv, const char *prefix)
{
	static const char *const list[] = {"add", "rename", "remove", "rm", "set-head", "set-branches", "set-url", "prune", "update", NULL};

	return argc > 1 && any(argv[1], list) ? part("remote", argv[1]) : cmd_remote(argc, argv, prefix);
}

int cmd_git_worktree(int argc, const char **argv, const char *prefix)
{
	static const char *const list[] = {"list", "-h", NULL};

	return argc > 1 && !any(argv[1], list) ? part("worktree", argv[1]) : cmd_worktree(argc, argv, prefix);
}

int cmd_help(int argc, const char **argv, const char *prefix)
{
	int i;

	for (i = 1; i < argc; i++)
		if (argv[i][0] != '-')
			printf("Options of git %s: git %s -h\n", argv[i], argv[i]);
	usage_text(stdout);
	return 0;
}

// git stash list is a log of the references of the stash.
int cmd_git_stash(int argc, const char **argv, const char *prefix)
{
	struct strvec args = STRVEC_INIT;

	if (argc < 2 || strcmp(argv[1], "list"))
		return missing("stash", "changes a repository except as 'git stash list', and git only reads here");
	if (!ref_exists("refs/stash"))
		return 0;
	strvec_pushl(&args, "log", "--format=%gd: %gs", "-g", "--first-parent", NULL);
	strvec_pushv(&args, argv + 2);
	strvec_pushl(&args, "refs/stash", "--", NULL);
	return cmd_log(args.nr, args.v, prefix);
}

// help.c, whose lists are those of all commands.

void list_common_cmds_help(void) { usage_text(stdout); }
void list_all_main_cmds(struct string_list *list) {}
void list_all_other_cmds(struct string_list *list) {}
void list_cmds_by_category(struct string_list *list, const char *category) {}
void list_cmds_by_config(struct string_list *list) {}

void add_cmdname(struct cmdnames *cmds, const char *name, int len)
{
	struct cmdname *ent;
	FLEX_ALLOC_MEM(ent, name, name, len);
	ent->len = len;
	ALLOC_GROW(cmds->names, cmds->cnt + 1, cmds->alloc);
	cmds->names[cmds->cnt++] = ent;
}

const char *help_unknown_cmd(const char *cmd)
{
	struct cmdnames all = {0};
	const char *near = NULL;
	int i, best = 7;

	load_builtin_commands("git-", &all);
	for (i = 0; i < all.cnt; i++) {
		int d = levenshtein(cmd, all.names[i]->name, 0, 2, 1, 3);
		if (starts_with(all.names[i]->name, cmd))
			d = 0;
		if (d < best) {
			best = d;
			near = all.names[i]->name;
		}
	}
	fprintf_ln(stderr, "git: '%s' is not a git command. See 'git --help'.", cmd);
	if (near)
		fprintf_ln(stderr, "\nThe most similar command is\n\t%s", near);
	exit(1);
}

void get_version_info(struct strbuf *buf, int show_build_options)
{
	strbuf_addf(buf, "git version %s\n", git_version_string);
}

int cmd_version(int argc, const char **argv, const char *prefix)
{
	printf("git version %s\n", git_version_string);
	return 0;
}

void help_unknown_ref(const char *ref, const char *cmd, const char *error)
{
	fprintf_ln(stderr, "%s: %s - %s", cmd, ref, error);
	exit(1);
}
