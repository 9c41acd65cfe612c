package blocklint

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// wanted reads the "// want" comments of a file, as "line: op".
func wanted(t *testing.T, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var want []string
	sc := bufio.NewScanner(f)
	for line := 1; sc.Scan(); line++ {
		if _, op, ok := strings.Cut(sc.Text(), "// want "); ok {
			want = append(want, fmt.Sprintf("%d: %s", line, op))
		}
		// A comment that is a mark cannot hold the expectation too.
		if _, why, ok := strings.Cut(sc.Text(), okMark); ok && filepath.Base(path) == "blocks.go" {
			op := "channel send"
			if why != "" {
				op = "useless " + okMark
			}
			want = append(want, fmt.Sprintf("%d: %s", line, op))
		}
	}
	return want
}

func TestFixtures(t *testing.T) {
	for _, name := range []string{"blocks", "passes"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("testdata", name)
			found, err := Dir(dir)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range found {
				got = append(got, fmt.Sprintf("%d: %s", f.Pos.Line, f.Op))
			}
			want := wanted(t, filepath.Join(dir, name+".go"))
			if name == "blocks" && len(want) < 20 {
				t.Fatalf("only %d expectations: the fixture is gone", len(want))
			}
			for _, w := range want {
				if !slices.Contains(got, w) {
					t.Errorf("not found: %s", w)
				}
			}
			for _, g := range got {
				if !slices.Contains(want, g) {
					t.Errorf("found, and should not be: %s", g)
				}
			}
		})
	}
}

func TestFindingSaysWhereAndWhatToDo(t *testing.T) {
	found, err := Dir(filepath.Join("testdata", "blocks"))
	if err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	s := found[0].String()
	for _, want := range []string{"blocks.go:", "may block inside a callback given to ", "jsx.Queue"} {
		if !strings.Contains(s, want) {
			t.Errorf("%q lacks %q", s, want)
		}
	}
}

// TestNoCallbackBlocks holds the whole repository to the rule.
func TestNoCallbackBlocks(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatal(err)
	}
	found, err := Tree(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error(f)
	}
}

func TestTreeLeavesOutTestdataOnly(t *testing.T) {
	root := t.TempDir()
	src := "package p\nimport \"syscall/js\"\nvar ch chan int\nvar f = js.FuncOf(func(js.Value, []js.Value) any { return <-ch })\n"
	for _, dir := range []string{"a", "a/testdata", ".hidden"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, dir, "p_js.go"), []byte(src), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	found, err := Tree(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || filepath.Dir(found[0].Pos.Filename) != filepath.Join(root, "a") {
		t.Fatalf("found %v, want one in a", found)
	}
}
