// Package printed limits what a program prints on its standard output and error together.
package printed

import (
	"errors"
	"io"
	"sync"
)

// ErrLimit is the error of a write over the limit.
var ErrLimit = errors.New("too much output")

// Output counts what a program prints. Over the limit it ends the program.
type Output struct {
	mu   sync.Mutex
	room int64
	end  func()
}

// New returns an output of at most limit bytes. It calls end at the first write over the limit, and at each later one.
func New(limit int64, end func()) *Output { return &Output{room: limit, end: end} }

// To returns one of the program's streams, which is written to w. A nil w discards it.
func (o *Output) To(w io.Writer) io.Writer {
	if w == nil {
		w = io.Discard
	}
	return &stream{o, w}
}

type stream struct {
	o *Output
	w io.Writer
}

func (s *stream) Write(p []byte) (int, error) {
	s.o.mu.Lock()
	defer s.o.mu.Unlock()
	if int64(len(p)) > s.o.room {
		n, _ := s.w.Write(p[:s.o.room])
		s.o.room -= int64(n)
		s.o.end()
		return n, ErrLimit
	}
	s.o.room -= int64(len(p))
	return s.w.Write(p)
}
