//go:build !js

package fsaccess

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/internal/attack"
)

// gitAttack is a set of plain files by which an everyday git command of the user's runs
// a command of the attacker's. EVIL stands for that command.
type gitAttack struct {
	name  string
	setup func(git func(dir string, args ...string) string, root string)
	files map[string]string
	dir   string // where the user types
	types []string
}

const evilConfig = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfsmonitor = \"EVIL; false\"\n"

// withTree sets the work tree, which git cannot find for a folder that is not called .git.
func withTree(dir string) string { return evilConfig + "\tworktree = " + dir + "\n" }

func gitAttacks() []gitAttack {
	type files = map[string]string
	status := []string{"status", "--short"}
	const head = "ref: refs/heads/master\n"
	return []gitAttack{
		{name: "commondir", files: files{".git/commondir": "../docs\n", "docs/config": evilConfig, "docs/objects/info/x": "", "docs/refs/heads/x": ""}, dir: ".", types: status},
		{name: "config", files: files{".git/config": evilConfig}, dir: ".", types: status},
		{name: "config.worktree", setup: func(git func(string, ...string) string, _ string) {
			git(".", "config", "core.repositoryformatversion", "1")
			git(".", "config", "extensions.worktreeConfig", "true")
		}, files: files{".git/config.worktree": "[core]\n\tfsmonitor = \"EVIL; false\"\n"}, dir: ".", types: status},
		{name: "a hook of commit", files: files{".git/hooks/pre-commit": "#!/bin/sh\nEVIL\n"}, dir: ".", types: []string{"commit", "-q", "--allow-empty", "-m", "x"}},
		{name: "a hook of status", files: files{".git/hooks/post-index-change": "#!/bin/sh\nEVIL\n"}, dir: ".", types: []string{"update-index", "--force-write-index"}},
		{name: "a file .git", files: files{"sub/.git": "gitdir: ../evil\n", "evil/HEAD": head, "evil/objects/x": "", "evil/refs/x": "", "evil/config": evilConfig}, dir: "sub", types: status},
		{name: "a bare repository of single files", files: files{"sub/HEAD": head, "sub/objects/x": "", "sub/refs/x": "", "sub/config": withTree(".")}, dir: "sub", types: status},
		{name: "the same, deep below", files: files{"a/b/c/HEAD": head, "a/b/c/objects/x": "", "a/b/c/refs/x": "", "a/b/c/config": withTree(".")}, dir: "a/b/c/objects", types: status},
		{name: "a bare repository with a detached HEAD", files: files{"sub/HEAD": strings.Repeat("0", 39) + "1\n", "sub/objects/x": "", "sub/refs/x": "", "sub/config": withTree(".")}, dir: "sub", types: status},
		{name: "a bare repository whose parts lie elsewhere", files: files{"sub/HEAD": head, "sub/commondir": "../docs\n", "docs/objects/x": "", "docs/refs/x": "", "docs/config": "[core]\n\trepositoryformatversion = 0\n[remote \"origin\"]\n\turl = .\n\tuploadpack = \"EVIL; false\"\n"}, dir: "sub", types: []string{"fetch", "-q"}},
		{name: "commondir of a work tree", setup: func(git func(string, ...string) string, _ string) { git(".", "worktree", "add", "-q", "wt") },
			files: files{".git/worktrees/wt/commondir": "../../../docs\n", "docs/config": evilConfig, "docs/objects/x": "", "docs/refs/x": ""}, dir: "wt", types: status},
		{name: "config of a submodule", setup: func(git func(string, ...string) string, root string) {
			_ = os.MkdirAll(filepath.Join(root, ".git/modules"), 0o755)
			git(".", "init", "-q", "--separate-git-dir", filepath.Join(root, ".git/modules/sub"), "sub")
			git("sub", "commit", "-q", "--allow-empty", "-m", "x")
			git("sub", "update-index", "--force-write-index")
		}, files: files{".git/modules/sub/config": withTree("../../../sub")}, dir: "sub", types: status},
		{name: "a rebase that was stopped", setup: func(git func(string, ...string) string, _ string) {
			git(".", "-c", "sequence.editor=sed -i s/pick/edit/", "rebase", "-q", "-i", "HEAD~1")
		}, files: files{".git/rebase-merge/git-rebase-todo": "exec EVIL\n"}, dir: ".", types: []string{"rebase", "--continue"}},
		{name: "config of a separate git folder", setup: func(git func(string, ...string) string, root string) {
			git(".", "init", "-q", "--separate-git-dir", filepath.Join(root, "store"))
		}, files: files{"store/config": withTree("..")}, dir: ".", types: status},
		{name: "commondir of a separate git folder", setup: func(git func(string, ...string) string, root string) {
			git(".", "init", "-q", "--separate-git-dir", filepath.Join(root, "store"))
		}, files: files{"store/commondir": "../docs\n", "docs/config": withTree("../."), "docs/objects/x": "", "docs/refs/x": ""}, dir: ".", types: status},
		{name: "a hook of a separate git folder", setup: func(git func(string, ...string) string, root string) {
			git(".", "init", "-q", "--separate-git-dir", filepath.Join(root, "store"))
		}, files: files{"store/hooks/pre-commit": "#!/bin/sh\nEVIL\n"}, dir: ".", types: []string{"commit", "-q", "--allow-empty", "-m", "x"}},
		{name: "config of the user's bare repository", setup: func(git func(string, ...string) string, _ string) { git(".", "clone", "-q", "--bare", ".", "repo.git") },
			files: files{"repo.git/config": withTree(".")}, dir: "repo.git", types: status},
		{name: "the user's configuration", files: files{".gitconfig": "[core]\n\tfsmonitor = \"EVIL; false\"\n"}, dir: ".", types: status},
		{name: "the user's configuration by its other name", setup: func(_ func(string, ...string) string, root string) {
			_ = os.MkdirAll(filepath.Join(root, ".config/git"), 0o755)
		}, files: files{".config/git/config": "[core]\n\tfsmonitor = \"EVIL; false\"\n"}, dir: ".", types: status},
	}
}

// gitDoors returns the ways in which a file tool can write a content to a name.
func gitDoors() map[string]func(f *Folder, name string, data []byte) error {
	return map[string]func(f *Folder, name string, data []byte) error{
		"write": func(f *Folder, name string, data []byte) error { return f.WriteFile(name, data, 0o755) },
		"rename": func(f *Folder, name string, data []byte) error {
			if err := f.WriteFile("harmless.txt", data, 0o755); err != nil {
				return err
			}
			_ = f.Remove(name)
			return f.Rename("harmless.txt", name)
		},
		"handle": func(f *Folder, name string, data []byte) error {
			h, err := f.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o755)
			if err != nil {
				return err
			}
			_, werr := h.(core.File).Write(data)
			return errors.Join(werr, h.Close())
		},
		"copy": func(f *Folder, name string, data []byte) error {
			if err := f.WriteFile("harmless.txt", data, 0o755); err != nil {
				return err
			}
			return Copy(context.Background(), f, name, f, "harmless.txt", CopyOptions{Overwrite: true})
		},
		"folder": func(f *Folder, name string, data []byte) error { // made elsewhere, then moved with its folder
			made := "made/" + path.Base(name)
			if err := errors.Join(f.MkdirAll("made", 0o755), f.WriteFile(made, data, 0o755)); err != nil {
				return err
			}
			err := f.Rename("made", path.Dir(name))
			if errors.Is(err, fs.ErrExist) {
				err = f.Rename(made, name)
			}
			_ = f.RemoveAll("made")
			return err
		},
	}
}

// TestAttackGitRunsCommands writes the files of each attack in each way through a guard
// without Ask, and then runs a git command. Without the guard each attack must succeed,
// otherwise the test would show nothing.
func TestAttackGitRunsCommands(t *testing.T) {
	count := attack.Start(t, "02")
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatalf("git is needed: %v", err)
	}
	try := func(t *testing.T, a gitAttack, guarded bool) bool {
		root, home := t.TempDir(), t.TempDir()
		if a.files[".gitconfig"] != "" || a.files[".config/git/config"] != "" {
			home = root
		}
		git := func(dir string, args ...string) string {
			cmd := exec.Command("git", args...)
			cmd.Dir = filepath.Join(root, dir)
			cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "XDG_CONFIG_HOME=", "GIT_EDITOR=true", "HOME="+home,
				"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
			out, _ := cmd.CombinedOutput()
			return string(out)
		}
		git(".", "init", "-q")
		git(".", "symbolic-ref", "HEAD", "refs/heads/master")
		for _, n := range []string{"f", "g"} {
			must(t, os.WriteFile(filepath.Join(root, n), []byte("x"), 0o644))
			git(".", "add", n)
			git(".", "commit", "-q", "-m", n)
		}
		if a.setup != nil {
			a.setup(git, root)
		}
		disk, err := OpenDir(root, DirOptions{})
		must(t, err)
		defer disk.Close()
		evil := filepath.Join(t.TempDir(), "evil")
		put := func(f *Folder, by string) (refused int) {
			for name, text := range a.files {
				_ = f.MkdirAll(path.Dir(name), 0o755)
				if err := gitDoors()[by](f, name, []byte(strings.ReplaceAll(text, "EVIL", "touch "+evil))); errors.Is(err, ErrProtected) || errors.Is(err, ErrKind) {
					refused++
				} else if err != nil && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrExist) {
					t.Errorf("%s by %s: %v", name, by, err)
				}
			}
			return refused
		}
		if guarded {
			for by := range gitDoors() {
				if put(Guard(disk, everywhere(t), GuardOptions{}), by) == 0 {
					t.Errorf("by %s: nothing was refused", by)
				}
			}
		} else {
			put(disk, "write")
		}
		out := git(a.dir, a.types...)
		_, err = os.Stat(evil)
		if (err == nil) == guarded {
			t.Errorf("guarded: %t, the attacker's command ran: %t; git says\n%s", guarded, err == nil, out)
		}
		return err == nil
	}
	for _, a := range gitAttacks() {
		t.Run(a.name, func(t *testing.T) {
			count.Off(a.name, try(t, a, false))
			count.Try(a.name, try(t, a, true))
		})
	}
}

// A name that looks like a part of a git folder, but is none, stays ordinary.
func TestOrdinaryNamesOfGit(t *testing.T) {
	g := Guard(NewMemory(MemoryOptions{}), everywhere(t), GuardOptions{})
	for _, dir := range []string{"src/hooks", "config", "objects", "refs", "info", "head"} {
		must(t, g.MkdirAll(dir, 0o755))
		must(t, g.WriteFile(dir+"/useThing.ts", []byte("x"), 0o644))
	}
	must(t, g.WriteFile("config/config", []byte("x"), 0o644))
	must(t, g.WriteFile("src/index", []byte("x"), 0o644))
	must(t, g.WriteFile("headers", []byte("x"), 0o644))
	must(t, g.Rename("head", "tail"))
	must(t, g.RemoveAll("src/hooks"))
}

// A folder whose HEAD came with the project does not become a git folder, for any order and
// any spelling of its other parts.
func TestNoGitFolderIsCompleted(t *testing.T) {
	full := map[string]string{"config": evilConfig, "objects": "", "refs": ""}
	for name, c := range map[string]struct {
		there []string // beside HEAD
		make  []string // a name that ends in / is a folder
		last  string   // is refused
	}{
		"refs last":                {nil, []string{"config", "objects/"}, "refs/"},
		"objects last":             {nil, []string{"config", "refs/"}, "objects/"},
		"a folder below refs":      {nil, []string{"config", "objects/x/"}, "refs/heads/"},
		"a file below refs":        {[]string{"objects/x"}, []string{"config"}, "refs/x"},
		"a file named refs":        {[]string{"objects/x"}, nil, "refs"},
		"in capitals":              {[]string{"objects/x"}, []string{"config"}, "REFS/"},
		"with a letter of its own": {[]string{"objects/x"}, []string{"config"}, "ref\u017f/"},
		"a short name":             {[]string{"refs/x"}, []string{"config"}, "OBJECT~1/"},
		"commondir":                {nil, []string{"config"}, "commondir"},
		"commondir in capitals":    {nil, nil, "COMMONDIR"},
		"hooks and all":            {nil, []string{"hooks/post-checkout", "config", "refs/"}, "objects/"},
	} {
		for _, by := range []string{"make", "rename"} {
			m := NewMemory(MemoryOptions{})
			put := func(f *Folder, name string) error {
				if dir, ok := strings.CutSuffix(name, "/"); ok {
					return f.MkdirAll(dir, 0o755)
				}
				if err := f.MkdirAll(path.Dir(name), 0o755); err != nil {
					return err
				}
				return f.WriteFile(name, []byte(full[path.Base(name)]), 0o644)
			}
			for _, n := range append([]string{"HEAD"}, c.there...) {
				must(t, put(m, "sub/"+n))
			}
			g := Guard(m, everywhere(t), GuardOptions{})
			for _, n := range c.make {
				if err := put(g, "sub/"+n); err != nil {
					t.Errorf("%s: %s before it is a git folder: %v", name, n, err)
				}
			}
			var err error
			if by == "make" {
				err = put(g, "sub/"+c.last)
			} else {
				first, _, _ := strings.Cut(c.last, "/")
				must(t, put(g, "other/"+c.last))
				err = g.Rename("other/"+first, "sub/"+first)
			}
			if !errors.Is(err, ErrProtected) && !errors.Is(err, ErrBadName) {
				t.Errorf("%s: %s by %s: %v", name, c.last, by, err)
			}
		}
	}
	// A HEAD alone does not make a git folder.
	m := NewMemory(MemoryOptions{})
	must(t, m.WriteFile("HEAD", nil, 0o644))
	g := Guard(m, everywhere(t), GuardOptions{})
	must(t, g.WriteFile("config", []byte("x"), 0o644))
	must(t, g.MkdirAll("objects/refs/hooks", 0o755))
}
