package front

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bailey-go/bailey/environment/internal/boxtest"
	"github.com/bailey-go/bailey/environment/internal/confine"
	"github.com/bailey-go/bailey/environment/internal/jobs"
	"github.com/bailey-go/bailey/environment/internal/models"
	"github.com/bailey-go/bailey/environment/internal/pgtest"
)

// program builds bailey-box once, into a folder that TestMain removes.
var program = sync.OnceValues(func() (string, error) { return boxtest.Program(programDir) })

var programDir string

// The test is also a bailey-box that lies.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "liar" {
		liar(os.Args[2])
		return
	}
	var err error
	if programDir, err = os.MkdirTemp("/tmp", "front-box-"); err == nil {
		err = os.Chmod(programDir, 0o711)
	}
	if err != nil {
		panic(err)
	}
	code := pgtest.Main(m.Run)
	os.RemoveAll(programDir)
	os.Exit(code)
}

const (
	allowed = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "stream.send": true}, "rules": [{"permission": "*", "action": "allow"}]}`
	asking  = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "stream.send": true}, "rules": [{"permission": "fs.read", "action": "allow"}]}`
)

// place is what the front ends of a test share.
type place struct {
	model *boxtest.Model
	store jobs.Store
	creds map[string]string // by tenant
	list  *Tenants
	rules string
}

func newPlace(t testing.TB) *place {
	t.Helper()
	if err := confine.Supported(); err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	s, err := jobs.Folder(filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	p := &place{model: boxtest.NewModel(t), store: s, creds: map[string]string{}, rules: allowed}
	var lines strings.Builder
	for _, tenant := range []string{"acme", "beta"} {
		secret, line, err := NewCredential(tenant)
		if err != nil {
			t.Fatal(err)
		}
		p.creds[tenant] = secret
		lines.WriteString(line + "\n")
	}
	if p.list, err = ParseTenants(strings.NewReader(lines.String())); err != nil {
		t.Fatal(err)
	}
	return p
}

// house is a front end.
type house struct {
	*place
	f    *Front
	url  string
	log  *boxtest.Log
	stop func()
}

// open opens a front end with real boxes.
func (p *place) open(t testing.TB, change func(*Options)) *house {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "front-")
	if err == nil {
		err = os.Chmod(dir, 0o711)
	}
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "policy.json")
	box, err := program()
	if err = errors.Join(err, os.WriteFile(file, []byte(p.rules), 0o644)); err != nil {
		t.Fatal(err)
	}
	h := &house{place: p, log: &boxtest.Log{}}
	o := Options{Tenants: p.list, Log: slog.New(slog.NewJSONHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug})), Rate: 1000, Burst: 1000,
		Model: &models.Options{Model: "test", URL: p.model.URL + "/v1", Key: boxtest.Key},
		Jobs:  jobs.Options{Box: []string{box, "-policy", file, "-cache", "none"}, Dir: dir, Store: p.store, Warm: 1}}
	if change != nil {
		change(&o)
	}
	if h.f, err = New(o); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(h.f)
	server.Config = h.f.Server()
	server.Start()
	h.url = server.URL
	h.stop = sync.OnceFunc(func() {
		now, cancel := context.WithCancel(context.Background())
		cancel()
		if err := h.f.Drain(now); err != nil {
			t.Error(err)
		}
		server.Close()
		if left, _ := filepath.Glob(filepath.Join(dir, "jobs-*")); len(left) > 0 {
			t.Errorf("%q are left", left)
		}
		os.RemoveAll(dir)
	})
	t.Cleanup(h.stop)
	return h
}

// request sends a request of a tenant. The caller closes the body.
func (p *place) request(t testing.TB, url, tenant, method, path, body string, header ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.creds[tenant])
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func (h *house) do(t testing.TB, tenant, method, path, body string, header ...string) (int, string) {
	t.Helper()
	return h.at(t, h.url, tenant, method, path, body, header...)
}

func (p *place) at(t testing.TB, url, tenant, method, path, body string, header ...string) (int, string) {
	t.Helper()
	resp := p.request(t, url, tenant, method, path, body, header...)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func message(text string) string {
	b, _ := json.Marshal(map[string]string{"text": text})
	return string(b)
}

// say sends a message and returns the stream when it has ended.
func (h *house) say(t testing.TB, tenant, id, text string) (int, string) {
	t.Helper()
	return h.do(t, tenant, "POST", "/v1/sessions/"+id+"/messages", message(text))
}

// must is say for a message that is answered.
func (h *house) must(t testing.TB, tenant, id, text string) string {
	t.Helper()
	code, body := h.say(t, tenant, id, text)
	if code != 200 || !strings.HasSuffix(body, "data: [DONE]\n\n") || strings.Contains(body, `"type":"error"`) {
		t.Fatalf("%s: %d %s", text, code, body)
	}
	return words(body)
}

// words returns the text of a stream.
func words(stream string) string {
	var out strings.Builder
	for line := range strings.Lines(stream) {
		var e struct{ Delta string }
		if data, ok := strings.CutPrefix(line, "data: "); ok && json.Unmarshal([]byte(data), &e) == nil {
			out.WriteString(e.Delta)
		}
	}
	return out.String()
}

// events reads a stream up to an event of a type, and returns its data and its id.
func events(t testing.TB, r *bufio.Reader, kind string) (data, id string) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("no event %s: %v", kind, err)
		}
		if text, ok := strings.CutPrefix(line, "id: "); ok {
			id = strings.TrimSpace(text)
		}
		if text, ok := strings.CutPrefix(line, "data: "); ok && strings.Contains(text, `"type":"`+kind+`"`) {
			return text, id
		}
	}
}
