package worker

import "testing"

// The package of FFMPEG.md is installed, granted and run. testdata/probe.c is used in place of
// ffmpeg. It writes a file from its arguments.
func TestFFmpegPackage(t *testing.T) {
	wasm := built(t, "probe.wasm")
	packages := ffmpegPackage(t, wasm)
	pool := newTestPool(t, Options{})
	for files, want := range map[FileAccess]string{FilesReadWrite: "in.wav=wave out.mp3=small", FilesRead: "in.wav=wave", FilesNone: "in.wav=wave"} {
		pkg, err := packages.Grant(testContext(t), "ffmpeg", PackageGrant{Files: files, Decision: PackageAlways})
		must(t, err)
		dir := newMemFS()
		must(t, dir.WriteFile("in.wav", []byte("wave"), 0o644))
		cmd, err := pkg.Command(testContext(t), pool, compile(t, pool, pkg.Wasm()), map[string]any{"args": []any{"write", "/out.mp3", "small"}}, dir)
		must(t, err)
		if err := cmd.Run(); (err == nil) != (files == FilesReadWrite) {
			t.Errorf("%s: %v", files, err)
		}
		if got := tree(t, dir); got != want {
			t.Errorf("%s: the folder has %s, want %s", files, got, want)
		}
		if got := cmd.Args[0]; got != "ffmpeg" {
			t.Error(got)
		}
	}
}
