package front

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/environment/internal/daemon"
	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/until"
)

type packed struct {
	name, text string
	mode       fs.FileMode
}

// pack makes an archive.
func pack(t testing.TB, list ...packed) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range list {
		head := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		head.SetMode(f.mode | 0o644)
		w, err := z.CreateHeader(head)
		if err == nil {
			_, err = io.WriteString(w, f.text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// copyIn sends an archive, and returns the status, the id and the answer.
func (h *house) copyIn(t testing.TB, tenant, at, archive string) (int, string, string) {
	t.Helper()
	code, text := h.do(t, tenant, "PUT", "/v1/sessions/"+at, archive, "Content-Type", "application/zip")
	var in struct{ ID string }
	_ = json.Unmarshal([]byte(text), &in)
	return code, in.ID, text
}

// came returns the changes since files were copied in.
func (h *house) came(t testing.TB, id, since string) (map[string]string, daemon.Difference) {
	t.Helper()
	code, text := h.do(t, "acme", "GET", "/v1/sessions/"+id+"/archive?since="+since, "")
	if code != 200 {
		t.Fatalf("%d %s", code, text)
	}
	z, err := zip.NewReader(strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	files, diff := map[string]string{}, daemon.Difference{}
	for i, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			files[strings.TrimPrefix(f.Name, "files/")] = string(data)
		} else if err := json.Unmarshal(data, &diff); err != nil {
			t.Fatal(err)
		}
	}
	return files, diff
}

// A folder is copied into a new session, a job works in it, the changes come back, and the session goes on with the folder
// as it is then. None of it is lost with the job.
func TestCopies(t *testing.T) {
	p := newPlace(t)
	h := p.open(t, nil)
	code, id, text := h.copyIn(t, "acme", "a/files", pack(t, packed{"a.txt", "hello", 0}, packed{"sub/deep/b.txt", "b", 0}, packed{"gone.txt", "x", 0}, packed{".gitignore", "built\n", 0}))
	if code != 200 || id != "1" || !strings.Contains(text, `"files":4`) {
		t.Fatalf("%d %s", code, text)
	}
	if files, diff := h.came(t, "a", id); len(files)+len(diff.Files)+len(diff.Removed) != 0 {
		t.Errorf("%v %+v", files, diff)
	}
	if code, _, text := h.copyIn(t, "acme", "a/files", pack(t)); code != http.StatusConflict {
		t.Errorf("a session that is there: %d %s", code, text)
	}
	for _, m := range []string{"read a.txt", "write a.txt changed", "write sub/new.txt new", "write built built"} {
		h.must(t, "acme", "a", m)
	}
	files, diff := h.came(t, "a", id)
	if !maps.Equal(files, map[string]string{"a.txt": "changed", "sub/new.txt": "new"}) || len(diff.Removed) != 0 || len(diff.Files) != 2 || diff.Files[0].Was == "" || diff.Files[1].Was != "" {
		t.Errorf("%v %+v", files, diff)
	}
	if _, text := h.do(t, "acme", "GET", "/v1/sessions/a", ""); !strings.Contains(text, `"files":"1"`) {
		t.Error(text)
	}
	// The client's folder is now another one. The conversation goes on.
	code, again, text := h.copyIn(t, "acme", "a/files?keep="+id, pack(t, packed{"a.txt", "mine", 0}, packed{"sub", "a file now", 0}))
	if code != 200 || again == id {
		t.Fatalf("%d %s", code, text)
	}
	if got := h.must(t, "acme", "a", "recall"); !strings.Contains(got, "write a.txt changed") {
		t.Errorf("the conversation is %s", got)
	}
	h.must(t, "acme", "a", "write b.txt b")
	if files, diff := h.came(t, "a", again); !maps.Equal(files, map[string]string{"b.txt": "b"}) || len(diff.Removed) != 0 {
		t.Errorf("%v %+v", files, diff)
	}
	for _, old := range []string{id, "", "0", "x", "99"} {
		if code, text := h.do(t, "acme", "GET", "/v1/sessions/a/archive?since="+old, ""); code != http.StatusConflict {
			t.Errorf("since %q: %d %s", old, code, text)
		}
	}
	if code, _, text := h.copyIn(t, "acme", "a/files?keep="+id, pack(t)); code != http.StatusConflict {
		t.Errorf("%d %s", code, text)
	}
	// While a run is active, the folder is its own.
	r := h.request(t, h.url, "acme", "POST", "/v1/sessions/a/messages", message("wait"))
	<-p.model.Came
	if code, _, text := h.copyIn(t, "acme", "a/files?keep="+again, pack(t)); code != http.StatusConflict {
		t.Errorf("%d %s", code, text)
	}
	if code, text := h.do(t, "acme", "GET", "/v1/sessions/a/archive?since="+again, ""); code != http.StatusConflict {
		t.Errorf("%d %s", code, text)
	}
	p.model.Goes <- struct{}{}
	_, err := io.Copy(io.Discard, r.Body)
	r.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	// Another front end has all of it.
	h.stop()
	h = p.open(t, nil)
	if files, _ := h.came(t, "a", again); !maps.Equal(files, map[string]string{"b.txt": "b"}) {
		t.Errorf("%v", files)
	}
	h.must(t, "acme", "a", "hello")
	_, about := h.do(t, "acme", "GET", "/v1/about", "")
	for _, want := range []string{`"api":1`, `"model":"test"`, `"name":"Landlock and seccomp"`, `"name":"Model's key"`, `"copies":true`} {
		if !strings.Contains(about, want) {
			t.Errorf("no %s in %s", want, about)
		}
	}
	if code, _ := h.do(t, "acme", "DELETE", "/v1/sessions/a", ""); code != http.StatusNoContent {
		t.Errorf("%d", code)
	}
	if code, _ := h.do(t, "acme", "GET", "/v1/sessions/a/archive?since="+again, ""); code != http.StatusNotFound {
		t.Errorf("%d", code)
	}
	if strings.Contains(h.log.String(), "b.txt") {
		t.Error("the log has the name of a file")
	}
}

// await waits until an archive of a tenant comes in.
func (h *house) await(t testing.TB, tenant string) {
	t.Helper()
	until.True(t, "an archive comes in", func() bool {
		h.f.mu.Lock()
		defer h.f.mu.Unlock()
		g := h.f.gates[tenant]
		return g != nil && g.puts > 0
	})
}

func TestAttackCopies(t *testing.T) {
	count := attack.Start(t, "front")
	p := newPlace(t)
	h := p.open(t, nil)
	_, id, _ := h.copyIn(t, "acme", "a/files", pack(t, packed{"key.txt", "top-secret", 0}))
	many := make([]packed, daemon.MaxFiles+1)
	for i := range many {
		many[i] = packed{name: "f" + strings.Repeat("x", i%70) + strings.Repeat("y", i/70)}
	}
	broken := []byte(pack(t, packed{"a.txt", "AAAA", 0}))
	broken[30+len("a.txt")] ^= 0xff // its content, behind the header and the name
	kept := func() bool {           // the session is as it was
		files, diff := h.came(t, "a", id)
		code, text := h.do(t, "acme", "GET", "/v1/sessions/a/files/key.txt", "")
		return code == 200 && text == "top-secret" && len(files)+len(diff.Files)+len(diff.Removed) == 0
	}
	for name, archive := range map[string]string{
		"a name above the folder":            pack(t, packed{"../a.txt", "x", 0}),
		"a name above the folder, later":     pack(t, packed{"b/../../a.txt", "x", 0}),
		"a name from the root":               pack(t, packed{"/etc/a.txt", "x", 0}),
		"a name of Windows above the folder": pack(t, packed{`..\a.txt`, "x", 0}),
		"a name with a NUL":                  pack(t, packed{"a.txt\x00.png", "x", 0}),
		"a link":                             pack(t, packed{"link", "/etc", fs.ModeSymlink}),
		"a link and a file behind it":        pack(t, packed{"link", "/etc", fs.ModeSymlink}, packed{"link/a.txt", "x", 0}),
		"a device":                           pack(t, packed{"dev", "", fs.ModeDevice}),
		"a name twice":                       pack(t, packed{"b.txt", "harmless", 0}, packed{"b.txt", "other", 0}),
		"a file that is a folder":            pack(t, packed{"b", "x", 0}, packed{"b/c", "x", 0}),
		"more bytes than the archive has":    pack(t, packed{"zeros", strings.Repeat("\x00", daemon.MaxUnpacked+1), 0}),
		"more files than are allowed":        pack(t, many...),
		"a damaged file":                     string(broken),
		"no archive":                         "PK no",
	} {
		code, _, text := h.copyIn(t, "acme", "a/files?keep="+id, archive)
		count.Try(name, code < 300 || !kept())
		if code != http.StatusUnprocessableEntity && code != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %d %s", name, code, text)
		}
	}
	code, _ := h.do(t, "acme", "PUT", "/v1/sessions/a/files?keep="+id, pack(t), "Content-Type", "text/plain")
	count.Try("an archive that a form can send", code < 300 || !kept())
	// The server closes the connection of a body that is too large, perhaps before the client has sent it.
	sent := func(h *house, at string) int {
		req, err := http.NewRequestWithContext(t.Context(), "PUT", h.url+"/v1/sessions/"+at, strings.NewReader(pack(t)+strings.Repeat("x", daemon.MaxArchive)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+p.creds["acme"])
		req.Header.Set("Content-Type", "application/zip")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	code = sent(h, "a/files?keep="+id)
	count.Try("a large archive", code == 200 || code == http.StatusUnprocessableEntity || !kept())
	large := p.open(t, with(off{body: true}))
	code = sent(large, "large/files") // it is read whole, and is no archive
	count.Off("a large archive", code == 200 || code == http.StatusUnprocessableEntity)
	// The other tenant's, and one of an id that is not that of the last files.
	for name, at := range map[string]string{"the files of another tenant": "acme-a/files?keep=" + id, "the files of the same id": "a/files?keep=" + id} {
		code, _, _ := h.copyIn(t, "beta", at, pack(t))
		count.Try(name, code < 300 || !kept())
	}
	for _, at := range []string{"acme-a", "a"} {
		code, text := h.do(t, "beta", "GET", "/v1/sessions/"+at+"/archive?since="+id, "")
		count.Try("the changes of another tenant: "+at, code == 200 || strings.Contains(text, "key.txt"))
	}
	for _, keep := range []string{"", "?keep=0", "?keep=-1", "?keep=2", "?keep=" + id + "0", "?keep=%31%00"} {
		code, _, _ := h.copyIn(t, "acme", "a/files"+keep, pack(t))
		count.Try("files in place of a session: "+keep, code < 300 || !kept())
	}
	open := p.open(t, with(off{keep: true}))
	code, _, _ = open.copyIn(t, "acme", "a/files", pack(t))
	count.Off("files in place of a session", code < 300)
	// A page of the operator's list may, and no other one.
	listed := p.open(t, func(o *Options) { o.Origins = []string{"https://app.example"} })
	for origin, ok := range map[string]bool{"https://app.example": true, "https://evil.example": false} {
		pre := p.request(t, listed.url, "", "OPTIONS", "/v1/sessions/b/files", "", "Origin", origin, "Access-Control-Request-Method", "PUT", "Authorization", "")
		pre.Body.Close()
		if got := slices.Contains(strings.Split(pre.Header.Get("Access-Control-Allow-Methods"), ", "), "PUT"); got != ok {
			t.Errorf("%s: %v", origin, pre.Header)
		}
	}
	// A second archive while one comes in.
	second := func(h *house) int {
		in, out := io.Pipe()
		req, err := http.NewRequestWithContext(t.Context(), "PUT", h.url+"/v1/sessions/slow/files", in)
		if err != nil {
			t.Fatal(err)
		}
		req.ContentLength = 100
		req.Header.Set("Authorization", "Bearer "+p.creds["acme"])
		req.Header.Set("Content-Type", "application/zip")
		ended := make(chan error, 1)
		go func() {
			resp, err := http.DefaultClient.Do(req)
			if err == nil {
				resp.Body.Close()
			}
			ended <- err
		}()
		if _, err := out.Write([]byte("PK")); err != nil {
			t.Fatal(err)
		}
		h.await(t, "acme")
		code, _, _ := h.copyIn(t, "acme", "more/files", pack(t))
		if other, _, text := h.copyIn(t, "beta", "more/files", pack(t)); other != 200 {
			t.Errorf("another tenant: %d %s", other, text)
		}
		out.CloseWithError(io.ErrUnexpectedEOF)
		<-ended
		for tenant := range p.creds {
			h.do(t, tenant, "DELETE", "/v1/sessions/more", "")
		}
		return code
	}
	count.Try("many archives at once", second(h) < 300)
	count.Off("many archives at once", second(p.open(t, with(off{uploads: true}))) < 300)
}
