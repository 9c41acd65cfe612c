package worker

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/protocol"
)

func TestPackages(t *testing.T) {
	ctx := context.Background()
	stores := map[string]func() PackageStore{
		"memory": MemoryStore,
		"folder": func() PackageStore { return FolderStore(newMemFS(), "apps/tools") },
		"top":    func() PackageStore { return FolderStore(newMemFS(), ".") },
	}
	one, other := makeZIP(t, decent()...), makeZIP(t, decent(zipEntry{name: "x"})...)
	for name, store := range stores {
		t.Run(name, func(t *testing.T) {
			s := store()
			p := NewPackages(s, PackagesOptions{Reserved: []string{"cat"}, Max: 2})
			if list, err := p.List(ctx); err != nil || len(list) != 0 {
				t.Fatal(list, err)
			}
			if _, err := p.Get(ctx, "upper"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("get: %v", err)
			}
			pkg, err := p.Install(ctx, one, "")
			if err != nil || pkg.Granted.Files != FilesNone || pkg.Granted.Decision != PackageAsk {
				t.Fatal(pkg, err)
			}
			if _, err := p.Install(ctx, one, strings.Repeat("0", 64)); !errors.Is(err, protocol.ErrSecurityViolation) {
				t.Errorf("a wrong hash: %v", err)
			}
			if _, err := p.Install(ctx, one, strings.ToUpper(pkg.SHA256)); err != nil {
				t.Error(err)
			}
			// A grant is stored, belongs to one ZIP, and is never more than the manifest requests.
			if _, err := p.Grant(ctx, "upper", PackageGrant{Files: FilesRead, Decision: PackageAlways}); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Grant(ctx, "upper", PackageGrant{Files: "all"}); !errors.Is(err, protocol.ErrInvalidParams) {
				t.Errorf("a grant of no kind: %v", err)
			}
			if pkg, err = NewPackages(s, PackagesOptions{}).Get(ctx, "upper"); err != nil || pkg.Granted.Files != FilesRead || pkg.Granted.Decision != PackageAlways {
				t.Errorf("%v %v", pkg, err)
			}
			if pkg, err = p.Install(ctx, one, ""); err != nil || pkg.Granted.Files != FilesRead {
				t.Errorf("the same again: %v %v", pkg, err)
			}
			if pkg, err = p.Install(ctx, other, ""); err != nil || pkg.Granted.Files != FilesNone || pkg.Granted.Decision != PackageAsk {
				t.Errorf("another under the name: %v %v", pkg, err)
			}
			// No more than Max packages can be installed.
			two := strings.Replace(plainManifest, "upper", "two", 1)
			if _, err := p.Install(ctx, makeZIP(t, zipEntry{name: "manifest.json", data: two}, zipEntry{name: "tool.wasm", data: string(least)}), ""); err != nil {
				t.Error(err)
			}
			three := strings.Replace(plainManifest, "upper", "three", 1)
			if _, err := p.Install(ctx, makeZIP(t, zipEntry{name: "manifest.json", data: three}, zipEntry{name: "tool.wasm", data: string(least)}), ""); !errors.Is(err, protocol.ErrResourceLimit) {
				t.Errorf("a third: %v", err)
			}
			// A package that was changed in the store is not returned. The others are.
			data, err := s.Load(ctx, "upper")
			must(t, err)
			data[len(data)-30] ^= 1
			must(t, s.Save(ctx, "upper", data))
			list, err := p.List(ctx)
			if len(list) != 1 || list[0].Name != "two" || !errors.Is(err, ErrDamaged) {
				t.Errorf("%v %v", list, err)
			}
			must(t, p.Remove(ctx, "upper"))
			if err := p.Remove(ctx, "upper"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("removed twice: %v", err)
			}
			if err := p.Remove(ctx, "../x"); err == nil {
				t.Error("removed what is no name")
			}
		})
	}
}

// A package can't have a built-in tool's name, neither at installation nor after a later version of
// the app brings a tool of that name.
func TestPackageCantShadow(t *testing.T) {
	ctx := context.Background()
	store := MemoryStore()
	zip := makeZIP(t, decent()...)
	if _, err := NewPackages(store, PackagesOptions{Reserved: []string{"cat", "UPPER"}}).Install(ctx, zip, ""); !errors.Is(err, ErrReserved) {
		t.Errorf("installed: %v", err)
	}
	if _, err := NewPackages(store, PackagesOptions{}).Install(ctx, zip, ""); err != nil {
		t.Fatal(err)
	}
	later := NewPackages(store, PackagesOptions{Reserved: []string{"upper"}})
	if _, err := later.Get(ctx, "upper"); !errors.Is(err, ErrReserved) {
		t.Errorf("got: %v", err)
	}
	if list, err := later.List(ctx); len(list) != 0 || !errors.Is(err, ErrReserved) {
		t.Errorf("listed: %v %v", list, err)
	}
	if err := later.Remove(ctx, "upper"); err != nil {
		t.Errorf("can't be removed: %v", err)
	}
	// A file stored under another package's name is refused.
	data, err := func() ([]byte, error) {
		s := MemoryStore()
		p := NewPackages(s, PackagesOptions{})
		if _, err := p.Install(ctx, zip, ""); err != nil {
			return nil, err
		}
		return s.Load(ctx, "upper")
	}()
	must(t, err)
	must(t, store.Save(ctx, "cat", data))
	if _, err := NewPackages(store, PackagesOptions{}).Get(ctx, "cat"); !errors.Is(err, ErrDamaged) {
		t.Errorf("under another name: %v", err)
	}
}

// The grant decides about the mount, not the manifest.
func TestPackageMount(t *testing.T) {
	folder := newMemFS()
	must(t, folder.WriteFile("a", []byte("secret"), 0o644))
	mount := func(a FileAccess) fs.FS {
		pkg := &Package{Granted: PackageGrant{Files: a}}
		pkg.Execution.FileAccess = FilesReadWrite
		return pkg.mount(folder)
	}
	if mount("") != nil || mount(FilesNone) != nil || (&Package{Granted: PackageGrant{Files: FilesRead}}).mount(nil) != nil {
		t.Error("something is mounted")
	}
	r := mount(FilesRead)
	if data, err := fs.ReadFile(r, "a"); err != nil || string(data) != "secret" {
		t.Error(err)
	}
	if _, ok := r.(WriteFS); ok {
		t.Error("what may be read may be written")
	}
	w := mount(FilesWrite).(WriteFS)
	if entries, err := fs.ReadDir(w, "."); err != nil || len(entries) != 0 {
		t.Errorf("shows %v %v", entries, err)
	}
	if _, err := fs.ReadFile(w, "a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reads: %v", err)
	}
	if err := w.WriteFile("a", []byte("x"), 0o644); !errors.Is(err, fs.ErrExist) {
		t.Errorf("writes over: %v", err)
	}
	for _, err := range []error{w.Remove("a"), w.Rename("a", "b")} {
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("changes what is there: %v", err)
		}
	}
	must(t, w.Mkdir("d", 0o755))
	must(t, w.Mkdir("d", 0o755))
	must(t, w.WriteFile("d/new", []byte("x"), 0o644))
	if data, err := fs.ReadFile(folder, "d/new"); err != nil || string(data) != "x" {
		t.Error(err)
	}
	if mount(FilesReadWrite) != fs.FS(folder) {
		t.Error("not the folder itself")
	}
}

func TestPackageCommandRefuses(t *testing.T) {
	pkg := &Package{Manifest: Manifest{Name: "t", Parameters: `{"type":"object"}`, Execution: Execution{ArgStyle: argsCLI, Timeout: time.Second}}}
	if _, err := pkg.Command(t.Context(), &Pool{opts: Options{Trusted: true}}, nil, nil, nil); !errors.Is(err, protocol.ErrCapabilityDenied) {
		t.Errorf("in a trusted pool: %v", err)
	}
	pkg.Granted.Decision = PackageNever
	if _, err := pkg.Command(t.Context(), &Pool{}, nil, nil, nil); !errors.Is(err, protocol.ErrCapabilityDenied) {
		t.Errorf("switched off: %v", err)
	}
	pkg.Granted.Decision = PackageAsk
	cmd, err := pkg.Command(t.Context(), &Pool{}, nil, map[string]any{"stdin": "x", "a": "b"}, newMemFS())
	if err != nil || cmd.FS != nil || cmd.Limits.Time != time.Second || !slices.Equal(cmd.Args, []string{"t", "--a=b"}) || cmd.Stdin == nil {
		t.Errorf("%+v %v", cmd, err)
	}
}
