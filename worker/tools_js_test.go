package worker

import (
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestGoProgram runs testdata/gowasi: what a program of Go's expects.
func TestGoProgram(t *testing.T) {
	for _, mode := range []FileMode{SnapshotFiles, LazyFiles} {
		if mode == LazyFiles && !live() {
			continue
		}
		each(t, Options{ClockResolution: time.Millisecond}, func(t *testing.T, p *Pool) {
			dir, ro := newMemFS(), newMemFS()
			must(t, dir.Mkdir("work", 0o755))
			must(t, dir.WriteFile("work/here.txt", []byte("here"), 0o644))
			must(t, dir.WriteFile("top.txt", []byte("top"), 0o644))
			must(t, ro.WriteFile("f", []byte("read only"), 0o644))
			cmd := p.Command(testContext(t), compile(t, p, built(t, "gowasi.wasm")), "gowasi", "one", "ü")
			cmd.Env, cmd.Dir, cmd.Stdin, cmd.Files = []string{"KEY=value"}, "/work", strings.NewReader("in"), mode
			cmd.FS, cmd.Mounts = dir, map[string]fs.FS{"/ro": onlyRead{ro}}
			out, err := cmd.CombinedOutput()
			if cmd.ProcessState.ExitCode() != 7 {
				t.Errorf("%v", err)
			}
			ok := 0
			for line := range strings.Lines(string(out)) {
				if strings.HasPrefix(line, "ok ") {
					ok++
				} else {
					t.Error(strings.TrimSpace(line))
				}
			}
			if ok < 30 {
				t.Errorf("%d cases passed", ok)
			}
			if got, want := tree(t, dir), "top.txt=top work/ work/here.txt=here work/w.txt=writ"; got != want {
				t.Errorf("written back %s, want %s", got, want)
			}
		})
	}
}

// picture is bytes that are no text: a PNG's beginning and then all there are.
func picture() []byte {
	b := []byte("\x89PNG\r\n\x1a\n")
	for i := range 100_000 {
		b = append(b, byte(i*i>>3))
	}
	return b
}

// TestStarterTools runs every tool that make tools builds.
func TestStarterTools(t *testing.T) {
	const lines = "pear 3\napple 1\nfig 2\napple 1\n"
	png := picture()
	sum := func(s any) string { return fmt.Sprintf("%x", s) }
	tests := []struct {
		binary string
		args   []string
		in     string
		want   string // in the output
	}{
		{"cat", []string{"cat", "lines"}, "", lines},
		{"head", []string{"head", "-n", "1"}, lines, "pear 3\n"},
		{"tail", []string{"tail", "-n", "1"}, lines, "apple 1\n"},
		{"wc", []string{"wc", "-l"}, lines, "4"},
		{"sort", []string{"sort"}, lines, "apple 1\napple 1\nfig 2\npear 3\n"},
		{"uniq", []string{"uniq", "-c"}, "a\na\nb\n", "2\ta\n"},
		{"tr", []string{"tr", "[:lower:]", "[:upper:]"}, "abc\n", "ABC\n"},
		{"grep", []string{"grep", "fig"}, lines, "fig 2\n"},
		{"cmp", []string{"cmp", "lines", "lines"}, "", ""},
		{"comm", []string{"comm", "lines", "lines"}, "", "pear 3"},
		{"strings", []string{"strings", "lines"}, "", "apple 1"},
		{"hexdump", []string{"hexdump", "pic.png"}, "", "89 50 4e 47"},
		{"base64", []string{"base64"}, "hello", "aGVsbG8="},
		{"md5sum", []string{"md5sum", "pic.png"}, "", sum(md5.Sum(png))},
		{"shasum", []string{"shasum", "-a", "256", "pic.png"}, "", sum(sha256.Sum256(png))},
		{"tar", []string{"tar", "-c", "-f", "out.tar", "lines"}, "", ""},
		{"truncate", []string{"truncate", "-s", "4", "cut-me"}, "", ""},
		{"touch", []string{"touch", "touched"}, "", ""},
		{"text", []string{"awk", `{s += $2} END {print s}`, "lines"}, "", "7\n"},
		{"text", []string{"jq", "-c", ".a[1]"}, `{"a":[1,{"b":2}]}`, `{"b":2}`},
		{"text", []string{"yq", ".a"}, "a:\n  - 1\n  - two\n", "- two\n"},
		{"text", []string{"shfmt"}, "if true;then echo  x;fi\n", "if true; then echo x; fi\n"},
		{"text", []string{"minify", "css"}, "a {  color : red ; }\n", "a{color:red}"},
		{"text", []string{"diff", "lines", "other"}, "", "-pear 3\n"},
		{"text", []string{"toml2json"}, "[a]\nb = 1\n", `"b": 1`},
		{"text", []string{"markdown"}, "# Hi\n", "<h1>Hi</h1>"},
		{"text", []string{"csv"}, "a,b\n1,2\n", `"b": "2"`},
		{"text", []string{"cut", "-d", " ", "-f", "2"}, lines, "3\n1\n2\n1\n"},
		{"text", []string{"xxd", "pic.png"}, "", "89 50 4e 47"},
		{"text", []string{"tree"}, "", "3 files"},
		{"text", []string{"xmllint"}, "<a><b/></a>", ""},
		{"text", []string{"uuid"}, "", "-4"},
		{"text", []string{"jwt"}, "eyJhbGciOiJub25lIn0.eyJzdWIiOiJtZSJ9.", `"sub": "me"`},
	}
	each(t, Options{}, func(t *testing.T, p *Pool) {
		modules := map[string]*Module{}
		for _, tt := range tests {
			if modules[tt.binary] == nil {
				wasm, err := os.ReadFile(filepath.Join("..", "build", "tools", tt.binary+".wasm"))
				if err != nil {
					t.Fatalf("%v: run make tools first", err)
				}
				began := time.Now()
				modules[tt.binary] = compile(t, p, wasm)
				t.Logf("%s: %.1f MB compiled in %v", tt.binary, float64(len(wasm))/1e6, time.Since(began))
			}
			dir := newMemFS()
			must(t, dir.WriteFile("lines", []byte(lines), 0o644))
			must(t, dir.WriteFile("other", []byte(strings.TrimPrefix(lines, "pear 3\n")), 0o644))
			must(t, dir.WriteFile("pic.png", png, 0o644))
			cmd := p.Command(testContext(t), modules[tt.binary], tt.args[0], tt.args[1:]...)
			cmd.FS, cmd.Stdin = dir, strings.NewReader(tt.in)
			out, err := cmd.CombinedOutput()
			if tt.args[0] == "diff" && cmd.ProcessState.ExitCode() == 1 {
				err = nil
			}
			if err != nil || !bytes.Contains(out, []byte(tt.want)) {
				t.Errorf("%v: %v\n%.300q\nwant %q", tt.args, err, out, tt.want)
			}
			t.Logf("%s: %v", tt.args[0], cmd.ProcessState.Stats().Duration)
		}
		zipped := p.Command(testContext(t), compileTool(t, p, "gzip"), "gzip", "-c", "-f")
		zipped.Stdin = bytes.NewReader(png)
		out, err := zipped.Output()
		if err != nil {
			t.Fatalf("gzip: %v", err)
		}
		r, err := gzip.NewReader(bytes.NewReader(out))
		must(t, err)
		if b, err := io.ReadAll(r); err != nil || !bytes.Equal(b, png) {
			t.Errorf("gzip: %d bytes, %v", len(b), err)
		}
	})
}

func compileTool(t *testing.T, p *Pool, name string) *Module {
	t.Helper()
	wasm, err := os.ReadFile(filepath.Join("..", "build", "tools", name+".wasm"))
	must(t, err)
	return compile(t, p, wasm)
}
