package fsaccess

import (
	"context"
	"errors"
	"io/fs"
)

// A journaled write is two writes and a read, one after the other. A browser does each in
// another process, with several messages, and most of these can run at the same time. So
// the record's file is opened, and the new content written to a swap file, while the old
// content is read. Only two steps stay in order, which is enough for safety: the record is
// closed, and therefore stored, before the new content replaces the old one.

// pending is a replacement that is being prepared in another goroutine.
type pending struct {
	done chan struct{}
	r    replacement
	err  error
}

func begin(prepare func() (replacement, error)) *pending {
	p := &pending{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.r, p.err = prepare()
	}()
	return p
}

// wait returns the replacement when it is prepared.
func (p *pending) wait() (replacement, error) {
	<-p.done
	return p.r, p.err
}

// abort drops a replacement that is not committed. On a nil pending it does nothing.
func (p *pending) abort() {
	if p == nil {
		return
	}
	if r, _ := p.wait(); r != nil {
		r.abort()
	}
}

// filled returns a replacement after writing its whole content. If the write fails, it
// aborts the replacement.
func filled(r replacement, err error, data []byte) (replacement, error) {
	if err != nil {
		return nil, err
	}
	if _, err := r.Write(data); err != nil {
		r.abort()
		return nil, err
	}
	return r, nil
}

// newBeginner is a core with a short way to begin a file that is known not to exist. Before
// the commit, the file may be visible and empty.
type newBeginner interface {
	beginNew(ctx context.Context, name string) (replacement, error)
}

// readReplacer is a core that reads a file of at most max bytes while it writes the next
// content to a swap file. A file that does not exist is not made.
type readReplacer interface {
	readReplace(ctx context.Context, name string, data []byte, max int64) (fs.FileInfo, []byte, *pending, error)
}

// committer is a replacement that can take its whole content during the commit.
type committer interface {
	commitWith(ctx context.Context, data []byte) error
}

// overlapper is a core in which preparing a replacement takes time, runs in another
// process, and changes nothing if the file exists.
type overlapper interface{ overlaps() bool }

// begun is the knowledge at the beginning of a write: the state before, the content if it
// had to be read anyway, and the prepared next content, if any.
type begun struct {
	before state
	data   []byte
	swap   *pending
}

func (j *journal) beginWrite(ctx context.Context, name string, data []byte, perm fs.FileMode) (b begun, err error) {
	if c, ok := j.core.(readReplacer); ok {
		var fi fs.FileInfo
		fi, b.data, b.swap, err = c.readReplace(ctx, name, data, inlineMax)
		if notExist(err) || errors.Is(err, errNotDir) {
			return begun{}, nil
		}
		if err == nil {
			b.before, b.data, err = j.stateOf(ctx, name, fi, b.data, true)
		}
		return b, err
	}
	if b.before, b.data, err = j.lookRead(ctx, name); err != nil {
		return b, err
	}
	if o, ok := j.core.(overlapper); ok && b.before.file() && o.overlaps() {
		b.swap = begin(func() (replacement, error) {
			r, err := j.core.replace(ctx, name, perm)
			return filled(r, err, data)
		})
	}
	return b, nil
}

func (j *journal) writeFile(ctx context.Context, name string, data []byte, perm fs.FileMode) error {
	name, err := j.spelling(ctx, name)
	if err != nil {
		return err
	}
	leave, err := j.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	ahead := j.store.ahead(ctx, j.last()+1)
	defer ahead.abort()
	b, err := j.beginWrite(ctx, name, data, perm)
	defer b.swap.abort()
	if err != nil {
		return err
	}
	act := func() error {
		ctx := context.WithoutCancel(ctx)
		if b.swap == nil {
			return writeWhole(ctx, j.core, name, data, perm)
		}
		r, err := b.swap.wait()
		if err != nil {
			return err
		}
		return r.commit(ctx)
	}
	r, err := j.putRecord(ctx, "write", name, b.before, b.data, fileState(data, perm))
	switch {
	case err != nil:
		return err
	case r == nil:
		return act() // the content is the same, so there is nothing to undo
	}
	r.ahead = ahead
	return j.changeLocked(ctx, r, act)
}

func fileState(data []byte, perm fs.FileMode) state {
	return state{"file", hashOf(data), int64(len(data)), permOf(perm)}
}
