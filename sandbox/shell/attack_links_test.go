//go:build !js

package shell_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
	"github.com/bailey-go/bailey/sandbox/shell"
)

// linked is a folder of the machine with a box over it. Beside the folder is a file of which a script must not know.
type linked struct {
	root string
	box  *sandbox.Box
}

const linkRules = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["*"]}, "filesystem": {"denyRead": ["private"], "allowWrite": ["pub", "new"]},
	"rules": [{"permission": "fs.read", "action": "allow"}, {"permission": "fs.write", "action": "%s"}, {"permission": "shell.run", "action": "allow"}, {"permission": "shell.run", "pattern": "rm", "action": "deny"}]}`

func newLinked(t *testing.T, writes string, ask sandbox.Asker) *linked {
	t.Helper()
	l := &linked{root: filepath.Join(t.TempDir(), "parent", "root")}
	for name, text := range map[string]string{"private/key": "SECRET", "pub/f": "open", "pub/deep/g": "g", "fixed": "fixed", ".git/hooks/pre-commit": "#!/bin/sh\n", "../outside": "SECRET", "../../pub/f": "SECRET"} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(l.root, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(l.root, name), []byte(text), 0o644))
	}
	dir, err := fsaccess.OpenDir(l.root, fsaccess.DirOptions{NoSync: true})
	must(t, err)
	t.Cleanup(func() { dir.Close() })
	p, err := policy.Parse(fmt.Sprintf(linkRules, writes), policy.Options{})
	must(t, err)
	l.box, err = sandbox.New(sandbox.Options{FS: fsaccess.NewJournal(dir, fsaccess.NewMemory(fsaccess.MemoryOptions{}), fsaccess.JournalOptions{}), Policy: p, Ask: ask,
		Tools: append(sandbox.Standard(), shell.Bash(shell.Options{})), Watch: &sandbox.WatchOptions{Rate: 100_000, Repeats: 100_000}})
	must(t, err)
	return l
}

// harmed reports whether a file outside of what a script may change has changed, or a link leads out of the folder.
func (l *linked) harmed(t *testing.T) bool {
	t.Helper()
	bad := false
	for name, want := range map[string]string{"private/key": "SECRET", "fixed": "fixed", ".git/hooks/pre-commit": "#!/bin/sh\n", "../outside": "SECRET", "../../pub/f": "SECRET"} {
		got, err := os.ReadFile(filepath.Join(l.root, name))
		bad = bad || err != nil || string(got) != want
	}
	fi, err := os.Stat(filepath.Join(l.root, ".git/hooks/pre-commit"))
	return bad || err != nil || fi.Mode()&0o111 != 0
}

// Scripts make links and set permissions through the gate: no link, mode or second name leads to a file that a script may not read or
// write. The controls do the same by the machine's own calls, and reach it.
func TestAttackLinksOfAScript(t *testing.T) {
	count := attack.Start(t, "01")
	read := func(root, name string) bool {
		data, _ := os.ReadFile(filepath.Join(root, name))
		return strings.Contains(string(data), "SECRET")
	}
	put := func(root, name string) { _ = os.WriteFile(filepath.Join(root, name), []byte("pwned"), 0o644) }
	link := func(root, target, name string) { _ = os.Symlink(target, filepath.Join(root, name)) }
	for _, c := range []struct {
		name, script string
		control      func(root string) (reads bool)
	}{
		{"a link out of the folder", "ln -s ../../outside pub/l; cat pub/l", func(r string) bool { link(r, "../../outside", "pub/l"); return read(r, "pub/l") }},
		{"a whole path", "ln -s $(pwd)/../outside pub/l; cat pub/l; ln -s /../outside pub/m; cat pub/m", func(r string) bool { link(r, filepath.Join(r, "../outside"), "pub/l"); return read(r, "pub/l") }},
		{"a way out behind a folder's link", "ln -s deep pub/d; ln -s d/../../../outside pub/l; cat pub/l", func(r string) bool { link(r, "deep/../../../outside", "pub/l"); return read(r, "pub/l") }},
		{"a link to a file that may not be read", "ln -s ../private/key pub/l; cat pub/l < pub/l", func(r string) bool { link(r, "../private/key", "pub/l"); return read(r, "pub/l") }},
		{"a link to a folder that may not be read", "ln -s ../private pub/l; cat pub/l/key; ls pub/l", func(r string) bool { link(r, "../private", "pub/l"); return read(r, "pub/l/key") }},
		{"a link to the folder itself", "ln -s .. pub/l; cat pub/l/private/key", func(r string) bool { link(r, "..", "pub/l"); return read(r, "pub/l/private/key") }},
		{"a link to a link", "ln -s m pub/l; ln -s ../private/key pub/m; cat pub/l", func(r string) bool {
			link(r, "../private/key", "pub/m")
			link(r, "m", "pub/l")
			return read(r, "pub/l")
		}},
		{"a link, then a write", "ln -s ../fixed pub/l; echo pwned > pub/l; echo pwned | tee pub/l; sed -i s/f/x/ pub/l; cp pub/f pub/l", func(r string) bool { link(r, "../fixed", "pub/l"); put(r, "pub/l"); return false }},
		{"a link to what git runs", "ln -s ../.git/hooks pub/l; echo pwned > pub/l/pre-commit", func(r string) bool { link(r, "../.git/hooks", "pub/l"); put(r, "pub/l/pre-commit"); return false }},
		{"a copy of a link", "ln -s ../pub/f pub/l; cp -P pub/l new; cp -a pub/l private/l; cat new", func(r string) bool { link(r, "../private/key", "new"); return read(r, "new") }},
		{"a link that is moved", "ln -s ../../pub/f pub/deep/l; mv pub/deep/l new; cat new", func(r string) bool { link(r, "../../pub/f", "new"); return read(r, "new") }},
		{"a folder with a link that is moved", "mkdir pub/deep/er; ln -s ../../../pub/f pub/deep/er/l; mv pub/deep/er pub/x; mv pub/x new; cat new/l", func(r string) bool {
			_ = os.Mkdir(filepath.Join(r, "new"), 0o755)
			link(r, "../../../pub/f", "new/l")
			return read(r, "new/l")
		}},
		{"a hard link to a file that may not be read", "ln private/key pub/l; cat pub/l", func(r string) bool {
			_ = os.Link(filepath.Join(r, "private/key"), filepath.Join(r, "pub/l"))
			return read(r, "pub/l")
		}},
		{"a hard link, then a write", "ln fixed pub/l; echo pwned > pub/l; cp -l fixed pub/m; echo pwned > pub/m", func(r string) bool {
			_ = os.Link(filepath.Join(r, "fixed"), filepath.Join(r, "pub/l"))
			put(r, "pub/l")
			return false
		}},
		{"a hook that may run", "chmod +x .git/hooks/pre-commit; chmod -R 777 .", func(r string) bool {
			_ = os.Chmod(filepath.Join(r, ".git/hooks/pre-commit"), 0o755)
			return false
		}},
		{"a hook that may run, by a link", "ln -s ../.git/hooks/pre-commit pub/l; chmod +x pub/l", func(r string) bool {
			link(r, "../.git/hooks/pre-commit", "pub/l")
			_ = os.Chmod(filepath.Join(r, "pub/l"), 0o755)
			return false
		}},
		{"times of another file", "touch -d 2001-01-01 fixed; stat -c %Y fixed; readlink private/key; realpath private/key", nil},
	} {
		l := newLinked(t, "allow", nil)
		out, _, _ := run(t, l.box, c.script)
		fi, err := os.Stat(filepath.Join(l.root, "fixed"))
		must(t, err)
		count.Try(c.name+": "+out, strings.Contains(out, "SECRET") || l.harmed(t) || fi.ModTime().Year() == 2001)
		if c.control != nil {
			l = newLinked(t, "allow", nil)
			count.Off(c.name, c.control(l.root) || l.harmed(t))
		}
	}
}

// A script that was made executable can run no command that was refused.
func TestAttackExecutableScript(t *testing.T) {
	count := attack.Start(t, "04")
	const script = `printf '#!/bin/bash\nrm pub/f\n' > pub/evil.sh; chmod +x pub/evil.sh; pub/evil.sh; (cd pub; ./evil.sh); find pub -name f -exec pub/evil.sh \;`
	gone := func(l *linked) bool {
		_, err := os.Stat(filepath.Join(l.root, "pub/f"))
		return err != nil
	}
	l := newLinked(t, "allow", nil)
	out, _, _ := run(t, l.box, script)
	count.Try("run: "+out, gone(l))
	free := newLinked(t, "allow", sandboxtest.Always(policy.AnswerOnce))
	p, err := policy.Parse(strings.Replace(fmt.Sprintf(linkRules, "allow"), `"deny"`, `"allow"`, 1), policy.Options{})
	must(t, err)
	dir, err := fsaccess.OpenDir(free.root, fsaccess.DirOptions{NoSync: true})
	must(t, err)
	defer dir.Close()
	free.box, err = sandbox.New(sandbox.Options{FS: dir, Policy: p, Ask: sandboxtest.Always(policy.AnswerOnce), Tools: append(sandbox.Standard(), shell.Bash(shell.Options{}))})
	must(t, err)
	_, _, _ = run(t, free.box, script)
	count.Off("run", gone(free))
}

// The effect is at the path of the question, whatever took its place while the user was asked.
func TestAttackLinkSwappedDuringTheQuestion(t *testing.T) {
	count := attack.Start(t, "01")
	swap := func(root, target, name string) {
		_ = os.RemoveAll(filepath.Join(root, name))
		_ = os.Symlink(target, filepath.Join(root, name))
	}
	for _, c := range []struct {
		name, script, asks string
		swap               func(root string)
	}{
		{"the link leads elsewhere", "echo pwned > pub/l", "pub/f", func(r string) { swap(r, "../fixed", "pub/l") }},
		{"the file is a link now", "echo pwned > pub/l", "pub/f", func(r string) { swap(r, "../fixed", "pub/f") }},
		{"the folder is a link now", "echo pwned > pub/deep/pre-commit", "pub/deep/pre-commit", func(r string) { swap(r, "../.git/hooks", "pub/deep") }},
		{"the permissions of another file", "chmod +x pub/l", "pub/f", func(r string) { swap(r, "../.git/hooks/pre-commit", "pub/f") }},
		{"a new link in another folder", "ln -s ../f pub/deep/pre-push; echo pwned > pub/deep/pre-push", "pub/deep/pre-push", func(r string) { swap(r, "../.git/hooks", "pub/deep") }},
	} {
		var l *linked
		asked := false
		l = newLinked(t, "ask", &sandboxtest.Asker{Reply: func(r sandbox.Request) sandbox.Reply {
			if strings.Contains(r.Title, c.asks) && !asked {
				asked = true
				c.swap(l.root)
			}
			return sandbox.Reply{Answer: policy.AnswerOnce}
		}})
		must(t, os.Symlink("f", filepath.Join(l.root, "pub/l")))
		out, _, err := run(t, l.box, c.script)
		if !asked {
			t.Errorf("%s: nobody was asked about %s: %q %v", c.name, c.asks, out, err)
		}
		_, hook := os.Lstat(filepath.Join(l.root, ".git/hooks/pre-push"))
		count.Try(c.name+": "+out, l.harmed(t) || hook == nil)
		// The machine's own calls go where the link leads now.
		l = newLinked(t, "ask", nil)
		must(t, os.Symlink("f", filepath.Join(l.root, "pub/l")))
		c.swap(l.root)
		for _, name := range []string{"pub/l", "pub/deep/pre-commit"} {
			_ = os.WriteFile(filepath.Join(l.root, name), []byte("pwned"), 0o644)
		}
		_ = os.Chmod(filepath.Join(l.root, "pub/l"), 0o755)
		_ = os.WriteFile(filepath.Join(l.root, "pub/deep/pre-push"), []byte("pwned"), 0o644)
		_, hook = os.Lstat(filepath.Join(l.root, ".git/hooks/pre-push"))
		count.Off(c.name, l.harmed(t) || hook == nil)
	}
}
