package worker

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// ffmpegPackage installs the package of FFMPEG.md with another program in place of ffmpeg.
func ffmpegPackage(t testing.TB, wasm []byte) *Packages {
	t.Helper()
	page, err := os.ReadFile("FFMPEG.md")
	must(t, err)
	_, rest, ok := strings.Cut(string(page), "```json\n")
	manifest, _, ok2 := strings.Cut(rest, "```")
	if !ok || !ok2 {
		t.Fatal("FFMPEG.md has no manifest")
	}
	packages := NewPackages(MemoryStore(), PackagesOptions{Reserved: []string{"cat"}})
	_, err = packages.Install(context.Background(), makeZIP(t, zipEntry{name: "manifest.json", data: manifest}, zipEntry{name: "tool.wasm", data: string(wasm)},
		zipEntry{name: "LICENSE", data: "LGPL"}), "")
	must(t, err)
	return packages
}

func TestFFmpegManifest(t *testing.T) {
	packages := ffmpegPackage(t, least)
	pkg, err := packages.Grant(context.Background(), "ffmpeg", PackageGrant{Files: FilesReadWrite})
	must(t, err)
	if e := pkg.Execution; e.Timeout != 10*time.Minute || e.MemoryLimit != 2<<30 || pkg.Licence != "LGPL-2.1-or-later" {
		t.Errorf("%+v", pkg.Manifest)
	}
	args, _, err := pkg.Args(map[string]any{"args": []any{"-nostdin", "-i", "in.wav", "out.mp3"}})
	if err != nil || !slices.Equal(args, []string{"-nostdin", "-i", "in.wav", "out.mp3"}) {
		t.Errorf("%q %v", args, err)
	}
	for _, bad := range []map[string]any{{}, {"args": []any{}}, {"args": "-i"}, {"i": "in.wav"}} {
		if _, _, err := pkg.Args(bad); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
}
