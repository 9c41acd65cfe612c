package fsaccess

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/protocol"
)

func patterns(t testing.TB, texts ...string) []protocol.Pattern {
	var out []protocol.Pattern
	for _, s := range texts {
		p, err := protocol.ParsePattern(s)
		must(t, err)
		out = append(out, p)
	}
	return out
}

// hostileNames returns names that lead out of a folder somewhere, deceive a reader, or hit
// a file that other programs execute. None of them may reach anything outside, in any
// operation. A name with an error class must return that error.
func hostileNames() map[string]error {
	m := map[string]error{}
	add := func(want error, names ...string) {
		for _, n := range names {
			m[n] = want
		}
	}
	add(fs.ErrInvalid, "", "..", "../", "../canary", "../../canary", "a/..", "a/../..", "a/../../canary", "/", "/etc/passwd", "//canary",
		"/canary", "./canary", "a/./b", "a//b", "a/", "./", "../outside/canary", "a/../../outside/canary", "x/../../../../../../etc/passwd",
		"a\x00b", "\x00", "canary\x00.txt", "../canary\x00", "a/\x00/b", "\xff\xfe", "a\xc0\xafb", "\xc0\xae\xc0\xae/canary", "a/\xed\xa0\x80")
	add(ErrBadName, `..\canary`, `a\..\..\canary`, `\canary`, `C:\canary`, `C:canary`, `\\server\share`, `\\?\C:\canary`, `\\.\PhysicalDrive0`, `a\b`,
		"C:", "c:/canary", "file:stream", "canary::$DATA", "a:b", "...", "....", "a/...", " ", "a ", " a", "a.", "a. ", "a/b.", "a/ b",
		"%2e%2e", "%2e%2e/canary", "..%2fcanary", "%2e%2e%2fcanary", "..%5ccanary", "%252e%252e%252fcanary"[:9]+"%2f", "a%2fb", "a%5cb", "%00", "%c0%ae%c0%ae", "a%2Fb",
		"．．", "．．/canary", "‥", "‥/canary", "․․", "․․/canary", "。。", "…", "a∕b", "a⁄b", "a／b", "a＼b", "a⧵b", "..∕canary", "..／canary", "a╱b", "a﹨b",
		"CON", "con", "con.txt", "PRN", "AUX", "aux.h", "NUL", "nul.", "nul.tar.gz", "COM1", "com9.txt", "COM0", "LPT1", "lpt9", "COM¹", "LPT²", "CONIN$", "conout$", "CLOCK$", "ＣＯＮ", "ｎｕｌ.txt", "соn.txt", "a/nul/b",
		"a\nb", "a\rb", "a\tb", "\x1b[2J", "a\x7fb", "a\u0085b", "\x01",
		"a\u202egpj.exe", "a\u202dx", "a\u2066x", "a\u200bb", "a\u200db", "\ufeffa", "a\u00adb", "a\u2060b", "a\u3164b", "a\u115fb", "a\u180eb", "a\ufe0fb", "a\U000e0041b", "a\u00a0b", "a\u2003b", "a\u3000b",
		"a<b", "a>b", `a"b`, "a|b", "a?b", "a*b", "~", "~root", "~root/x", "~/x",
		strings.Repeat("a", 256), strings.Repeat("é", 128), strings.Repeat("a/", 2049)+"a", "a\ue000b", "a\ufffeb")
	add(ErrProtected, ".gitconfig", "a/.gitconfig", ".GitConfig", ".gitmodules", ".bashrc", "home/.bashrc", ".bash_profile", ".zshrc", ".ZSHRC", ".zprofile", ".profile",
		".ripgreprc", ".mcp.json", "a/b/.mcp.json", ".vscode", ".vscode/settings.json", ".VSCode/tasks.json", ".idea", ".idea/x", ".claude/commands", ".claude/commands/x.md",
		".claude/agents/x", ".Claude/Agents/x", ".git/hooks", ".git/hooks/pre-commit", ".GIT/HOOKS/pre-commit", "a/.git/hooks/x", ".git/config", "sub/.git/config", ".Git/Config",
		"GIT~1/config", "GIT~1/hooks/x", ".ｇit/config", ".gіt/hooks/x", ".gıt/config", ".zѕhrc", ".vscоde/x", ".git/hooкs/x", ".bаshrc", ".prοfile",
		".git/commondir", ".git/HEAD", "sub/.git/config.worktree", "GIT~1/commondir", ".gіt/commondir", ".git/objects/info/alternates", ".git/x",
		".claude/settings.json", ".claude/settings.local.json", ".clаude/settings.json", "CLAUDE~1/settings.json", ".claude/SETTIN~1.JSO")
	return m
}

// TestNoNameLeadsOut tries every hostile name on every operation of every
// guarded source, with a canary outside the folder and one inside.
func TestNoNameLeadsOut(t *testing.T) {
	names := hostileNames()
	if len(names) < 150 {
		t.Fatalf("only %d names", len(names))
	}
	for kind, open := range sources(t) {
		t.Run(kind, func(t *testing.T) {
			disk := open(t)
			must(t, disk.MkdirAll("granted/a", 0o755))
			must(t, disk.MkdirAll("outside", 0o755))
			for _, p := range []string{"canary", "outside/canary", "granted/a/file"} {
				must(t, disk.WriteFile(p, []byte("canary"), 0o644))
			}
			sub, err := disk.(fs.SubFS).Sub("granted")
			must(t, err)
			g := Guard(sub.(FS), everywhere(t), GuardOptions{})
			names := sampleNames(names)
			for _, n := range plantLinks(t, disk) {
				names[n] = ErrLink
			}
			before := tree(t, disk)
			tried := 0
			for name, want := range names {
				for op, do := range everyOperation(g, name) {
					tried++
					out, err := do()
					if strings.Contains(out, "canary") && !strings.HasPrefix(op, "Glob") {
						t.Fatalf("%s(%q) reached the canary", op, name)
					}
					if strings.HasPrefix(op, "!") { // a change
						if err == nil {
							t.Errorf("%s(%q) was allowed", op, name)
						} else if !errors.Is(err, want) && !errors.Is(err, fs.ErrInvalid) && !errors.Is(err, syscall.ENAMETOOLONG) &&
							!(strings.HasPrefix(op, "!Rename") && errors.Is(err, fs.ErrNotExist)) {
							t.Errorf("%s(%q): %v is not %v", op, name, err, want)
						}
					}
				}
			}
			if g := tree(t, disk); g != before {
				t.Errorf("something changed:\n%s\nwas\n%s", g, before)
			}
			t.Logf("%d names, %d calls", len(names), tried)
		})
	}
}

// sampleNames returns all names natively and in make soak. In a page, make test takes the first of every
// eight of each error: the guard judges names by the same code there.
func sampleNames(all map[string]error) map[string]error {
	some, seen := map[string]error{}, map[error]int{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if want := all[name]; seen[want]%stride() == 0 {
			some[name] = want
		}
		seen[all[name]]++
	}
	return some
}

func everyOperation(f *Folder, name string) map[string]func() (string, error) {
	ctx := context.Background()
	read := func(b []byte, err error) (string, error) { return string(b), err }
	do := func(fn func() error) func() (string, error) { return func() (string, error) { return "", fn() } }
	ops := map[string]func() (string, error){
		"Open": func() (string, error) {
			h, err := f.Open(name)
			if err != nil {
				return "", err
			}
			defer h.Close()
			b := make([]byte, 10)
			n, _ := h.Read(b)
			return string(b[:n]), nil
		},
		"Stat":     do(func() error { _, err := f.Stat(name); return err }),
		"ReadFile": func() (string, error) { return read(f.ReadFile(name)) },
		"ReadDir":  func() (string, error) { l, err := f.ReadDir(name); return fmt.Sprint(l), err },
		"Sub": func() (string, error) {
			s, err := f.Sub(name)
			if err != nil {
				return "", err
			}
			return read(fs.ReadFile(s, "canary"))
		},
		"Glob": func() (string, error) { l, err := f.Glob(name + "/*"); return fmt.Sprint(len(l)), err },
		"Walk": func() (string, error) {
			for e, err := range Walk(ctx, f, name, WalkOptions{}) {
				if err != nil {
					return "", err
				}
				return e.Path, nil
			}
			return "", nil
		},
		"Hash": func() (string, error) {
			for e, err := range hashes(ctx, f, name) {
				return e.sha256, err
			}
			return "", nil
		},
		"Version": func() (string, error) { v, err := WithContext(ctx, f).Version(name); return string(v), err },
		"!Create": do(func() error {
			h, err := f.Create(name)
			if err == nil {
				h.Close()
			}
			return err
		}),
		"!Append": do(func() error {
			h, err := f.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
			if err == nil {
				h.Close()
			}
			return err
		}),
		"!Write": do(func() error { return f.WriteFile(name, []byte("x"), 0o644) }),
		"!Version": do(func() error {
			_, err := WithContext(ctx, f).WriteVersion(name, []byte("x"), 0o644, AnyVersion)
			return err
		}),
		"!Mkdir":    do(func() error { return f.Mkdir(name, 0o755) }),
		"!MkdirAll": do(func() error { return f.MkdirAll("a/new/"+name, 0o755) }),
		"!RenameTo": do(func() error { return f.Rename("a/file", name) }),
		"!Copy":     do(func() error { return Copy(ctx, f, name, f, "a/file", CopyOptions{Overwrite: true}) }),
	}
	if name != "" && name != "a//b" { // joined to a folder these are other names
		delete(ops, "!MkdirAll")
	}
	for op, fn := range map[string]func() error{
		"Remove":     func() error { return f.Remove(name) },
		"RemoveAll":  func() error { return f.RemoveAll(name) },
		"RenameFrom": func() error { return f.Rename(name, "a/taken") },
		"Truncate":   func() error { return f.Truncate(name, 0) },
		"Chmod":      func() error { return f.Chmod(name, 0o777) },
	} {
		ops["!"+op] = func() (string, error) { return "", fn() }
	}
	return ops
}

func TestGuardByPath(t *testing.T) {
	disk := NewMemory(MemoryOptions{})
	must(t, disk.MkdirAll("docs/secret", 0o755))
	must(t, disk.MkdirAll("src", 0o755))
	for _, p := range []string{"docs/a", "docs/secret/key", "src/main.go", "top"} {
		must(t, disk.WriteFile(p, []byte(p), 0o644))
	}
	g := Guard(disk, protocol.FSPolicy{
		DenyRead: patterns(t, "docs/secret", "src"), AllowRead: patterns(t, "docs/secret/public"),
		AllowWrite: patterns(t, "docs"), DenyWrite: patterns(t, "docs/secret"),
	}, GuardOptions{})
	if got, want := tree(t, g), "./\ndocs/\ndocs/a \"docs/a\"\ndocs/secret/\ntop \"top\"\n"; got != want {
		t.Errorf("it shows\n%s\nwant\n%s", got, want)
	}
	for _, c := range []struct {
		name string
		do   func() error
		want error
	}{
		{"read a denied file", func() error { _, err := g.ReadFile("src/main.go"); return err }, ErrDenied},
		{"stat a denied file", func() error { _, err := g.Stat("src/main.go"); return err }, ErrDenied},
		{"read below a denied folder", func() error { _, err := g.ReadFile("docs/secret/key"); return err }, ErrDenied},
		{"write where nothing is said", func() error { return g.WriteFile("top", nil, 0o644) }, ErrDenied},
		{"write what is denied", func() error { return g.WriteFile("docs/secret/x", nil, 0o644) }, ErrDenied},
		{"write what is allowed", func() error { return g.WriteFile("docs/b", nil, 0o644) }, nil},
		{"rename out", func() error { return g.Rename("docs/b", "top2") }, ErrDenied},
		{"rename in", func() error { return g.Rename("top", "docs/top") }, ErrDenied},
		{"rename a folder that holds what is denied", func() error { return g.Rename("docs", "docs2") }, ErrDenied},
		{"remove a folder that holds what is denied", func() error { return g.RemoveAll("docs") }, ErrDenied},
		{"read by rename", func() error { return g.Rename("docs/secret/key", "docs/key") }, ErrDenied},
		{"read through a handle", func() error { _, err := g.OpenFile("src/main.go", os.O_RDWR, 0); return err }, ErrDenied},
	} {
		err := c.do()
		if c.want == nil && err != nil || c.want != nil && (!errors.Is(err, c.want) || !errors.Is(err, fs.ErrPermission) || !errors.Is(err, protocol.ErrCapabilityDenied)) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// A protected file is not removed or moved with a folder above it either.
func TestProtectedBelow(t *testing.T) {
	disk := NewMemory(MemoryOptions{})
	must(t, disk.MkdirAll("repo/.git/hooks", 0o755))
	must(t, disk.WriteFile("repo/.git/hooks/pre-commit", []byte("x"), 0o644))
	must(t, disk.MkdirAll("evil/hooks", 0o755))
	must(t, disk.WriteFile("evil/hooks/post-checkout", []byte("x"), 0o644))
	g := Guard(disk, everywhere(t), GuardOptions{})
	before := tree(t, disk)
	for name, do := range map[string]func() error{
		"remove":      func() error { return g.RemoveAll("repo") },
		"rename":      func() error { return g.Rename("repo", "other") },
		"rename .git": func() error { return g.Rename("repo/.git", "repo/git") },
		"become .git": func() error { return g.Rename("evil", "new/.git") },
		"become":      func() error { return g.Rename("evil", ".git") },
	} {
		if name == "become .git" {
			must(t, disk.Mkdir("new", 0o755))
			before = tree(t, disk)
		}
		if err := do(); !errors.Is(err, ErrProtected) && !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if tree(t, disk) != before {
		t.Errorf("something changed:\n%s", tree(t, disk))
	}
}

func TestLookAlikes(t *testing.T) {
	g := Guard(NewMemory(MemoryOptions{}), everywhere(t), GuardOptions{})
	must(t, g.WriteFile("invoice.pdf", nil, 0o644))
	for _, n := range []string{"invоice.pdf", "ｉnvoice.pdf", "іnvoice.pdf", "invoicе.pdf", "INVΟICE.pdf"} {
		if err := g.WriteFile(n, nil, 0o644); !errors.Is(err, ErrBadName) {
			t.Errorf("%q: %v", n, err)
		}
	}
	// Other scripts alone are no deception.
	for _, n := range []string{"счёт.pdf", "τιμολόγιο.pdf", "请求书.pdf", "فاتورة.pdf", "rechnung-für-änderung.pdf", "naïve café.txt", "~$report.doc", ".hidden", "a..b", "100%.txt"} {
		if err := g.WriteFile(n, nil, 0o644); err != nil {
			t.Errorf("%q: %v", n, err)
		}
	}
}

func TestQuotas(t *testing.T) {
	for name, limit := range map[string]GuardOptions{
		"one write": {MaxWrite: 10}, "growth": {MaxBytes: 10},
	} {
		for size, ok := range map[int]bool{9: true, 10: true, 11: false} {
			disk := NewMemory(MemoryOptions{})
			g := Guard(disk, everywhere(t), limit)
			for way, write := range map[string]func(n string, b []byte) error{
				"WriteFile": func(n string, b []byte) error { return g.WriteFile(n, b, 0o644) },
				"handle": func(n string, b []byte) error {
					f, err := g.Create(n)
					if err != nil {
						return err
					}
					_, werr := f.(core.File).Write(b)
					return errors.Join(werr, f.Close())
				},
			} {
				must(t, disk.WriteFile(way, []byte("old"), 0o644))
				g = Guard(disk, everywhere(t), limit)
				grow := size
				if limit.MaxBytes > 0 {
					grow += 3 // the old content does not count
				}
				err := write(way, make([]byte, grow))
				if ok != (err == nil) || !ok && !errors.Is(err, ErrTooLarge) && !errors.Is(err, ErrQuota) {
					t.Errorf("%s, %s of %d bytes: %v", name, way, size, err)
				}
				if got, _ := disk.ReadFile(way); !ok && string(got) != "old" {
					t.Errorf("%s, %s: the old content is gone", name, way)
				}
			}
		}
	}
	g := Guard(NewMemory(MemoryOptions{}), everywhere(t), GuardOptions{MaxFiles: 2})
	must(t, g.Mkdir("a", 0o755))
	must(t, g.WriteFile("b", nil, 0o644))
	if err := g.WriteFile("c", nil, 0o644); !errors.Is(err, ErrQuota) {
		t.Errorf("a third: %v", err)
	}
	must(t, g.Remove("b"))
	must(t, g.WriteFile("c", nil, 0o644))
}

// TestErrorsAreClear is the table of possible failures: the type, the results of errors.Is,
// and the text.
func TestErrorsAreClear(t *testing.T) {
	ctx := context.Background()
	full := NewMemory(MemoryOptions{MaxBytes: 8})
	must(t, full.WriteFile("f", []byte("1234"), 0o644))
	ro := FromFS(full)
	guarded := Guard(full, everywhere(t), GuardOptions{})
	gone, cancel := context.WithCancel(ctx)
	cancel()
	closed, err := full.Open("f")
	must(t, err)
	must(t, closed.Close())
	for _, c := range []struct {
		name string
		err  error
		is   []error
		text string
	}{
		{"no such file", second(full.ReadFile("nope")), []error{fs.ErrNotExist}, "open nope: no such file"},
		{"bad name", second(full.ReadFile("../f")), []error{fs.ErrInvalid}, "open ../f: invalid argument"},
		{"full", full.WriteFile("f", make([]byte, 9), 0o644), []error{ErrQuota, protocol.ErrResourceLimit}, "open f: no room left"},
		{"read-only", ro.WriteFile("f", nil, 0o644), []error{ErrReadOnly, fs.ErrPermission}, "open f: this folder is read-only; work on a copy"},
		{"protected", guarded.WriteFile(".bashrc", nil, 0o644), []error{ErrProtected, fs.ErrPermission, protocol.ReasonProtected}, ".bashrc"},
		{"device", guarded.WriteFile("con.txt", nil, 0o644), []error{ErrBadName, fs.ErrInvalid}, "it is a device on Windows"},
		{"kind", guarded.WriteFile("a.exe", nil, 0o644), []error{ErrKind, fs.ErrPermission}, "executable, and there is nobody to ask"},
		{"stale", second(WithContext(ctx, full).WriteVersion("f", nil, 0o644, "old")), []error{ErrConflict, protocol.ReasonStale}, "write f: changed by somebody else"},
		{"cancelled", WithContext(gone, full).WriteFile("f", nil, 0o644), []error{context.Canceled}, "open f: context canceled"},
		{"closed", second(closed.Read(make([]byte, 1))), []error{fs.ErrClosed}, "read f: file already closed"},
		{"nothing to undo", NewJournal(full, NewMemory(MemoryOptions{}), JournalOptions{}).Undo(ctx), []error{ErrNothing}, "nothing to undo"},
		{"no browser or no gesture", second(Pick(ctx, ReadWrite, PickOptions{})), nil, ""},
	} {
		if c.err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		for _, is := range c.is {
			if !errors.Is(c.err, is) {
				t.Errorf("%s: %v is not %v", c.name, c.err, is)
			}
		}
		if !strings.Contains(strings.ToLower(c.err.Error()), strings.ToLower(c.text)) {
			t.Errorf("%s: %q says nothing of %q", c.name, c.err, c.text)
		}
		var pe *fs.PathError
		if strings.HasPrefix(c.text, "open ") && !errors.As(c.err, &pe) {
			t.Errorf("%s: %T", c.name, c.err)
		}
	}
	if got, _ := full.ReadFile("f"); string(got) != "1234" {
		t.Errorf("one of these changed the file: %q", got)
	}
}

func second[T any](_ T, err error) error { return err }
