package worker

import (
	"io/fs"
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
