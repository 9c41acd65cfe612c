package protocol

import (
	"strings"
)

// startupFile is a row of the list of files that make a program on the user's computer run a
// command. The program reads them when it starts, when a folder is opened, or when the user types
// an everyday command such as git status.
type startupFile struct {
	// Pattern matches the names that the row covers. Everything below them is covered too. It has
	// the form of a [Pattern] that begins with **/, and its last element may contain one *.
	Pattern string
	// Refused rows are never written, whichever policy applies. The other rows need a
	// consent of their own, which package fsaccess requests.
	Refused bool
	// Source is the documentation of the program about this file.
	Source string
}

// Rows with a special case in the code.
const (
	gitFolder = "**/.git" // except FSPolicy.AllowGitConfig
	gitHead   = "**/HEAD" // only a file of this name
)

// Documentation that several rows cite.
const (
	gitLayout   = "https://git-scm.com/docs/gitrepository-layout"
	gitConfigs  = "https://git-scm.com/docs/git-config (core.fsmonitor, core.hooksPath, safe.bareRepository)"
	bashStart   = "https://www.gnu.org/software/bash/manual/html_node/Bash-Startup-Files.html"
	zshStart    = "https://zsh.sourceforge.io/Doc/Release/Files.html"
	cshStart    = "https://man.freebsd.org/cgi/man.cgi?query=csh (startup and shutdown)"
	kshStart    = "https://man.openbsd.org/ksh (FILES)"
	xsessions   = "https://manpages.debian.org/Xsession.5"
	vimStart    = "https://vimhelp.org/starting.txt.html (initialization, exrc)"
	nvimExrc    = "https://neovim.io/doc/user/options.html ('exrc')"
	emacsStart  = "https://www.gnu.org/software/emacs/manual/html_node/emacs/Find-Init.html"
	emacsLocals = "https://www.gnu.org/software/emacs/manual/html_node/emacs/Directory-Variables.html"
	claudeHooks = "https://code.claude.com/docs/en/settings, https://code.claude.com/docs/en/hooks"
	pythonSite  = "https://docs.python.org/3/library/site.html"
	windowsAuto = "https://learn.microsoft.com/windows/win32/shell/autorun-cmds"
	desktopIni  = "https://learn.microsoft.com/windows/win32/shell/how-to-customize-folders-with-desktop-ini"
	xdgStart    = "https://specifications.freedesktop.org/autostart-spec/latest/"
	yarnConfig  = "https://yarnpkg.com/configuration/yarnrc (yarnPath, plugins)"
	mvnDir      = "https://maven.apache.org/configure.html (.mvn/extensions.xml, .mvn/jvm.config)"
	srtList     = "sandbox-runtime, src/sandbox/sandbox-utils.ts (DANGEROUS_FILES, DANGEROUS_DIRECTORIES)"
)

// startupFiles are all rows, the refused ones first. To cover one more program, add a row.
//
// Files that run only because the user builds, tests or installs the project are not in the list
// (Makefile, package.json, build.gradle, setup.py), because they are the project. .gitattributes is
// not in the list either: it contains only the names of drivers, and their commands are in git's
// configuration, which is refused.
var startupFiles = [...]startupFile{
	// Everything in .git: git runs commands from config, config.worktree, hooks, modules/*/config
	// and rebase-merge/git-rebase-todo. The files commondir, gitdir and objects/info/alternates,
	// and a file .git, make it read these elsewhere. No file tool has to write any of them.
	{gitFolder, true, gitLayout + ", " + gitConfigs},
	// Any folder with a file HEAD can be a git folder, at any depth: commondir can name another
	// folder for the other files that git needs.
	{gitHead, true, gitLayout + ", " + gitConfigs},
	{"**/.gitconfig", true, gitConfigs},
	{"**/.config/git", true, gitConfigs + "; https://git-scm.com/docs/git-config#FILES ($XDG_CONFIG_HOME/git/config)"},
	{"**/.gitmodules", true, "https://git-scm.com/docs/gitmodules"},
	{"**/.bashrc", true, bashStart},
	{"**/.bash_profile", true, bashStart},
	{"**/.profile", true, bashStart},
	{"**/.zshrc", true, zshStart},
	{"**/.zprofile", true, zshStart},
	{"**/.ripgreprc", true, srtList + "; https://github.com/BurntSushi/ripgrep/blob/master/GUIDE.md (configuration file, --pre)"},
	{"**/.mcp.json", true, "https://code.claude.com/docs/en/mcp (project scope)"},
	{"**/.vscode", true, "https://code.visualstudio.com/docs/debugtest/tasks (runOn folderOpen)"},
	{"**/.idea", true, "https://www.jetbrains.com/help/idea/settings-tools-startup-tasks.html"},
	{"**/.claude/commands", true, srtList},
	{"**/.claude/agents", true, srtList},
	{"**/.claude/hooks", true, claudeHooks},
	{"**/.claude/settings*", true, claudeHooks},

	// Shells.
	{"**/.bash_login", false, bashStart},
	{"**/.bash_logout", false, bashStart},
	{"**/.bash_aliases", false, "https://manpages.ubuntu.com/manpages/noble/man1/bash.1.html; read by Debian's /etc/skel/.bashrc"},
	{"**/.zshenv", false, zshStart},
	{"**/.zlogin", false, zshStart},
	{"**/.zlogout", false, zshStart},
	{"**/.zshrc.local", false, "https://grml.org/zsh/ (read by grml's zshrc)"},
	{"**/.kshrc", false, kshStart},
	{"**/.mkshrc", false, "http://www.mirbsd.org/htman/i386/man1/mksh.htm"},
	{"**/.cshrc", false, cshStart},
	{"**/.tcshrc", false, cshStart},
	{"**/.login", false, cshStart},
	{"**/.logout", false, cshStart},
	{"**/.inputrc", false, "https://www.gnu.org/software/bash/manual/html_node/Readline-Init-File.html"},
	{"**/.config/fish", false, "https://fishshell.com/docs/current/language.html#configuration"},
	{"**/.config/powershell", false, "https://learn.microsoft.com/powershell/module/microsoft.powershell.core/about/about_profiles"},
	{"**/.config/nushell", false, "https://www.nushell.sh/book/configuration.html"},
	{"**/.xonshrc", false, "https://xon.sh/xonshrc.html"},
	{"**/.envrc", false, "https://direnv.net/man/direnv.1.html"},
	{"**/.direnvrc", false, "https://direnv.net/man/direnv.1.html"},
	{"**/.config/direnv", false, "https://direnv.net/man/direnv.1.html"},
	{"**/.mise.toml", false, "https://mise.jdx.dev/hooks.html"},
	{"**/mise.toml", false, "https://mise.jdx.dev/hooks.html"},
	{"**/.mise", false, "https://mise.jdx.dev/configuration.html"},
	{"**/.config/mise*", false, "https://mise.jdx.dev/configuration.html"},
	{"**/.rvmrc", false, "https://rvm.io/workflow/rvmrc"},

	// Terminals, sessions, and the programs that they start.
	{"**/.screenrc", false, "https://www.gnu.org/software/screen/manual/html_node/Startup-Files.html"},
	{"**/.tmux.conf", false, "https://man.openbsd.org/tmux.1 (run-shell, if-shell)"},
	{"**/.config/tmux", false, "https://man.openbsd.org/tmux.1 (run-shell, if-shell)"},
	{"**/.xprofile", false, xsessions},
	{"**/.xinitrc", false, "https://www.x.org/releases/current/doc/man/man1/xinit.1.xhtml"},
	{"**/.xsession*", false, xsessions},
	{"**/.pam_environment", false, "https://manpages.debian.org/pam_env.conf.5"},
	{"**/.config/autostart", false, xdgStart},
	{"**/.i3", false, "https://i3wm.org/docs/userguide.html (exec)"},
	{"**/.config/i3", false, "https://i3wm.org/docs/userguide.html (exec)"},
	{"**/.config/sway", false, "https://manpages.debian.org/sway.5 (exec)"},
	{"**/.config/systemd", false, "https://www.freedesktop.org/software/systemd/man/latest/systemd.unit.html"},
	{"**/.config/environment.d", false, "https://www.freedesktop.org/software/systemd/man/latest/environment.d.html"},
	{"**/Library/LaunchAgents", false, "https://developer.apple.com/library/archive/documentation/MacOSX/Conceptual/BPSystemStartup/Chapters/CreatingLaunchdJobs.html"},
	{"**/Start Menu/Programs/Startup", false, "https://learn.microsoft.com/windows/win32/shell/csidl (CSIDL_STARTUP)"},
	{"**/*.terminal", false, "https://support.apple.com/guide/terminal/trmlstrtup (a settings file may run a command when it is opened)"},
	{"**/*.service", false, "https://www.freedesktop.org/software/systemd/man/latest/systemd.service.html"},
	{"**/autorun.inf", false, windowsAuto},
	{"**/autoplay.inf", false, windowsAuto},
	{"**/desktop.ini", false, desktopIni},
	{"**/folder.htt", false, desktopIni},
	{"**/.directory", false, "https://specifications.freedesktop.org/desktop-entry-spec/latest/"},
	{"**/*.appinstaller", false, "https://learn.microsoft.com/windows/msix/app-installer/app-installer-file-overview"},
	{"**/*.flatpakref", false, "https://docs.flatpak.org/en/latest/repositories.html"},
	{"**/*.flatpakrepo", false, "https://docs.flatpak.org/en/latest/repositories.html"},
	{"**/*.pyw", false, "https://docs.python.org/3/using/windows.html (run by a double click)"},
	{"**/*.pyz", false, "https://docs.python.org/3/library/zipapp.html"},
	{"**/*.pth", false, pythonSite + " (lines that begin with import are executed)"},

	// Editors and debuggers.
	{"**/.vimrc", false, vimStart},
	{"**/.gvimrc", false, vimStart},
	{"**/.exrc", false, vimStart},
	{"**/.vim", false, vimStart},
	{"**/.config/vim", false, vimStart},
	{"**/.nvimrc", false, nvimExrc},
	{"**/.nvim.lua", false, nvimExrc},
	{"**/.config/nvim", false, nvimExrc},
	{"**/.emacs", false, emacsStart},
	{"**/.emacs.el*", false, emacsStart},
	{"**/.emacs.d", false, emacsStart},
	{"**/.config/emacs", false, emacsStart},
	{"**/.spacemacs", false, emacsStart},
	{"**/.dir-locals.el", false, emacsLocals},
	{"**/.dir-locals-2.el", false, emacsLocals},
	{"**/.kakrc", false, "https://github.com/mawww/kakoune#configuration--autoloading"},
	{"**/.helix", false, "https://docs.helix-editor.com/languages.html (language-server.command, formatter.command)"},
	{"**/.config/helix", false, "https://docs.helix-editor.com/languages.html (language-server.command, formatter.command)"},
	{"**/.zed", false, "https://zed.dev/docs/configuring-zed, https://zed.dev/docs/tasks"},
	{"**/.config/zed", false, "https://zed.dev/docs/configuring-zed, https://zed.dev/docs/tasks"},
	{"**/.fleet", false, "https://www.jetbrains.com/help/fleet/run-configurations.html"},
	{"**/*.code-workspace", false, "https://code.visualstudio.com/docs/editing/workspaces/multi-root-workspaces (settings and tasks)"},
	{"**/*.sublime-project", false, "https://www.sublimetext.com/docs/projects.html (build systems)"},
	{"**/.gdbinit", false, "https://sourceware.org/gdb/current/onlinedocs/gdb.html/gdbinit-man.html"},
	{"**/.gdbearlyinit", false, "https://sourceware.org/gdb/current/onlinedocs/gdb.html/Initialization-Files.html"},
	{"**/.lldbinit", false, "https://lldb.llvm.org/man/lldb.html#configuration-files"},
	{"**/.pdbrc", false, "https://docs.python.org/3/library/pdb.html"},
	{"**/.pythonrc*", false, "https://docs.python.org/3/using/cmdline.html#envvar-PYTHONSTARTUP"},
	{"**/.irbrc", false, "https://docs.ruby-lang.org/en/master/IRB.html"},
	{"**/.pryrc", false, "https://github.com/pry/pry/wiki/Pry-rc"},
	{"**/.Rprofile", false, "https://stat.ethz.ch/R-manual/R-devel/library/base/html/Startup.html"},
	{"**/.ghci", false, "https://downloads.haskell.org/ghc/latest/docs/users_guide/ghci.html#the-ghci-files"},
	{"**/.octaverc", false, "https://docs.octave.org/latest/Startup-Files.html"},
	{"**/.psqlrc", false, "https://www.postgresql.org/docs/current/app-psql.html (\\!)"},
	{"**/.sqliterc", false, "https://sqlite.org/cli.html (.shell)"},

	// Tools that run commands for the user.
	{"**/.ssh", false, "https://man.openbsd.org/ssh_config (ProxyCommand, Match exec), https://man.openbsd.org/sshd (FILES: rc, authorized_keys)"},
	{"**/.gnupg", false, "https://www.gnupg.org/documentation/manuals/gnupg/GPG-Configuration.html"},
	{"**/.netrc", false, "https://www.gnu.org/software/inetutils/manual/html_node/The-_002enetrc-file.html (macdef init)"},
	{"**/.curlrc", false, "https://curl.se/docs/manpage.html#-K"},
	{"**/.wgetrc", false, "https://www.gnu.org/software/wget/manual/html_node/Wgetrc-Commands.html (use_askpass)"},
	{"**/.mailcap", false, "https://www.rfc-editor.org/rfc/rfc1524"},
	{"**/.forward", false, "https://www.postfix.org/local.8.html"},
	{"**/.procmailrc", false, "https://manpages.debian.org/procmailrc.5"},
	{"**/.muttrc", false, "https://www.mutt.org/doc/manual/#configuration-files"},
	{"**/.lesskey", false, "https://www.greenwoodsoftware.com/less/ (lesskey, LESSOPEN)"},
	{"**/.lessfilter", false, "https://manpages.debian.org/lesspipe.1"},
	{"**/.hgrc", false, "https://www.mercurial-scm.org/doc/hgrc.5.html (hooks)"},
	{"**/.hg", false, "https://www.mercurial-scm.org/doc/hgrc.5.html (hooks)"},
	{"**/.config/hg", false, "https://www.mercurial-scm.org/doc/hgrc.5.html (hooks)"},
	{"**/.jj", false, "https://jj-vcs.github.io/jj/latest/config/"},
	{"**/.config/jj", false, "https://jj-vcs.github.io/jj/latest/config/"},
	{"**/.jjconfig.toml", false, "https://jj-vcs.github.io/jj/latest/config/"},
	{"**/.aws", false, "https://docs.aws.amazon.com/cli/latest/userguide/cli-configure-sourcing-external.html (credential_process)"},
	{"**/.kube", false, "https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins (exec)"},
	{"**/_darcs", false, "http://darcs.net/Using/Configuration (_darcs/prefs/defaults: prehook, posthook)"},
	{"**/.darcs", false, "http://darcs.net/Using/Configuration (defaults: prehook, posthook)"},
	{"**/.husky", false, "https://typicode.github.io/husky/"},
	{"**/.pre-commit-config.yaml", false, "https://pre-commit.com/#plugins"},
	{"**/lefthook.y*ml", false, "https://lefthook.dev/configuration/"},
	{"**/.lefthook*", false, "https://lefthook.dev/configuration/"},
	{"**/.overcommit.yml", false, "https://github.com/sds/overcommit#configuration"},
	{"**/.lintstagedrc*", false, "https://github.com/lint-staged/lint-staged#configuration"},
	{"**/.devcontainer", false, "https://containers.dev/implementors/json_reference/#lifecycle-scripts (initializeCommand)"},
	{"**/.devcontainer.json", false, "https://containers.dev/implementors/json_reference/#lifecycle-scripts (initializeCommand)"},
	{"**/.gitpod.y*ml", false, "https://www.gitpod.io/docs/references/gitpod-yml (tasks)"},
	{"**/.npmrc", false, "https://docs.npmjs.com/cli/configuring-npm/npmrc (script-shell, node-options)"},
	{"**/.pnpmfile.cjs", false, "https://pnpm.io/pnpmfile"},
	{"**/.yarnrc*", false, yarnConfig},
	{"**/.yarn", false, yarnConfig},
	{"**/.pypirc", false, "https://packaging.python.org/en/latest/specifications/pypirc/"},
	{"**/sitecustomize.py", false, pythonSite},
	{"**/usercustomize.py", false, pythonSite},
	{"**/conftest.py", false, "https://docs.pytest.org/en/stable/reference/fixtures.html (collected from every folder)"},
	{"**/.cargo", false, "https://doc.rust-lang.org/cargo/reference/config.html (build.rustc-wrapper, target.runner)"},
	{"**/.bazelrc", false, "https://bazel.build/run/bazelrc"},
	{"**/.mvn", false, mvnDir},
	{"**/.gradle/init.gradle*", false, "https://docs.gradle.org/current/userguide/init_scripts.html"},
	{"**/.gradle/init.d", false, "https://docs.gradle.org/current/userguide/init_scripts.html"},
	{"**/.bundle", false, "https://bundler.io/man/bundle-config.1.html"},
	{"**/.gemrc", false, "https://guides.rubygems.org/command-reference/#gem-environment"},

	// Services that run a repository's commands after a push.
	{"**/.github/workflows", false, "https://docs.github.com/actions/writing-workflows/workflow-syntax-for-github-actions"},
	{"**/.github/actions", false, "https://docs.github.com/actions/sharing-automations/creating-actions/metadata-syntax-for-github-actions"},
	{"**/.gitlab-ci.y*ml", false, "https://docs.gitlab.com/ci/yaml/"},
	{"**/.circleci", false, "https://circleci.com/docs/configuration-reference/"},
	{"**/.travis.yml", false, "https://docs.travis-ci.com/user/tutorial/"},
	{"**/.forgejo/workflows", false, "https://forgejo.org/docs/latest/user/actions/reference/"},
	{"**/.gitea/workflows", false, "https://docs.gitea.com/usage/actions/quickstart"},
	{"**/.buildkite", false, "https://buildkite.com/docs/pipelines/configure/defining-steps"},
	{"**/.drone.y*ml", false, "https://docs.drone.io/yaml/docker/"},
	{"**/.woodpecker*", false, "https://woodpecker-ci.org/docs/usage/workflow-syntax"},
	{"**/Jenkinsfile", false, "https://www.jenkins.io/doc/book/pipeline/jenkinsfile/"},
	{"**/azure-pipelines.y*ml", false, "https://learn.microsoft.com/azure/devops/pipelines/yaml-schema/"},
	{"**/bitbucket-pipelines.yml", false, "https://support.atlassian.com/bitbucket-cloud/docs/bitbucket-pipelines-configuration-reference/"},
	{"**/appveyor.yml", false, "https://www.appveyor.com/docs/appveyor-yml/"},
	{"**/.appveyor.yml", false, "https://www.appveyor.com/docs/appveyor-yml/"},
	{"**/.cirrus.y*ml", false, "https://cirrus-ci.org/guide/writing-tasks/"},
	{"**/.build.yml", false, "https://man.sr.ht/builds.sr.ht/"},
	{"**/.builds", false, "https://man.sr.ht/builds.sr.ht/"},

	// Other agents, which run servers and hooks that a project names.
	{"**/.claude/skills", false, "https://code.claude.com/docs/en/skills"},
	{"**/.claude.json", false, "https://code.claude.com/docs/en/mcp (user scope)"},
	{"**/.cursor", false, "https://cursor.com/docs/mcp, https://cursor.com/docs/agent/hooks"},
	{"**/.windsurf", false, "https://docs.windsurf.com/windsurf/cascade/hooks"},
	{"**/.gemini", false, "https://github.com/google-gemini/gemini-cli/blob/main/docs/cli/settings.md (mcpServers)"},
	{"**/.codex", false, "https://developers.openai.com/codex/config-reference"},
	{"**/.amazonq", false, "https://docs.aws.amazon.com/amazonq/latest/qdeveloper-ug/command-line-mcp-config-CLI.html"},
	{"**/.kiro", false, "https://kiro.dev/docs/hooks/"},
	{"**/.roo", false, "https://docs.roocode.com/features/mcp/using-mcp-in-roo (.roo/mcp.json)"},
	{"**/.aider.conf.yml", false, "https://aider.chat/docs/config/aider_conf.html (lint-cmd, test-cmd)"},
	{"**/opencode.json*", false, "https://opencode.ai/docs/config/ (mcp)"},
}

// StartupFile reports whether a path is in the list of files that make a program on the user's computer run
// a command, and whether its row is one that is never written. It matches every spelling that some file
// system takes for the same name: case, trailing dots, Windows' streams and short names. path must be in the
// form of [io/fs.ValidPath].
func StartupFile(path string) (refused, listed bool) {
	f := rowOf(path)
	return f != nil && f.Refused, f != nil
}

// rowOf returns the row that covers path, or nil.
func rowOf(path string) *startupFile {
	folded := foldWindows(path)
	for i := range startupFiles {
		if f := &startupFiles[i]; f.stands(folded, false) == protected {
			return f
		}
	}
	return nil
}

// protection is the relation of a path to a row.
type protection uint8

const (
	unprotected protection = iota
	ancestor               // a path that the row covers may lie directly below, so the path must not be replaced
	protected
)

// stands returns the relation of the folded path to the row. A row for a file only does not cover a
// folder of that name or its content.
func (f *startupFile) stands(path string, folder bool) protection {
	pattern := f.Pattern[len("**/"):]
	fileOnly := f.Pattern == gitHead
	state := unprotected
	for at := 0; at <= len(path); {
		switch rest, whole := fits(path[at:], pattern); {
		case whole && !(fileOnly && (folder || rest != "")):
			return protected
		case !whole && rest == "":
			state = ancestor
		}
		slash := strings.IndexByte(path[at:], '/')
		if slash < 0 {
			break
		}
		at += slash + 1
	}
	return state
}

// fits compares path and pattern element by element. whole reports whether the path has all
// elements of the pattern, and rest is the part of the path below them. If the path ends before the
// pattern, rest is empty. If an element differs, rest is the path from there.
func fits(path, pattern string) (rest string, whole bool) {
	for {
		elem, below, more := strings.Cut(path, "/")
		want, next, several := strings.Cut(pattern, "/")
		switch {
		case !same(elem, want):
			return path, false
		case !several:
			return below, true
		case !more:
			return "", false
		}
		path, pattern = below, next
	}
}

// same reports whether the folded name may open entry: by the name itself, or by the short name
// that Windows makes for it, such as GIT~1. The entry may contain one *. It is compared without
// case, because a few entries have capitals.
func same(name, entry string) bool {
	prefix, suffix, star := strings.Cut(entry, "*")
	if !star && len(name) == len(entry) && strings.EqualFold(name, entry) {
		return true
	}
	if star && len(name) >= len(entry)-1 && strings.EqualFold(name[:len(prefix)], prefix) && strings.EqualFold(name[len(name)-len(suffix):], suffix) {
		return true
	}
	if strings.IndexByte(name, '~') < 0 {
		return false
	}
	return shortName(name, strings.ToLower(entry))
}

// shortName reports whether the folded name may be a short name that Windows made for entry: up to
// six of its characters, ~, a number, and up to three characters of its extension. From the fifth
// file of the same short name on, it has two characters and a hash. The entry may contain one *,
// which stands for any characters. A name that is short already has no other short name.
//
// https://learn.microsoft.com/openspecs/windows_protocols/ms-fscc/18e63b13-ba43-4f5f-a5b7-11e871b71f14
func shortName(name, entry string) bool {
	stem, digits, ok := strings.Cut(name, "~")
	if !ok || stem == "" || len(stem) > 6 {
		return false
	}
	digits, ext, _ := strings.Cut(digits, ".")
	if digits == "" || strings.Trim(digits, "0123456789") != "" || len(stem)+len(digits) > 7 {
		return false
	}
	long, longExt := strings.TrimLeft(entry, "."), ""
	if dot := strings.LastIndexByte(long, '.'); dot > 0 {
		long, longExt = long[:dot], long[dot+1:]
	}
	long = strings.NewReplacer(".", "", " ", "", "+", "_", ",", "_", ";", "_", "=", "_", "[", "_", "]", "_").Replace(long)
	if open := strings.HasSuffix(long, "*") && longExt == ""; !open && !shortFits(ext, longExt, 3) {
		return false
	}
	// A long number leaves less room for characters of the name.
	return shortFits(stem, long, 6) || len(digits) > 1 && shortFits(stem, long, len(stem)) ||
		len(stem) == 6 && len(long) >= 2 && shortFits(stem[:2], long, 2) && strings.Trim(stem[2:], "0123456789abcdef") == ""
}

// shortFits reports whether short is the first n characters of long, or all of long if it is
// shorter. A * in long stands for any characters.
func shortFits(short, long string, n int) bool {
	if sure, _, star := strings.Cut(long, "*"); star && len(sure) < n {
		return strings.HasPrefix(short, sure)
	}
	return short == long[:min(len(long), n)]
}

// mandatory returns the relation of path to the refused rows, and the pattern of the row that
// decided. folder is whether path may be a folder.
func mandatory(path string, folder, gitConfigAllowed bool) (protection, string) {
	folded := foldWindows(path)
	open := gitConfigAllowed && configOfGit(folded)
	state, entry := unprotected, ""
	for i := range startupFiles {
		f := &startupFiles[i]
		if !f.Refused {
			break // the refused rows come first
		}
		if open && f.Pattern == gitFolder {
			continue
		}
		switch f.stands(folded, folder) {
		case protected:
			return protected, strings.TrimPrefix(f.Pattern, "**/")
		case ancestor:
			state, entry = ancestor, strings.TrimPrefix(f.Pattern, "**/")
		}
	}
	return state, entry
}

// configOfGit reports whether the folded path is the configuration of a repository or of a
// submodule, the only file that FSPolicy.AllowGitConfig allows.
func configOfGit(path string) bool {
	elems := strings.Split(path, "/")
	n := len(elems)
	if !same(elems[n-1], "config") {
		return false
	}
	for i, e := range elems[:n-1] {
		if !same(e, ".git") {
			continue
		}
		if i+2 == n {
			return true
		}
		// A submodule's git folder is at any depth below .git/modules. Files in its hooks are not a
		// configuration.
		inside := elems[i+1 : n-1]
		if !same(inside[0], "modules") || len(inside) < 2 {
			return false
		}
		for _, e := range inside {
			if same(e, "hooks") {
				return false
			}
		}
		return true
	}
	return false
}
