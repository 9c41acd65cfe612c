package testpage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
	"time"
)

// device is the file for messages to the runner.
const device = "/dev/browsertest"

// Available reports whether this test runs in a page of browsertest.
func Available() bool { return os.Getenv("BROWSERTEST_ENGINE") != "" }

// Engine returns the browser engine that this test runs in: "chromium", "firefox" or "webkit". It
// returns "" outside of a page of browsertest.
func Engine() string { return os.Getenv("BROWSERTEST_ENGINE") }

// ErrUnsupported is wrapped by the errors for actions that this engine cannot do.
var ErrUnsupported = errors.ErrUnsupported

type request struct {
	Method string `json:"method"`
	Params any    `json:"params,omitempty"`
}

type response struct {
	Result      json.RawMessage `json:"result"`
	Error       string          `json:"error"`
	Unsupported bool            `json:"unsupported"`
}

// call sends a request to the runner. If ctx ends, call returns, but the runner continues.
func call(ctx context.Context, method string, params, result any) error {
	if !Available() {
		return fmt.Errorf("testpage: %s: not in a page of browsertest: run with GOOS=js GOARCH=wasm go test -exec browsertest", method)
	}
	type reply struct {
		data []byte
		err  error
	}
	done := make(chan reply, 1)
	go func() {
		data, err := exchange(request{method, params})
		done <- reply{data, err}
	}()
	var r reply
	select {
	case r = <-done:
	case <-ctx.Done():
		return fmt.Errorf("testpage: %s: %w", method, ctx.Err())
	}
	if r.err != nil {
		return fmt.Errorf("testpage: %s: %w", method, r.err)
	}
	var resp response
	if err := json.Unmarshal(r.data, &resp); err != nil {
		return fmt.Errorf("testpage: %s: %w (the runner is older than this package?)", method, err)
	}
	if resp.Unsupported {
		return fmt.Errorf("testpage: %s: %s: %w", method, resp.Error, ErrUnsupported)
	}
	if resp.Error != "" {
		return fmt.Errorf("testpage: %s: %s", method, resp.Error)
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(resp.Result, result)
}

func exchange(req request) ([]byte, error) {
	data, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(device, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}

// callLimit is the time limit of each call except [Run]'s. A browser that does not respond, for
// example to a synthetic key press, fails this test and not the whole binary.
const callLimit = time.Minute

// must is call under the test's context. An error fails the test, and [ErrUnsupported] skips it.
func must(t testing.TB, method string, params, result any) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // for Cleanup functions, which run when the test's own context has ended
	if method != "run" {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, callLimit)
		defer cancel()
	}
	if err := call(ctx, method, params, result); err != nil {
		if errors.Is(err, ErrUnsupported) {
			t.Skip(err)
		}
		t.Fatal(err)
	}
}

// CDP runs a command of the Chrome DevTools Protocol on this page, or on the browser if the method
// is in the domain Browser, Target, SystemInfo or Tracing. On another engine the error wraps
// [ErrUnsupported].
func CDP(ctx context.Context, method string, params, result any) error {
	return call(ctx, "cdp", map[string]any{"method": method, "params": params}, result)
}
