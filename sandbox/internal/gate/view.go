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

// View returns a folder that contains only the files below reads and writes, for programs that open
// files by themselves. The view ends with ctx. The permit p must cover each of the paths with
// everything below it. Below them each path is decided separately, by grants, rules and refusals,
// as a tool's call for that path would be.
//
// A program may create files and folders, and change files that it may read. To remove a file, to
// move one away, or to replace one that it may not read, it needs a permit to remove that file.
// This can be p, or a permit that was passed to the returned function more before.
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
		return subtree(list, literal(n))
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

// Unchecked returns a folder whose views check only the named paths, and not each path below them.
// Tests use it to show that an attack succeeds without the defence.
func Unchecked(f Folder) Folder {
	f.unchecked = true
	return f
}

// check decides about each path of a view.
type check struct {
	raw   fsaccess.FS
	p     Permit
	reads *protocol.FSPolicy // the paths that the program may read

	mu   sync.Mutex
	lose []Permit // permits to remove files
}

// more adds the effects of another permit to the view.
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
		return nil // the program may read the file that it changes
	}
	if _, err := c.raw.Stat(path); err != nil {
		return nil // there is no file that could be lost
	}
	return c.loses(path)
}

// loses returns an error if the file at path may not be lost.
func (c *check) loses(path string) error {
	n := write(protocol.OpRemove, path)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range append([]Permit{c.p}, c.lose...) {
		if p.quiet(n) == nil {
			return nil
		}
	}
	return protocol.Errorf(protocol.ErrCapabilityDenied, "remove", path, "a program may remove, move away or replace a file only after the user was asked about it")
}

// subtree adds a path, spelled as by literal, and all below it to a list.
func subtree(list *[]protocol.Pattern, spelled string) error {
	pat, err := protocol.ParsePattern(spelled)
	if err != nil {
		return err
	}
	*list = append(*list, pat)
	if pat.Literal() {
		return nil
	}
	below, err := protocol.ParsePattern(spelled + "/**/*") // in a list that allows, a glob covers nothing below
	*list = append(*list, below)
	return err
}

// passable makes dir visible without the files in it, so that a program can find the paths that it
// may write. It allows reading one path below dir, with a random name that does not exist.
func passable(pol *protocol.FSPolicy, dir string) error {
	n := read("." + rand.Text())
	if dir != "." {
		n.Subject = dir + "/" + n.Subject
	}
	pat, err := protocol.ParsePattern(literal(n))
	pol.AllowRead = append(pol.AllowRead, pat)
	return err
}
