package wasifs_test

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/bailey-go/bailey/internal/wasifs"
)

func TestReaddir(t *testing.T) {
	g, m := newFiles(t, stagedMemory)
	for i := range 50 {
		if err := m.WriteFile(fmt.Sprintf("d/%02d-%s", i, strings.Repeat("n", i*5)), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	dir := g.open("d", ODirectory, DirRights, 0)
	whole, e := readdir(g.FS, dir, 1<<16)
	if e != 0 || len(whole) != 54 || whole[0].name != "." || whole[1].name != ".." {
		t.Fatalf("%d lines, %v", len(whole), e)
	}
	inodes := map[uint64]bool{}
	for _, l := range whole {
		if l.ino == 0 || inodes[l.ino] {
			t.Errorf("%s has the number %d", l.name, l.ino)
		}
		inodes[l.ino] = true
		st, e := g.PathFilestatGet(dir, 0, l.name)
		if l.name != ".." && (e != 0 || st.Ino != l.ino || st.Type != l.typ) {
			t.Errorf("%s: %+v, %v", l.name, st, e)
		}
	}
	for _, size := range []int{274, 300, 1000, 4096} { // the longest line has 24+248+… bytes
		got, e := readdir(g.FS, dir, size)
		if e != 0 || fmt.Sprint(got) != fmt.Sprint(whole) {
			t.Errorf("by %d bytes: %d lines, %v", size, len(got), e)
		}
	}
	// A cookie means the same line though the folder changes.
	p := make([]byte, 24+1+24+2)
	if n, e := g.FdReaddir(dir, p, 0); e != 0 || n != len(p) {
		t.Fatalf("%d, %v", n, e)
	}
	if err := m.Remove("d/" + whole[2].name); err != nil {
		t.Fatal(err)
	}
	p = make([]byte, 4096)
	if n, e := g.FdReaddir(dir, p, 2); e != 0 || !strings.HasPrefix(string(p[24:n]), whole[2].name) {
		t.Errorf("%q, %v", p[24:30], e)
	}
	if got, e := readdir(g.FS, dir, 4096); e != 0 || len(got) != 53 {
		t.Errorf("from the beginning there are %d lines, %v", len(got), e)
	}
	if n, e := g.FdReaddir(dir, p, 1000); n != 0 || e != 0 {
		t.Errorf("behind the end: %d, %v", n, e)
	}
}
