package worker

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/protocol"
)

// least is the smallest module. plainManifest is a manifest for it.
var least = []byte("\x00asm\x01\x00\x00\x00")

const plainManifest = `{"name":"upper","version":"1.0.0","description":"makes text large","execution":{"argStyle":"cli","fileAccess":"readwrite"}}`

type zipEntry struct {
	name, data string
	set        func(h *zip.FileHeader)
}

func makeZIP(t testing.TB, entries ...zipEntry) []byte {
	t.Helper()
	var b bytes.Buffer
	zw := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		if e.set != nil {
			e.set(h)
		}
		w, err := zw.CreateHeader(h)
		must(t, err)
		_, err = w.Write([]byte(e.data))
		must(t, err)
	}
	must(t, zw.Close())
	return b.Bytes()
}

func decent(more ...zipEntry) []zipEntry {
	return append([]zipEntry{{name: "manifest.json", data: plainManifest}, {name: "tool.wasm", data: string(least)}}, more...)
}

func TestReadPackage(t *testing.T) {
	mode := func(m fs.FileMode) func(*zip.FileHeader) { return func(h *zip.FileHeader) { h.SetMode(m) } }
	many := func(n int) (list []zipEntry) {
		for i := range n {
			list = append(list, zipEntry{name: "f" + string(rune('a'+i/26)) + string(rune('a'+i%26))})
		}
		return list
	}
	tests := []struct {
		name   string
		zip    []byte
		limits PackageLimits
		want   string // in the error
		code   protocol.Code
	}{
		{name: "decent", zip: makeZIP(t, decent(zipEntry{name: "docs/"}, zipEntry{name: "docs/a.md", data: "x"}, zipEntry{name: "LICENSE", data: "MIT"})...)},
		{name: "no ZIP", zip: []byte("hello"), want: "no ZIP archive"},
		{name: "empty", zip: nil, want: "no ZIP archive"},
		{name: "no manifest", zip: makeZIP(t, zipEntry{name: "tool.wasm", data: string(least)}), want: "manifest.json: it is missing"},
		{name: "no module", zip: makeZIP(t, zipEntry{name: "manifest.json", data: plainManifest}), want: "tool.wasm: it is missing"},
		{name: "in a folder", zip: makeZIP(t, zipEntry{name: "a/manifest.json", data: plainManifest}, zipEntry{name: "a/tool.wasm", data: string(least)}), want: "at the top of the ZIP"},
		{name: "no wasm", zip: makeZIP(t, zipEntry{name: "manifest.json", data: plainManifest}, zipEntry{name: "tool.wasm", data: "MZ"}), want: "no WebAssembly module"},
		{name: "up", zip: makeZIP(t, decent(zipEntry{name: "../evil", data: "x"})...), want: "leads out"},
		{name: "up inside", zip: makeZIP(t, decent(zipEntry{name: "a/../../evil"})...), want: "leads out"},
		{name: "absolute", zip: makeZIP(t, decent(zipEntry{name: "/etc/passwd"})...), want: "leads out"},
		{name: "backslash", zip: makeZIP(t, decent(zipEntry{name: `..\evil`})...), want: "leads out"},
		{name: "drive", zip: makeZIP(t, decent(zipEntry{name: "C:evil"})...), want: "leads out"},
		{name: "empty part", zip: makeZIP(t, decent(zipEntry{name: "a//b"})...), want: "leads out"},
		{name: "dot", zip: makeZIP(t, decent(zipEntry{name: "./a"})...), want: "leads out"},
		{name: "NUL", zip: makeZIP(t, decent(zipEntry{name: "a\x00b"})...), want: "leads out"},
		{name: "control", zip: makeZIP(t, decent(zipEntry{name: "a\nb"})...), want: "control characters"},
		{name: "not UTF-8", zip: makeZIP(t, decent(zipEntry{name: "a\xff", set: func(h *zip.FileHeader) { h.NonUTF8 = true }})...), want: "leads out"},
		{name: "name of 255", zip: makeZIP(t, decent(zipEntry{name: strings.Repeat("a", 255)})...)},
		{name: "name of 256", zip: makeZIP(t, decent(zipEntry{name: strings.Repeat("a", 256)})...), want: "256 bytes; the limit is 255"},
		{name: "twice", zip: makeZIP(t, decent(zipEntry{name: "tool.wasm", data: string(least)})...), want: "there twice"},
		{name: "case", zip: makeZIP(t, decent(zipEntry{name: "Tool.wasm"})...), want: "by case only"},
		{name: "case of a folder", zip: makeZIP(t, decent(zipEntry{name: "A", data: "x"}, zipEntry{name: "a/b"})...), want: "by case only"},
		{name: "file and folder", zip: makeZIP(t, decent(zipEntry{name: "a/b"}, zipEntry{name: "a", data: "x"})...), want: "a file and a folder"},
		{name: "link", zip: makeZIP(t, decent(zipEntry{name: "l", data: "/etc/passwd", set: mode(fs.ModeSymlink | 0o777)})...), want: "it is a link"},
		{name: "device", zip: makeZIP(t, decent(zipEntry{name: "d", set: mode(fs.ModeDevice)})...), want: "neither a file nor a folder"},
		{name: "encrypted", zip: flag(makeZIP(t, decent()...), 1), want: "encrypted"},
		{name: "comment", zip: commented(t), want: "something behind it"},
		{name: "behind", zip: append(makeZIP(t, decent()...), 'x'), want: "something behind it"},
		{name: "in front", zip: append([]byte("#!/bin/sh\n"), makeZIP(t, decent()...)...), want: "in front"},
		{name: "cut", zip: makeZIP(t, decent()...)[:100], want: "no ZIP archive"},
		{name: "64 files", zip: makeZIP(t, decent(many(62)...)...)},
		{name: "65 files", zip: makeZIP(t, decent(many(63)...)...), want: "65 files; the limit is 64", code: protocol.ErrResourceLimit},
		{name: "lies of its number", zip: count(makeZIP(t, decent(many(70)...)...), 3), want: "more than 64 files", code: protocol.ErrResourceLimit},
		{name: "fewer than it says", zip: count(makeZIP(t, decent()...), 9), want: "says it has 9"},
		{name: "ZIP at the limit", zip: makeZIP(t, decent()...), limits: PackageLimits{ZIP: int64(len(makeZIP(t, decent()...)))}},
		{name: "ZIP over the limit", zip: makeZIP(t, decent()...), limits: PackageLimits{ZIP: int64(len(makeZIP(t, decent()...))) - 1}, want: "the limit is", code: protocol.ErrResourceLimit},
		{name: "total at the limit", zip: makeZIP(t, decent(zipEntry{name: "z", data: strings.Repeat("z", 1000)})...), limits: PackageLimits{Total: int64(len(plainManifest) + len(least) + 1000)}},
		{name: "total over the limit", zip: makeZIP(t, decent(zipEntry{name: "z", data: strings.Repeat("z", 1001)})...), limits: PackageLimits{Total: int64(len(plainManifest) + len(least) + 1000)}, want: "unpacked", code: protocol.ErrResourceLimit},
		{name: "bomb", zip: makeZIP(t, decent(zipEntry{name: "b", data: strings.Repeat("\x00", 8<<20)})...), want: "times larger than packed", code: protocol.ErrResourceLimit},
		{name: "bomb under a ratio of its own", zip: makeZIP(t, decent(zipEntry{name: "b", data: strings.Repeat("\x00", 8<<20)})...), limits: PackageLimits{Ratio: 2000}},
		{name: "small and repeating", zip: makeZIP(t, decent(zipEntry{name: "b", data: strings.Repeat("\x00", 1<<20)})...)},
		{name: "more than it says", zip: size(makeZIP(t, decent(zipEntry{name: "b", data: strings.Repeat("a", 5000)})...), 10), want: "damaged"},
		{name: "less than it says", zip: size(makeZIP(t, decent(zipEntry{name: "b", data: "aaaa"})...), 9000), want: "damaged"},
		{name: "wrong sum", zip: sum(makeZIP(t, decent()...)), want: "damaged"},
		{name: "method", zip: method(makeZIP(t, decent()...), 12), want: "compression method 12"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := readPackage(t.Context(), tt.zip, tt.limits)
			if tt.want == "" {
				if err != nil || p.Name != "upper" || len(p.SHA256) != 64 || !bytes.Equal(p.Wasm(), least) {
					t.Fatalf("%v %v", p, err)
				}
				return
			}
			code := tt.code
			if code == "" {
				code = protocol.ErrInvalidParams
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || !errors.Is(err, code) {
				t.Errorf("error %v, want %q, %s", err, tt.want, code)
			}
		})
	}
}

// last returns the offset of the last entry in the directory.
func last(z []byte) int { return bytes.LastIndex(z, []byte("PK\x01\x02")) }

func flag(z []byte, bit uint16) []byte {
	z = bytes.Clone(z)
	binary.LittleEndian.PutUint16(z[last(z)+8:], bit)
	return z
}

func method(z []byte, n uint16) []byte {
	z = bytes.Clone(z)
	binary.LittleEndian.PutUint16(z[last(z)+10:], n)
	return z
}

func size(z []byte, n uint32) []byte {
	z = bytes.Clone(z)
	binary.LittleEndian.PutUint32(z[last(z)+24:], n)
	return z
}

func sum(z []byte) []byte {
	z = bytes.Clone(z)
	z[last(z)+16]++
	return z
}

func count(z []byte, n uint16) []byte {
	z = bytes.Clone(z)
	binary.LittleEndian.PutUint16(z[len(z)-12:], n)
	return z
}

func commented(t *testing.T) []byte {
	var b bytes.Buffer
	zw := zip.NewWriter(&b)
	must(t, zw.SetComment("PK\x05\x06"))
	must(t, zw.Close())
	return b.Bytes()
}

func FuzzReadPackage(f *testing.F) {
	for _, z := range [][]byte{makeZIP(f, decent()...), flag(makeZIP(f, decent()...), 1), []byte("PK\x05\x06"), count(makeZIP(f, decent()...), 3)} {
		f.Add(z)
	}
	f.Fuzz(func(t *testing.T, z []byte) {
		limits := PackageLimits{ZIP: 1 << 20, Total: 1 << 20, Files: 16}
		p, err := readPackage(t.Context(), z, limits)
		if err != nil {
			return
		}
		total := 0
		for name, data := range p.files {
			if total += len(data); !fs.ValidPath(name) || strings.Contains(name, `\`) {
				t.Errorf("name %q", name)
			}
		}
		if total > 1<<20 || len(p.files) > 16 || !packageName.MatchString(p.Name) {
			t.Errorf("%d bytes in %d files, name %q", total, len(p.files), p.Name)
		}
	})
}

func TestParseManifest(t *testing.T) {
	with := func(old, new string) string { return strings.Replace(plainManifest, old, new, 1) }
	pad := func(n int) string {
		return strings.TrimSuffix(plainManifest, "}") + strings.Repeat(" ", n-len(plainManifest)) + "}"
	}
	tests := []struct{ name, text, want string }{
		{"plain", plainManifest, ""},
		{"at the limit", pad(maxManifest), ""},
		{"over the limit", pad(maxManifest + 1), "the limit is 65536"},
		{"no JSON", "{", "manifest.json"},
		{"a list", "[]", "no object"},
		{"unknown key", with(`"name"`, `"run":"x","name"`), "run"},
		{"key twice", with(`"name"`, `"name":"a","name"`), "manifest.json"},
		{"no name", with(`"upper"`, `""`), "name"},
		{"capital", with("upper", "Upper"), "lower-case"},
		{"slash", with("upper", "a/b"), "lower-case"},
		{"64", with("upper", strings.Repeat("a", 64)), ""},
		{"65", with("upper", strings.Repeat("a", 65)), "1 to 64"},
		{"version", with("1.0.0", "one"), "version"},
		{"version with a tail", with("1.0.0", "1.0.0-rc.1+x"), ""},
		{"no description", with("makes text large", ""), "description"},
		{"description at the limit", with("makes text large", strings.Repeat("a", 1024)), ""},
		{"description over it", with("makes text large", strings.Repeat("a", 1025)), "description"},
		{"turned text", with("makes text large", "a\u202eb"), "control characters"},
		{"argStyle", with(`"cli"`, `"shell"`), "argStyle"},
		{"fileAccess", with(`"readwrite"`, `"all"`), "fileAccess"},
		{"timeout", with(`"argStyle"`, `"timeout":600000,"argStyle"`), ""},
		{"timeout over", with(`"argStyle"`, `"timeout":600001,"argStyle"`), "timeout"},
		{"timeout below", with(`"argStyle"`, `"timeout":-1,"argStyle"`), "timeout"},
		{"memory", with(`"argStyle"`, `"memoryLimit":4294901760,"argStyle"`), ""},
		{"memory over", with(`"argStyle"`, `"memoryLimit":4294901761,"argStyle"`), "memoryLimit"},
		{"bad schema", with(`"name"`, `"parameters":{"type":"nonsense"},"name"`), "parameters"},
		{"license", with(`"name"`, `"license":"MIT","name"`), ""},
		{"both spellings", with(`"name"`, `"license":"MIT","licence":"MIT","name"`), "the same"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := ParseManifest([]byte(tt.text))
			if tt.want == "" && (err != nil || m.Name == "") || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func TestManifestArgs(t *testing.T) {
	schema := `{"type":"object","properties":{"n":{"type":"integer"},"file":{"type":"string"},"v":{"type":"boolean"},"args":{"type":"array"},"stdin":{"type":"string"},"list":{"type":"array"}},"required":["file"],"additionalProperties":false}`
	tests := []struct {
		style, params string
		want          []string
		stdin, err    string
	}{
		{"cli", `{"file":"a b","n":3,"v":true,"args":["-x","y"],"stdin":"in"}`, []string{"--file=a b", "--n=3", "--v", "-x", "y"}, "in", ""},
		{"cli", `{"file":"f","v":false,"list":["1",2]}`, []string{"--file=f", "--list=1", "--list=2"}, "", ""},
		{"positional", `{"n":3,"file":"f","args":["x"]}`, []string{"f", "x", "3"}, "", ""},
		{"json", `{"file":"f","stdin":"in"}`, []string{`{"file":"f"}`}, "in", ""},
		{"cli", `{}`, nil, "", "file"},
		{"cli", `{"file":"f","z":1}`, nil, "", "z"},
		{"cli", `{"file":1}`, nil, "", "file"},
		{"cli", `{"file":"a\u0000b"}`, nil, "", "NUL"},
		{"cli", `[]`, nil, "", "object"},
	}
	for _, tt := range tests {
		m := &Manifest{Name: "t", Parameters: schema, Execution: Execution{ArgStyle: tt.style}}
		params, err := protocol.ParseJSON(tt.params, protocol.JSONLimits{})
		must(t, err)
		args, stdin, err := m.Args(params)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s %s: %v, want %q", tt.style, tt.params, err, tt.err)
			}
			continue
		}
		if err != nil || !slices.Equal(args, tt.want) || stdin != tt.stdin {
			t.Errorf("%s %s: %q %q %v", tt.style, tt.params, args, stdin, err)
		}
	}
}

// If the directory and the local headers of a ZIP differ, a reader that reads from the front sees
// another package. internal/zipform has the table of all forms.
func TestAttackPackageOfTwoReaders(t *testing.T) {
	count := attack.Start(t, "18")
	stored := func(h *zip.FileHeader) { h.Method = zip.Store }
	evil := "\x00asm\x01\x00\x00\x00\x00\x05\x04evil"
	honest := func() []byte {
		return makeZIP(t, zipEntry{"manifest.json", plainManifest, stored}, zipEntry{"tool.wasm", string(least), stored}, zipEntry{"evil.wasm", evil, stored})
	}
	swap := func(z []byte, pairs ...string) []byte {
		at := make([]int, len(pairs)/2)
		for i := range at {
			at[i] = bytes.Index(z, []byte(pairs[2*i]))
		}
		for i := range at {
			copy(z[at[i]:], pairs[2*i+1])
		}
		return z
	}
	second := func(name string) func(*zip.FileHeader) {
		return func(h *zip.FileHeader) {
			h.Extra = append(binary.LittleEndian.AppendUint16([]byte{0x75, 0x70}, uint16(5+len(name))), "\x01\x00\x00\x00\x00"+name...)
		}
	}
	for name, z := range map[string][]byte{
		"swapped names":             swap(honest(), "tool.wasm", "evil.wasm", "evil.wasm", "tool.wasm"),
		"a second module":           swap(honest(), "evil.wasm", "tool.wasm"),
		"a module under no name":    swap(honest(), "tool.wasm", "TOOL.wasm"),
		"a manifest under no name":  swap(honest(), "manifest.json", "manifest.js\x00\x00"),
		"a name that leads out":     swap(honest(), "evil.wasm", "../../abc"),
		"a Unicode path":            makeZIP(t, decent(zipEntry{"evil.wasm", evil, second("tool.wasm")})...),
		"a Unicode path leads out":  makeZIP(t, decent(zipEntry{"evil.wasm", evil, second("../../.bashrc")})...),
		"a header that is a folder": swap(honest(), "evil.wasm", "evil.was/"),
	} {
		_, err := readPackage(t.Context(), z, PackageLimits{})
		count.Try(name, err == nil)
		zr, err := zip.NewReader(bytes.NewReader(z), int64(len(z)))
		count.Off(name, err == nil && len(zr.File) == 3)
	}
	if _, err := readPackage(t.Context(), honest(), PackageLimits{}); err != nil {
		t.Errorf("the control: %v", err)
	}
}
