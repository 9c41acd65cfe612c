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

// device is the runner's end of the conversation, as a file.
const device = "/dev/browsertest"

// Available reports whether this test runs in a page of browsertest.
func Available() bool { return os.Getenv("BROWSERTEST_ENGINE") != "" }

// Engine is the browser engine this test runs in: "chromium", "firefox" or
// "webkit"; empty if it does not run in a page of browsertest.
func Engine() string { return os.Getenv("BROWSERTEST_ENGINE") }

// ErrUnsupported is wrapped by the errors of what this engine cannot do.
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

// call asks the runner. When ctx ends, it returns; the runner goes on.
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

// callLimit bounds each call but [Run]'s: a browser that does not answer, to a
// synthetic key press say, fails the test that asked and not the whole binary.
const callLimit = time.Minute

// must is call under the test's context; what fails, fails the test.
func must(t testing.TB, method string, params, result any) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // Cleanup functions call too, when the test's own has ended
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

// CDP runs a command of the Chrome DevTools Protocol on this page, or on the
// browser if the method is in the domain Browser, Target, SystemInfo or Tracing.
// The error of another engine wraps [ErrUnsupported].
func CDP(ctx context.Context, method string, params, result any) error {
	return call(ctx, "cdp", map[string]any{"method": method, "params": params}, result)
}
