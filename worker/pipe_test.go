package worker

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"
)

// Data comes out as it went in, in pieces of all sizes, and across the end of the ring buffer.
func TestPipeCarries(t *testing.T) {
	p := newPipe()
	r, w := &pipeReader{p}, &pipeWriter{p}
	want := make([]byte, 5*pipeSize+13)
	for i := range want {
		want[i] = byte(i * 7 >> 3)
	}
	go func() {
		rnd := rand.New(rand.NewPCG(1, 2))
		for b := want; len(b) > 0; {
			n := min(len(b), rnd.IntN(2*pipeSize))
			if k, err := w.Write(b[:n]); k != n || err != nil {
				t.Errorf("%d of %d: %v", k, n, err)
			}
			b = b[n:]
		}
		w.Close()
	}()
	var got []byte
	buf, rnd := make([]byte, pipeSize), rand.New(rand.NewPCG(3, 4))
	for {
		n, err := r.Read(buf[:1+rnd.IntN(len(buf)-1)])
		got = append(got, buf[:n]...)
		if err != nil {
			if err != io.EOF {
				t.Error(err)
			}
			break
		}
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes, want %d, or others", len(got), len(want))
	}
}

// A pipe holds pipeSize bytes. The next byte waits for a Read.
func TestPipeIsBounded(t *testing.T) {
	for _, n := range []int{pipeSize - 1, pipeSize, pipeSize + 1} {
		p := newPipe()
		r, w := &pipeReader{p}, &pipeWriter{p}
		done := make(chan error, 1)
		go func() {
			_, err := w.Write(make([]byte, n))
			done <- err
		}()
		if n <= pipeSize {
			if err := <-done; err != nil {
				t.Errorf("%d: %v", n, err)
			}
			continue
		}
		for held := 0; held < pipeSize; {
			runtime.Gosched()
			p.mu.Lock()
			held = p.n
			p.mu.Unlock()
			select {
			case <-done:
				t.Fatalf("%d bytes went in, the limit is %d", n, pipeSize)
			default:
			}
		}
		if _, err := r.Read(make([]byte, 1)); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestPipeEnds(t *testing.T) {
	p := newPipe()
	r, w := &pipeReader{p}, &pipeWriter{p}
	_, _ = w.Write([]byte("left"))
	w.Close()
	if b, err := io.ReadAll(r); string(b) != "left" || err != nil {
		t.Errorf("%q %v", b, err)
	}
	if _, err := w.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("written after the end: %v", err)
	}
	p = newPipe()
	r, w = &pipeReader{p}, &pipeWriter{p}
	done := make(chan error)
	go func() {
		_, err := w.Write(make([]byte, pipeSize+1))
		done <- err
	}()
	r.Close()
	if err := <-done; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("nobody reads: %v", err)
	}
	if _, err := r.Read(make([]byte, 1)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("read after Close: %v", err)
	}
}
