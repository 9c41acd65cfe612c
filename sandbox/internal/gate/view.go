package gate

import (
	"cmp"
	"context"
	"crypto/rand"
	"sync"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// View is a folder of its own that holds just the files that may be read and written: for
// programs that open files by themselves. It ends with ctx. The permit must cover each
// named path with all below it. Below them each path that the program touches is decided
// by itself, by grants, rules and refusals, as a tool's call for that path would be.
//
// A program may make files and folders, and change files that it may read. To remove a
// file, to move one away, and to replace one that it may not read needs a permit to remove
// it: p's own, or one that is handed to more before.
func View(ctx context.Context, f Folder, p Permit, reads, writes []string) (view fsaccess.FS, more func(Permit), err error) {
	end, err := f.still.change(".")
	if err != nil {
		return nil, nil, err
	}
	defer end()
	pol := protocol.FSPolicy{}
	all, err := protocol.ParsePattern(".")
	if err != nil {
		return nil, nil, err
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
			return nil, nil, err
		}
	}
	for _, path := range append([]string{"."}, writes...) {
		if err := passable(&pol, path); err != nil {
			return nil, nil, err
		}
	}
	for _, path := range writes {
		if err := cmp.Or(add(&pol.AllowWrite, write(protocol.OpWrite, path)), p.lands(path)); err != nil {
			return nil, nil, err
		}
	}
	c := &check{raw: fsaccess.WithContext(ctx, f.raw), p: p, reads: &pol}
	var o fsaccess.GuardOptions
	if !f.unchecked {
		o.Check = c.path
	}
	return fsaccess.WithContext(ctx, fsaccess.Guard(f.fs, pol, o)), c.more, nil
}

// Unchecked is a folder whose views are decided by the named path alone: for tests that
// show an attack with the defence off.
func Unchecked(f Folder) Folder {
	f.unchecked = true
	return f
}

// check decides on each path of a view.
type check struct {
	raw   fsaccess.FS
	p     Permit
	reads *protocol.FSPolicy // where the program may read

	mu   sync.Mutex
	lose []Permit // to remove files
}

// more lets the program have the effects of another permit too.
func (c *check) more(p Permit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lose = append(c.lose, p)
}

func (c *check) path(op protocol.FSOp, path, from string) error {
	switch op {
	case protocol.OpRead:
		return c.p.quiet(read(path))
	case protocol.OpRemove:
		return c.loses(path)
	}
	if err := c.p.quiet(write(op, path)); err != nil || op == protocol.OpMkdir {
		return err
	}
	if err := c.p.lands(path); err != nil {
		return err
	}
	if from != "" {
		if err := c.p.carries(from, path); err != nil {
			return err
		}
	}
	if from == "" && c.reads.Check(protocol.OpRead, path) == nil && c.p.quiet(read(path)) == nil {
		return nil // the program may look at the file that it changes
	}
	if _, err := c.raw.Stat(path); err != nil {
		return nil // nothing is there that could be lost
	}
	return c.loses(path)
}

// loses says why a file may not be lost, or nil.
func (c *check) loses(path string) error {
	n := write(protocol.OpRemove, path)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range append([]Permit{c.p}, c.lose...) {
		if p.quiet(n) == nil {
			return nil
		}
	}
	return protocol.Errorf(protocol.ErrCapabilityDenied, "remove", path, "a program may remove, move away or replace a file only after the person was asked about it")
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
