package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/until"
)

// devSite is a server of pages in a module of its own, with a client that reads its events.
type devSite struct {
	*httptest.Server
	t   *testing.T
	dir string
	dev *devServer
}

const devMain = "package main\n\nimport _ \"embed\"\n\n//go:embed note.txt\nvar note string\n\nfunc main() { println(note, word()) }\n"

func newDevSite(t *testing.T, args ...string) *devSite {
	t.Helper()
	dir := t.TempDir()
	s := &devSite{t: t, dir: dir}
	s.write("go.mod", "module example.com/app\n\ngo 1.26\n")
	s.write("main.go", devMain)
	s.write("word.go", "package main\n\nfunc word() string { return \"one\" }\n")
	s.write("note.txt", "a note")
	s.write("web/index.html", "<!doctype html><script src=bailey.js data-wasm=main.wasm></script>")
	s.write("web/style.css", "p {}")
	if len(args) == 0 {
		args = []string{dir}
	}
	for i, a := range args {
		args[i] = strings.ReplaceAll(a, "DIR", dir)
	}
	s.open(filepath.Join(dir, ".out"), args...)
	return s
}

func (s *devSite) open(out string, args ...string) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	pages, err := devPages(args, out, buildOptions{name: "main"})
	if err != nil {
		s.t.Fatal(err)
	}
	s.dev = &devServer{ctx: ctx, log: s.t.Output(), pages: pages, building: make(chan struct{}, 2)}
	if err := s.dev.open(out, false); err != nil {
		s.t.Fatal(err)
	}
	s.Server = httptest.NewServer(s.dev)
	s.t.Cleanup(func() {
		cancel()
		s.Close()
		for _, p := range pages { // a build in progress writes to the folder
			p.mu.Lock()
			ended := p.ended
			p.mu.Unlock()
			if ended != nil {
				<-ended
			}
		}
		s.dev.Close()
	})
}

func (s *devSite) write(name, text string) {
	s.t.Helper()
	name = filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := writeFile(name, []byte(text)); err != nil {
		s.t.Fatal(err)
	}
}

// get returns the status and the body of a file of the page, or of a document.
func (s *devSite) get(path string, document bool) (int, string) {
	s.t.Helper()
	r, err := http.NewRequest("GET", s.URL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if document {
		r.Header.Set("Accept", "text/html")
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, string(data)
}

// events returns a function that returns the next state for which ok returns true.
func (s *devSite) events(page string) func(ok func(devState) bool) devState {
	s.t.Helper()
	res, err := http.Get(s.URL + "/.dev/events?page=" + page)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
		s.t.Fatal(res.Status)
	}
	lines := bufio.NewScanner(res.Body)
	return func(ok func(devState) bool) devState {
		s.t.Helper()
		for lines.Scan() {
			data, found := strings.CutPrefix(lines.Text(), "data: ")
			if !found {
				continue
			}
			var state devState
			if err := json.Unmarshal([]byte(data), &state); err != nil {
				s.t.Fatal(err)
			}
			if ok(state) {
				return state
			}
		}
		s.t.Fatal("the stream of events ended")
		return devState{}
	}
}

func is(state string) func(devState) bool {
	return func(s devState) bool { return s.State == state }
}

// The first request for a document starts the build. Each change of a Go file, an embedded file, a
// file of the page or the headers makes another version. An error names its file and line.
func TestDevBuildsAfterEachChange(t *testing.T) {
	s := newDevSite(t)
	if code, body := s.get("/", true); code != 200 || !strings.Contains(body, "/.dev/wait.js?page=/") {
		t.Fatalf("the first document: %d %s", code, body)
	}
	next := s.events("/")
	first := next(is(devReady))
	if first.Version == "" {
		t.Fatal("no version")
	}
	if code, body := s.get("/", true); code != 200 || !strings.Contains(body, "bailey.js") {
		t.Fatalf("the page: %d %s", code, body)
	}
	if _, body := s.get("/bailey.js", false); !strings.Contains(body, `"version":"`+first.Version+`"`) {
		t.Error("the loader does not know its version")
	}
	seen := map[string]bool{first.Version: true}
	for _, c := range []struct{ name, text string }{
		{"word.go", "package main\n\nfunc word() string { return \"two\" }\n"},
		{"note.txt", "another note"},
		{"web/style.css", "p { color: red }"},
		{"web/more/new.txt", "new"},
		{"headers.json", `{"connect": ["api.example.com"]}`},
	} {
		s.write(c.name, c.text)
		got := next(func(x devState) bool { return x.State == devReady && !seen[x.Version] })
		seen[got.Version] = true
	}
	if _, body := s.get("/style.css", false); body != "p { color: red }" {
		t.Errorf("style.css: %q", body)
	}
	if code, _ := s.get("/more/new.txt", false); code != 200 {
		t.Errorf("more/new.txt: %d", code)
	}

	s.write("word.go", "package main\n\nfunc word() string {\n\treturn 1\n}\n")
	failed := next(is(devFailed))
	if len(failed.Errors) != 1 {
		t.Fatalf("%+v", failed)
	}
	e := failed.Errors[0]
	if filepath.Base(e.File) != "word.go" || e.Line != 4 || e.Column != 9 || !strings.Contains(e.Text, "cannot use 1") {
		t.Errorf("%+v", e)
	}
	if len(e.Source) != 4 || e.Source[2] != (sourceLine{4, "    return 1"}) {
		t.Errorf("%+v", e.Source)
	}
	if code, body := s.get("/style.css", false); code != 503 || !strings.Contains(body, "word.go:4:9") {
		t.Errorf("a file of a page that was not built: %d %s", code, body)
	}
	if _, body := s.get("/", true); !strings.Contains(body, "wait.js") {
		t.Errorf("the document of a page that was not built: %s", body)
	}
	if err := os.Remove(filepath.Join(s.dir, "web/more/new.txt")); err != nil {
		t.Fatal(err)
	}
	s.write("word.go", "package main\n\nfunc word() string { return \"three\" }\n")
	next(func(x devState) bool { return x.State == devReady && !seen[x.Version] })
	if code, _ := s.get("/more/new.txt", false); code != 404 {
		t.Errorf("a file that was removed: %d", code)
	}
}

// A bad file of the page is reported with the file's name.
func TestDevReportsBadHeaders(t *testing.T) {
	s := newDevSite(t)
	s.write("headers.json", `{"conect": []}`)
	next := s.events("/")
	if got := next(is(devFailed)); !strings.Contains(got.Text, "headers.json") || !strings.Contains(got.Text, "conect") {
		t.Errorf("%q", got.Text)
	}
	s.write("headers.json", `{"connect": []}`)
	next(is(devReady))
}

// A module that the go command can't read is read again after a change of its go.mod.
func TestDevLooksAtGoMod(t *testing.T) {
	s := newDevSite(t)
	s.write("go.mod", "module example.com/app\n\ngo 1.26\n\nrequire\n")
	next := s.events("/")
	if got := next(is(devFailed)); !strings.Contains(got.Text, "go.mod") {
		t.Errorf("%+v", got)
	}
	s.write("go.mod", "module example.com/app\n\ngo 1.26\n")
	next(is(devReady))
}

// Without an open page nothing is built after a change, until the next request.
func TestDevBuildsOnDemand(t *testing.T) {
	s := newDevSite(t)
	if code, body := s.get("/style.css", false); code != 200 || body != "p {}" {
		t.Fatalf("the first file waits for the build: %d %q", code, body)
	}
	s.write("web/style.css", "b {}")
	s.dev.pages[0].check()
	if got := s.dev.pages[0].state.State; got == devBuilding {
		t.Error("a build for nobody")
	}
	if _, body := s.get("/style.css", false); body != "b {}" {
		t.Errorf("after a change: %q", body)
	}
}

// A second server does not build what has not changed, and builds what has.
func TestDevKeepsBuilds(t *testing.T) {
	s := newDevSite(t)
	s.get("/style.css", false)
	version := s.events("/")(is(devReady)).Version
	out := filepath.Join(s.dir, ".out")
	until.True(t, "the list of inputs", func() bool { return exists(out, rootFolder, inputsName) }) // written after the answer

	s.open(out, s.dir)
	if got := s.dev.pages[0].start(); got.State != devReady || got.Version != version {
		t.Errorf("unchanged: %+v", got)
	}
	s.write("word.go", "package main\n\nfunc word() string { return \"other\" }\n")
	s.open(out, s.dir)
	if got := s.dev.pages[0].start(); got.State != devBuilding {
		t.Errorf("changed: %+v", got)
	}
}

// Several packages have a folder each. A page without changes is not built with another.
func TestDevPages(t *testing.T) {
	s := newDevSite(t, "a=DIR", "b=DIR,name=prog,web=DIR/more")
	s.write("more/extra.txt", "extra")
	if code, body := s.get("/", true); code != 200 || !strings.Contains(body, `<a href="a/">`) || !strings.Contains(body, `<a href="b/">`) {
		t.Errorf("the list: %d %s", code, body)
	}
	if code, body := s.get("/b/extra.txt", false); code != 200 || body != "extra" {
		t.Errorf("b/extra.txt: %d %s", code, body)
	}
	if _, body := s.get("/b/manifest.json", false); !strings.Contains(body, `"prog.wasm"`) {
		t.Errorf("b's manifest: %s", body)
	}
	if s.dev.pages[0].start(); s.dev.pages[0].state.State == devReady {
		t.Error("a was built with b")
	}
	for _, path := range []string{"/.dev/events?page=/c/", "/.dev/other", "/c/"} {
		if code, _ := s.get(path, false); code != 404 {
			t.Errorf("%s: %d", path, code)
		}
	}
	r := httptest.NewRequest("GET", "/.dev/events?page=/a/", nil)
	r.Host = "evil.example"
	w := httptest.NewRecorder()
	s.dev.ServeHTTP(w, r)
	if w.Code != http.StatusMisdirectedRequest {
		t.Errorf("a foreign host name: %d", w.Code)
	}
}

func TestDevArguments(t *testing.T) {
	for _, args := range [][]string{{"./a", "x/a"}, {"=./a"}, {"a/b=./a"}, {".a=./a"}, {"a="}, {"./a,size=1"}, {"a=./x", "a=./y"}, {`a\b=./a`}} {
		if _, err := devPages(args, "out", buildOptions{}); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
	pages, err := devPages([]string{"./x/a", "b=./x/c,name=n,web=w"}, "out", buildOptions{name: "main"})
	if err != nil || pages[0].path != "/a/" || pages[1].path != "/b/" || pages[1].options.name != "n" || pages[1].options.web != "w" || pages[0].options.name != "main" {
		t.Errorf("%+v %v", pages, err)
	}
	one, err := devPages([]string{"./x"}, "out", buildOptions{})
	if err != nil || one[0].path != "/" {
		t.Errorf("%+v %v", one, err)
	}
	for _, text := range []string{"", "/a/ dir", "a/ dir cmd", "/a dir cmd"} {
		if _, err := parseProvision(text); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

// The files of a provided folder have the page's headers. The command runs once, when the first of
// them is requested, and again only after a failure.
func TestDevProvides(t *testing.T) {
	s := newDevSite(t, "a=DIR")
	s.write("headers.json", `{"connect": ["api.example.com"]}`)
	made := filepath.Join(s.dir, "made")
	command := "cp -n " + filepath.Join(s.dir, "note.txt") + " " + filepath.Join(made, "note.txt")
	s.dev.provided = []*provision{{path: "/a/tools/", dir: made, command: command}}
	if code, body := s.get("/a/tools/note.txt", false); code != 503 {
		t.Errorf("the command fails, since its folder is missing: %d %s", code, body)
	}
	if err := os.Mkdir(made, 0o755); err != nil {
		t.Fatal(err)
	}
	res, err := http.Get(s.URL + "/a/tools/note.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if data, _ := io.ReadAll(res.Body); string(data) != "a note" || !strings.Contains(res.Header.Get("Content-Security-Policy"), "api.example.com") {
		t.Errorf("%s %q %v", res.Status, data, res.Header)
	}
	if code, _ := s.get("/a/tools/../../note.txt", false); code == 200 {
		t.Error("a path led out of the folder")
	}
	if code, _ := s.get("/a/tools/none", false); code != 404 {
		t.Errorf("a file that is not there: %d", code)
	}
}

func TestBuildErrors(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "x.go"), []byte("a\n"+strings.Repeat("x", 300)+"\nc\n\td\n"), 0o644)
	got := buildErrors("# example.com/x\n./x.go:2:3: one\n\thave a\n\twant b\nx.go:4: two\ngone.go:1:1: three\nnot an error\n", dir)
	if len(got) != 3 || got[0].Text != "one\nhave a\nwant b" || got[0].Line != 2 || got[0].Column != 3 || got[1].Column != 0 || got[2].Source != nil {
		t.Fatalf("%+v", got)
	}
	if len(got[0].Source) != 4 || len([]rune(got[0].Source[1].Text)) != maxSourceLine+1 || got[1].Source[2].Text != "    d" {
		t.Errorf("%+v", got)
	}
	if n := len(buildErrors(strings.Repeat("x.go:1:1: e\n", maxErrors+1), dir)); n != maxErrors {
		t.Errorf("%d errors", n)
	}
}

// The binary of dev keeps the names of functions, which build removes.
func TestDevKeepsFunctionNames(t *testing.T) {
	for _, dev := range []bool{true, false} {
		p, err := compileProgram(context.Background(), "testdata/hello", buildOptions{out: t.TempDir(), name: "main", dev: dev}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if named := hasSection(p.wasm, "name"); named != dev {
			t.Errorf("dev %v: the section of names: %v", dev, named)
		}
	}
}

// hasSection reports whether a module has a custom section with a name.
func hasSection(module []byte, name string) bool {
	for rest := module[8:]; len(rest) > 0; {
		id := rest[0]
		size, n := binary.Uvarint(rest[1:])
		body := rest[1+n:][:size]
		if id == 0 && int(body[0]) == len(name) && strings.HasPrefix(string(body[1:]), name) {
			return true
		}
		rest = rest[1+n+int(size):]
	}
	return false
}
