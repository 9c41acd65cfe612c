package guard

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"slices"
	"strings"
	"testing"
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

		{"a.exe", "", []Kind{kindExecutable}},
		{"A.EXE", "", []Kind{kindExecutable}},
		{"a.exe.", "", []Kind{kindExecutable}},
		{"invoice.pdf.scr", "", []Kind{kindExecutable}},
		{"a.ехе", "", []Kind{kindExecutable}}, // Cyrillic
		{"a.txt", string(mz), []Kind{kindExecutable}},
		{"a", "\x7fELF\x02", []Kind{kindExecutable}},
		{"a.class", "\xca\xfe\xba\xbe", []Kind{kindExecutable}},
		{"run.bat", "", []Kind{kindScript}},
		{"x.ps1", "", []Kind{kindScript}},
		{"x", "#!/bin/sh\n", []Kind{kindScript}},
		{"x", "\xef\xbb\xbf#!/bin/sh\n", []Kind{kindScript}},
		{"x.url", "", []Kind{kindShortcut}},
		{"x.txt", "[InternetShortcut]\r\nURL=file://x", []Kind{kindShortcut}},
		{"x", "\n[Desktop Entry]\nExec=x", []Kind{kindShortcut}},
		{"x.dat", "L\x00\x00\x00\x01\x14\x02\x00\x00", []Kind{kindShortcut}},
		{"a.docm", "", []Kind{kindMacro}},
		{"a.docx", string(zipOf(t, "word/document.xml", "<x/>", "word/vbaProject.bin", "x")), []Kind{kindMacro}},
		{"a.txt", string(zipOf(t, "xl/VBAPROJECT.BIN", "x")), []Kind{kindMacro}},
		{"a.doc", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + wide("_VBA_PROJECT"), []Kind{kindMacro}},
		{"a.html", "<p onclick = 'x'>", []Kind{kindActive}},
		{"a.txt", "<html><ScRiPt>x</script>", []Kind{kindActive}},
		{"a.svg", "<svg><a href='javascript:x'/></svg>", []Kind{kindActive}},
		{"a.svg", "<svg/onload=alert(1)>", []Kind{kindActive}},
		{"a.svg", "\xff\xfe" + wide("<svg onload=x>"), []Kind{kindActive}},
		{"a.svg", wide("<svg><script>x"), []Kind{kindActive}},
		{"a.xhtml", "<?xml version='1.0'?><?xml-stylesheet href='x'?>", []Kind{kindActive}},
		{"a.svg", "<svg><a href='java&#115;cript:x'/></svg>", []Kind{kindActive}},
		{"autorun.inf", "", []Kind{kindAutorun}},
		{"Desktop.INI", "", []Kind{kindAutorun}},
		{"sub/.envrc", "", []Kind{kindAutorun}},
		{".husky/pre-commit", "id", []Kind{kindAutorun}},
		{"a/.Devcontainer/devcontainer.json", "{}", []Kind{kindAutorun}},
		{".github/workflows/ci.yml", "on: push", []Kind{kindAutorun}},
		{".github/ISSUE_TEMPLATE.md", "", nil},
		{".cursor/mcp.json", "{}", []Kind{kindAutorun}},
		{".gdbіnit", "shell id", []Kind{kindAutorun}}, // Cyrillic
		{".dir-locals.el", "", []Kind{kindAutorun}},
		{"ENVRC~1", "", []Kind{kindAutorun}},
		{".ssh/config", "ProxyCommand id", []Kind{kindAutorun}},
		{"a.terminal", "", []Kind{kindAutorun}},
		{"a.pyw.", "", []Kind{kindAutorun}},
		{"Makefile", "all:\n\tid", nil}, // the project itself, see protocol.StartupFile
		{"a.zip", string(zipOf(t, "../x", "x")), []Kind{kindArchive}},
		{"a.zip", string(zipOf(t, "/etc/x", "x")), []Kind{kindArchive}},
		{"a.zip", string(zipOf(t, `a\..\..\x`, "x")), []Kind{kindArchive}},
		{"a.zip", string(zipOf(t, ".git/hooks/x", "x")), []Kind{kindArchive}},
		{"a.zip", string(zipOf(t, "bomb", 30<<20)), []Kind{kindArchive}},
		{"a.jpg", string(zipOf(t, "../x", "x")), []Kind{kindArchive}},
		{"a.jpg", "\xff\xd8\xff" + string(zipOf(t, "../x", "x")), []Kind{kindArchive}}, // begins as something else
		{"a.gz", string(gz(make([]byte, 30<<20))), []Kind{kindArchive}},
		{"a.tar", string(tarOf(t, tar.Header{Name: "../x", Typeflag: tar.TypeReg})), []Kind{kindArchive}},
		{"a.tar", string(tarOf(t, tar.Header{Name: "x", Linkname: "/etc", Typeflag: tar.TypeSymlink})), []Kind{kindArchive}},
		{"a.tgz", string(gz(tarOf(t, tar.Header{Name: "../x", Typeflag: tar.TypeReg}))), []Kind{kindArchive}},
	} {
		if got := Classify(c.name, []byte(c.data)); !slices.Equal(got, c.want) {
			t.Errorf("%s %.40q: %v, want %v", c.name, c.data, got, c.want)
		}
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

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
