//go:build !js

package fsaccess

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/fsaccess/internal/guard"
	"github.com/bailey-go/bailey/fsaccess/internal/journal"
	"github.com/bailey-go/bailey/fsaccess/internal/overlay"
)

// probe is a folder in memory with every optional interface. It notes which ones are used.
type probe struct {
	core.Core
	used []string
}

func newProbe(t testing.TB) *probe {
	m := NewMemory(MemoryOptions{})
	must(t, m.Mkdir("d", 0o755))
	must(t, m.WriteFile("f", []byte("old"), 0o644))
	must(t, m.WriteFile("d/f", []byte("old"), 0o644))
	return &probe{Core: m.c}
}

func (p *probe) use(name string) {
	if !slices.Contains(p.used, name) {
		p.used = append(p.used, name)
	}
}

func (p *probe) Chmod(context.Context, string, fs.FileMode) error { p.use("Chmodder"); return nil }
func (p *probe) Chtimes(context.Context, string, time.Time, time.Time) error {
	p.use("Chtimer")
	return nil
}
func (p *probe) Symlink(context.Context, string, string) error { p.use("Linker"); return nil }
func (p *probe) ReadLink(context.Context, string) (string, error) {
	p.use("Linker.ReadLink")
	return "", nil
}
func (p *probe) WriteFile(ctx context.Context, name string, data []byte, perm fs.FileMode) error {
	p.use("FileWriter")
	return core.WriteWhole(ctx, p.Core, name, data, perm)
}
func (p *probe) WalkPages(ctx context.Context, root string, page int, yield func([]core.Entry) bool) error {
	p.use("Walker")
	return core.WalkCore(ctx, p.Core, root, page, yield)
}
func (p *probe) ListPages(ctx context.Context, dir string, page int, yield func([]core.Entry) bool) error {
	p.use("Lister")
	return core.ListCore(ctx, p.Core, dir, page, yield)
}
func (p *probe) Push(context.Context, string, chan<- []string) (func(), error) {
	p.use("Pusher")
	return func() {}, nil
}
func (p *probe) Features() core.Features {
	ft := p.Core.Features()
	ft.Watch = true
	return ft
}
func (p *probe) Release() error { p.use("Closer"); return nil }
func (p *probe) ReadMany(_ context.Context, files []core.Entry) ([][]byte, error) {
	p.use("ManyReader")
	return make([][]byte, len(files)), nil
}
func (p *probe) Keeping(ctx context.Context) context.Context {
	p.use("ManyReader.Keeping")
	return ctx
}
func (p *probe) ReadSmall(ctx context.Context, name string, _ int64) (fs.FileInfo, []byte, error) {
	p.use("SmallReader")
	fi, err := p.Stat(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	data, err := p.ReadFile(ctx, name)
	return fi, data, err
}
func (p *probe) CopyBlob(context.Context, core.Core, string, string) (int64, bool, error) {
	p.use("BlobCopier")
	return 0, true, nil
}
func (p *probe) BeginNew(ctx context.Context, name string) (core.Replacement, error) {
	p.use("NewBeginner")
	return p.Replace(ctx, name, 0o644)
}
func (p *probe) ReadReplace(ctx context.Context, name string, data []byte, _ int64) (fs.FileInfo, []byte, *core.Pending, error) {
	p.use("ReadReplacer")
	fi, err := p.Stat(ctx, name)
	if err != nil {
		return nil, nil, nil, err
	}
	old, err := p.ReadFile(ctx, name)
	return fi, old, core.Begin(func() (core.Replacement, error) {
		r, err := p.Core.Replace(ctx, name, 0o644)
		return core.Filled(r, err, data)
	}), err
}
func (p *probe) Overlaps() bool   { p.use("Overlapper"); return false }
func (p *probe) KeepsFresh() bool { p.use("FreshKeeper"); return false }
func (p *probe) MayWrite(context.Context, string) error {
	p.use("WriteChecker")
	return nil
}
func (p *probe) MayCreate(context.Context, string) error {
	p.use("CreateChecker")
	return nil
}
func (p *probe) Asked(ctx context.Context) context.Context { p.use("Asker"); return ctx }
func (p *probe) Replace(ctx context.Context, name string, perm fs.FileMode) (core.Replacement, error) {
	r, err := p.Core.Replace(ctx, name, perm)
	return &probeReplacement{r, p}, err
}

type probeReplacement struct {
	core.Replacement
	p *probe
}

func (r *probeReplacement) CommitWith(ctx context.Context, data []byte) error {
	r.p.use("Committer")
	return r.Commit(ctx)
}

// with calls do if c has the interface T.
func with[T any](c any, do func(T) error) (has bool, err error) {
	x, ok := c.(T)
	if !ok {
		return false, nil
	}
	return true, do(x)
}

// optionals uses each optional interface of a core, if the core has it.
var optionals = map[string]func(ctx context.Context, c core.Core) (has bool, err error){
	"Chmodder": func(ctx context.Context, c core.Core) (bool, error) {
		return with(c, func(x core.Chmodder) error { return x.Chmod(ctx, "f", 0o600) })
	},
	"Chtimer": func(ctx context.Context, c core.Core) (bool, error) {
		return with(c, func(x core.Chtimer) error { return x.Chtimes(ctx, "f", time.Time{}, time.Unix(1, 0)) })
	},
	"Linker": func(ctx context.Context, c core.Core) (bool, error) {
		return with(c, func(x core.Linker) error { return x.Symlink(ctx, "f", "new") })
	},
	"Linker.ReadLink": func(ctx context.Context, c core.Core) (bool, error) {
		return with(c, func(x core.Linker) error { _, err := x.ReadLink(ctx, "f"); return err })
	},
	"FileWriter": func(ctx context.Context, c core.Core) (bool, error) {
		return with(c, func(x core.FileWriter) error { return x.WriteFile(ctx, "f", []byte("new"), 0o644) })
	},
	"Walker": func(ctx context.Context, c core.Core) (bool, error) {
		return with(c, func(x core.Walker) error {
			return x.WalkPages(ctx, ".", 10, func([]core.Entry) bool { return true })
		})
	},
	"Lister": func(ctx context.Context, c core.Core) (bool, error) {
		return with(c, func(x core.Lister) error {
			return x.ListPages(ctx, ".", 10, func([]core.Entry) bool { return true })
		})
	},
	"Pusher": func(ctx context.Context, c core.Core) (bool, error) {
		return with(c, func(x core.Pusher) error { _, err := x.Push(ctx, ".", make(chan []string, 1)); return err })
	},
	"Closer": func(_ context.Context, c core.Core) (bool, error) {
		return with(c, func(x core.Closer) error { return x.Release() })
	},
	"ManyReader": func(ctx context.Context, c core.Core) (bool, error) {
		return with(c, func(x core.ManyReader) error {
			_, err := x.ReadMany(ctx, []core.Entry{{Path: "f", Size: 3}})
			return err
		})
	},
	"ManyReader.Keeping": func(ctx context.Context, c core.Core) (bool, error) {
		return with(c, func(x core.ManyReader) error { x.Keeping(ctx); return nil })
	},
	"SmallReader": func(ctx context.Context, c core.Core) (bool, error) {
		return with(c, func(x core.SmallReader) error { _, _, err := x.ReadSmall(ctx, "f", 10); return err })
	},
	"BlobCopier": func(ctx context.Context, c core.Core) (bool, error) {
		return with(c, func(x core.BlobCopier) error { _, _, err := x.CopyBlob(ctx, c, "f", "g"); return err })
	},
	"NewBeginner": func(ctx context.Context, c core.Core) (bool, error) {
		return with(c, func(x core.NewBeginner) error { _, err := x.BeginNew(ctx, "new"); return err })
	},
	"ReadReplacer": func(ctx context.Context, c core.Core) (bool, error) {
		return with(c, func(x core.ReadReplacer) error {
			_, _, p, err := x.ReadReplace(ctx, "f", []byte("new"), 10)
			p.Abort()
			return err
		})
	},
	"Overlapper": func(_ context.Context, c core.Core) (bool, error) {
		return with(c, func(x core.Overlapper) error { x.Overlaps(); return nil })
	},
	"FreshKeeper": func(_ context.Context, c core.Core) (bool, error) {
		return with(c, func(x core.FreshKeeper) error { x.KeepsFresh(); return nil })
	},
	"WriteChecker": func(ctx context.Context, c core.Core) (bool, error) {
		return with(c, func(x core.WriteChecker) error { return x.MayWrite(ctx, "f") })
	},
	"CreateChecker": func(ctx context.Context, c core.Core) (bool, error) {
		return with(c, func(x core.CreateChecker) error { return x.MayCreate(ctx, "new") })
	},
	"Asker": func(ctx context.Context, c core.Core) (bool, error) {
		return with(c, func(x core.Asker) error { x.Asked(ctx); return nil })
	},
	"Committer": func(ctx context.Context, c core.Core) (bool, error) {
		r, err := c.Replace(ctx, "f", 0o644)
		if err != nil {
			return false, err
		}
		defer r.Abort()
		return with(r, func(x core.Committer) error { return x.CommitWith(ctx, []byte("new")) })
	},
}

const (
	slowRead = "the caller uses Stat and ReadFile instead"
	inspects = "the layer must see the bytes"
	slowPut  = "the caller uses Replace instead"
	noWrites = "no change passes"
)

// notForwarded has a reason for each interface that a layer does not pass to its folder.
var notForwarded = map[string]string{
	"guard Lister":       "a folder is listed by ReadDir, which hides entries",
	"guard BlobCopier":   inspects,
	"guard NewBeginner":  inspects,
	"guard ReadReplacer": inspects,
	"guard Committer":    inspects,
	"guard FreshKeeper":  "a guard always keeps a new file until its content is known",
	"guard Asker":        "a guard answers for itself; one below it asks its own question",

	"journal SmallReader":  slowRead,
	"journal BlobCopier":   "the old content must be saved first",
	"journal NewBeginner":  "the record must be stored first",
	"journal ReadReplacer": "the record must be stored first",
	"journal Committer":    "the content must be hashed",
	"journal FileWriter":   "it uses ReadReplacer, so that reading and writing run at the same time",
	"journal Overlapper":   "a journal does the overlapping itself",

	"overlay Pusher":        "a watch compares listings, because only one of its two folders is the platform's",
	"overlay Closer":        "the caller closes both folders",
	"overlay SmallReader":   slowRead,
	"overlay BlobCopier":    "the version below must be noted first",
	"overlay NewBeginner":   "the version below must be noted first",
	"overlay ReadReplacer":  "old and new content are in two folders",
	"overlay FileWriter":    slowPut,
	"overlay Walker":        "two folders are merged, each by its listings",
	"overlay Overlapper":    "old and new content are in two folders",
	"overlay FreshKeeper":   "the folder of changes belongs to the overlay and has no guard",
	"overlay WriteChecker":  "every write goes to the folder of changes",
	"overlay CreateChecker": "every write goes to the folder of changes",
	"overlay Asker":         "a guard below asks when changes are applied",
	"overlay Committer":     "the caller uses Write and Commit instead; the probe is the lower folder",
	"overlay Chmodder":      "modes are set in the folder of changes",
	"overlay Linker":        "a copy has no links of its own, so nothing new can be followed when it is applied",
	"overlay Chtimer":       "times are set in the folder of changes",

	"read-only Chmodder":      noWrites,
	"read-only Chtimer":       noWrites,
	"read-only Linker":        noWrites,
	"read-only FileWriter":    noWrites,
	"read-only BlobCopier":    noWrites,
	"read-only NewBeginner":   noWrites,
	"read-only ReadReplacer":  noWrites,
	"read-only Overlapper":    noWrites,
	"read-only FreshKeeper":   noWrites,
	"read-only WriteChecker":  noWrites,
	"read-only CreateChecker": noWrites,
	"read-only Asker":         noWrites,
	"read-only Committer":     noWrites,
	"read-only Lister":        "a folder is listed by ReadDir",
	"read-only Closer":        "the caller closes the folder below",
	"read-only SmallReader":   slowRead,

	"sub-folder Lister":       "a folder is listed by ReadDir",
	"sub-folder Closer":       "a folder from Sub does not own the source",
	"sub-folder SmallReader":  slowRead,
	"sub-folder BlobCopier":   slowPut,
	"sub-folder NewBeginner":  slowPut,
	"sub-folder ReadReplacer": slowPut,
	"sub-folder Overlapper":   slowPut,
}

// Each layer passes each optional interface to the folder below, or has a reason not to. A
// layer that forgets one is slow, or asks a question twice, and nothing else shows that.
func TestLayersForward(t *testing.T) {
	policy := everywhere(t)
	layers := map[string]func(c core.Core) core.Core{
		"guard": func(c core.Core) core.Core {
			return guard.New(c, policy, guard.Options{Refuse: refusal, Refused: refused})
		},
		"journal": func(c core.Core) core.Core {
			return journal.New(c, NewMemory(MemoryOptions{}).c, journal.Options{})
		},
		"overlay":    func(c core.Core) core.Core { return overlay.New(c, NewMemory(MemoryOptions{}).c) },
		"read-only":  core.ReadOnly,
		"sub-folder": func(c core.Core) core.Core { return core.Sub(c, "d") },
	}
	for name, put := range layers {
		c := put(newProbe(t))
		if _, pushes := c.(core.Pusher); pushes != c.Features().Watch {
			t.Errorf("%s: Features.Watch is %v", name, c.Features().Watch)
		}
		for option, use := range optionals {
			key := name + " " + option
			p := newProbe(t)
			has, err := use(t.Context(), put(p))
			reason, excepted := notForwarded[key]
			if err != nil && !excepted {
				t.Errorf("%s: %v", key, err)
			}
			switch forwarded := has && slices.Contains(p.used, option); {
			case forwarded && excepted:
				t.Errorf("%s is forwarded, against %q", key, reason)
			case !forwarded && !excepted:
				t.Errorf("%s is not forwarded: the layer has it: %v, the folder below saw %v", key, has, p.used)
			}
		}
	}
	for key := range notForwarded {
		layer, option, _ := strings.Cut(key, " ")
		if layers[layer] == nil || optionals[option] == nil {
			t.Errorf("%q names no layer or no interface", key)
		}
	}
}

// The table above has every optional interface, and all of them are in one file.
func TestOptionalInterfacesAreInOneFile(t *testing.T) {
	set := token.NewFileSet()
	files, err := filepath.Glob("internal/core/*.go")
	must(t, err)
	may := []string{"Core", "Replacement", "File", "Pager"}
	for _, file := range files {
		f, err := parser.ParseFile(set, file, nil, 0)
		must(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if _, ok := spec.Type.(*ast.InterfaceType); !ok || slices.Contains(may, spec.Name.Name) {
				return true
			}
			if filepath.ToSlash(file) != "internal/core/optional.go" || optionals[spec.Name.Name] == nil {
				t.Errorf("%s: %s is not in internal/core/optional.go, or not in the table", file, spec.Name.Name)
			}
			return true
		})
	}
}
