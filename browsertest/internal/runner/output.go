package runner

import (
	"encoding/binary"
	"io"
	"sync"
)

// output writes the chunks of a page in their order. They may overtake one another on their way.
type output struct {
	mu      sync.Mutex
	next    int
	held    map[int]chunk
	changed chan struct{}
	stdout  io.Writer
	stderr  io.Writer
}

// chunk is the content of one request: writes, in order.
type chunk []write

type write struct {
	fd   int
	data []byte
}

// parseChunk returns the writes in a request's body. Each has its descriptor (1 byte), its length
// (4 bytes, little-endian) and its data. An incomplete write is dropped.
func parseChunk(body []byte) chunk {
	var c chunk
	for len(body) >= 5 {
		n := uint64(binary.LittleEndian.Uint32(body[1:5]))
		fd := int(body[0])
		body = body[5:]
		if n > uint64(len(body)) {
			break
		}
		c = append(c, write{fd, body[:n]})
		body = body[n:]
	}
	return c
}

func newOutput(stdout, stderr io.Writer) *output {
	return &output{held: map[int]chunk{}, changed: make(chan struct{}), stdout: stdout, stderr: stderr}
}

func (o *output) add(seq int, c chunk) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if seq < o.next {
		return
	}
	o.held[seq] = c
	for {
		c, ok := o.held[o.next]
		if !ok {
			break
		}
		delete(o.held, o.next)
		o.next++
		o.write(c)
	}
	close(o.changed)
	o.changed = make(chan struct{})
}

func (o *output) write(c chunk) {
	for _, w := range c {
		if w.fd == 2 {
			o.stderr.Write(w.data)
		} else {
			o.stdout.Write(w.data)
		}
	}
}

// drain writes the chunks that wait for one that never came.
func (o *output) drain() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.held) > 0 {
		if c, ok := o.held[o.next]; ok {
			delete(o.held, o.next)
			o.write(c)
		}
		o.next++
	}
}

// reached reports whether all chunks below seq were written. It also returns a channel that is
// closed when that may have changed.
func (o *output) reached(seq int) (bool, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.next >= seq, o.changed
}
