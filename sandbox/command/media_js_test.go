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
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/command"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/worker"
)

// ImageMagick of npm is a command of a catalogue: tool_run finds it, its files pass the gate, and a changed script does not run.
func TestMagickThroughTheGate(t *testing.T) {
	npm := filepath.Join("..", "..", "node_modules", "@imagemagick", "magick-wasm", "dist")
	wasm, err := os.ReadFile(filepath.Join(npm, "x86", "magick.wasm"))
	must(t, err)
	lib, err := os.ReadFile(filepath.Join(npm, "index.umd.cjs"))
	must(t, err)
	ours, err := os.ReadFile(filepath.Join("..", "..", "worker", "tools", "media", "magick.js"))
	must(t, err)
	script := string(lib) + "\n;" + string(ours)
	text := fmt.Sprintf(`{"binaries":[{"name":"magick","file":"magick.wasm","sha256":"%x","script":{"file":"magick.js","sha256":"%x"},"tools":[`+toolManifest+`]}]}`,
		sha256.Sum256(wasm), sha256.Sum256([]byte(script)), "magick")
	pool, err := worker.NewPool(t.Context(), worker.Options{})
	must(t, err)
	defer pool.Close()
	var in bytes.Buffer
	must(t, png.Encode(&in, image.NewGray(image.Rect(0, 0, 20, 10))))
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
		files := server{"t/tools.json": text, "t/magick.wasm": string(wasm), "t/magick.js": tt.script}
		o, err := command.Catalogue(context.Background(), files.fetch, "t/tools.json")
		must(t, err)
		r, err := command.New(pool, o)
		must(t, err)
		p, err := policy.Parse(`{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["magick"]}, "filesystem": {"denyRead": ["private"], "allowWrite": ["out"]},
			"rules": [{"permission": "fs.read", "action": "allow"}, {"permission": "fs.write", "action": "allow"}, {"permission": "shell.run", "action": "allow"}]}`, policy.Options{})
		must(t, err)
		mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
		must(t, errors.Join(mem.MkdirAll("out", 0o755), mem.WriteFile("in.png", in.Bytes(), 0o644), mem.WriteFile("private", in.Bytes(), 0o644)))
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
