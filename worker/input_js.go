package worker

import (
	"context"
	"io"
	"time"

	"github.com/bailey-go/bailey/protocol"
)

// input decides how much of the input goes along with the start.
func (j *job) input() (err error) {
	in := j.c.Stdin
	if in == nil {
		j.whole = true
		return nil
	}
	if r, ok := in.(interface{ Len() int }); ok && r.Len() <= wholeSize || !j.live {
		j.whole = true
		// Where a program can't wait for input, waiting for all of it is the run's time too.
		j.stdin, err = j.within(func() ([]byte, error) { return io.ReadAll(io.LimitReader(ctxReader{j.ctx, in}, j.limits.Input+1)) })
		if err == nil && int64(len(j.stdin)) > j.limits.Input {
			err = protocol.Errorf(protocol.ErrResourceLimit, "start", "", "standard input has more than %d bytes, and this browser needs all of it before the start", j.limits.Input)
		}
	}
	return err
}

// within gives up on what takes longer than the run may. A Read that hangs is left behind.
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
		return nil, protocol.Errorf(protocol.ErrTimeout, "start", "", timeWords+" before standard input had come to its end, all of which this browser needs before the start", j.limits.Time)
	case <-j.ctx.Done():
		return nil, context.Cause(j.ctx)
	}
}

// ctxReader ends with its context, between reads.
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
