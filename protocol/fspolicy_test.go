package protocol_test

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/protocol"
)

func patterns(t *testing.T, texts ...string) []protocol.Pattern {
	t.Helper()
	var out []protocol.Pattern
	for _, text := range texts {
		p, err := protocol.ParsePattern(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

func TestFSPolicyPrecedence(t *testing.T) {
	p := protocol.FSPolicy{
		DenyRead:   patterns(t, "secrets", ".env*", "**/*.key"),
		AllowRead:  patterns(t, "secrets/public", "docs/sample.key"),
		AllowWrite: patterns(t, "src", "out/*.txt"),
		DenyWrite:  patterns(t, "src/vendor", "src/**/*.lock"),
	}
	for _, c := range []struct {
		path        string
		read, write bool
	}{
		{"a", true, false},
		{".", true, false},
		{"secrets", false, false},
		{"secrets/a", false, false},
		{"secrets/public", true, false},
		{"secrets/public/a", true, false},
		{"SECRETS/a", false, false}, // the same folder on macOS and Windows
		{".env", false, false},
		{".env.local", false, false},
		{".envs/a", false, false}, // a denied folder takes its content with it
		{"x/y.key", false, false},
		{"x/y.KEY", false, false},
		{"docs/sample.key", true, false},
		{"src", true, false}, // a file here would be in the place of src/vendor's folder
		{"src/a", true, true},
		{"SRC/a", true, false}, // never allowed by a spelling that was not written
		{"src/vendor", true, false},
		{"src/vendor/a", true, false},
		{"src/Vendor/a", true, false},
		{"src/x/a.lock", true, false},
		{"out/a.txt", true, true},
		{"out/x/a.txt", true, false},
	} {
		if err := p.Check(protocol.OpRead, c.path); (err == nil) != c.read {
			t.Errorf("read %s: %v", c.path, err)
		}
		if err := p.Check(protocol.OpWrite, c.path); (err == nil) != c.write {
			t.Errorf("write %s: %v", c.path, err)
		} else if err != nil && (!errors.Is(err, protocol.ErrCapabilityDenied) || !errors.Is(err, fs.ErrPermission)) {
			t.Errorf("write %s: %v is not a denial", c.path, err)
		}
	}
	var zero protocol.FSPolicy
	if zero.Check(protocol.OpRead, "a") != nil || zero.Check(protocol.OpWrite, "a") == nil {
		t.Error("the zero policy must read everything and write nothing")
	}
	for _, op := range []protocol.FSOp{protocol.OpRead, protocol.OpWrite, "", "chmod"} {
		for _, path := range []string{"", "/a", "a/", "a//b", "../a", "a/..", "a\\b", "a\x00", "\xff", strings.Repeat("a", protocol.MaxPath+1)} {
			if p.Check(op, path) == nil {
				t.Errorf("%s %q is let through", op, path)
			}
		}
	}
	if p.Check("chmod", "src/a") == nil {
		t.Error("an unknown operation is let through")
	}
}

// everything is a policy that allows all that can be allowed.
func everything(t *testing.T) *protocol.FSPolicy {
	return &protocol.FSPolicy{AllowWrite: patterns(t, ".")}
}

// The start-up files of shells, editors and git are written under no policy.
func TestAttackStartupFiles(t *testing.T) {
	count := attack.Start(t, "02")
	p, off := everything(t), everything(t)
	off.WithoutList()
	bad := []string{}
	for _, n := range []string{
		".gitconfig", ".gitmodules", ".bashrc", ".bash_profile", ".zshrc", ".zprofile", ".profile", ".ripgreprc", ".mcp.json",
		".vscode", ".idea", ".claude/commands", ".claude/agents", ".claude/hooks", ".claude/settings.json", ".git",
	} {
		for _, prefix := range []string{"", "a/", "a/b/c/d/e/f/g/"} {
			bad = append(bad, prefix+n, prefix+n+"/x", prefix+strings.ToUpper(n))
		}
	}
	bad = append(bad,
		".git/hooks/pre-commit", ".GIT/Hooks/x", ".git./hooks", ".git /hooks", ".git::$INDEX_ALLOCATION/hooks/x", ".git/hooks:x",
		".g\u200cit/config", ".git/con\ufefffig", ".pro\ufb01le", ".vſcode/x", ".BASHRC", ".bashrc.", ".bashrc ", ".bashrc:stream",
		"git~1/hooks", "GIT~1/config", "GITCON~1", "bashrc~1", "PROFIL~1", "VSCODE~1/tasks.json", "MCP~1.JSO",
		".git/modules/sub/hooks/post-checkout", ".git/modules/a/b/config", "x/.git/modules/a/modules/b/hooks",
		".git/HEAD", ".git/objects/ab/cd", ".git/objects/info/alternates", ".git/config.worktree", ".git/commondir", ".git/gitdir", ".git/info/exclude", ".git/info/attributes",
		".git/index", ".git/worktrees/w/commondir", ".git/worktrees/w/config.worktree", ".git/rebase-merge/git-rebase-todo", ".git/sequencer/todo", ".git/modules/sub/objects/aa",
		"sub/.GIT/commondir", "GIT~1/commondir", "git~2/x", "GIT~1.", ".git::$INDEX_ALLOCATION/commondir", ".git./commondir", ".g\u200cit/commondir",
		".claude/settings.local.json", ".Claude/Settings.Local.JSON", "CLAUDE~1/settings.json", ".claude/SETTIN~1.JSO", ".claude/SETTIN~1.LOC", ".claude/settings.md", "CLAUDE~1/COMMAN~1/x",
	)
	// Only a file of this name makes a folder a git folder.
	for _, path := range []string{"HEAD", "a/b/HEAD", "head", "a/Head", "HEAD.", "HEAD ", "HEAD::$DATA", "HE\u200cAD"} {
		if err := p.Check(protocol.OpWrite, path); !errors.Is(err, protocol.ReasonProtected) {
			t.Errorf("write %q: %v", path, err)
		}
		if err := p.Check(protocol.OpMkdir, path); err != nil {
			t.Errorf("mkdir %q: %v", path, err)
		}
	}
	for _, path := range bad {
		count.Try(path, p.Check(protocol.OpWrite, path) == nil)
		count.Off(path, off.Check(protocol.OpWrite, path) == nil)
		for _, op := range []protocol.FSOp{protocol.OpWrite, protocol.OpMkdir, protocol.OpRemove} {
			err := p.Check(op, path)
			if !errors.Is(err, protocol.ReasonProtected) || !errors.Is(err, fs.ErrPermission) {
				t.Errorf("%s %q: %v", op, path, err)
			}
		}
		if err := p.Check(protocol.OpRead, path); err != nil {
			t.Errorf("read %q: %v", path, err)
		}
	}
	for _, path := range []string{
		"gitconfig", ".gitignore", ".gitattributes", ".github/workflows/x", "hooks", "config", "objects/x", "refs", "commondir",
		".claude/CLAUDE.md", "commands", "a.profile", ".profiles", ".bashrc2", "git~", "git~a", ".gitx/hooks", "bash~1", "x.vscode",
		"~1", "gitx~1", "HEADER", "head/x", "a/HEAD/x",
	} {
		if err := p.Check(protocol.OpWrite, path); err != nil {
			t.Errorf("write %q: %v", path, err)
		}
	}
	// Every refused row of the list that people read is enforced.
	refused := 0
	for _, row := range protocol.StartupFiles() {
		if !row.Refused {
			continue
		}
		refused++
		line := row.Pattern
		path := strings.ReplaceAll(strings.ReplaceAll(line, "**", "x/y"), "*", ".any")
		if !errors.Is(p.Check(protocol.OpWrite, path), protocol.ReasonProtected) {
			t.Errorf("%s is listed and %s may be written", line, path)
		}
	}
	if refused < 15 {
		t.Error("the list that people read is not whole")
	}
}

func TestGitConfigByName(t *testing.T) {
	p := everything(t)
	p.AllowGitConfig = true
	for path, want := range map[string]bool{
		".git/config": true, "a/.git/config": true, ".git/hooks": false, ".git/config/x": false, ".gitconfig": false,
		".git/modules/a/config": true, ".git/modules/a/hooks": false, ".git/modules/config": false, ".git/modules/a/hooks/config": false,
		".git/config.worktree": false, ".git/commondir": false, ".git/worktrees/w/config": false, ".vscode/.git/config": false, ".GIT/config": true,
	} {
		if err := p.Check(protocol.OpWrite, path); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestAncestorsOfProtectedPaths(t *testing.T) {
	p := everything(t)
	p.DenyWrite = patterns(t, "keep/this/file")
	below := func(paths ...string) func(func(string) bool) { return slices.Values(paths) }
	for _, path := range []string{".git", "a/.git", ".claude", "a/.CLAUDE", "keep", "keep/this", "Keep", "keep/this/file"} {
		if p.CheckRemove(path, nil) == nil {
			t.Errorf("remove %s", path)
		}
		if p.CheckRename(path, "elsewhere", true, nil) == nil {
			t.Errorf("rename %s away", path)
		}
		if p.CheckRename("innocent", path, false, nil) == nil {
			t.Errorf("put a file in the place of %s", path)
		}
		if p.Check(protocol.OpWrite, path) == nil {
			t.Errorf("write a file in the place of %s", path)
		}
	}
	if p.Check(protocol.OpMkdir, ".git") == nil {
		t.Error("mkdir .git: no file tool has to make one")
	}
	for _, path := range []string{".claude", "keep", "keep/this"} {
		if err := p.Check(protocol.OpMkdir, path); err != nil {
			t.Errorf("mkdir %s: %v", path, err)
		}
	}
	if err := p.CheckRemove("proj", below("a", "a/b", "c")); err != nil {
		t.Errorf("remove a plain tree: %v", err)
	}
	for _, tree := range [][]string{{".git", ".git/HEAD"}, {"x", "x/.vscode"}, {"x/y/.bashrc"}, {"../../etc"}, {"/abs"}} {
		if p.CheckRemove("proj", below(tree...)) == nil {
			t.Errorf("remove a tree that holds %v", tree)
		}
	}
	// A harmless folder that becomes protected by where it is moved to.
	if p.CheckRename("h", ".git/hooks", true, below("pre-commit")) == nil {
		t.Error("a folder is moved into place as .git/hooks")
	}
	if p.CheckRename("g", ".git", true, below("hooks", "hooks/pre-commit")) == nil {
		t.Error("a folder that holds hooks is moved into place as .git")
	}
	if p.CheckRename("m", "x/.git/modules/s", true, below("a", "a/hooks")) == nil {
		t.Error("hooks deep in a moved folder")
	}
	if err := p.CheckRename("a", "b", true, below("x", "x/y")); err != nil {
		t.Errorf("rename a plain tree: %v", err)
	}
	if err := p.CheckRename("a.txt", "b.txt", false, nil); err != nil {
		t.Errorf("rename a file: %v", err)
	}
}

func TestRenameDoesNotOpenWhatMayNotBeRead(t *testing.T) {
	p := everything(t)
	p.DenyRead = patterns(t, "secret")
	if p.CheckRename("secret/a", "open/a", false, nil) == nil {
		t.Error("a secret is moved to where it can be read")
	}
	if p.CheckRename("secret", "open", true, slices.Values([]string{"a"})) == nil {
		t.Error("a secret folder is moved to where it can be read")
	}
	if err := p.CheckRename("secret/a", "secret/b", false, nil); err != nil {
		t.Errorf("within what may not be read: %v", err)
	}
}

func TestMayTraverse(t *testing.T) {
	p := protocol.FSPolicy{DenyRead: patterns(t, "."), AllowRead: patterns(t, "a/b", "c/*/d")}
	for dir, want := range map[string]bool{
		".": true, "a": true, "a/b": true, "a/b/c": true, "a/x": false, "x": false, "c": true, "c/y": true, "c/y/d": true, "c/y/e": false, "../a": false,
	} {
		if got := p.MayTraverse(dir); got != want {
			t.Errorf("%s: %t", dir, got)
		}
	}
	if p.Check(protocol.OpRead, "a") == nil {
		t.Error("passing through is not listing")
	}
}

func TestDenyListAndNormalisation(t *testing.T) {
	p := protocol.FSPolicy{DenyRead: patterns(t, "résumé", "straße", "가나")}
	for path, denied := range map[string]bool{
		"résumé/a":              true,
		"RÉSUMÉ":                true,
		"re\u0301sume\u0301":    true, // decomposed: the same file on APFS
		"strasse":               true, // case folding opens ß
		"STRASSE/x":             true,
		"\u1100\u1161\u1102":    true, // conjoining jamo
		"resume":                false,
		"नमस्ते":                false, // marks that do not compose are ordinary
		"other":                 false,
		"other/cafe\u0301/menu": true, // might be a spelling of something denied: too much rather than too little
	} {
		if got := p.Check(protocol.OpRead, path) != nil; got != denied {
			t.Errorf("%q denied: %t", path, got)
		}
	}
	plain := protocol.FSPolicy{DenyRead: patterns(t, "secret")}
	if err := plain.Check(protocol.OpRead, "cafe\u0301"); err != nil {
		t.Errorf("a policy in ASCII hinders other spellings: %v", err)
	}
}

// AllowRead opens a region that DenyRead closes, and nothing that DenyRead names in it.
func TestDenyReadInsideAllowRead(t *testing.T) {
	type l = []string
	for _, c := range []struct {
		deny, allow l
		path        string
		read        bool
	}{
		{l{"secrets"}, l{"."}, "secrets/key", false},
		{l{"./secrets"}, l{"."}, "other", true},
		{l{"**/.env"}, l{"."}, "sub/.env", false},
		{l{"**/.env"}, l{"sub/.env"}, "sub/.env", true},
		{l{"**/.env"}, l{"sub"}, "sub/.env", false},
		{l{"src/private"}, l{"src"}, "src/private/a", false},
		{l{"src/private"}, l{"src"}, "src/a", true},
		{l{"SRC/Private"}, l{"src"}, "src/private/a", false},
		{l{"src/private"}, l{"src", "src/private/pub"}, "src/private/pub/a", false},
		{l{"src"}, l{"src/pub"}, "src/pub/a", true},
		{l{"src"}, l{"src"}, "src/a", true},
		{l{"."}, l{"src"}, "src/a", true},
		{l{".", "src/private"}, l{"src"}, "src/private/a", false},
		{l{"**/*"}, l{"src"}, "src/a", true},
		{l{"**/*"}, l{"."}, "src/a", false},
		{l{"**"}, l{"."}, "a", false},
		{l{"**"}, l{"src"}, "src/a", true},
		{l{"*.key"}, l{"a.*"}, "a.key", false},
		{l{"secret"}, l{"sec*"}, "secret", true},
		{l{"secret"}, l{"sec*"}, "secret/a", false},
		{l{"secret"}, l{"sec*/**"}, "secret/a", false},
		{l{"file[!0-9].txt"}, nil, "file1.txt", false},
		{l{"file[^0-9].txt"}, nil, "file1.txt", false},
	} {
		p := protocol.FSPolicy{DenyRead: patterns(t, c.deny...), AllowRead: patterns(t, c.allow...)}
		if err := p.Check(protocol.OpRead, c.path); (err == nil) != c.read {
			t.Errorf("denyRead %q, allowRead %q: %s: %v", c.deny, c.allow, c.path, err)
		}
	}
}
