package worker

import (
	"io"
	"sync"
)

// pipeSize is the capacity of a pipe in bytes. It is large enough that the reader takes much at
// once, and not each line that the program before it writes.
const pipeSize = 256 << 10

// pipe is a bounded buffer between a writer and a reader, like a pipe of an operating system.
// io.Pipe has no buffer: each of its Writes waits for a Read.
type pipe struct {
	mu     sync.Mutex
	change sync.Cond
	ring   []byte
	at, n  int  // the n buffered bytes begin at ring[at]
	ended  bool // the writing end is closed
	gone   bool // the reading end is closed
}

func newPipe() *pipe {
	p := &pipe{}
	p.change.L = &p.mu
	return p
}

// write waits for room until all of b is buffered. It returns [io.ErrClosedPipe] if an end is
// closed.
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

// read waits for data and returns as much as is buffered. It returns [io.EOF] after the writing
// end was closed and all data has been read.
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

// pipeReader and pipeWriter are the ends of a pipe. Closing the writer keeps the buffered data
// for the reader. Closing the reader discards it.
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
