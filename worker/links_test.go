package worker

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	wire "github.com/bailey-go/bailey/internal/wire/wasm"
	"github.com/bailey-go/bailey/protocol"
)

// linking is a folder that records links, as one that holds them.
type linking struct {
	WriteFS
	made []string
}

func (l *linking) Symlink(oldname, newname string) error {
	l.made = append(l.made, newname+" -> "+oldname)
	return nil
}

func (l *linking) Link(oldname, newname string) error {
	if _, err := fs.Stat(l, oldname); err != nil {
		return &os.LinkError{Op: "link", Old: oldname, New: newname, Err: fs.ErrNotExist}
	}
	l.made = append(l.made, newname+" = "+oldname)
	return nil
}

// Links that a program leaves are made where the folder holds them. Elsewhere nothing is written.
func TestWriteBackLinks(t *testing.T) {
	list := []row{{wire.Write, 0, "f", "new"}, {wire.Symlink, 0, "s", "f"}, {wire.Link, 0, "h", "f"}}
	dir := &linking{WriteFS: newMemFS()}
	if n, err := writeBack(shown(t, dir), packRows(list...)); err != nil || n != 3 || len(dir.made) != 2 || dir.made[0] != "s -> f" || dir.made[1] != "h = f" {
		t.Errorf("%d, %v: %q", n, err, dir.made)
	}
	for _, last := range list[1:] {
		plain := newMemFS()
		n, err := writeBack(shown(t, plain), packRows(list[0], last))
		if n != 0 || !errors.Is(err, errors.ErrUnsupported) || !errors.Is(err, protocol.ErrExecution) || tree(t, plain) != "" {
			t.Errorf("%s: %d, %v: %s", last.name, n, err, tree(t, plain))
		}
	}
	// A name that something else took meanwhile is a conflict.
	taken := &linking{WriteFS: newMemFS()}
	f := shown(t, taken)
	must(t, taken.WriteFile("s", []byte("theirs"), 0o644))
	if _, err := writeBack(f, packRows(list...)); !errors.As(err, new(*ConflictError)) || len(taken.made) != 0 {
		t.Errorf("%v: %q", err, taken.made)
	}
}

// A symbolic link leads out of the folder neither by itself nor through another link.
func TestAttackLinksThatLeadOut(t *testing.T) {
	a := attack.Start(t, "01")
	a.NoSwitch("the links are made by writeBack, after its check")
	for _, to := range []string{"/etc/passwd", "..", "../x", "d/../../x", "d/../x", "./../x", "../../d/x", "", "a\x00b", "//x"} {
		dir := &linking{WriteFS: newMemFS()}
		_, err := writeBack(shown(t, dir), packRows(row{wire.Symlink, 0, "s", to}))
		a.Try(to, err == nil || len(dir.made) > 0)
	}
	for from, to := range map[string]string{"s": "x", "d/s": "../x", "d/e/s": "../../x/y", "d/t": "./x", "d/u": "../d/x/"} {
		dir := &linking{WriteFS: newMemFS()}
		if _, err := writeBack(shown(t, dir), packRows(row{wire.MakeDir, 0, "d", ""}, row{wire.Symlink, 0, from, to})); err != nil || len(dir.made) != 1 {
			t.Errorf("%s to %s: %v", from, to, err)
		}
	}
	dir := &linking{WriteFS: newMemFS()}
	_, err := writeBack(shown(t, dir), packRows(row{wire.Link, 0, "h", "../x"}))
	a.Try("a hard link", !errors.Is(err, protocol.ErrSecurityViolation) || len(dir.made) > 0)
}
