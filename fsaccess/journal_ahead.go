package fsaccess

import (
	"context"
	"errors"
	"io/fs"
)

// A journaled write is two writes and a read, one after the other. A browser
// does each in another process, with several questions and answers, of which
// most can be under way at once: the record's file is opened and the new content
// put aside while the old content is read. Two steps stay in order, and they are
// all that safety needs: the record is closed, and so there, before the new
// content takes the old one's place.

// pending is a replacement that is being prepared.
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

// wait gives the replacement once it is prepared.
func (p *pending) wait() (replacement, error) {
	<-p.done
	return p.r, p.err
}

// abort gives up what was begun, if it is not committed. A nil pending has none.
func (p *pending) abort() {
	if p == nil {
		return
	}
	if r, _ := p.wait(); r != nil {
		r.abort()
	}
}

// filled is a replacement that has its whole content; whatever fails aborts it.
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

// newBeginner is a core with a short way to begin a file that is known not to
// be there. It may be seen, empty, before it is committed.
type newBeginner interface {
	beginNew(ctx context.Context, name string) (replacement, error)
}

// readReplacer is a core that reads a file, if it is not larger than max, while
// it puts the next content aside. What is not there is not made.
type readReplacer interface {
	readReplace(ctx context.Context, name string, data []byte, max int64) (fs.FileInfo, []byte, *pending, error)
}

// committer is a replacement that can take its whole content as it is committed.
type committer interface {
	commitWith(ctx context.Context, data []byte) error
}

// overlapper is a core in which preparing a replacement takes time, is done
// elsewhere, and changes nothing if the file is there.
type overlapper interface{ overlaps() bool }

// begun is what is known when a write begins: what was there, its content if it
// had to be read anyway, and the next content, if it is being put aside.
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
		return act() // the same bytes: nothing to take back
	}
	r.ahead = ahead
	return j.changeLocked(ctx, r, act)
}

func fileState(data []byte, perm fs.FileMode) state {
	return state{"file", hashOf(data), int64(len(data)), permOf(perm)}
}
