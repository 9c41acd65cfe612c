package fsaccess

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/protocol"
)

func zipOf(t testing.TB, entries ...any) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(entries); i += 2 {
		w, err := z.CreateHeader(&zip.FileHeader{Name: entries[i].(string), Method: zip.Deflate})
		must(t, err)
		switch v := entries[i+1].(type) {
		case string:
			w.Write([]byte(v))
		case int:
			w.Write(make([]byte, v))
		}
	}
	must(t, z.Close())
	return b.Bytes()
}

func tarOf(t testing.TB, h tar.Header) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	must(t, w.WriteHeader(&h))
	must(t, w.Close())
	return b.Bytes()
}

func gz(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func TestKinds(t *testing.T) {
	mz := append([]byte("MZ"), make([]byte, 200)...)
	wide := func(s string) string {
		var b strings.Builder
		for _, c := range s {
			b.WriteByte(byte(c))
			b.WriteByte(0)
		}
		return b.String()
	}
	for _, c := range []struct {
		name string
		data string
		want []Kind
	}{
		{"a.txt", "hello", nil},
		{"a.go", "package main // MZ", nil},
		{"page.html", "<!doctype html><title>x</title><p>Hello", nil},
		{"pic.svg", `<svg xmlns="http://www.w3.org/2000/svg"><circle r="4"/></svg>`, nil},
		{"notes.md", "Use `<script>` like so", nil},
		{"photo.jpg", "\xff\xd8\xff\xe0 onload=", nil},
		{"a.zip", string(zipOf(t, "a/b.txt", "x", "c", "")), nil},
		{"a.docx", string(zipOf(t, "word/document.xml", "<x/>")), nil},
		{"a.tar.gz", string(gz(tarOf(t, tar.Header{Name: "a/b", Typeflag: tar.TypeReg}))), nil},

		{"a.exe", "", []Kind{KindExecutable}},
		{"A.EXE", "", []Kind{KindExecutable}},
		{"a.exe.", "", []Kind{KindExecutable}},
		{"invoice.pdf.scr", "", []Kind{KindExecutable}},
		{"a.ехе", "", []Kind{KindExecutable}}, // Cyrillic
		{"a.txt", string(mz), []Kind{KindExecutable}},
		{"a", "\x7fELF\x02", []Kind{KindExecutable}},
		{"a.class", "\xca\xfe\xba\xbe", []Kind{KindExecutable}},
		{"run.bat", "", []Kind{KindScript}},
		{"x.ps1", "", []Kind{KindScript}},
		{"x", "#!/bin/sh\n", []Kind{KindScript}},
		{"x", "\xef\xbb\xbf#!/bin/sh\n", []Kind{KindScript}},
		{"x.url", "", []Kind{KindShortcut}},
		{"x.txt", "[InternetShortcut]\r\nURL=file://x", []Kind{KindShortcut}},
		{"x", "\n[Desktop Entry]\nExec=x", []Kind{KindShortcut}},
		{"x.dat", "L\x00\x00\x00\x01\x14\x02\x00\x00", []Kind{KindShortcut}},
		{"a.docm", "", []Kind{KindMacro}},
		{"a.docx", string(zipOf(t, "word/document.xml", "<x/>", "word/vbaProject.bin", "x")), []Kind{KindMacro}},
		{"a.txt", string(zipOf(t, "xl/VBAPROJECT.BIN", "x")), []Kind{KindMacro}},
		{"a.doc", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + wide("_VBA_PROJECT"), []Kind{KindMacro}},
		{"a.html", "<p onclick = 'x'>", []Kind{KindActive}},
		{"a.txt", "<html><ScRiPt>x</script>", []Kind{KindActive}},
		{"a.svg", "<svg><a href='javascript:x'/></svg>", []Kind{KindActive}},
		{"a.svg", "<svg/onload=alert(1)>", []Kind{KindActive}},
		{"a.svg", "\xff\xfe" + wide("<svg onload=x>"), []Kind{KindActive}},
		{"a.svg", wide("<svg><script>x"), []Kind{KindActive}},
		{"a.xhtml", "<?xml version='1.0'?><?xml-stylesheet href='x'?>", []Kind{KindActive}},
		{"a.svg", "<svg><a href='java&#115;cript:x'/></svg>", []Kind{KindActive}},
		{"autorun.inf", "", []Kind{KindAutorun}},
		{"Desktop.INI", "", []Kind{KindAutorun}},
		{"sub/.envrc", "", []Kind{KindAutorun}},
		{".husky/pre-commit", "id", []Kind{KindAutorun}},
		{"a/.Devcontainer/devcontainer.json", "{}", []Kind{KindAutorun}},
		{".github/workflows/ci.yml", "on: push", []Kind{KindAutorun}},
		{".github/ISSUE_TEMPLATE.md", "", nil},
		{".cursor/mcp.json", "{}", []Kind{KindAutorun}},
		{".gdbіnit", "shell id", []Kind{KindAutorun}}, // Cyrillic
		{".dir-locals.el", "", []Kind{KindAutorun}},
		{"ENVRC~1", "", []Kind{KindAutorun}},
		{".ssh/config", "ProxyCommand id", []Kind{KindAutorun}},
		{"a.terminal", "", []Kind{KindAutorun}},
		{"a.pyw.", "", []Kind{KindAutorun}},
		{"Makefile", "all:\n\tid", nil}, // the project itself, see protocol.StartupFiles
		{"a.zip", string(zipOf(t, "../x", "x")), []Kind{KindArchive}},
		{"a.zip", string(zipOf(t, "/etc/x", "x")), []Kind{KindArchive}},
		{"a.zip", string(zipOf(t, `a\..\..\x`, "x")), []Kind{KindArchive}},
		{"a.zip", string(zipOf(t, ".git/hooks/x", "x")), []Kind{KindArchive}},
		{"a.zip", string(zipOf(t, "bomb", 30<<20)), []Kind{KindArchive}},
		{"a.jpg", string(zipOf(t, "../x", "x")), []Kind{KindArchive}},
		{"a.jpg", "\xff\xd8\xff" + string(zipOf(t, "../x", "x")), []Kind{KindArchive}}, // begins as something else
		{"a.gz", string(gz(make([]byte, 30<<20))), []Kind{KindArchive}},
		{"a.tar", string(tarOf(t, tar.Header{Name: "../x", Typeflag: tar.TypeReg})), []Kind{KindArchive}},
		{"a.tar", string(tarOf(t, tar.Header{Name: "x", Linkname: "/etc", Typeflag: tar.TypeSymlink})), []Kind{KindArchive}},
		{"a.tgz", string(gz(tarOf(t, tar.Header{Name: "../x", Typeflag: tar.TypeReg}))), []Kind{KindArchive}},
	} {
		if got := Classify(c.name, []byte(c.data)); !slices.Equal(got, c.want) {
			t.Errorf("%s %.40q: %v, want %v", c.name, c.data, got, c.want)
		}
	}
}

// TestKindsNeedConsent uses every way to write: a whole file, a handle, many small writes,
// and renaming a harmless file.
func TestKindsNeedConsent(t *testing.T) {
	var asked []string
	yes := false
	ask := func(_ context.Context, q Question) (bool, error) {
		asked = append(asked, fmt.Sprint(q.Path, " ", q.Kind))
		return yes, nil
	}
	disk := NewMemory(MemoryOptions{})
	g := Guard(disk, everywhere(t), GuardOptions{Ask: ask, Kinds: map[Kind]protocol.Action{KindShortcut: protocol.ActionDeny, KindAutorun: protocol.ActionAllow}})
	must(t, g.WriteFile("plain.txt", []byte("#! not at the start"[3:]), 0o644))
	must(t, disk.WriteFile("old.sh", []byte("#!/bin/sh\n"), 0o644))
	doors := map[string]func() error{
		"whole":  func() error { return g.WriteFile("x.sh", nil, 0o644) },
		"rename": func() error { return g.Rename("plain.txt", "plain.sh") },
		"copy":   func() error { return Copy(context.Background(), g, "y", g, "old.sh", CopyOptions{}) },
		"handle": func() error {
			f, err := g.Create("z")
			if err != nil {
				return err
			}
			for _, c := range "#!/bin/sh" {
				if _, err := f.(File).Write([]byte(string(c))); err != nil {
					return err
				}
			}
			return f.Close()
		},
	}
	for name, do := range doors {
		n := len(asked)
		if err := do(); !errors.Is(err, ErrKind) || !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", name, err)
		}
		if len(asked) != n+1 {
			t.Errorf("%s: asked %d times", name, len(asked)-n)
		}
	}
	n := len(asked)
	must(t, g.WriteFile("old.sh", []byte("#!/bin/sh\necho edited\n"), 0o644)) // it was one before
	must(t, g.WriteFile("desktop.ini", nil, 0o644))
	if err := g.WriteFile("x.lnk", nil, 0o644); !errors.Is(err, ErrKind) {
		t.Errorf("denied kind: %v", err)
	}
	if len(asked) != n {
		t.Errorf("asked needlessly: %v", asked[n:])
	}
	// The user is asked about a start-up file at each edit, because each edit will be
	// executed.
	must(t, disk.WriteFile(".envrc", []byte("export A=1\n"), 0o644))
	strict := Guard(disk, everywhere(t), GuardOptions{Ask: ask})
	if err := strict.WriteFile(".envrc", []byte("export A=2\n"), 0o644); !errors.Is(err, ErrKind) || len(asked) != n+1 {
		t.Errorf("an edit of .envrc: %v, asked %v", err, asked[n:])
	}
	yes = true
	must(t, g.WriteFile("x.sh", nil, 0o644))
	if got, _ := disk.ReadFile("plain.txt"); string(got) != "not at the start" {
		t.Errorf("the renamed file is gone: %q", got)
	}
}

func FuzzClassify(f *testing.F) {
	f.Add("a.zip", zipOf(f, "a", "b"))
	f.Add("a.svg", []byte("<svg onload=x>"))
	f.Add("a.tgz", gz([]byte("x")))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		Classify(name, data)
		badName(name)
		skeleton(name)
	})
}
