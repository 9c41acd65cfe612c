package runner

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
)

//go:embed page/shim.js page/files.js page/harness.js page/worker.js page/inworker.js
var pageFiles embed.FS

// indexHTML is a test page. It has no inline script, and only the elements that the harness needs,
// so that the test's own headers and DOM are tested.
const indexHTML = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>browsertest</title><link rel="icon" href="data:,">
<script src="%[1]sshim.js?page=%[2]s"></script><script src="%[1]sfiles.js"></script>
<script src="%[1]swasm_exec.js"></script><script src="%[1]sharness.js"></script>
</head><body>%[3]s</body></html>
`

// workerHTML is a test page whose binary runs in a worker.
const workerHTML = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>browsertest</title><link rel="icon" href="data:,">
<script src="%[1]sworker.js?page=%[2]s"></script>
</head><body>%[3]s</body></html>
`

// server serves the test pages and their files on 127.0.0.1.
type server struct {
	token    string
	prefix   string
	wasm     string
	execJS   []byte
	listener net.Listener
	http     *http.Server
	own      *origin

	mu    sync.Mutex
	pages map[string]*testPage
}

// testPage is one page that runs the test binary, from its opening to its end.
type testPage struct {
	id     string
	header map[string]string
	host   string
	html   string
	worker bool // the binary runs in a worker of the page
	argv   []string
	env    map[string]string
	cwd    string
	pid    int
	files  *files
	out    *output

	mu       sync.Mutex
	started  bool // has requested its arguments
	exited   bool
	away     bool // frozen by a test: a lost connection is not an end
	verdict  verdict
	exit     chan exitStatus
	startedC chan struct{}

	// The browser's page, set before opened is closed.
	page   browser.Page
	opened chan struct{}
	// ctx ends with the page.
	ctx    context.Context
	cancel context.CancelFunc
}

type exitStatus struct {
	code int
	// why is empty after an ordinary exit.
	why string
}

// absent sets whether a test has made the page unreachable, as by a freeze.
func (p *testPage) absent(away bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.away = away
}

// close closes the page in the browser.
func (p *testPage) close() {
	p.cancel()
	if p.page != nil {
		p.page.Close()
	}
	p.out.drain()
}

// finish reports the end of the page, once.
func (p *testPage) finish(s exitStatus) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.exited {
		return
	}
	p.exited = true
	p.exit <- s
}

func newServer(goroot, wasm string, rpc func(http.ResponseWriter, *http.Request, *testPage)) (*server, error) {
	execJS, err := os.ReadFile(filepath.Join(goroot, "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return nil, fmt.Errorf("wasm_exec.js of the Go toolchain: %w (set GOROOT to the toolchain that compiled the test)", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{token: rand.Text(), wasm: wasm, execJS: execJS, listener: l, pages: map[string]*testPage{}}
	s.prefix = "/_bt/" + s.token + "/"
	s.own = &origin{url: s.origin(), at: map[string]*endpoint{}}
	mux := http.NewServeMux()
	at := func(pattern string, h func(http.ResponseWriter, *http.Request, *testPage)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			s.mu.Lock()
			p := s.pages[r.URL.Query().Get("page")]
			s.mu.Unlock()
			if p == nil {
				http.Error(w, "no such page", http.StatusNotFound)
				return
			}
			h(w, r, p)
		})
	}
	asset := func(name, kind string, data []byte) {
		mux.HandleFunc("GET "+s.prefix+name, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Write(data)
		})
	}
	for _, name := range []string{"shim.js", "files.js", "harness.js", "worker.js", "inworker.js"} {
		data, _ := pageFiles.ReadFile("page/" + name)
		asset(name, "text/javascript; charset=utf-8", data)
	}
	asset("wasm_exec.js", "text/javascript; charset=utf-8", execJS)
	at("GET "+s.prefix+"page/", s.servePage)
	at("GET "+s.prefix+"test.wasm", func(w http.ResponseWriter, r *http.Request, _ *testPage) {
		w.Header().Set("Content-Type", "application/wasm")
		http.ServeFile(w, r, s.wasm)
	})
	at("GET "+s.prefix+"config", s.serveConfig)
	at("POST "+s.prefix+"out", s.serveOut)
	at("POST "+s.prefix+"exit", s.serveExit)
	at("POST "+s.prefix+"note", s.serveNote)
	at("GET "+s.prefix+"alive", s.serveAlive)
	at("POST "+s.prefix+"rpc", rpc)
	mux.Handle("/", s.own)
	at("POST "+s.prefix+"fs/{op}", func(w http.ResponseWriter, r *http.Request, p *testPage) { p.files.serve(w, r) })
	s.http = &http.Server{Handler: noStore(mux)}
	go s.http.Serve(l)
	return s, nil
}

// noStore returns a handler that adds Cache-Control: no-store, the one header besides Content-Type
// that each answer has.
func noStore(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		h.ServeHTTP(w, r)
	})
}

func (s *server) close() { s.http.Close() }

func (s *server) origin() string { return "http://" + s.listener.Addr().String() }

func (s *server) pageURL(p *testPage) string {
	origin := s.origin()
	if p.host != "" {
		_, port, _ := net.SplitHostPort(s.listener.Addr().String())
		origin = "http://" + net.JoinHostPort(p.host, port)
	}
	return origin + s.prefix + "page/?page=" + p.id
}

func (s *server) add(p *testPage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.id = strconv.Itoa(len(s.pages) + 1)
	s.pages[p.id] = p
}

func (s *server) all() []*testPage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.pages))
}

func (s *server) servePage(w http.ResponseWriter, r *http.Request, p *testPage) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	for k, v := range p.header {
		w.Header().Set(k, v)
	}
	html := indexHTML
	if p.worker {
		html = workerHTML
	}
	fmt.Fprintf(w, html, s.prefix, p.id, p.html)
}

func (s *server) serveConfig(w http.ResponseWriter, r *http.Request, p *testPage) {
	p.mu.Lock()
	again := p.started
	if !again {
		p.started = true
		close(p.startedC)
	}
	p.mu.Unlock()
	if again {
		p.finish(exitStatus{2, "the page was loaded a second time while its test ran: a test must not navigate its own page"})
		http.Error(w, "already running", http.StatusConflict)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"argv": p.argv, "env": p.env, "cwd": p.cwd, "pid": p.pid})
}

func (s *server) serveOut(w http.ResponseWriter, r *http.Request, p *testPage) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return // the page is gone, which serveAlive notices
	}
	q := r.URL.Query()
	seq, _ := strconv.Atoi(q.Get("seq"))
	p.out.add(seq, parseChunk(data))
}

func (s *server) serveExit(w http.ResponseWriter, r *http.Request, p *testPage) {
	q := r.URL.Query()
	code, err := strconv.Atoi(q.Get("code"))
	if err != nil {
		http.Error(w, "code", http.StatusBadRequest)
		return
	}
	seq, _ := strconv.Atoi(q.Get("seq"))
	limit := time.NewTimer(30 * time.Second)
	defer limit.Stop()
	for {
		ok, changed := p.out.reached(seq)
		if ok {
			break
		}
		select {
		case <-changed:
			continue
		case <-limit.C:
		}
		break
	}
	p.finish(exitStatus{code: code})
}

func (s *server) serveNote(w http.ResponseWriter, r *http.Request, p *testPage) {
	data, _ := io.ReadAll(io.LimitReader(r.Body, 1<<16))
	p.note(string(data))
}

// note writes a line about the page to its stderr.
func (p *testPage) note(text string) {
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	fmt.Fprintf(p.out.stderr, "browsertest: %s\n", text)
}

// serveAlive keeps its request open. The request ends with the page.
func (s *server) serveAlive(w http.ResponseWriter, r *http.Request, p *testPage) {
	<-r.Context().Done()
	// A page that ends in order reports that over another connection.
	time.AfterFunc(3*time.Second, func() {
		p.mu.Lock()
		away := p.away
		p.mu.Unlock()
		if away {
			return
		}
		p.finish(exitStatus{2, "the page went away without a word: it navigated, was closed, or its renderer died"})
	})
}
