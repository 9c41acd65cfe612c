package interp

import (
	"context"
	"io"
)

// stdinFile is the runner's standard input.
type stdinFile = io.ReadCloser

// newPipe returns a pipe in memory. It is closed when ctx ends, so that neither end waits
// any longer.
func newPipe(ctx context.Context) (*io.PipeReader, *pipeWriter) {
	pr, pw := io.Pipe()
	stop := context.AfterFunc(ctx, func() { pr.CloseWithError(context.Cause(ctx)) })
	return pr, &pipeWriter{PipeWriter: pw, stop: stop}
}

type pipeWriter struct {
	*io.PipeWriter
	stop func() bool
}

func (w *pipeWriter) Close() error { return w.PipeWriter.Close() }

func newStdinFile(r io.Reader) stdinFile {
	switch r := r.(type) {
	case nil:
		return nil
	case io.ReadCloser:
		return r
	default:
		return io.NopCloser(r)
	}
}
