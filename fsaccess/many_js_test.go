package fsaccess

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// A search through all layers of a box, over two folders in which a file has the same name,
// reads each file from its own folder.
func TestGrepManyInBrowser(t *testing.T) {
	needOPFS(t)
	low, up := opfs(t), opfs(t)
	must(t, low.Mkdir("files", 0o755))
	for i := range 100 {
		must(t, low.WriteFile(fmt.Sprintf("files/f%02d", i), fmt.Appendf(nil, "low %d\n", i), 0o644))
	}
	o := NewOverlay(low, up)
	for i := range 70 { // the overlay keeps them under files/, in its own folder
		must(t, o.WriteFile(fmt.Sprintf("f%02d", i), fmt.Appendf(nil, "up %d\n", i), 0o644))
	}
	g := Guard(NewJournal(o, opfs(t), JournalOptions{}), everywhere(t), GuardOptions{})
	n := 0
	for m, err := range Grep(context.Background(), g, ".", regexp.MustCompile("^(low|up) [0-9]+$"), GrepOptions{}) {
		must(t, err)
		n++
		want := "up"
		if strings.HasPrefix(m.Path, "files/") {
			want = "low"
		}
		if !strings.HasPrefix(m.Text, want) {
			t.Errorf("%s has %q", m.Path, m.Text)
		}
	}
	if n != 170 {
		t.Errorf("%d lines found, want 170", n)
	}
}

// A search through a guard and a journal, as a box makes it.
func BenchmarkFSGrep10kGuarded(b *testing.B) {
	_, deep := thousands(b)
	g := Guard(NewJournal(deep, NewMemory(MemoryOptions{}), JournalOptions{}), everywhere(b), GuardOptions{})
	re := regexp.MustCompile("needle 13$")
	count := func(f FS) func() {
		return func() {
			n := 0
			for _, err := range Grep(context.Background(), f, ".", re, GrepOptions{}) {
				must(b, err)
				n++
			}
			if n != 103 {
				b.Fatal(n)
			}
		}
	}
	byTurns(b, count(g), count(deep))
}
