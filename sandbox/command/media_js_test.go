package command_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/command"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
	"github.com/bailey-go/bailey/sandbox/shell"
	"github.com/bailey-go/bailey/worker"
)

// magick returns a catalogue with ImageMagick of npm, its module, its script, and a picture.
func magick(t *testing.T) (catalogue, wasm, script string, in []byte) {
	t.Helper()
	npm := filepath.Join("..", "..", "node_modules", "@imagemagick", "magick-wasm", "dist")
	data, err := os.ReadFile(filepath.Join(npm, "x86", "magick.wasm"))
	must(t, err)
	lib, err := os.ReadFile(filepath.Join(npm, "index.umd.cjs"))
	must(t, err)
	ours, err := os.ReadFile(filepath.Join("..", "..", "worker", "tools", "media", "magick.js"))
	must(t, err)
	script = string(lib) + "\n;" + string(ours)
	catalogue = fmt.Sprintf(`{"binaries":[{"name":"magick","file":"magick.wasm","sha256":"%x","script":{"file":"magick.js","sha256":"%x"},"tools":[`+toolManifest+`]}]}`,
		sha256.Sum256(data), sha256.Sum256([]byte(script)), "magick")
	var b bytes.Buffer
	must(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 20, 10))))
	return catalogue, string(data), script, b.Bytes()
}

// ImageMagick of npm is a command of a catalogue: tool_run finds it, its files pass the gate, and a changed script does not run.
func TestMagickThroughTheGate(t *testing.T) {
	text, wasm, script, in := magick(t)
	pool, err := worker.NewPool(t.Context(), worker.Options{})
	must(t, err)
	defer pool.Close()
	for _, tt := range []struct {
		name, script string
		args         args
		exit         any
		want         error
	}{
		{"converts", script, args{"args": []any{"in.png", "out/a.webp"}, "read": []any{"in.png"}, "write": []any{"out"}}, 0.0, nil},
		{"not to be read", script, args{"args": []any{"private", "out/a.webp"}, "read": []any{"."}, "write": []any{"out"}}, 1.0, nil},
		{"not said", script, args{"args": []any{"in.png", "out/a.webp"}, "write": []any{"out"}}, 1.0, nil},
		{"another script", script + " ", args{"args": []any{"in.png", "out/a.webp"}, "read": []any{"in.png"}, "write": []any{"out"}}, nil, protocol.ErrSecurityViolation},
	} {
		files := server{"t/tools.json": text, "t/magick.wasm": wasm, "t/magick.js": tt.script}
		o, err := command.Catalogue(context.Background(), files.fetch, "t/tools.json")
		must(t, err)
		r, err := command.New(pool, o)
		must(t, err)
		p, err := policy.Parse(`{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["magick"]}, "filesystem": {"denyRead": ["private"], "allowWrite": ["out"]},
			"rules": [{"permission": "fs.read", "action": "allow"}, {"permission": "fs.write", "action": "allow"}, {"permission": "shell.run", "action": "allow"}]}`, policy.Options{})
		must(t, err)
		mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
		must(t, errors.Join(mem.MkdirAll("out", 0o755), mem.WriteFile("in.png", in, 0o644), mem.WriteFile("private", in, 0o644)))
		box, err := sandbox.New(sandbox.Options{FS: mem, Policy: p, Tools: []sandbox.Tool{sandbox.ToolRun(r)}})
		must(t, err)
		tt.args["command"] = "magick"
		m, err := call(box, tt.args)
		if !errors.Is(err, tt.want) || m["exit_code"] != tt.exit {
			t.Errorf("%s: %v %v", tt.name, m, err)
		}
		webp, _ := mem.ReadFile("out/a.webp")
		if made := bytes.HasPrefix(webp, []byte("RIFF")); made != (tt.name == "converts") {
			t.Errorf("%s: made: %v", tt.name, made)
		}
		must(t, r.Close())
	}
}

// bash runs magick as any other command. The user is shown the files that it makes before they are there, and none is there if the answer is no.
func TestMagickFromBash(t *testing.T) {
	text, wasm, script, in := magick(t)
	pool, err := worker.NewPool(t.Context(), worker.Options{})
	must(t, err)
	defer pool.Close()
	o, err := command.Catalogue(t.Context(), server{"t/tools.json": text, "t/magick.wasm": wasm, "t/magick.js": script}.fetch, "t/tools.json")
	must(t, err)
	r, err := command.New(pool, o)
	must(t, err)
	defer r.Close()
	for _, tt := range []struct {
		name, script, output string
		answer               policy.Answer
		made                 bool
	}{
		{"yes", `cd d && magick in.png -resize 10x5! b.jpg && magick identify b.jpg; ls | tr '\n' ' '`, "b.jpg JPEG 10x5\nb.jpg in.png ", policy.AnswerOnce, true},
		{"no", `cd d && magick in.png b.jpg 2>/dev/null || echo refused; ls`, "refused\nin.png\n", policy.AnswerReject, false},
		{"an image that is none", `echo text > t.png; magick t.png b.jpg 2>/dev/null; echo $?; ls`, "1\nd\nt.png\n", policy.AnswerOnce, false},
	} {
		mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
		must(t, errors.Join(mem.MkdirAll("d", 0o755), mem.WriteFile("d/in.png", in, 0o644)))
		p, err := policy.Parse(`{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["*"]},
			"rules": [{"permission": "fs.read", "action": "allow"}, {"permission": "fs.write", "action": "ask"}, {"permission": "shell.run", "action": "allow"}]}`, policy.Options{})
		must(t, err)
		shown := ""
		ask := &sandboxtest.Asker{Reply: func(r sandbox.Request) sandbox.Reply {
			if _, err := mem.Stat("d/b.jpg"); err == nil {
				t.Errorf("%s: the file is there before the answer", tt.name)
			}
			shown += r.Title + "\n"
			return sandbox.Reply{Answer: tt.answer}
		}}
		box, err := sandbox.New(sandbox.Options{FS: mem, Policy: p, Ask: ask, Tools: []sandbox.Tool{shell.Bash(shell.Options{Runner: r})}})
		must(t, err)
		res := box.Call(t.Context(), "bash", args{"command": tt.script})
		m, _ := res.Data.(args)
		if m["output"] != tt.output {
			t.Errorf("%s: %v %v", tt.name, m, res.Err())
		}
		if lists := strings.Contains(shown, "d/b.jpg"); lists != (tt.name != "an image that is none") {
			t.Errorf("%s: the user was shown %q", tt.name, shown)
		}
		jpg, _ := mem.ReadFile("d/b.jpg")
		if made := bytes.HasPrefix(jpg, []byte{0xff, 0xd8, 0xff}); made != tt.made {
			t.Errorf("%s: made: %v", tt.name, made)
		}
	}
}
