//go:build !js

package textdiff

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnifiedDiffApplies applies diffs of random edits with patch(1). The result must be
// the new text.
func TestUnifiedDiffApplies(t *testing.T) {
	patch, err := exec.LookPath("patch")
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 1))
		a := randomText(r)
		b := mutate(r, a)
		d := unified(t, "a/f", "b/f", []byte(a), []byte(b))
		if got, perr := applyDiff(a, d); perr != nil || got != b {
			t.Fatalf("seed %d: %v\nold %q\nnew %q\ngot %q\ndiff\n%s", seed, perr, a, b, got, d)
		}
		if err != nil || seed > 30 || d == "" {
			continue
		}
		f := filepath.Join(t.TempDir(), "f")
		must(t, os.WriteFile(f, []byte(a), 0o644))
		c := exec.Command(patch, "-s", f)
		c.Stdin = strings.NewReader(d)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("seed %d: patch: %v %s\n%s", seed, err, out, d)
		}
		if got, _ := os.ReadFile(f); !bytes.Equal(got, []byte(b)) {
			t.Fatalf("seed %d: patch gave %q, want %q", seed, got, b)
		}
	}
}

// applyDiff is a small patch, so that the test does its work everywhere.
func applyDiff(a, diff string) (string, error) {
	x := (&differ{ctx: context.Background()}).splitLines([]byte(a))
	var out strings.Builder
	at := 0
	lines := strings.SplitAfter(diff, "\n")
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		switch {
		case l == "" || strings.HasPrefix(l, "---") && at == 0 && i == 0 || i == 1:
		case strings.HasPrefix(l, "@@"):
			var from, n int
			if k, _ := fmt.Sscanf(l, "@@ -%d,%d", &from, &n); k < 2 {
				n = 1
			}
			if n > 0 {
				from--
			}
			for ; at < from; at++ {
				out.WriteString(x[at])
			}
		default:
			body := l[1:]
			if i+1 < len(lines) && strings.HasPrefix(lines[i+1], `\`) {
				body = strings.TrimSuffix(body, "\n")
			}
			switch l[0] {
			case '\\':
			case '+':
				out.WriteString(body)
			default:
				if at >= len(x) || x[at] != body {
					return "", fmt.Errorf("line %d of the old text is not %q", at+1, body)
				}
				if at++; l[0] == ' ' {
					out.WriteString(body)
				}
			}
		}
	}
	for ; at < len(x); at++ {
		out.WriteString(x[at])
	}
	return out.String(), nil
}

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(60) {
		fmt.Fprintf(&b, "%c%c\n", 'a'+r.IntN(4), 'a'+r.IntN(2))
	}
	s := b.String()
	if r.IntN(3) == 0 {
		s = strings.TrimSuffix(s, "\n")
	}
	return s
}

func mutate(r *rand.Rand, s string) string {
	lines := (&differ{ctx: context.Background()}).splitLines([]byte(s))
	for range r.IntN(6) {
		i := r.IntN(len(lines) + 1)
		switch {
		case i < len(lines) && r.IntN(2) == 0:
			lines = append(lines[:i:i], lines[i+1:]...)
		default:
			lines = append(lines[:i:i], append([]string{"new\n"}, lines[i:]...)...)
		}
	}
	return strings.Join(lines, "")
}

func TestUnifiedDiffOfOddThings(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"", "", ""},
		{"same", "same", ""},
		{"", "x\n", "@@ -0,0 +1 @@\n+x\n"},
		{"x\n", "", "@@ -1 +0,0 @@\n-x\n"},
		{"x", "x\n", "\\ No newline at end of file\n+x\n"},
		{"a\x00b", "c", "Binary or large files differ: 3 bytes, then 1 bytes."},
		{"\xff", "c", "Binary or large files differ"},
	} {
		if d := unified(t, "a", "b", []byte(c.a), []byte(c.b)); !strings.Contains(d, c.want) || (c.want == "") != (d == "") {
			t.Errorf("%q to %q: %q", c.a, c.b, d)
		}
	}
	huge := []byte(strings.Repeat("line\n", DiffLimit/5))
	if d := unified(t, "a", "b", huge[:len(huge)-5], append([]byte("x\n"), huge...)); !strings.Contains(d, "large") {
		t.Error("a huge text was compared by lines")
	}
}

// A diff does a limited amount of work. Beyond the limits the result is one replacement, or
// one line.
func TestDiffIsBounded(t *testing.T) {
	text := func(n int, tag string) []byte { return []byte(strings.Repeat(tag+"\n", n)) }
	mixed := func(n int, tag string) []byte {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s%d\n", tag, i)
		}
		return []byte(b.String())
	}
	for _, c := range []struct {
		name  string
		a, b  []byte
		large bool
		hunks int
	}{
		{"lines at the limit", text(diffLines/2, "a"), append(text(diffLines/2-1, "a"), "b\n"...), false, 1},
		{"one line above", text(diffLines/2+1, "a"), text(diffLines/2, "a"), true, 0},
		{"bytes at the limit", bytes.Repeat([]byte("a"), DiffLimit/2), append(bytes.Repeat([]byte("a"), DiffLimit/2-1), 'b'), false, 1},
		{"a byte above", bytes.Repeat([]byte("a"), DiffLimit/2+1), bytes.Repeat([]byte("a"), DiffLimit/2), true, 0},
		{"far apart", append(append([]byte("x\n"), mixed(diffApart, "")...), "x\n"...), append(append([]byte("y\n"), mixed(diffApart, "")...), "y\n"...), false, 1},
		{"near enough", append(append([]byte("x\n"), mixed(diffApart/2-2, "")...), "x\n"...), append(append([]byte("y\n"), mixed(diffApart/2-2, "")...), "y\n"...), false, 2},
		{"all lines differ", mixed(diffApart, "a"), mixed(diffApart, "b"), false, 1},
	} {
		d := unified(t, "a", "b", c.a, c.b)
		if large := strings.Contains(d, "large files differ"); large != c.large || strings.Count(d, "\n@@ ") != c.hunks {
			t.Errorf("%s: large %v, %d hunks", c.name, large, strings.Count(d, "\n@@ "))
		}
	}
}

func unified(t *testing.T, aName, bName string, a, b []byte) string {
	t.Helper()
	text, err := Unified(t.Context(), aName, bName, a, b)
	must(t, err)
	return text
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
