package runner

import (
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
)

// session is one run of a test binary: a browser, a server and the pages.
type session struct {
	ctx     context.Context
	cancel  context.CancelFunc
	options Options
	server  *server
	origins *origins
	browser browser.Browser
	methods map[string]method
	// writable are the paths that all pages may write.
	writable []string
	argv     []string
	env      map[string]string
	cwd      string
	slots    chan struct{}
	pids     atomic.Int64

	mu     sync.Mutex
	others map[string]browser.Page
}

func newSession(ctx context.Context, o Options, dir, wasm string) (*session, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	tmp := filepath.Join(dir, "tmp")
	for _, d := range []string{tmp, filepath.Join(dir, "browser")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return nil, err
		}
	}
	env := os.Environ()
	s := &session{
		options: o, methods: methods(), others: map[string]browser.Page{}, cwd: cwd,
		slots:    make(chan struct{}, maxOwnPages),
		argv:     append([]string{wasm}, o.Args[1:]...),
		env:      pageEnv(env, tmp, o.Args, o.Stderr),
		writable: append(writable(o.Args[1:], env, cwd), tmp),
	}
	s.pids.Store(int64(os.Getpid()))
	s.ctx, s.cancel = context.WithCancel(ctx)
	if s.server, err = newServer(goroot(), wasm, s.serveRPC); err != nil {
		s.close()
		return nil, err
	}
	s.origins = newOrigins(s.server.own)
	o.Browser.Dir = filepath.Join(dir, "browser")
	if o.Browser.Engine == "" || o.Browser.Engine == browser.Chromium {
		o.Browser.Args = slices.Concat(browser.NoSpare, o.Browser.Args)
	}
	o.Browser.Preferences = s.writeGrant(o.Browser.Preferences)
	if s.browser, err = browser.Start(ctx, o.Browser); err != nil {
		s.close()
		return nil, err
	}
	s.env["BROWSERTEST_ENGINE"] = string(s.browser.Engine())
	return s, nil
}

// writeGrant lets pages of the runner's own origin on 127.0.0.1 write into folders that are dropped
// on them, because a headless Chromium cannot ask. A page of "localhost" still needs permission. If
// the preferences already contain "profile", it adds nothing.
func (s *session) writeGrant(prefs map[string]any) map[string]any {
	out := maps.Clone(prefs)
	if out == nil {
		out = map[string]any{}
	}
	if out["profile"] == nil {
		out["profile"] = map[string]any{"content_settings": map[string]any{"exceptions": map[string]any{
			"file_system_write_guard": map[string]any{s.server.own.url + ",*": map[string]any{"setting": 1}}}}}
	}
	return out
}

// newPage returns a page that is to run the binary with go test's arguments.
func (s *session) newPage(stdout, stderr io.Writer) *testPage {
	p := &testPage{
		worker: s.options.Worker,
		argv:   s.argv, env: maps.Clone(s.env), cwd: s.cwd, pid: int(s.pids.Add(1) - 1), files: newFiles(s.writable),
		out:  newOutput(stdout, stderr),
		exit: make(chan exitStatus, 1), startedC: make(chan struct{}), opened: make(chan struct{}),
	}
	p.ctx, p.cancel = context.WithCancel(s.ctx)
	s.server.add(p)
	return p
}

// open opens the page in the browser, which starts the program.
func (s *session) open(ctx context.Context, p *testPage) error {
	pg, err := s.browser.Open(ctx, s.server.pageURL(p), p.events(s.options.Console))
	if err != nil {
		return err
	}
	p.page = pg
	close(p.opened)
	return nil
}

func (s *session) close() {
	s.cancel()
	if s.browser != nil {
		s.browser.Close()
	}
	if s.server != nil {
		s.server.close()
	}
	if s.origins != nil {
		s.origins.closeAll()
	}
	if s.server != nil {
		for _, p := range s.server.all() {
			p.files.close()
		}
	}
}
