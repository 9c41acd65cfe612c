package worker

import (
	"io"
	"sync"
)

// pipeSize is how many bytes a pipe holds: enough that who reads takes much at once, and
// does not come back for every line that the program before it writes.
const pipeSize = 256 << 10

// pipe is a bounded buffer between one who writes and one who reads, as a pipe of the
// system's is. io.Pipe has none: there each Write waits for its Read.
type pipe struct {
	mu     sync.Mutex
	change sync.Cond
	ring   []byte
	at, n  int  // where the n bytes that it holds begin
	ended  bool // nobody writes any more
	gone   bool // nobody reads any more
}

func newPipe() *pipe {
	p := &pipe{}
	p.change.L = &p.mu
	return p
}

// write waits for room until all of b is in, or the other end is closed.
func (p *pipe) write(b []byte) (done int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if p.gone || p.ended {
			return done, io.ErrClosedPipe
		}
		if done == len(b) {
			return done, nil
		}
		if p.n == pipeSize {
			p.change.Wait()
			continue
		}
		if p.ring == nil {
			p.ring = make([]byte, pipeSize)
		}
		end := (p.at + p.n) % pipeSize
		k := copy(p.ring[end:min(pipeSize, end+pipeSize-p.n)], b[done:])
		p.n += k
		done += k
		p.change.Broadcast()
	}
}

// read waits for something, and takes what there is.
func (p *pipe) read(b []byte) (done int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.n == 0 && len(b) > 0 {
		switch {
		case p.gone:
			return 0, io.ErrClosedPipe
		case p.ended:
			return 0, io.EOF
		}
		p.change.Wait()
	}
	for done < len(b) && p.n > 0 {
		k := copy(b[done:], p.ring[p.at:min(pipeSize, p.at+p.n)])
		p.at, p.n = (p.at+k)%pipeSize, p.n-k
		done += k
	}
	p.change.Broadcast()
	return done, nil
}

// pipeReader and pipeWriter are the ends. What was written can be read after the writer's
// end is closed; with the reader's it is gone.
type pipeReader struct{ p *pipe }
type pipeWriter struct{ p *pipe }

func (r *pipeReader) Read(b []byte) (int, error)  { return r.p.read(b) }
func (w *pipeWriter) Write(b []byte) (int, error) { return w.p.write(b) }

func (r *pipeReader) Close() error {
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	r.p.gone, r.p.n, r.p.ring = true, 0, nil
	r.p.change.Broadcast()
	return nil
}

func (w *pipeWriter) Close() error {
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	w.p.ended = true
	w.p.change.Broadcast()
	return nil
}
