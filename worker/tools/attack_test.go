//go:build !js

package tools

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/worker/tools/internal/catalog"
)

// An archive can't write outside of the folder in which it is unpacked, with any name.
func TestArchivesStayInside(t *testing.T) {
	names := []string{"../evil", "a/../../evil", "/evil", `..\evil`, "ok/../../evil", "../"}
	var tarBytes, zipBytes bytes.Buffer
	tw, zw := tar.NewWriter(&tarBytes), zip.NewWriter(&zipBytes)
	for _, name := range names {
		must(t, tw.WriteHeader(&tar.Header{Name: strings.TrimSuffix(name, "/") + "x", Mode: 0o644, Size: 1, Typeflag: tar.TypeReg}))
		_, err := tw.Write([]byte("x"))
		must(t, err)
		w, err := zw.Create(strings.TrimSuffix(name, "/") + "x")
		must(t, err)
		_, err = w.Write([]byte("x"))
		must(t, err)
	}
	must(t, tw.WriteHeader(&tar.Header{Name: "link", Linkname: "../../..", Typeflag: tar.TypeSymlink}))
	must(t, tw.WriteHeader(&tar.Header{Name: "link/evil", Mode: 0o644, Size: 1, Typeflag: tar.TypeReg}))
	_, err := tw.Write([]byte("x"))
	must(t, err)
	must(t, tw.WriteHeader(&tar.Header{Name: "good", Mode: 0o644, Size: 1, Typeflag: tar.TypeReg}))
	_, err = tw.Write([]byte("x"))
	must(t, err)
	h := &zip.FileHeader{Name: "link"}
	h.SetMode(os.ModeSymlink | 0o777)
	w, err := zw.CreateHeader(h)
	must(t, err)
	_, err = w.Write([]byte("../.."))
	must(t, err)
	w, err = zw.Create("good")
	must(t, err)
	_, err = w.Write([]byte("x"))
	must(t, err)
	must(t, tw.Close())
	must(t, zw.Close())
	core := catalog.Binaries()["core"]
	for _, c := range []struct {
		args []string
		data []byte
	}{{cmd("tar", "-x", "-C", "in"), tarBytes.Bytes()}, {cmd("unzip", "-d", "in", "-"), zipBytes.Bytes()}} {
		top := t.TempDir()
		must(t, os.MkdirAll(filepath.Join(top, "deep/work/in"), 0o755))
		t.Chdir(filepath.Join(top, "deep/work"))
		_, errs, code := run(core, c.args, string(c.data))
		if code == 0 || !strings.Contains(errs, "leads out of the folder") || !strings.Contains(errs, "neither a file nor a folder") {
			t.Errorf("%v: code %d, says %q", c.args, code, errs)
		}
		if _, err := os.Stat("in/good"); err != nil {
			t.Errorf("%v: what is decent was not unpacked: %v", c.args, err)
		}
		must(t, filepath.WalkDir(top, func(name string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !strings.HasPrefix(name, filepath.Join(top, "deep/work/in")) || d.Type()&os.ModeSymlink != 0 {
				t.Errorf("%v wrote %s", c.args, name)
			}
			return err
		}))
	}
}

// soup returns random lines, of which few are different.
func soup(r *rand.Rand) string {
	var b strings.Builder
	for range r.Intn(30) {
		b.WriteString([]string{"a", "b", "", "c c", "  d", "é", "- e", "+ f", "@@ -1 +1 @@"}[r.Intn(9)] + "\n")
	}
	s := b.String()
	if r.Intn(3) == 0 {
		s = strings.TrimSuffix(s, "\n")
	}
	return s
}

// patch applies the output of diff, forwards and backwards.
func TestDiffAndPatchAgree(t *testing.T) {
	core := catalog.Binaries()["core"]
	t.Chdir(t.TempDir())
	r := rand.New(rand.NewSource(1))
	for i := range 500 {
		a, b := soup(r), soup(r)
		plant(t, tree{"a": a, "b": b, "f": a})
		difference, _, code := run(core, cmd("diff", "-u", "-U", string(rune('0'+r.Intn(5))), "a", "b"), "")
		if (code == 0) != (a == b) {
			t.Fatalf("%d: code %d for %q and %q", i, code, a, b)
		}
		if a == b {
			continue
		}
		for _, step := range []struct {
			args []string
			want string
		}{{cmd("patch", "f"), b}, {cmd("patch", "-R", "f"), a}} {
			_, errs, code := run(core, step.args, difference)
			got, _ := os.ReadFile("f")
			if code != 0 || string(got) != step.want {
				t.Fatalf("%d: %v: code %d, says %q\n%q to %q is\n%s\nmakes %q", i, step.args, code, errs, a, b, difference, got)
			}
		}
	}
}

// On random input our commands print the same as the system's commands.
func TestSoupAsTheSystem(t *testing.T) {
	core := catalog.Binaries()["core"]
	lines := [][]string{
		cmd("sort"), cmd("sort", "-u"), cmd("sort", "-r", "-k2"), cmd("sort", "-b", "-f"), cmd("uniq", "-c"), cmd("uniq", "-d"), cmd("tac"), cmd("wc"), cmd("wc", "-lwm"),
		cmd("cut", "-d", " ", "-f", "2"), cmd("cut", "-b", "1,3-"), cmd("tr", "-d", "a"), cmd("tr", "-s", "a-c\\n"), cmd("tr", "-c", "a-z\\n", "_"), cmd("grep", "-n", "^[^a]"),
		cmd("grep", "-c", "c*"), cmd("grep", "-v", "-x", ""), cmd("grep", "-o", "[a-e]"), cmd("sed", "s/[a-c]/<&>/g"), cmd("sed", "-n", "/a/,/b/p"), cmd("sed", "$!N;P;D"), cmd("sed", "/^$/d;="),
		cmd("head", "-n", "-3"), cmd("tail", "-n", "+3"), cmd("nl", "-ba"), cmd("base64", "-w", "7"), cmd("xxd"), cmd("xxd", "-p"), cmd("md5sum"), cmd("cat", "-n"), cmd("paste", "-s", "-d", ",;"),
	}
	r := rand.New(rand.NewSource(2))
	for _, args := range lines {
		for range 12 {
			c := call{args: args, in: soup(r)}
			if args[0] == "tr" { // ours works on characters, the system's on bytes
				c.in = strings.ReplaceAll(c.in, "é", "e")
			}
			t.Chdir(t.TempDir())
			out, _, code := run(core, args, c.in)
			c.out = out // the expected output if the machine lacks the command
			if sys := system(t, c, code); sys != out {
				t.Errorf("%q of %q is %q, the system says %q", args, c.in, out, sys)
				break
			}
		}
	}
}
