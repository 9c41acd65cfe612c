package native_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/gitlines"
	"github.com/bailey-go/bailey/sandbox"
)

// gitProgram is a repository by which an everyday command of the machine's git runs a program of the attacker's. EVIL stands for
// the program, which makes the file that it names.
type gitProgram struct {
	name   string
	config []string // pairs of names and values
	files  map[string]string
	env    []string
	setup  func(m *gitlines.Maker, evil string)
	types  string
}

func gitPrograms() []gitProgram {
	type files = map[string]string
	filtered := files{".gitattributes": "* filter=x\n", "f": "two\n"} // as long as before, so that git reads it
	driver := files{".gitattributes": "* diff=x\n", "f": "other\n"}
	return []gitProgram{
		{name: "fsmonitor", config: []string{"core.fsmonitor", "EVIL; false"}, types: "status"},
		{name: "an external diff", config: []string{"diff.external", "EVIL"}, files: files{"f": "other\n"}, types: "diff"},
		{name: "an external diff of the environment", env: []string{"GIT_EXTERNAL_DIFF=EVIL"}, files: files{"f": "other\n"}, types: "diff"},
		{name: "a diff driver", config: []string{"diff.x.command", "EVIL"}, files: driver, types: "diff"},
		{name: "a diff driver of log", config: []string{"diff.x.command", "EVIL"}, files: driver, types: "log -p --ext-diff"},
		{name: "textconv of diff", config: []string{"diff.x.textconv", "EVIL; cat"}, files: driver, types: "diff"},
		{name: "textconv of show", config: []string{"diff.x.textconv", "EVIL; cat"}, files: driver, types: "show HEAD"},
		{name: "textconv of blame", config: []string{"diff.x.textconv", "EVIL; cat"}, files: driver, types: "blame f"},
		{name: "textconv of grep", config: []string{"diff.x.textconv", "EVIL; cat"}, files: driver, types: "grep --textconv one"},
		{name: "textconv of cat-file", config: []string{"diff.x.textconv", "EVIL; cat"}, files: driver, types: "cat-file --textconv HEAD:f"},
		{name: "a clean filter of status", config: []string{"filter.x.clean", "EVIL; cat"}, files: filtered, types: "status"},
		{name: "a clean filter of diff", config: []string{"filter.x.clean", "EVIL; cat", "filter.x.required", "true"}, files: filtered, types: "diff"},
		{name: "a process filter", config: []string{"filter.x.process", "EVIL"}, files: filtered, types: "status"},
		{name: "a smudge filter", config: []string{"filter.x.smudge", "EVIL; cat"}, files: filtered, types: "cat-file --filters HEAD:f"},
		{name: "a smudge filter of archive", config: []string{"filter.x.smudge", "EVIL; cat"}, files: files{".git/info/attributes": "* filter=x\n"}, types: "archive HEAD"},
		{name: "an alias", config: []string{"alias.x", "!EVIL"}, types: "x"},
		{name: "an alias of an alias", config: []string{"alias.x", "y", "alias.y", "!EVIL"}, types: "x"},
		{name: "a hook of the index", files: files{".git/hooks/post-index-change": "#!/bin/sh\nEVIL\n", "f": "one\n"}, env: []string{"GIT_OPTIONAL_LOCKS=1"}, types: "status"},
		{name: "a folder of hooks", config: []string{"core.hooksPath", "hooks"}, files: files{"hooks/post-index-change": "#!/bin/sh\nEVIL\n", "f": "one\n"}, env: []string{"GIT_OPTIONAL_LOCKS=1"}, types: "status"},
		{name: "an editor", config: []string{"core.editor", "EVIL;"}, types: "config -e"},
		{name: "a pager of grep", files: files{"f": "one\n"}, types: "grep -OEVIL one"},
		{name: "a signature's program", config: []string{"gpg.program", "EVIL"}, setup: signed, types: "log --show-signature"},
		{name: "a signature of a format", config: []string{"gpg.program", "EVIL"}, setup: signed, types: "log --format=%G?"},
		{name: "ssh", config: []string{"core.sshCommand", "EVIL;"}, env: []string{"GIT_ALLOW_PROTOCOL=ssh"}, types: "ls-remote ssh://example.invalid/x"},
		{name: "a remote helper", config: []string{"protocol.ext.allow", "always"}, env: []string{"GIT_ALLOW_PROTOCOL=ext"}, types: "ls-remote ext::EVIL"},
		{name: "a remote that is shown", config: []string{"remote.o.url", "ssh://example.invalid/x", "core.sshCommand", "EVIL;"}, env: []string{"GIT_ALLOW_PROTOCOL=ssh"}, types: "remote show o"},
		{name: "an archive's compressor", config: []string{"tar.x.command", "EVIL; cat"}, types: "archive --format=x HEAD"},
		{name: "a missing object of a partial clone", config: []string{"core.repositoryformatversion", "1", "extensions.partialClone", "o", "remote.o.url", ".", "remote.o.promisor", "true", "remote.o.uploadpack", "EVIL;"},
			types: "cat-file -p 1234567890123456789012345678901234567890"},
		{name: "a submodule's fsmonitor", setup: func(m *gitlines.Maker, evil string) {
			m.Git("r", "init", "-q", "sub")
			m.Commit("r/sub", "s", map[string]string{"s": "s\n"})
			m.Git("r", "-c", "advice.addEmbeddedRepo=false", "add", "sub")
			m.Git("r/sub", "config", "core.fsmonitor", evil+"; false")
		}, types: "status"},
	}
}

// signed makes a commit whose signature is no signature.
func signed(m *gitlines.Maker, _ string) {
	tree := strings.TrimSpace(m.Git("r", "rev-parse", "HEAD^{tree}"))
	m.Put("r", map[string]string{"c": "tree " + tree + "\nauthor A <a@b.c> 1 +0000\ncommitter A <a@b.c> 1 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----\n\nsigned\n"})
	id := strings.TrimSpace(m.Git("r", "hash-object", "-t", "commit", "-w", "c"))
	m.Git("r", "reset", "-q", "--hard", id)
}

// No file of a repository makes git start a program. The machine's git shows that each does.
func TestAttackGitRunsPrograms(t *testing.T) {
	r := withGit(t)
	count := attack.Start(t, "02")
	controls := 0
	made := gitlines.NewMaker(t)
	made.Git(".", "init", "-q", "-b", "main", "first/r")
	made.Commit("first/r", "one", map[string]string{"f": "one\n"})
	for i, a := range gitPrograms() {
		m := made.Copy("first", fmt.Sprint(i))
		mark := filepath.Join(m.Root, "mark")
		script := filepath.Join(m.Root, "evil")
		must(t, os.WriteFile(script, []byte("#!/bin/sh\n: > "+mark+"\n"), 0o755))
		evil := func(s string) string { return strings.ReplaceAll(s, "EVIL", script) }
		if a.setup != nil {
			a.setup(m, script)
		}
		for i := 0; i < len(a.config); i += 2 {
			m.Git("r", "config", a.config[i], evil(a.config[i+1]))
		}
		for name, text := range a.files {
			m.Put("r", map[string]string{name: evil(text)})
			if strings.Contains(name, "hooks/") {
				must(t, os.Chmod(filepath.Join(m.Root, "r", name), 0o755))
			}
		}
		var env []string
		for _, v := range a.env {
			env = append(env, evil(v))
		}
		args := gitlines.Words(evil(a.types))
		folder, err := fsaccess.OpenDir(m.Root, fsaccess.DirOptions{})
		must(t, err)
		got := call(t, r, sandbox.Command{FS: folder, Dir: "/r", Env: append(gitlines.Env, env...)}, append([]string{"git"}, args...)...)
		_, err = os.Stat(mark)
		count.Try(a.name, err == nil)
		if strings.Contains(got.errs, "BUG") || got.err != nil {
			t.Errorf("%s: %+v", a.name, got)
		}
		m.Run("r", env, args...)
		_, err = os.Stat(mark)
		count.Off(a.name, err == nil)
		if err == nil {
			controls++
		} else {
			t.Errorf("%s: the machine's git runs no program: the attack is none", a.name)
		}
		must(t, folder.Close())
	}
	t.Logf("%d of %d ran with the machine's git", controls, len(gitPrograms()))
}

// gitLead is a repository that leads git to a file outside of what may be read. OUT stands for the folder with the file.
type gitLead struct {
	name  string
	setup func(m *gitlines.Maker, out string) // out is the folder as seen from the repository's folder
	env   []string
	types string
}

const token = "tokenThatStaysOutside"

func gitLeads() []gitLead {
	put := func(name, text string) func(*gitlines.Maker, string) {
		return func(m *gitlines.Maker, out string) {
			m.Put("folder/r", map[string]string{name: strings.ReplaceAll(text, "OUT", out)})
		}
	}
	config := func(name, value string) func(*gitlines.Maker, string) {
		return func(m *gitlines.Maker, out string) {
			m.Git("folder/r", "config", name, strings.ReplaceAll(value, "OUT", out))
		}
	}
	link := func(from, to string) func(*gitlines.Maker, string) {
		return func(m *gitlines.Maker, out string) {
			at := filepath.Join(m.Root, "folder/r", from)
			_ = os.RemoveAll(at)
			_ = os.Symlink(strings.ReplaceAll(to, "OUT", out), at)
		}
	}
	gone := func(f func(*gitlines.Maker, string)) func(*gitlines.Maker, string) {
		return func(m *gitlines.Maker, out string) {
			_ = os.RemoveAll(filepath.Join(m.Root, "folder/r/.git"))
			f(m, out)
		}
	}
	return []gitLead{
		{name: "include", setup: config("include.path", "../OUT/config"), types: "config --list"},
		{name: "includeIf", setup: config("includeIf.onbranch:main.path", "../OUT/config"), types: "config --list"},
		{name: "alternates", setup: put(".git/objects/info/alternates", "../../OUT/repo/.git/objects\n"), types: "cat-file -p BLOB"},
		{name: "alternates of the environment", env: []string{"GIT_ALTERNATE_OBJECT_DIRECTORIES=OUT/repo/.git/objects"}, types: "cat-file -p BLOB"},
		{name: "objects of the environment", env: []string{"GIT_OBJECT_DIRECTORY=OUT/repo/.git/objects"}, types: "cat-file -p BLOB"},
		{name: "a file .git", setup: gone(put(".git", "gitdir: OUT/repo/.git\n")), types: "show HEAD:token"},
		{name: "a link .git", setup: gone(link(".git", "OUT/repo/.git")), types: "show HEAD:token"},
		{name: "commondir", setup: put(".git/commondir", "../OUT/repo/.git\n"), types: "cat-file -p BLOB"},
		{name: "a work tree", setup: config("core.worktree", "../OUT"), types: "diff"},
		{name: "a link to objects", setup: gone(func(m *gitlines.Maker, out string) {
			m.Git(".", "init", "-q", "-b", "main", "folder/r")
			link(".git/objects", "../OUT/repo/.git/objects")(m, out)
		}), types: "cat-file -p BLOB"},
		{name: "a link in the work tree", setup: link("l", "OUT"), types: "diff --no-index l/token f"},
		{name: "patterns of ignored files", setup: config("core.excludesFile", "OUT/token"), types: "check-ignore -v " + token},
		{name: "attributes", setup: config("core.attributesFile", "OUT/attributes"), types: "check-attr -a f"},
		{name: "names of authors", setup: config("mailmap.file", "OUT/mailmap"), types: "log --use-mailmap --format=%aN"},
		{name: "-C", types: "-C OUT/repo show HEAD:token"},
		{name: "--git-dir", types: "--git-dir=OUT/repo/.git show HEAD:token"},
		{name: "--work-tree", types: "--work-tree=OUT diff"},
		{name: "--no-index", types: "diff --no-index OUT/token f"},
		{name: "config -f", types: "config -f OUT/config --list"},
		{name: "blame --contents", types: "blame -s --contents OUT/token f"},
		{name: "ls-files -X", types: "ls-files -o -i -X OUT/token ."},
		{name: "an index of the environment", env: []string{"GIT_INDEX_FILE=OUT/repo/.git/index"}, types: "ls-files"},
		{name: "a global configuration", env: []string{"GIT_CONFIG_GLOBAL=OUT/config"}, types: "config --list"},
		{name: "a home", env: []string{"HOME=OUT", "GIT_CONFIG_GLOBAL"}, types: "config --list"},
	}
}

// No file of a repository and no option leads git to a file that the policy denies, or that is outside of the folder.
func TestAttackGitReadsOutside(t *testing.T) {
	r := withGit(t)
	count := attack.Start(t, "03")
	const denied = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["*"]}, "filesystem": {"denyRead": ["out"]}, "rules": [{"permission": "*", "action": "allow"}]}`
	for _, out := range []string{"../out", "../../out"} { // in the folder, and beside it
		made := gitlines.NewMaker(t)
		place := path.Join("first/folder/r", out)
		made.Git(".", "init", "-q", "-b", "main", place+"/repo")
		made.Commit(place+"/repo", "one", map[string]string{"token": token + "\n", token: ""})
		blob := strings.TrimSpace(made.Git(place+"/repo", "rev-parse", "HEAD:token"))
		made.Put(place, map[string]string{"token": token + "\n", "f": token + "\n", "config": "[x]\n\ty = " + token + "\n", ".gitconfig": "[x]\n\ty = " + token + "\n", "attributes": "* x=" + token + "\n", "mailmap": token + " <ada@example.org>\n"})
		made.Git(".", "init", "-q", "-b", "main", "first/folder/r")
		made.Commit("first/folder/r", "one", map[string]string{"f": "one\n"})
		made.Put("first/folder/r", map[string]string{token: ""})
		for i, a := range gitLeads() {
			name := fmt.Sprintf("%s: %s", out, a.name)
			m := made.Copy("first", fmt.Sprint(i))
			if a.setup != nil {
				a.setup(m, out)
			}
			stands := func(s string) string {
				return strings.NewReplacer("OUT", out, "BLOB", blob).Replace(s)
			}
			script := "cd r; "
			for _, v := range a.env {
				if strings.Contains(v, "=") {
					script += "export '" + stands(v) + "'; "
				}
			}
			args := gitlines.Words(stands(a.types))
			script += "git '" + strings.Join(args, "' '") + "' 2>&1"
			folder, err := fsaccess.OpenDir(filepath.Join(m.Root, "folder"), fsaccess.DirOptions{})
			must(t, err)
			leaked := func(text string) bool {
				// The name of the file in r is known. Its content is not.
				if strings.Contains(a.types, "check-ignore") {
					return strings.Contains(text, "token:1:")
				}
				return strings.Contains(text, token)
			}
			text, _ := box(t, r, folder, denied)(script)
			count.Try(name, leaked(text))
			if strings.Contains(text, "BUG:") {
				t.Errorf("%s: %s", name, text)
			}
			if out == "../out" {
				text, _ := box(t, r, folder, allowAll)(script)
				count.Off(name, leaked(text))
				if !leaked(text) && !strings.Contains(a.name, "link") { // the folder follows none
					t.Errorf("%s: without the rule it is not read, so that the attack is none: %s", name, text)
				}
			} else {
				var env []string
				for _, v := range a.env {
					env = append(env, stands(v))
				}
				text, errs, _ := m.Run("folder/r", env, args...)
				count.Off(name, leaked(text))
				if !leaked(text) && !strings.Contains(a.name, "home") {
					t.Errorf("%s: the machine's git does not read it, so that the attack is none: %s%s", name, text, errs)
				}
			}
			must(t, folder.Close())
		}
	}
}
