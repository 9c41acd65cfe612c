//go:build !js

package sandbox_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// In a box like that of examples/headless, a link in the folder gives no other name to a file that
// the policy denies or does not send.
func TestLinksThroughTheBox(t *testing.T) {
	root := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(root, ".git/hooks"), 0o755))
	must(t, os.MkdirAll(filepath.Join(root, "private"), 0o755))
	for name, text := range map[string]string{".git/config": "[core]\n", "private/key": "SECRET", "unsent": "UNSENT"} {
		must(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	for name, to := range map[string]string{"settings.txt": ".git/config", "notes.txt": "private/key", "more.txt": "unsent", "docs": ".git", "pub": "private", "all": ".", "twice": "pub"} {
		must(t, os.Symlink(to, filepath.Join(root, name)))
	}
	dir, err := fsaccess.OpenDir(root, fsaccess.DirOptions{})
	must(t, err)
	defer dir.Close()
	p := parse(t, `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "stream.send": true}, "filesystem": {"denyRead": ["private"], "allowWrite": ["."]},
		"rules": [{"permission": "fs.read", "action": "allow"}], "send": {"nothing": ["unsent"]}}`)
	asker := sandboxtest.Always(policy.AnswerOnce)
	b, err := sandbox.New(sandbox.Options{FS: fsaccess.NewJournal(dir, fsaccess.NewMemory(fsaccess.MemoryOptions{}), fsaccess.JournalOptions{}), Policy: p, Ask: asker})
	must(t, err)
	for _, c := range []struct {
		tool string
		args args
	}{
		{"read", args{"path": "notes.txt"}},
		{"read", args{"path": "more.txt"}},
		{"read", args{"path": "pub/key"}},
		{"read", args{"path": "all/private/key"}},
		{"read", args{"path": "all/unsent"}},
		{"read", args{"path": "all/all/unsent"}},
		{"read", args{"path": "twice/key"}},
		{"grep", args{"pattern": "SECRET|UNSENT"}},
		{"grep", args{"pattern": "SECRET|UNSENT", "path": "pub"}},
		{"grep", args{"pattern": "UNSENT", "path": "all"}},
		{"copy", args{"from": "more.txt", "to": "mine.txt"}},
		{"move", args{"from": "pub/key", "to": "mine.txt"}},
		{"read", args{"path": "mine.txt"}},
	} {
		told := b.CallForModel(context.Background(), c.tool, c.args, false)
		if strings.Contains(told.Text, "SECRET") || strings.Contains(told.Text, "UNSENT") {
			t.Errorf("%s %v: a model elsewhere is told %q", c.tool, c.args, told.Text)
		}
	}
	for _, c := range []struct {
		tool string
		args args
	}{
		{"write", args{"path": "settings.txt", "content": "[core]\n\tfsmonitor = \"touch pwned; false\"\n"}},
		{"edit", args{"path": "settings.txt", "old": "[core]", "new": "pwned"}},
		{"write", args{"path": "docs/config", "content": "pwned"}},
		{"write", args{"path": "docs/hooks/post-checkout", "content": "pwned"}},
		{"write", args{"path": "all/.git/hooks/pre-push", "content": "pwned"}},
		{"write", args{"path": "pub/key", "content": "pwned"}},
		{"delete", args{"path": "pub/key"}},
		{"delete", args{"path": "docs/hooks"}},
	} {
		b.Call(context.Background(), "read", args{"path": c.args["path"]})
		b.Call(context.Background(), c.tool, c.args)
	}
	must(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if data, err := os.ReadFile(path); err != nil || strings.Contains(string(data), "pwned") {
			t.Errorf("%s is %q (%v)", path, data, err)
		}
		return nil
	}))
	for _, name := range []string{"private/key", ".git/hooks", "unsent"} {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Error(err)
		}
	}
}
