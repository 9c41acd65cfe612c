package worker

import (
	"context"
	"io"
	"time"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/protocol"
)

// input decides how much of the input is sent together with the start.
func (j *job) input() (err error) {
	in := j.c.Stdin
	if in == nil {
		j.whole = true
		return nil
	}
	if r, ok := in.(interface{ Len() int }); ok && r.Len() <= wholeSize || !j.live {
		j.whole = true
		// If the program can't wait for input, reading all of it counts as time of the run.
		j.stdin, err = j.within(func() ([]byte, error) { return io.ReadAll(io.LimitReader(ctxReader{j.ctx, in}, j.limits.Input+1)) })
		if err == nil && int64(len(j.stdin)) > j.limits.Input {
			err = protocol.Errorf(protocol.ErrResourceLimit, "start", "", "standard input has more than %d bytes, and this browser needs all of it before the start", j.limits.Input)
		}
	}
	return err
}

// within returns the result of fn, or an error after the run's time limit. A Read that hangs is
// abandoned.
func (j *job) within(fn func() ([]byte, error)) (b []byte, err error) {
	done := make(chan struct{})
	var read []byte
	var failed error
	go func() {
		defer close(done)
		read, failed = fn()
	}()
	timer := time.NewTimer(j.limits.Time)
	defer timer.Stop()
	select {
	case <-done:
		return read, failed
	case <-timer.C:
		return nil, protocol.Errorf(protocol.ErrTimeout, "start", "", "%s before standard input ended; this browser needs all of it before the start", frame.TimeText(j.limits.Time))
	case <-j.ctx.Done():
		return nil, context.Cause(j.ctx)
	}
}

// ctxReader returns the context's error once the context has ended. It does not interrupt a
// Read.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (r ctxReader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(b)
}
