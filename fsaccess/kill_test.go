//go:build !js

package fsaccess

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/internal/until"
)

// TestKilledForReal kills a real process with SIGKILL while it writes through a
// journal to a real folder, again and again on the same one. After each death no
// file may be torn, and the journal must take everything back.
func TestKilledForReal(t *testing.T) {
	if dir := os.Getenv("FSACCESS_VICTIM"); dir != "" {
		victim(t, dir)
		return
	}
	ctx := context.Background()
	const rounds, perFolder = 40, 4
	var dir string
	left := 0
	r := rand.New(rand.NewPCG(7, 7))
	self, err := os.Executable()
	must(t, err)
	died := 0
	for round := range rounds {
		if round%perFolder == 0 {
			dir = t.TempDir()
			for _, d := range []string{"files", "undo"} {
				must(t, os.Mkdir(filepath.Join(dir, d), 0o755))
			}
		}
		c := exec.Command(self, "-test.run=^TestKilledForReal$", "-test.timeout=60s")
		c.Env = append(os.Environ(), "FSACCESS_VICTIM="+dir, fmt.Sprint("FSACCESS_SEED=", round))
		var out operations
		c.Stdout, c.Stderr = &out, &out
		must(t, c.Start())
		until.True(t, "the victim works", func() bool { return out.begun() > r.IntN(20) })
		until.Passed(time.Duration(r.IntN(16000)) * time.Microsecond) // where it dies is random
		c.Process.Kill()
		if err := c.Wait(); err != nil && err.Error() == "signal: killed" {
			died++
		} else {
			t.Fatalf("the victim ended by itself: %v, %s", err, out.text())
		}
		w, disk, closeAll := openVictim(t, dir)
		if _, err := w.Snapshot(); err != nil {
			t.Fatalf("round %d: open again: %v", round, err)
		}
		for e, err := range Walk(ctx, disk, ".", WalkOptions{}) {
			must(t, err)
			if e.Dir || e.Size == 0 {
				continue
			}
			data, err := disk.ReadFile(e.Path)
			must(t, err)
			if n := bytes.Count(data, data[:1]); n != len(data) || len(data)%1000 != 0 {
				t.Fatalf("round %d: %s is torn: %d bytes, %d of them the first", round, e.Path, len(data), n)
			}
		}
		if round%perFolder == perFolder-1 {
			before := tree(t, disk)
			must(t, w.UndoTo(ctx, "0"))
			if g := tree(t, disk); g != "./\n" {
				t.Fatalf("round %d: after undoing all:\n%s", round, g)
			}
			must(t, w.Undo(ctx))
			if g := tree(t, disk); g != before {
				t.Fatalf("round %d: undo of the undo", round)
			}
		}
		closeAll()
		must(t, filepath.WalkDir(filepath.Join(dir, "files"), func(p string, _ os.DirEntry, err error) error {
			if strings.HasSuffix(p, core.SwapSuffix) {
				left++ // hidden, and removed with the folder
			}
			return err
		}))
	}
	t.Logf("killed %d times; %d hidden swap files are left", died, left)
}

func openVictim(t *testing.T, dir string) (*Journal, *Folder, func()) {
	disk, err := OpenDir(filepath.Join(dir, "files"), DirOptions{NoSync: true})
	must(t, err)
	store, err := OpenDir(filepath.Join(dir, "undo"), DirOptions{NoSync: true})
	must(t, err)
	return NewJournal(disk, store, JournalOptions{MaxEntries: 1 << 20, MaxBytes: 4 << 30}), disk, func() { disk.Close(); store.Close() }
}

// victim changes things until it is killed. Every file is one byte many times.
func victim(t *testing.T, dir string) {
	w, _, _ := openVictim(t, dir)
	var seed uint64
	fmt.Sscan(os.Getenv("FSACCESS_SEED"), &seed)
	r := rand.New(rand.NewPCG(seed, 1))
	names := []string{"a", "b", "c", "d/a", "d/b", "d/e/a"}
	for {
		p, q := names[r.IntN(len(names))], names[r.IntN(len(names))]
		body := bytes.Repeat([]byte{byte('a' + r.IntN(26))}, 1000*(1+r.IntN(80)))
		fmt.Println("begin")
		switch r.IntN(7) {
		case 0:
			_ = w.MkdirAll("d/e", 0o755)
		case 1:
			_ = w.Remove(p)
		case 2:
			_ = w.RemoveAll("d")
		case 3:
			_ = w.Rename(p, q)
		case 4:
			_ = w.Undo(context.Background())
		default:
			_ = w.WriteFile(p, body, 0o644)
		}
	}
}

// operations is the output of a victim, which says when it begins each operation.
type operations struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (o *operations) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.out.Write(b)
}

func (o *operations) begun() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return bytes.Count(o.out.Bytes(), []byte("begin\n"))
}

func (o *operations) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.out.String()
}
