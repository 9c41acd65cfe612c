package testpage

import (
	"context"
	"testing"
)

// Drop drags files and folders of this machine, such as one below os.TempDir(), from outside the
// browser to the middle of the first element that the CSS selector finds. Pages of 127.0.0.1 may
// write to the dropped folder. Pages of "localhost" ([Page].Host) would have to ask. Chromium only.
func Drop(t testing.TB, selector string, paths ...string) {
	t.Helper()
	must(t, "drop", map[string]any{"selector": selector, "paths": paths}, nil)
}

// SetFiles chooses files of this machine for an <input type=file>. Chromium also accepts one folder
// for an input with webkitdirectory. If an engine reports that it does not support this, the error
// wraps [ErrUnsupported].
func SetFiles(ctx context.Context, selector string, paths ...string) error {
	return call(ctx, "setfiles", map[string]any{"selector": selector, "paths": paths}, nil)
}
