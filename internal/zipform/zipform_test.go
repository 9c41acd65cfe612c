package zipform

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
)

type entry struct {
	name, text string
	set        func(*zip.FileHeader)
	raw        bool // without a descriptor
}

func archive(t testing.TB, comment string, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Store}
		if e.set != nil {
			e.set(h)
		}
		create := z.CreateHeader
		if e.raw {
			h.UncompressedSize64, h.CompressedSize64 = uint64(len(e.text)), uint64(len(e.text))
			create = z.CreateRaw
		}
		w, err := create(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.SetComment(comment); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func extra(id uint16, data string) func(*zip.FileHeader) {
	return func(h *zip.FileHeader) {
		h.Extra = binary.LittleEndian.AppendUint16(h.Extra, id)
		h.Extra = binary.LittleEndian.AppendUint16(h.Extra, uint16(len(data)))
		h.Extra = append(h.Extra, data...)
	}
}

func deflate(h *zip.FileHeader) { h.Method = zip.Deflate }

// Archives from ordinary programs are accepted.
func TestDecent(t *testing.T) {
	two := []entry{{name: "notes/readme.txt", text: "x"}, {name: "évil", text: "y", set: deflate}}
	for name, data := range map[string][]byte{
		"none":                  archive(t, ""),
		"two":                   archive(t, "", two...),
		"a comment":             archive(t, "made by hand", two...),
		"a folder":              archive(t, "", entry{name: "a/"}, entry{name: "a/b", text: "c"}),
		"no descriptor":         archive(t, "", entry{name: "a", text: "abc", raw: true}, entry{name: "b", text: "d", raw: true}),
		"something in front":    append([]byte("#!/bin/sh\n"), archive(t, "", two...)...),
		"empty":                 archive(t, "", entry{name: "a"}, entry{name: "b", set: deflate}),
		"the same name in 7075": archive(t, "", entry{name: "a", text: "x", set: extra(extraPath, "\x01\x00\x00\x00\x00a")}),
		"another extra field":   archive(t, "", entry{name: "a", text: "x", set: extra(0x5455, "\x01abcd")}),
		"zip in a zip":          archive(t, "", entry{name: "in.zip", text: string(archive(t, "", two...))}),
		"a size that is full":   archive(t, "", entry{name: "a", text: "x", set: func(h *zip.FileHeader) { h.Comment = "PK\x01\x02" }}),
	} {
		if err := Check(data, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An archive whose directory and headers differ. Without the check, the standard library
// accepts each of them.
func TestAttackTwoReaders(t *testing.T) {
	count := attack.Start(t, "18")
	le := binary.LittleEndian
	two := func() []byte {
		return archive(t, "", entry{name: "notes/readme.txt", text: "harmless"}, entry{name: "notes/second.txt", text: "harmless too"})
	}
	raw := func() []byte { return archive(t, "", entry{name: "a.txt", text: "harmless", raw: true}) }
	dir := func(b []byte) int { return bytes.Index(b, []byte("PK\x01\x02")) }
	at := func(b []byte, i int, text string) []byte { copy(b[i:], text); return b }
	put := func(b []byte, i int, v uint16) []byte { le.PutUint16(b[i:], v); return b }
	// insert puts bytes in at i and moves the directory's place along.
	insert := func(b []byte, i int, text string) []byte {
		out := append(append(bytes.Clone(b[:i]), text...), b[i:]...)
		end := bytes.LastIndex(out, []byte("PK\x05\x06"))
		le.PutUint32(out[end+16:], le.Uint32(out[end+16:])+uint32(len(text)))
		for d := dir(out); d >= 0 && d < end; {
			if off := le.Uint32(out[d+42:]); int(off) >= i {
				le.PutUint32(out[d+42:], off+uint32(len(text)))
			}
			n := bytes.Index(out[d+4:], []byte("PK\x01\x02"))
			if n < 0 {
				break
			}
			d += 4 + n
		}
		return out
	}
	hidden := string(raw()[:bytes.Index(raw(), []byte("PK\x01\x02"))])
	swapped := func() []byte {
		b := two()
		i, j := bytes.Index(b, []byte("readme")), bytes.Index(b, []byte("second"))
		return at(at(b, i, "second"), j, "readme")
	}
	for name, data := range map[string][]byte{
		"a local name that leads out":       at(two(), bytes.Index(two(), []byte("notes/readme.txt")), "../../../.bashrc"),
		"swapped local names":               swapped(),
		"another case":                      at(two(), 30, "Notes"),
		"a NUL in the local name":           at(two(), 35, "\x00"),
		"another method":                    put(two(), 8, zip.Deflate),
		"encrypted by the header alone":     put(two(), 6, le.Uint16(two()[6:])|flagEncrypted),
		"no descriptor by the header alone": put(two(), 6, le.Uint16(two()[6:])&^flagDescriptor),
		"another size":                      at(raw(), 22, "\x01\x00\x00\x00"),
		"another packed size":               at(raw(), 18, "\x01\x00\x00\x00"),
		"another sum":                       at(raw(), 14, "\x01\x02\x03\x04"),
		"another charset of the name":       put(archive(t, "", entry{name: "évil", text: "x"}), 6, flagDescriptor),
		"a second name":                     archive(t, "", entry{name: "a.txt", text: "x", set: extra(extraPath, "\x01\x00\x00\x00\x00../../.bashrc")}),
		"a second name that is empty":       archive(t, "", entry{name: "a.txt", text: "x", set: extra(extraPath, "\x01\x00\x00\x00\x00")}),
		"a second name that is cut":         archive(t, "", entry{name: "a.txt", text: "x", set: extra(extraPath, "\x01")}),
		"a name that is there twice":        archive(t, "", entry{name: "a", text: "1"}, entry{name: "a", text: "2"}),
		"a file that the directory lacks":   insert(two(), dir(two()), hidden),
		"one between two files":             insert(two(), bytes.LastIndex(two(), []byte("PK\x03\x04")), hidden),
		"bytes between two files":           insert(two(), bytes.LastIndex(two(), []byte("PK\x03\x04")), "x"),
		"bytes before the directory":        insert(two(), dir(two()), "x"),
		"a header that is none":             at(two(), 0, "PK\x03\x05"),
		"a local extra field that is cut":   put(archive(t, "", entry{name: "a", text: "x", set: extra(0x5455, "\x01abcd")}), 33, 9),
		"two files in one place":            at(two(), dir(two())+46+16+42, "\x00\x00\x00\x00"),
		"fewer entries than the directory":  put(put(two(), len(two())-14, 1), len(two())-12, 1),
		"one part of several":               put(two(), len(two())-18, 1),
		"a descriptor with another sum":     at(two(), bytes.Index(two(), []byte("PK\x07\x08"))+4, "\x01\x02\x03\x04"),
		"a descriptor with another size":    at(two(), bytes.Index(two(), []byte("PK\x07\x08"))+12, "\x01\x02\x03\x04"),
		"two ends":                          archive(t, "PK\x05\x06"+strings.Repeat("\x00", 18), entry{name: "a", text: "x"}),
		"an empty end behind the true one":  append(archive(t, strings.Repeat(" ", 22))[:22:22], "PK\x05\x06"+strings.Repeat("\x00", 18)...),
		"a place behind the archive":        at(two(), dir(two())+42, "\xff\xff\xff\x7f"),
		"more files than there is room for": put(put(two(), len(two())-14, 999), len(two())-12, 999),
	} {
		_, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		count.Off(name, err == nil || err == zip.ErrInsecurePath)
		count.Try(name, Check(data, nil) == nil)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(archive(f, "", entry{name: "a", text: "b"}, entry{name: "c", text: "d", set: deflate}))
	f.Add(archive(f, "comment", entry{name: "a", text: "b", raw: true}))
	f.Fuzz(func(t *testing.T, data []byte) {
		if Check(data, nil) != nil {
			return
		}
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil && err != zip.ErrInsecurePath {
			return
		}
		for _, file := range z.File {
			if at, err := file.DataOffset(); err == nil && !bytes.Contains(data[:at], []byte(file.Name)) {
				t.Errorf("%q has another name before its data", file.Name)
			}
		}
	})
}
