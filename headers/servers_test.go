//go:build !js

package headers

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/until"
)

// Only the server itself can show that the quoting is right. So each server runs with the
// rendered configuration, and the test requests a page from it.
func TestServersSendWhatWasRendered(t *testing.T) {
	for _, s := range []struct {
		name, tool, install string
		args                func(dir, config string) []string
		config              func(dir, addr, snippet string) string
	}{
		{"nginx", "nginx", "nginx", func(dir, config string) []string { return []string{"-p", dir, "-c", config, "-e", "stderr"} },
			func(dir, addr, snippet string) string {
				return fmt.Sprintf("daemon off; master_process off; error_log stderr; pid %[1]s/pid;\nevents {}\nhttp {\naccess_log off;\n"+
					"client_body_temp_path %[1]s/t1; proxy_temp_path %[1]s/t2; fastcgi_temp_path %[1]s/t3; uwsgi_temp_path %[1]s/t4; scgi_temp_path %[1]s/t5;\n"+
					"server { listen %[2]s; root %[1]s/www;\n%[3]s}\n}\n", dir, addr, snippet)
			}},
		{"caddy", "caddy", "caddy", func(dir, config string) []string {
			return []string{"run", "--adapter", "caddyfile", "--config", config}
		},
			func(dir, addr, snippet string) string {
				return fmt.Sprintf("{\nadmin off\nauto_https off\n}\nhttp://%s {\nroot * %s/www\n%s}\n", addr, dir, snippet)
			}},
		{"apache", "apache2", "apache2", func(dir, config string) []string { return []string{"-X", "-f", config} },
			func(dir, addr, snippet string) string {
				mods := ""
				for _, m := range []string{"mpm_event", "authz_core", "headers", "rewrite", "mime", "dir"} {
					mods += fmt.Sprintf("LoadModule %s_module /usr/lib/apache2/modules/mod_%s.so\n", m, m)
				}
				return fmt.Sprintf("%sListen %s\nServerName localhost\nPidFile %s/pid\nErrorLog /dev/stderr\nTypesConfig /etc/mime.types\n"+
					"DocumentRoot %s/www\n<Directory %s/www>\nOptions FollowSymLinks\n%s</Directory>\n", mods, addr, dir, dir, dir, snippet)
			}},
	} {
		t.Run(s.name, func(t *testing.T) {
			tool, err := exec.LookPath(s.tool)
			if err != nil {
				t.Skipf("%s is not installed, so its reading of the golden file is not proven here; install the package %s to run this", s.tool, s.install)
			}
			h, err := For(full())
			if err != nil {
				t.Fatal(err)
			}
			snippet, err := h.Render(s.name)
			if err != nil {
				t.Fatal(err)
			}
			dir := www(t)
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			addr := l.Addr().String()
			l.Close()
			config := filepath.Join(dir, "config")
			if err := os.WriteFile(config, []byte(s.config(dir, addr, snippet)), 0o644); err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			ctx, cancel := context.WithCancel(context.Background())
			cmd := exec.CommandContext(ctx, tool, s.args(dir, config)...)
			cmd.Stdout, cmd.Stderr = &log, &log
			cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
			cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
			cmd.WaitDelay = 5 * time.Second
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				cancel()
				cmd.Wait()
				if t.Failed() {
					t.Logf("%s said:\n%s", s.tool, log.String())
				}
			})
			ask(t, "http://"+addr, h)
		})
	}
}

// www returns a small folder in the form that build writes.
func www(t *testing.T) string {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil { // Apache's worker may be another user
		t.Fatal(err)
	}
	var gz bytes.Buffer
	z := gzip.NewWriter(&gz)
	z.Write([]byte("\x00asm plain"))
	z.Close()
	for name, data := range map[string]string{"index.html": "<!doctype html>", "headers.json": "{}", ".hidden": "x",
		"main.0123456789abcdef.wasm": "\x00asm plain", "main.0123456789abcdef.wasm.gz": gz.String(), "main.0123456789abcdef.wasm.br": "as brotli"} {
		p := filepath.Join(dir, "www", name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func ask(t *testing.T, base string, h Headers) {
	t.Helper()
	get := func(path, accept string) *http.Response {
		for end := time.Now().Add(10 * time.Second); ; until.Turn() {
			r, err := http.NewRequest("GET", base+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Accept-Encoding", accept)
			res, err := http.DefaultTransport.RoundTrip(r)
			if err == nil {
				t.Cleanup(func() { res.Body.Close() })
				return res
			}
			if time.Now().After(end) {
				t.Fatal(err)
			}
		}
	}
	for _, path := range []string{"/", "/main.0123456789abcdef.wasm"} {
		res := get(path, "identity")
		for _, x := range h.List() {
			if got := res.Header.Values(x.Name); len(got) != 1 || got[0] != x.Value {
				t.Errorf("%s: %s is %q\nwant %q", path, x.Name, got, x.Value)
			}
		}
	}
	if got := get("/", "identity").Header.Get("Cache-Control"); got != "no-cache" {
		t.Errorf("/: Cache-Control %q", got)
	}
	for accept, want := range map[string]string{"identity": "", "gzip": "gzip", "br": "br"} {
		res := get("/main.0123456789abcdef.wasm", accept)
		if accept == "br" && res.Header.Get("Content-Encoding") == "" && strings.HasPrefix(res.Header.Get("Server"), "nginx") {
			continue // nginx needs a module for it
		}
		if got := res.Header.Get("Content-Encoding"); got != want {
			t.Errorf("Accept-Encoding %s: Content-Encoding %q", accept, got)
		}
		if got := res.Header.Get("Content-Type"); got != "application/wasm" {
			t.Errorf("Accept-Encoding %s: Content-Type %q", accept, got)
		}
		if got := res.Header.Get("Cache-Control"); !strings.Contains(got, "max-age=31536000") {
			t.Errorf("Accept-Encoding %s: Cache-Control %q", accept, got)
		}
	}
	for _, path := range []string{"/headers.json", "/.hidden"} {
		if res := get(path, "identity"); res.StatusCode != 404 && res.StatusCode != 403 {
			t.Errorf("%s: %s", path, res.Status)
		}
	}
}

// The Go form is Go, and sets each header to its value.
func TestGoFormParses(t *testing.T) {
	h, err := For(full())
	if err != nil {
		t.Fatal(err)
	}
	text, err := h.Render("go")
	if err != nil {
		t.Fatal(err)
	}
	f, err := parser.ParseFile(token.NewFileSet(), "headers.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok || len(c.Args) != 2 {
			return true
		}
		name, ok1 := c.Args[0].(*ast.BasicLit)
		value, ok2 := c.Args[1].(*ast.BasicLit)
		if ok1 && ok2 {
			k, _ := strconv.Unquote(name.Value)
			got[k], _ = strconv.Unquote(value.Value)
		}
		return true
	})
	same(t, h, got)
}

func TestJSONFormParses(t *testing.T) {
	h, err := For(full())
	if err != nil {
		t.Fatal(err)
	}
	text, err := h.Render("json")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	same(t, h, got)
}

func same(t *testing.T, h Headers, got map[string]string) {
	t.Helper()
	for _, x := range h.List() {
		if got[x.Name] != x.Value {
			t.Errorf("%s: %q, want %q", x.Name, got[x.Name], x.Value)
		}
	}
	if len(got) != len(h.List()) {
		t.Errorf("%d headers, want %d", len(got), len(h.List()))
	}
}
