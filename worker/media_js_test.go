package worker

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bailey-go/bailey/protocol"
)

// media returns a program of npm in a pool, with its own JavaScript.
func media(t *testing.T, p *Pool, wasm, script, tool string) *Module {
	t.Helper()
	read := func(dir ...string) []byte {
		data, err := os.ReadFile(filepath.Join(dir...))
		must(t, err)
		return data
	}
	start := time.Now()
	m, err := p.CompileJS(testContext(t), read("..", "node_modules", wasm), string(read("..", "node_modules", script))+"\n;"+string(read("tools", "media", tool)))
	must(t, err)
	t.Logf("compiled in %v", time.Since(start))
	t.Cleanup(func() { m.Close() })
	return m
}

func ffmpeg(t *testing.T, p *Pool) *Module {
	return media(t, p, "@ffmpeg/core/dist/umd/ffmpeg-core.wasm", "@ffmpeg/core/dist/umd/ffmpeg-core.js", "ffmpeg.js")
}

func magick(t *testing.T, p *Pool) *Module {
	return media(t, p, "@imagemagick/magick-wasm/dist/x86/magick.wasm", "@imagemagick/magick-wasm/dist/index.umd.cjs", "magick.js")
}

// picture returns a PNG.
func picture(t *testing.T, w, h int) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.Set(x, y, color.RGBA{uint8(x * 4), uint8(y * 4), 90, 255})
		}
	}
	var b bytes.Buffer
	must(t, png.Encode(&b, img))
	return b.Bytes()
}

// ImageMagick of npm makes a WebP of half the size from a real PNG.
func TestMagick(t *testing.T) {
	p := newTestPool(t, Options{})
	m := magick(t, p)
	dir := newMemFS()
	must(t, dir.Mkdir("out", 0o755))
	must(t, dir.WriteFile("in.png", picture(t, 64, 48), 0o644))
	start := time.Now()
	cmd := p.Command(testContext(t), m, "magick", "in.png", "-resize", "50%", "-strip", "out/small.webp")
	cmd.FS = dir
	out, err := cmd.CombinedOutput()
	t.Logf("%v %s %+v", time.Since(start), out, cmd.ProcessState)
	must(t, err)
	webp, err := dir.ReadFile("out/small.webp")
	must(t, err)
	if len(webp) < 30 || string(webp[:4]) != "RIFF" || string(webp[8:12]) != "WEBP" {
		t.Fatalf("%d bytes: %.40q", len(webp), webp)
	}
	cmd = p.Command(testContext(t), m, "magick", "identify", "/out/small.webp")
	cmd.FS = dir
	if out, err = cmd.CombinedOutput(); err != nil || string(out) != "/out/small.webp WEBP 32x24\n" {
		t.Errorf("%s %v", out, err)
	}
}

// ffmpeg of npm makes a video, converts it to another container, and takes a picture from it.
func TestFFmpeg(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make soak runs it")
	}
	p := newTestPool(t, Options{})
	m := ffmpeg(t, p)
	dir := newMemFS()
	must(t, dir.Mkdir("out", 0o755))
	for _, args := range [][]string{
		{"-f", "lavfi", "-i", "testsrc=duration=1:size=128x96:rate=10", "-c:v", "mpeg4", "in.mp4"},
		{"-i", "in.mp4", "-c", "copy", "out/in.mkv"},
		{"-i", "out/in.mkv", "-ss", "0.5", "-frames:v", "1", "/out/frame.png"},
	} {
		start := time.Now()
		cmd := p.Command(testContext(t), m, "ffmpeg", args...)
		cmd.FS = dir
		out, err := cmd.CombinedOutput()
		t.Logf("%v %+v", time.Since(start), cmd.ProcessState)
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	mkv, err := dir.ReadFile("out/in.mkv")
	must(t, err)
	if !bytes.HasPrefix(mkv, []byte{0x1a, 0x45, 0xdf, 0xa3}) {
		t.Errorf("%.20q is no Matroska", mkv)
	}
	frame, err := dir.ReadFile("out/frame.png")
	must(t, err)
	if img, err := png.Decode(bytes.NewReader(frame)); err != nil || img.Bounds().Dx() != 128 || img.Bounds().Dy() != 96 {
		t.Errorf("the frame: %v", err)
	}
}

// A picture, a name or a film that should do harm has no effect: nothing is written, and the program ends.
func TestMediaAttacks(t *testing.T) {
	p := newTestPool(t, Options{Limits: Limits{Time: 5 * time.Minute, Memory: 256 << 20}})
	m := magick(t, p)
	bomb := picture(t, 8, 8)
	binary.BigEndian.PutUint32(bomb[16:], 60000) // IHDR: width and height
	binary.BigEndian.PutUint32(bomb[20:], 60000)
	binary.BigEndian.PutUint32(bomb[29:], crc32.ChecksumIEEE(bomb[12:29]))
	msl := `<?xml version="1.0"?><image><read filename="/secret.png"/><write filename="/out.png"/></image>`
	for name, args := range map[string][]string{
		"bomb":      {"bomb.png", "out.png"},
		"large":     {"in.png", "-resize", "60000x60000!", "out.png"},
		"https":     {"https://example.com/a.png", "out.png"},
		"list":      {"@list.txt", "out.png"},
		"msl":       {"msl:script.msl", "out.png"},
		"msl file":  {"script.msl", "out.png"},
		"ephemeral": {"ephemeral:in.png", "out.png"},
		"label":     {"label:@list.txt", "out.png"},
		"to msl":    {"in.png", "msl:out.png"},
		"outside":   {"../../../etc/passwd", "out.png"},
		"option":    {"in.png", "-write", "other.png", "out.png"},
	} {
		dir := newMemFS()
		for name, data := range map[string][]byte{"bomb.png": bomb, "in.png": picture(t, 8, 8), "secret.png": picture(t, 9, 9), "list.txt": []byte("secret.png"), "script.msl": []byte(msl)} {
			must(t, dir.WriteFile(name, data, 0o644))
		}
		before := tree(t, dir)
		cmd := p.Command(testContext(t), m, "magick", args...)
		cmd.FS = dir
		out, err := cmd.CombinedOutput()
		t.Logf("%s: %.160s %v", name, out, err)
		if err == nil {
			t.Errorf("%s went well: %s", name, out)
		}
		if tree(t, dir) != before {
			t.Errorf("%s changed the folder", name)
		}
	}
	// An output name that leaves the folder stays in it.
	dir := newMemFS()
	must(t, dir.WriteFile("in.png", picture(t, 8, 8), 0o644))
	cmd := p.Command(testContext(t), m, "magick", "in.png", "../../out.png")
	cmd.FS = dir
	out, err := cmd.CombinedOutput()
	if _, stat := dir.Stat("out.png"); err != nil || stat != nil {
		t.Errorf("%s %v %v", out, err, stat)
	}
	// What a program may only read it can't write.
	cmd = p.Command(testContext(t), m, "magick", "in.png", "new.png")
	cmd.FS = onlyRead{dir}
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Errorf("a folder to read was written: %s", out)
	}
}

// A film without an end is killed, and an address is no file.
func TestFFmpegAttacks(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make soak runs it")
	}
	p := newTestPool(t, Options{Limits: Limits{Time: 5 * time.Minute}})
	m := ffmpeg(t, p)
	dir := newMemFS()
	must(t, dir.WriteFile("secret.txt", []byte("secret"), 0o644))
	must(t, dir.WriteFile("list.txt", []byte("ffconcat version 1.0\nfile 'https://example.com/a.mp4'\n"), 0o644))
	before := tree(t, dir)
	for name, args := range map[string][]string{
		"https":   {"-i", "https://example.com/a.mp4", "out.mp4"},
		"concat":  {"-f", "concat", "-safe", "0", "-protocol_whitelist", "file,https,tls,tcp", "-i", "list.txt", "out.mp4"},
		"outside": {"-i", "../../etc/passwd", "out.mp4"},
	} {
		cmd := p.Command(testContext(t), m, "ffmpeg", args...)
		cmd.FS = dir
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Errorf("%s went well: %s", name, out)
		}
	}
	cmd := p.Command(testContext(t), m, "ffmpeg", "-f", "lavfi", "-i", "testsrc", "-f", "null", "-")
	cmd.FS = dir
	said := make(chan struct{})
	cmd.Stderr = writerFunc(func(b []byte) (int, error) {
		if said != nil {
			close(said)
			said = nil
		}
		return len(b), nil
	})
	begun := said
	must(t, cmd.Start())
	<-begun
	must(t, cmd.Process.Kill())
	if err := cmd.Wait(); !errors.Is(err, protocol.ErrAborted) {
		t.Errorf("an endless film: %v", err)
	}
	cmd = p.Command(testContext(t), m, "ffmpeg", "-f", "lavfi", "-i", "testsrc", "-f", "null", "-")
	cmd.FS, cmd.Limits.Time = dir, 3*time.Second
	if err := cmd.Run(); !errors.Is(err, protocol.ErrTimeout) {
		t.Errorf("an endless film: %v", err)
	}
	if tree(t, dir) != before {
		t.Error("the folder was changed")
	}
}

// The JavaScript of a program reaches no server, no other worker and no storage. Without it, the test would
// say so: the same names are there in a worker of the page.
func TestToolScriptIsAlone(t *testing.T) {
	p := newTestPool(t, Options{})
	probe := `self.baileyProgram = async ({ print }) => {
	const there = [];
	for (const n of 'fetch XMLHttpRequest WebSocket Worker BroadcastChannel indexedDB caches importScripts EventSource navigator'.split(' ')) if (typeof self[n] !== 'undefined') there.push(n);
	try { (0, eval)('1'); there.push('eval'); } catch {}
	try { await import('data:text/javascript,1'); there.push('import'); } catch {}
	try { await import('https://example.com/x.js'); there.push('import https'); } catch {}
	print(1, self.origin + ' ' + there.join(' '));
	return 3;
};`
	lib := []byte("\x00asm\x01\x00\x00\x00")
	m, err := p.CompileJS(testContext(t), lib, probe)
	must(t, err)
	defer m.Close()
	out, err := p.Command(testContext(t), m, "probe").CombinedOutput()
	if e := (*ExitError)(nil); !errors.As(err, &e) || e.ExitCode() != 3 || string(out) != "null \n" {
		t.Errorf("%q %v", out, err)
	}
	trusted := newTestPool(t, Options{Trusted: true})
	if _, err := trusted.CompileJS(testContext(t), lib, probe); !errors.Is(err, protocol.ErrCapabilityDenied) {
		t.Errorf("in a trusted pool: %v", err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
