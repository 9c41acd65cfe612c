package gate

import (
	"cmp"
	"context"
	"crypto/rand"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// View is a folder of its own that holds just what may be read and written: for
// programs that open files by themselves. It ends with ctx. The permit must cover each
// path with all below it.
func View(ctx context.Context, f Folder, p Permit, reads, writes []string) (fsaccess.FS, error) {
	end, err := f.still.change(".")
	if err != nil {
		return nil, err
	}
	defer end()
	pol := protocol.FSPolicy{}
	all, err := protocol.ParsePattern(".")
	if err != nil {
		return nil, err
	}
	pol.DenyRead = []protocol.Pattern{all}
	add := func(list *[]protocol.Pattern, n policy.Need) error {
		n.Tree = true
		if err := p.Check(n); err != nil {
			return err
		}
		pat, err := protocol.ParsePattern(literal(n))
		*list = append(*list, pat)
		return err
	}
	for _, path := range reads {
		if err := add(&pol.AllowRead, read(path)); err != nil {
			return nil, err
		}
	}
	for _, path := range append([]string{"."}, writes...) {
		if err := passable(&pol, path); err != nil {
			return nil, err
		}
	}
	for _, path := range writes {
		if err := cmp.Or(add(&pol.AllowWrite, write(protocol.OpWrite, path)), p.lands(path)); err != nil {
			return nil, err
		}
	}
	return fsaccess.WithContext(ctx, fsaccess.Guard(f.fs, pol)), nil
}

// passable shows a folder without what is in it, so that a program finds the way to
// what it may write: something below it may be read, which has a name that nobody uses.
func passable(pol *protocol.FSPolicy, dir string) error {
	n := read("." + rand.Text())
	if dir != "." {
		n.Subject = dir + "/" + n.Subject
	}
	pat, err := protocol.ParsePattern(literal(n))
	pol.AllowRead = append(pol.AllowRead, pat)
	return err
}
