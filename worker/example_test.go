package worker_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"testing/fstest"
	"time"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/worker"
)

func Example() {
	ctx := context.Background()
	pool, err := worker.NewPool(ctx, worker.Options{})
	if errors.Is(err, errors.ErrUnsupported) {
		fmt.Println("a pool needs a browser")
		return
	} else if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	wasm, err := os.ReadFile("sha256sum.wasm")
	if err != nil {
		log.Fatal(err)
	}
	module, err := pool.Compile(ctx, wasm)
	if err != nil {
		log.Fatal(err)
	}
	cmd := pool.Command(ctx, module, "sha256sum", "report.pdf")
	cmd.FS = fstest.MapFS{"report.pdf": {Data: []byte("%PDF-2.0")}} // read-only, because it has no write methods
	cmd.Limits.Time = 5 * time.Second
	out, err := cmd.Output()
	var exit *worker.ExitError
	switch {
	case errors.Is(err, protocol.ErrTimeout):
		fmt.Printf("stopped after %v, with %d bytes of output\n", cmd.ProcessState.Stats().Duration, len(out))
	case errors.As(err, &exit):
		fmt.Printf("%v: %s\n", exit, exit.Stderr)
	case err != nil:
		log.Fatal(err)
	default:
		fmt.Printf("%s", out)
	}
}

// Commands can stream into each other. Max must be at least their number.
func ExampleCmd_StdoutPipe() {
	ctx := context.Background()
	var pool *worker.Pool     // from NewPool
	var module *worker.Module // from pool.Compile
	pipeline := func(in io.Reader, out io.Writer) error {
		sort := pool.Command(ctx, module, "sort")
		sort.Stdin = in
		uniq := pool.Command(ctx, module, "uniq", "-c")
		var err error
		if uniq.Stdin, err = sort.StdoutPipe(); err != nil {
			return err
		}
		uniq.Stdout = out
		if err := errors.Join(sort.Start(), uniq.Start()); err != nil {
			return err
		}
		return errors.Join(sort.Wait(), uniq.Wait())
	}
	_ = pipeline
}
