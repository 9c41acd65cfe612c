package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
)

// Options describe a browser. The zero value is a quiet headless Chromium with a window of 1280 by
// 800 pixels.
type Options struct {
	// Path is Chromium's executable. The default is the result of browser.Find.
	Path string
	// Width and Height are the size of the window in pixels. Both must be set.
	Width, Height int
	// NetLog records the browser's network log for Browser.NetLog.
	NetLog bool
	// WriteGrants are origins, such as "http://127.0.0.1:8080", whose pages may write into dropped
	// folders, and reopen the folders of earlier visits, without a question.
	WriteGrants []string
	// Preferences are further settings of the profile. They can turn on Safe Browsing, which is off
	// by default, because it sends requests to its maker about dangerous files that a page writes.
	Preferences map[string]any
	// Args are further command-line arguments. They come after those of the environment variable
	// BROWSERTEST_ARGS, so they win.
	Args []string
	// Logf, if not nil, receives each line that the browser prints, and messages of its driver.
	Logf func(format string, args ...any)
}

// Browser is a running Chromium.
type Browser struct {
	chromium *browser.ChromiumBrowser
	dir      string
	temp     *browser.Dir
	netlog   string
	once     sync.Once
	err      error
}

// Launch starts a browser. It ends with Close, with ctx, or with this process.
func Launch(ctx context.Context, o Options) (*Browser, error) {
	dir, err := browser.TempDir()
	if err != nil {
		return nil, err
	}
	b := &Browser{dir: dir.Path, temp: dir}
	prefs := map[string]any{"safebrowsing": map[string]any{"enabled": false}}
	for k, v := range o.Preferences {
		prefs[k] = v
	}
	if len(o.WriteGrants) > 0 {
		guard := map[string]any{}
		for _, origin := range o.WriteGrants {
			guard[origin+",*"] = map[string]any{"setting": 1}
		}
		for _, kind := range []string{"file_system_read_guard", "file_system_write_guard"} {
			if err := put(prefs, guard, "profile", "content_settings", "exceptions", kind); err != nil {
				dir.Close()
				return nil, err
			}
		}
	}
	args := slices.Concat(browser.NoSpare, strings.Fields(os.Getenv("BROWSERTEST_ARGS")), o.Args)
	if o.Width > 0 && o.Height > 0 {
		args = append(args, fmt.Sprintf("--window-size=%d,%d", o.Width, o.Height))
	}
	if o.NetLog {
		b.netlog = filepath.Join(b.dir, "netlog.json")
		args = append(args, "--log-net-log="+b.netlog, "--net-log-capture-mode=Default")
	}
	br, err := browser.Start(ctx, browser.Options{Path: o.Path, Dir: b.dir, Args: args, Preferences: prefs, Logf: o.Logf})
	if err != nil {
		dir.Close()
		return nil, err
	}
	b.chromium = br.(*browser.ChromiumBrowser)
	context.AfterFunc(ctx, func() { b.Close() })
	return b, nil
}

// put sets a value in a tree of maps, and makes the missing maps. It returns an error if a value on
// the path is not a map.
func put(tree map[string]any, value any, path ...string) error {
	for _, k := range path[:len(path)-1] {
		next, ok := tree[k].(map[string]any)
		if !ok {
			if tree[k] != nil {
				return fmt.Errorf("e2e: preference %q is not an object", k)
			}
			next = map[string]any{}
			tree[k] = next
		}
		tree = next
	}
	tree[path[len(path)-1]] = value
	return nil
}

// Private returns a browser in b's processes with storage and permissions of its own, like a private
// window. It ends with Close, with ctx, or with b. It has no network log.
func (b *Browser) Private(ctx context.Context) (*Browser, error) {
	c, err := b.chromium.Private(ctx)
	if err != nil {
		return nil, err
	}
	return &Browser{chromium: c}, nil
}

// Empty closes the pages of a Private browser, deletes what the origins have stored, and takes back
// all permissions. Then it serves like a new one, but the programs that its pages load again are
// compiled already.
func (b *Browser) Empty(ctx context.Context, origins ...string) error {
	return b.chromium.Empty(ctx, origins...)
}

// Version returns the browser's name and version.
func (b *Browser) Version() string { return b.chromium.Version() }

// Chromium returns the browser itself, for features that this package does not have.
func (b *Browser) Chromium() *browser.ChromiumBrowser { return b.chromium }

// Close ends the browser and removes its profile. It may be called again. The network log stays in
// memory.
func (b *Browser) Close() error {
	b.once.Do(func() {
		b.err = b.chromium.Close()
		if b.netlog != "" {
			data, err := os.ReadFile(b.netlog)
			if err != nil {
				b.err = errors.Join(b.err, err)
			}
			b.netlog = string(data)
		}
		if b.temp != nil {
			b.err = errors.Join(b.err, b.temp.Close())
		}
	})
	return b.err
}

// Grant gives an origin permissions by their DevTools names, such as "clipboardReadWrite" or
// "notifications".
func (b *Browser) Grant(ctx context.Context, origin string, permissions ...string) error {
	return b.chromium.Grant(ctx, origin, permissions)
}

// Targets returns the browser's pages, frames with a process of their own, and workers.
func (b *Browser) Targets(ctx context.Context) ([]browser.Target, error) {
	return b.chromium.Targets(ctx)
}

// Processes returns the browser's processes with their memory. It works only on Linux.
func (b *Browser) Processes() ([]browser.Process, error) {
	return browser.Processes(b.chromium.PID())
}
