package fsaccess

import (
	"context"
	"io"
	"io/fs"

	"github.com/bailey-go/bailey/internal/jsx"
)

// pullAtOnce is the number of names that are requested together. Chromium 156 reports 100
// at a time and takes longer the more requests wait: 50,000 names take 2 s with 64
// requests, and 3 s with 128.
const pullAtOnce = 64

// handlePages lists a folder in the order in which the browser finds its entries. The
// browser's iterator ends only after the last name, so an unfinished iterator is simply
// dropped.
type handlePages struct {
	h     *handles
	ctx   context.Context
	name  string
	pull  jsx.Value // the iterator's next, bound
	began bool
	err   error // permanent
}

func (h *handles) pages(ctx context.Context, name string) (pager, error) {
	p := &handlePages{h: h, ctx: ctx, name: name}
	return p, p.start()
}

func (p *handlePages) start() error {
	d, err := p.h.dir(p.ctx, p.name)
	if err != nil {
		return err
	}
	values, err := jsx.Call(d, "values")
	if err != nil {
		return webErr(err)
	}
	next, err := jsx.Get(values, "next")
	if err == nil {
		p.pull, err = jsx.Call(next, "bind", values)
	}
	return webErr(err)
}

func (p *handlePages) close() error {
	p.pull, p.err = jsx.Value{}, fs.ErrClosed
	return nil
}

func (p *handlePages) next(n int) ([]fs.DirEntry, error) {
	for {
		if p.err != nil {
			return nil, p.err
		}
		list, err := p.some(min(n, pullAtOnce))
		if err != nil && !p.began && p.name != "." {
			// The handle of the folder may be out of date.
			p.h.forget(topOf(p.name))
			if p.start() == nil {
				list, err = p.some(min(n, pullAtOnce))
			}
		}
		p.began = true
		if err != nil {
			p.err = err
			return nil, err
		}
		if len(list) > 0 {
			return list, nil
		}
	}
}

// some waits for n steps of the iterator and returns their entries. A step is an object
// with a handle as its value, and a flag for the end. The values are extracted inside the
// browser.
func (p *handlePages) some(n int) ([]fs.DirEntry, error) {
	nat := p.h.n
	promises, err := jsx.Invoke(nat.arrayFrom, map[string]any{"length": n}, p.pull)
	if err != nil {
		return nil, webErr(err)
	}
	steps, err := awaitCall(p.ctx, nat.all, promises)
	if err != nil {
		return nil, err
	}
	parts, err := nat.flatMap.Call(steps, nat.objectValues)
	if err != nil {
		return nil, webErr(err)
	}
	handles, err := nat.filter.Call(parts, nat.isObject)
	if err != nil {
		return nil, webErr(err)
	}
	names, isDir, err := nat.described(handles)
	if err != nil {
		return nil, err
	}
	if len(names) < n {
		p.err = io.EOF
	}
	out := make([]fs.DirEntry, 0, len(names))
	for i, base := range names {
		if !hiddenHere(base) {
			out = append(out, p.h.lineOf(p.ctx, p.name, base, isDir[i]))
		}
	}
	return out, nil
}
