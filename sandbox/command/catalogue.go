package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/worker"
)

// maxCatalogue is the maximum size of a catalogue, in bytes.
const maxCatalogue = 4 << 20

// Catalogue reads the file tools.json that "make tools" writes beside its modules, and returns options with
// all its commands. name is the place of the file, such as "tools/tools.json". fetch gets it, and later
// each module from the same folder when one of its commands is used. A module whose SHA-256 is not that of
// the catalogue is an error and does not run. A module with a "script" is a program of Emscripten,
// see [worker.Pool.CompileJS], whose script is fetched and compared in the same way. The catalogue itself is trusted: serve it with the page.
func Catalogue(ctx context.Context, fetch func(ctx context.Context, name string) ([]byte, error), name string) (Options, error) {
	bad := func(format string, args ...any) (Options, error) {
		return Options{}, protocol.Errorf(protocol.ErrInvalidParams, "catalogue", name, format, args...)
	}
	if fetch == nil {
		return bad("there is no function that fetches it")
	}
	text, err := fetch(ctx, name)
	if err != nil {
		return Options{}, protocol.Errorf(protocol.CodeOf(err), "catalogue", name, "it could not be fetched; make tools builds it with its modules: %w", err)
	}
	tree, err := protocol.ParseJSON(string(text), protocol.JSONLimits{Bytes: maxCatalogue})
	if err != nil {
		return bad("it is no catalogue: %w", err)
	}
	var file struct {
		Binaries []struct {
			Name   string `json:"name"`
			File   string `json:"file"`
			Size   int64  `json:"size"`
			Brotli int64  `json:"brotli"`
			SHA256 string `json:"sha256"`
			Script *struct {
				File   string `json:"file"`
				SHA256 string `json:"sha256"`
			} `json:"script"`
			Tools []any `json:"tools"`
		} `json:"binaries"`
	}
	if err := protocol.Unmarshal(tree, &file); err != nil {
		return bad("it is no catalogue: %w", err)
	}
	commands, sums, scripts := map[string]string{}, map[string]string{}, map[string]string{}
	for _, b := range file.Binaries {
		if b.File == "" || strings.ContainsAny(b.File, `/\?#%:`) || strings.HasPrefix(b.File, ".") {
			return bad("the module %q is not the name of a file beside it", b.File)
		}
		if sum, err := hex.DecodeString(b.SHA256); err != nil || len(sum) != sha256.Size {
			return bad("the module %s has no SHA-256", b.File)
		}
		if sums[b.File] != "" {
			return bad("the module %s is in it twice", b.File)
		}
		sums[b.File] = strings.ToLower(b.SHA256)
		if b.Script != nil {
			if b.Script.File == "" || strings.ContainsAny(b.Script.File, `/\?#%:`) || strings.HasPrefix(b.Script.File, ".") || sums[b.Script.File] != "" {
				return bad("the script %q is not the name of a file of its own beside it", b.Script.File)
			}
			if sum, err := hex.DecodeString(b.Script.SHA256); err != nil || len(sum) != sha256.Size {
				return bad("the script %s has no SHA-256", b.Script.File)
			}
			sums[b.Script.File], scripts[b.File] = strings.ToLower(b.Script.SHA256), b.Script.File
		}
		for _, t := range b.Tools {
			text, err := protocol.EncodeJSON(t, protocol.JSONLimits{})
			if err != nil {
				return bad("a tool of %s: %w", b.File, err)
			}
			m, err := worker.ParseManifest([]byte(text))
			if err != nil {
				return bad("a tool of %s: %w", b.File, err)
			}
			if commands[m.Name] != "" {
				return bad("the command %s is in %s and in %s", m.Name, commands[m.Name], b.File)
			}
			commands[m.Name] = b.File
		}
	}
	if len(commands) == 0 {
		return bad("it has no commands")
	}
	dir := path.Dir(name)
	return Options{Commands: commands, scripts: scripts, Fetch: func(ctx context.Context, module string) ([]byte, error) {
		wasm, err := fetch(ctx, path.Join(dir, module))
		if err != nil {
			return nil, err
		}
		if sum := sha256.Sum256(wasm); hex.EncodeToString(sum[:]) != sums[module] {
			return nil, protocol.Errorf(protocol.ErrSecurityViolation, "fetch", module, "its SHA-256 is %x and not that of %s, so it does not run; copy all files of one build", sum, name)
		}
		return wasm, nil
	}}, nil
}
