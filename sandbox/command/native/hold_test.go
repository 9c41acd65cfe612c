package native_test

import (
	"bytes"
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailey-go/bailey/internal/stopclock"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/command/native"
)

// A program waits for another command of a pipeline, which asks a person. That takes none of the program's time. An input
// that is only slow does.
func TestProgramWaitsForAPerson(t *testing.T) {
	for name, asks := range map[string]bool{"a question": true, "a slow input": false} {
		synctest.Test(t, func(t *testing.T) {
			r := with(t, native.Options{Time: time.Second})
			ctx, call := stopclock.Start(t.Context(), stopclock.Options{Limit: time.Minute, Cause: context.DeadlineExceeded})
			defer call.Stop()
			in, other := io.Pipe()
			go func() {
				release := func() {}
				if asks {
					release = stopclock.Hold(ctx)
				}
				<-time.After(30 * time.Second)
				release()
				_, _ = other.Write([]byte("a\n"))
				_ = other.Close()
			}()
			var out bytes.Buffer
			exit, err := r.RunCommand(ctx, sandbox.Command{Name: "awk", Args: []string{"{ print $1 $1 }"}, Stdin: in, Stdout: &out})
			if asks && (err != nil || exit != 0 || out.String() != "aa\n") || !asks && protocol.CodeOf(err) != protocol.ErrTimeout {
				t.Errorf("%s: %d %v %q", name, exit, err, out.String())
			}
			_ = in.Close()
			synctest.Wait()
		})
	}
}
