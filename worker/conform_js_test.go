package worker

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
)

// onlyRead hides the methods that write.
type onlyRead struct{ fs.FS }

// TestConformance runs testdata/conform.c, WASI preview1 case by case.
func TestConformance(t *testing.T) {
	for _, mode := range []FileMode{SnapshotFiles, LazyFiles} {
		if mode == LazyFiles && !live() {
			continue
		}
		t.Run([]string{"", "snapshot", "lazy"}[mode], func(t *testing.T) {
			each(t, Options{ClockResolution: time.Millisecond}, func(t *testing.T, p *Pool) {
				m := compile(t, p, built(t, "conform.wasm"))
				ro := fsaccess.NewMemory(fsaccess.MemoryOptions{})
				must(t, ro.WriteFile("f", []byte("read only"), 0o644))
				must(t, ro.Mkdir("d", 0o755))
				cmd := p.Command(testContext(t), m, "conform", "all", "ü")
				cmd.Env = []string{"KEY=value", "EMPTY="}
				cmd.Stdin = strings.NewReader("in")
				dir := newMemFS()
				cmd.FS, cmd.Mounts, cmd.Files = dir, map[string]fs.FS{"/ro": onlyRead{ro}}, mode
				out, err := cmd.Output()
				if err != nil {
					t.Errorf("%v", err)
				}
				passed := 0
				for line := range strings.Lines(string(out)) {
					switch word, rest, _ := strings.Cut(strings.TrimSpace(line), " "); word {
					case "ok":
						passed++
					default:
						t.Errorf("%s %s", word, rest)
					}
				}
				if passed < 170 {
					t.Errorf("%d cases passed; the table has more than 170", passed)
				}
				t.Logf("%d cases", passed)
				// The folder has the changes that the program made.
				for name, want := range map[string]string{"wr": "hello", "rb": "abc", "rob": "new", "rdb/f": "in", "rpb": "Xbc", "ap": "abcde", "漢字": "x"} {
					if b, err := fs.ReadFile(dir, name); err != nil || string(b) != want {
						t.Errorf("written back: %s is %q, %v, want %q", name, b, err, want)
					}
				}
				for _, name := range []string{"ra", "roa", "rda", "ul", "rd"} {
					if _, err := fs.Stat(dir, name); err == nil {
						t.Errorf("%s is still there", name)
					}
				}
			})
		})
	}
}

// Links that a program leaves are made in a folder that holds them, a name that is replaced by one is removed, and in
// any other folder nothing is changed.
func TestLinksThatStay(t *testing.T) {
	each(t, Options{}, func(t *testing.T, p *Pool) {
		m := compile(t, p, built(t, "conform.wasm"))
		run := func(dir WriteFS, name string) error {
			must(t, dir.Mkdir("d", 0o755))
			for _, name := range []string{"old", "gone", "d/gone"} {
				must(t, dir.WriteFile(name, []byte("old"), 0o644))
			}
			cmd := p.Command(testContext(t), m, "conform", name)
			cmd.FS, cmd.Mounts = dir, map[string]fs.FS{"/ro": onlyRead{newMemFS()}}
			out, err := cmd.Output()
			if got := string(out); got != "ok "+name+"\n" {
				t.Errorf("%s: %q", name, got)
			}
			return err
		}
		holds := &linking{WriteFS: newMemFS()}
		if err := run(holds, "leave_links"); err != nil {
			t.Error(err)
		}
		slices.Sort(holds.made)
		if got, want := tree(t, holds), "d/ left=text old=new"; got != want || !slices.Equal(holds.made, []string{"d/gone -> ../left", "gone -> none", "hard = old", "soft -> left"}) {
			t.Errorf("%s and %q, want %s", got, holds.made, want)
		}
		for _, name := range []string{"leave_symlink", "leave_hard", "leave_out"} {
			dir := newMemFS()
			if err := run(dir, name); !errors.Is(err, errors.ErrUnsupported) || tree(t, dir) != "d/ d/gone=old gone=old old=old" {
				t.Errorf("%s: %v: %s", name, err, tree(t, dir))
			}
		}
		out := &linking{WriteFS: newMemFS()}
		if err := run(out, "leave_out"); !errors.Is(err, protocol.ErrCapabilityDenied) || len(out.made) != 0 || tree(t, out) != "d/ d/gone=old gone=old old=old" {
			t.Errorf("%v: %q %s", err, out.made, tree(t, out))
		}
	})
}

// Two runs with the same Now and Seed see the same times and random numbers.
func TestRepeatable(t *testing.T) {
	each(t, Options{ClockResolution: 20 * time.Millisecond}, func(t *testing.T, p *Pool) {
		m := probe(t, p)
		run := func(seed uint64, now time.Time, arg ...string) string {
			cmd := p.Command(testContext(t), m, "probe", arg...)
			cmd.Seed, cmd.Now = seed, now
			out, err := cmd.Output()
			if err != nil {
				t.Errorf("%v: %v", arg, err)
			}
			return string(out)
		}
		if a, b := run(7, time.Time{}, "random"), run(7, time.Time{}, "random"); a != b || len(a) != 33 {
			t.Errorf("%q, %q", a, b)
		}
		if a, b := run(7, time.Time{}, "random"), run(8, time.Time{}, "random"); a == b {
			t.Errorf("two seeds, one result: %q", a)
		}
		if a, b := run(0, time.Time{}, "random"), run(0, time.Time{}, "random"); a == b {
			t.Errorf("no seed, one result: %q", a)
		}
		at := time.Unix(1_000_000_000, 0)
		if a, want := run(0, at, "clock"), "1000000000.020000000\n1000000000.040000000\n1000000000.060000000\n20000000\n"; a != want {
			t.Errorf("%q, want %q", a, want)
		}
		began := time.Now()
		run(0, at, "sleep", "20000") // takes no real time
		t.Logf("slept 20 s of its own in %v", time.Since(began))
		for line := range strings.Lines(run(0, time.Time{}, "clock")) {
			var s, ns int64
			if n, _ := fmt.Sscanf(line, "%d.%d", &s, &ns); n == 2 && ns%20_000_000 != 0 {
				t.Errorf("a clock finer than 20 ms: %s", line)
			}
		}
	})
}
