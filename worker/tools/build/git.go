package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	gitSource  = source{"g/git/git_2.39.5.orig.tar.xz", "git-2.39.5", "e78eca649e2b7841bf22cfc1b3b9b9f1a2a3d825", "c58da92c378df4a986ca33266897a7397e86c22ee266a284d8c2432c39066b59", "COPYING"}
	zlibSource = source{"z/zlib/zlib_1.2.13.dfsg.orig.tar.bz2", "zlib-1.2.13.dfsg", "4fec854a7c5fe543e44c12afa365642c0e6b5ded", "71feb7947e3c00ef125f83b79a4e529bde31171e5babe48b391f06758d1ab0a1", "README"}
)

// gitReads are the commands of git that the program has. Each only reads, or has a part that does. The part that writes fails,
// as the program can open no file for writing (c/git/wasi.c).
var gitReads = strings.Fields("annotate archive blame branch cat-file check-attr check-ignore check-mailmap check-ref-format cherry config count-objects describe diff " +
	"diff-files diff-index diff-tree for-each-ref format-patch grep hash-object help log ls-files ls-tree merge-base name-rev patch-id reflog remote rev-list rev-parse " +
	"shortlog show show-branch show-ref status symbolic-ref tag var version whatchanged worktree")

// gitParts are those of which c/git/run.c refuses the part that writes by its name.
var gitParts = strings.Fields("branch remote tag worktree")

// gitBuiltins are the files of those commands.
var gitBuiltins = strings.Fields("annotate archive blame branch cat-file check-attr check-ignore check-mailmap check-ref-format commit config count-objects describe diff diff-files " +
	"diff-index diff-tree for-each-ref grep hash-object log ls-files ls-tree merge-base name-rev patch-id reflog remote rev-list rev-parse shortlog show-branch show-ref symbolic-ref tag var worktree")

// gitElsewhere are commands that change no files of the repository and are not built in: they need the network or other programs.
var gitElsewhere = strings.Fields("bugreport bundle credential credential-cache credential-cache--daemon credential-store daemon difftool fetch fetch-pack fsck fsck-objects " +
	"gitk gui instaweb ls-remote range-diff remote-ext remote-fd send-email upload-archive upload-pack verify-commit verify-pack verify-tag")

// gitScripts are commands that are programs of their own, and write.
var gitScripts = strings.Fields("bisect citool filter-branch lfs mergetool submodule svn")

// An edit replaces a text that stands in a file of git exactly once.
type edit struct{ file, old, new string }

// gitEdits take from git the places where a repository's own files say that a program is to be started, and those that
// need what a file system in WASI lacks.
var gitEdits = []edit{
	{"git.c", "#include \"shallow.h\"\n", "#include \"shallow.h\"\n#include \"run.h\"\n"},
	// An alias runs a command of git in the same process.
	{"git.c", "else if (get_builtin(**argv)) {\n", "else if (get_builtin(**argv)) {\n\t\t\thandle_builtin(*argcp, *argv);\n"},
	{"common-main.c", "#include \"attr.h\"\n", "#include \"attr.h\"\n#include \"run.h\"\n"},
	{"common-main.c", "\tsanitize_stdfds();\n", "\tsetenv(\"GIT_CONFIG_NOSYSTEM\", \"1\", 1);\n\tsetenv(\"GIT_OPTIONAL_LOCKS\", \"0\", 1);\n"},
	{"common-main.c", "\ttrace2_cmd_exit_fl(file, line, code);\n", "\ttrace2_cmd_exit_fl(file, line, code);\n\tgit_say_refused(code);\n"},
	{"builtin/diff.c", "static void refresh_index_quietly(void)\n{\n", "static void refresh_index_quietly(void)\n{\n\treturn;\n"},
	// Programs of the configuration.
	{"diff.c", "#include \"cache.h\"\n", "#include \"cache.h\"\n#include \"run.h\"\n"},
	{"diff.c", "\tif (pgm) {\n\t\trun_external_diff(pgm, name, other, one, two, xfrm_msg, o);\n\t\treturn;\n\t}\n", "\tif (pgm)\n\t\tgit_not_run(\"the external diff\", pgm);\n"},
	{"diff.c", "want_color(o->use_color) && !pgm);", "want_color(o->use_color));"},
	{"userdiff.c", "#include \"cache.h\"\n", "#include \"cache.h\"\n#include \"run.h\"\n"},
	{"userdiff.c", "\tif (!driver->textconv)\n\t\treturn NULL;\n", "\tif (driver->textconv)\n\t\tgit_not_run(\"the textconv\", driver->textconv);\n\tif (1)\n\t\treturn NULL;\n"},
	{"convert.c", "#include \"cache.h\"\n", "#include \"cache.h\"\n#include \"run.h\"\n"},
	{"convert.c", "\tif (cmd && *cmd)\n\t\treturn apply_single_file_filter(path, src, len, fd, dst, cmd);\n\telse if (drv->process && *drv->process)\n\t\treturn apply_multi_file_filter(path, src, len, fd, dst,\n\t\t\tdrv->process, wanted_capability, meta, dco);\n",
		"\tif (!(cmd && *cmd))\n\t\tcmd = drv->process;\n\tif (cmd && *cmd)\n\t\tgit_not_run(\"the filter\", cmd);\n"},
	{"convert.c", "drv->required = git_config_bool(var, value);", "drv->required = 0;"},
	{"fsmonitor-settings.c", "static void lookup_fsmonitor_settings(struct repository *r)\n{\n", "static void lookup_fsmonitor_settings(struct repository *r)\n{\n\tr->settings.fsmonitor = alloc_settings();\n\treturn;\n"},
	{"submodule.c", "#include \"cache.h\"\n", "#include \"cache.h\"\n#include \"run.h\"\n"},
	{"submodule.c", "\tstrvec_pushl(&cp.args, \"status\", \"--porcelain=2\", NULL);\n\tif (ignore_untracked)\n\t\tstrvec_push(&cp.args, \"-uno\");\n",
		"\tgit_not_looked(path);\n\tif (1)\n\t\treturn 0;\n\tstrvec_pushl(&cp.args, \"status\", \"--porcelain=2\", NULL);\n\tif (ignore_untracked)\n\t\tstrvec_push(&cp.args, \"-uno\");\n"},
	// Files have no permissions, inodes and users. A symbolic link may be shown as a file that can't be read.
	{"config.c", "trust_executable_bit = git_config_bool(var, value);", "trust_executable_bit = 0;"},
	{"config.c", "trust_ctime = git_config_bool(var, value);", "trust_ctime = 0;"},
	{"config.c", "\t\t\tcheck_stat = 1;\n", "\t\t\tcheck_stat = 0;\n"},
	{"environment.c", "int trust_executable_bit = 1;", "int trust_executable_bit = 0;"},
	{"environment.c", "int trust_ctime = 1;", "int trust_ctime = 0;"},
	{"environment.c", "int check_stat = 1;", "int check_stat = 0;"},
	{"read-cache.c", "\tchanged = ce_match_stat_basic(ce, st);\n\n\t/*\n\t * Within 1 second of this sequence:", "\tif (S_ISLNK(ce->ce_mode) && S_ISREG(st->st_mode))\n\t\treturn 0;\n\n\tchanged = ce_match_stat_basic(ce, st);\n\n\t/*\n\t * Within 1 second of this sequence:"},
}

// gitCommand is an element of git's table of commands.
var gitCommand = regexp.MustCompile(`\{ "([a-z-]+)", (cmd_\w+)[^}]*\}`)

// edited returns the text of a file of git with the edits, and git.c with the commands that the program has.
func edited(name, text string) (string, error) {
	for _, e := range gitEdits {
		if e.file != name {
			continue
		}
		if n := strings.Count(text, e.old); n != 1 {
			return "", fmt.Errorf("git's %s has %d times the text that is to be replaced: %q", name, n, e.old)
		}
		text = strings.Replace(text, e.old, e.new, 1)
	}
	if name != "git.c" {
		return text, nil
	}
	const table = "static struct cmd_struct commands[] = {\n"
	top, rest, ok := strings.Cut(text, table)
	list, rest, end := strings.Cut(rest, "\n};\n")
	if !ok || !end {
		return "", errors.New("git.c has no table of commands")
	}
	has := map[string]bool{}
	list = gitCommand.ReplaceAllStringFunc(list, func(line string) string {
		m := gitCommand.FindStringSubmatch(line)
		has[m[1]] = true
		switch {
		case m[1] == "stash":
			return `{ "stash", cmd_git_stash, RUN_SETUP }`
		case slices.Contains(gitParts, m[1]):
			return strings.Replace(line, m[2], "cmd_git_"+m[1], 1)
		case slices.Contains(gitReads, m[1]):
			return line
		case slices.Contains(gitElsewhere, m[1]):
			return `{ "` + m[1] + `", cmd_git_network }`
		}
		return `{ "` + m[1] + `", cmd_git_writes }`
	})
	for _, name := range gitReads {
		if !has[name] {
			return "", fmt.Errorf("git.c has no command %s", name)
		}
	}
	for _, name := range gitElsewhere {
		if !has[name] {
			list += "\n\t{ \"" + name + "\", cmd_git_network },"
		}
	}
	for _, name := range gitScripts {
		list += "\n\t{ \"" + name + "\", cmd_git_writes },"
	}
	return top + table + list + "\n};\n" + rest, nil
}

var (
	gitLibrary = regexp.MustCompile(`(?m)^(?:LIB|XDIFF)_OBJS \+= ([\w/-]+)\.o$`)
	// gitWithout are parts of git's library that start programs or use the network. c/git/run.c has what the others call of them.
	gitWithout = strings.Fields("help run-command connect connected transport transport-helper fetch-pack send-pack bundle bundle-uri serve upload-pack fetch-negotiator negotiator/default negotiator/noop " +
		"negotiator/skipping protocol-caps ls-refs walker compat/terminal diagnose prompt credential")
	gitWith = strings.Fields("git common-main sha1dc_git sha1dc/sha1 sha1dc/ubc_check sha256/block/sha256 compat/regex/regex compat/mmap compat/qsort_s compat/fopen compat/stub/procinfo")
	// gitHeaders are those that the C library has not. c/git/wasi.h declares their functions.
	gitHeaders = strings.Fields("sys/wait sys/statvfs termios netdb pwd grp syslog")
	gitDefines = strings.Fields("NO_ICONV NO_GETTEXT NO_MMAP NO_PTHREADS NO_UNIX_SOCKETS NO_IPV6 NO_OPENSSL NO_CURL NO_EXPAT NO_SETITIMER NO_POSIX_GOODIES NO_NSEC NO_TRUSTABLE_FILEMODE " +
		"NO_GETPAGESIZE NO_INITGROUPS NO_GECOS_IN_PWENT NO_ST_BLOCKS_IN_STRUCT_STAT FREAD_READS_DIRECTORIES HAVE_STRINGS_H HAVE_CLOCK_GETTIME HAVE_CLOCK_MONOTONIC HAVE_GETENTROPY HAVE_ALLOCA_H " +
		"SHA1_DC SHA256_BLK SHA1DC_NO_STANDARD_INCLUDES SHA1DC_INIT_SAFE_HASH_DEFAULT=0 SUPPRESS_ANNOTATED_LEAKS GAWK NO_MBSUPPORT")
	gitTexts = map[string]string{"GIT_VERSION": "2.39.5", "GIT_USER_AGENT": "git/2.39.5", "GIT_BUILT_FROM_COMMIT": "", "GIT_HOST_CPU": "wasm32", "ETC_GITCONFIG": "/etc/gitconfig", "ETC_GITATTRIBUTES": "/etc/gitattributes",
		"GIT_EXEC_PATH": "/usr/libexec/git-core", "GIT_LOCALE_PATH": "", "GIT_MAN_PATH": "/usr/share/man", "GIT_INFO_PATH": "/usr/share/info", "GIT_HTML_PATH": "/usr/share/doc/git", "BINDIR": "/usr/bin", "PREFIX": "/usr",
		"FALLBACK_RUNTIME_PREFIX": "/usr", "DEFAULT_GIT_TEMPLATE_DIR": "/usr/share/git-core/templates", "DEFAULT_PAGER": "cat", "DEFAULT_EDITOR": "false", "SHELL_PATH": "/bin/sh", "DEFAULT_HELP_FORMAT": "man", "PAGER_ENV": "",
		"SHA1DC_CUSTOM_INCLUDE_SHA1_C": "git-compat-util.h", "SHA1DC_CUSTOM_INCLUDE_UBC_CHECK_C": "git-compat-util.h"}
	// gitWrapped are the functions of the C library for the calls that change files. c/git/wasi.c has them anew.
	gitWrapped = strings.Fields("path_open path_create_directory path_remove_directory path_unlink_file path_rename path_symlink path_link path_filestat_set_times fd_filestat_set_times fd_filestat_set_size fd_allocate")
	zlibFiles  = strings.Fields("adler32 compress crc32 deflate inflate inftrees inffast trees zutil")
)

// buildGit compiles git with zlib. It is git's own source, so that its answers are git's. It has no part that writes,
// starts programs or uses the network.
func buildGit(file, sources string, n *notices) error {
	if err := compiler(); err != nil {
		return err
	}
	dir, err := gitSource.unpacked(sources)
	if err != nil {
		return err
	}
	zlib, err := zlibSource.unpacked(sources)
	if err != nil {
		return err
	}
	if err := errors.Join(n.addC("git", gitSource, dir), n.addC("zlib", zlibSource, zlib)); err != nil {
		return err
	}
	const name = "git, its source"
	n.texts[name] = "git is under the GNU General Public License, version 2, above. Its complete source is the file " + gitSource.pool + " of Debian's archive (SHA-256 " + gitSource.sha256 + "), with the changes of worker/tools/build/git.go and the files of worker/tools/c/git and worker/tools/c/start.c in Bailey's source."
	if fresh(file, "c/start.c", "c/git/wasi.c", "c/git/wasi.h", "c/git/run.c", "c/git/run.h", "c/git/refused.h", "build/git.go", "build/c.go") {
		return err
	}
	makefile, err := os.ReadFile(filepath.Join(dir, "Makefile"))
	if err != nil {
		return err
	}
	names := slices.Clone(gitWith)
	for _, m := range gitLibrary.FindAllStringSubmatch(string(makefile), -1) {
		if !slices.Contains(gitWithout, m[1]) {
			names = append(names, m[1])
		}
	}
	for _, name := range gitBuiltins {
		names = append(names, "builtin/"+name)
	}
	own := filepath.Join(dir, "wasi") // what is made of the source
	if err := os.RemoveAll(own); err != nil {
		return err
	}
	put := func(name, text string) error {
		name = filepath.Join(own, name)
		return errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644))
	}
	changed := map[string]bool{}
	for _, e := range gitEdits {
		changed[e.file] = true
	}
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		out, err := edited(name, string(text))
		if err != nil {
			return err
		}
		if err := put(name, out); err != nil {
			return err
		}
	}
	for _, name := range gitHeaders {
		if err := put("include/"+name+".h", "\n"); err != nil {
			return err
		}
	}
	args := append(slices.DeleteFunc(slices.Clone(wasi), func(a string) bool { return a == "c/start.c" || a == "-O3" || strings.HasPrefix(a, "-Wl,-z,stack") }), "-O2", "-Wl,-z,stack-size=4194304",
		"-Ic/git", "-I"+filepath.Join(own, "include"), "-I"+dir, "-I"+filepath.Join(dir, "compat/regex"), "-I"+zlib, "-include", "c/git/wasi.h")
	units := []string{"c/start.c", "c/git/wasi.c", "c/git/run.c"}
	for _, name := range gitDefines {
		args = append(args, "-D"+name)
	}
	for _, name := range slices.Sorted(maps.Keys(gitTexts)) {
		args = append(args, "-D"+name+"=\""+gitTexts[name]+"\"")
	}
	for _, name := range gitWrapped {
		args = append(args, "-Wl,--wrap=__wasi_"+name)
	}
	args = append(args, "-Wl,--wrap=stat", "-Wl,--wrap=lstat", "-Wl,--wrap=fstat")
	for _, name := range names {
		if changed[name+".c"] {
			units = append(units, filepath.Join(own, name+".c"))
		} else {
			units = append(units, filepath.Join(dir, name+".c"))
		}
	}
	for _, name := range zlibFiles {
		units = append(units, filepath.Join(zlib, name+".c"))
	}
	return compileEach(file, args, units, dir, zlib, "c/git")
}
