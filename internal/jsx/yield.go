package jsx

import (
	"context"
	"io"
	"time"
)

// Slice is how long work may use the host's thread before it must yield to the browser: half a
// frame at 60 Hz.
const Slice = 8 * time.Millisecond

// Yield lets the browser's event loop run once: input, messages, rendering. It returns ctx's error
// if ctx is done. Do not call it in a callback.
func Yield(ctx context.Context) error { return yield(ctx) }

// A Budget divides long work on the host's thread into slices. The zero value is a budget of
// [Slice] that starts with the first Spend.
type Budget struct {
	Slice time.Duration // 0 for the constant Slice
	start time.Time
	steps int
}

// stretch is the number of steps between two reads of the clock.
const stretch = 16 << 10

// Steps counts n steps of work, of at most about 0.1 µs each in a browser. It calls [Budget.Spend]
// once after each 16,384 of them.
func (b *Budget) Steps(ctx context.Context, n int) error {
	if b.steps += n; b.steps < stretch {
		return nil
	}
	b.steps = 0
	return b.Spend(ctx)
}

// Spend is called between steps of the work. It yields if the slice is used up, and returns ctx's
// error if ctx is done. A call within the slice costs one read of the clock.
func (b *Budget) Spend(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return contextError(ctx)
	}
	slice := b.Slice
	if slice <= 0 {
		slice = Slice
	}
	now := time.Now()
	if b.start.IsZero() {
		b.start = now
		return nil
	}
	if now.Sub(b.start) < slice {
		return nil
	}
	err := Yield(ctx)
	b.start = time.Now()
	return err
}

// WriteIn writes data to w in pieces of 64 KiB, with a [Budget.Spend] before each.
func WriteIn[T ~string | ~[]byte](ctx context.Context, b *Budget, w io.Writer, data T) error {
	for len(data) > 0 {
		if err := b.Spend(ctx); err != nil {
			return err
		}
		n := min(len(data), 64<<10)
		if _, err := w.Write([]byte(data[:n])); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// Over reports whether the slice is used up, for work that stops in its own way.
func (b *Budget) Over() bool {
	slice := b.Slice
	if slice <= 0 {
		slice = Slice
	}
	if b.start.IsZero() {
		b.start = time.Now()
		return false
	}
	return time.Since(b.start) >= slice
}
