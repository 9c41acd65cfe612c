package main

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// assets writes the files for the release's page.
func (r *release) assets(ctx context.Context, mods []*mod) error {
	dir := filepath.Join(r.out, "assets")
	number := strings.TrimPrefix(r.version, "v")
	text, err := os.ReadFile(filepath.Join(r.npm, "package.json"))
	if err != nil {
		return fmt.Errorf("the npm package: %w (make dist)", err)
	}
	var p struct{ Name, Version string }
	if err := json.Unmarshal(text, &p); err != nil || p.Version != number {
		return fmt.Errorf("%s has the version %q, want %q: make dist VERSION=%s, %v", r.npm, p.Version, number, r.version, err)
	}
	packed, err := command(ctx, dir, nil, "npm", "pack", "--silent", "--pack-destination", dir, r.npm)
	if err != nil {
		return err
	}
	npm, err := os.ReadFile(filepath.Join(dir, strings.TrimSpace(packed)))
	if err != nil {
		return err
	}
	tools, err := folderZip(r.tools, r.time)
	if err != nil {
		return fmt.Errorf("the starter tools: %w (make tools)", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "bailey-tools-"+number+".zip"), tools, 0o644); err != nil {
		return err
	}
	parts, notices, err := r.parts(ctx, mods, npm, tools)
	if err != nil {
		return err
	}
	bom, err := bomOf(r, parts)
	if err != nil {
		return err
	}
	if err := checkSchema(ctx, bom); err != nil {
		return err
	}
	for name, data := range map[string][]byte{"bailey-" + number + ".cdx.json": bom, "NOTICES-npm.txt": notices["npm"], "NOTICES-tools.txt": notices["tools"]} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	if err := r.provenance(ctx, dir, number); err != nil {
		return err
	}
	return sums(dir)
}

// parts returns the components of the release with their works, and the notices of the packed programs.
func (r *release) parts(ctx context.Context, mods []*mod, npm, tools []byte) ([]part, map[string][]byte, error) {
	var parts []part
	for _, m := range mods {
		works, err := worksOfModule(ctx, filepath.Join(r.root, m.dir))
		if err != nil {
			return nil, nil, err
		}
		if m.dir == "." {
			more, err := embedded(r.root)
			if err != nil {
				return nil, nil, err
			}
			works = append(works, more...)
		}
		p := part{name: m.path, version: m.version, purl: "pkg:golang/" + m.path + "@" + m.version, kind: cdx.ComponentTypeLibrary, about: "module of Go, " + m.sum, sum: sha256.Sum256(m.zip), works: works}
		for _, n := range m.needs {
			p.needs = append(p.needs, "pkg:golang/"+n+"@"+m.version)
		}
		parts = append(parts, p)
	}
	notices := map[string][]byte{}
	number := strings.TrimPrefix(r.version, "v")
	for _, p := range []struct {
		key, at string
		part    part
	}{
		{"npm", filepath.Join(r.npm, "NOTICES"), part{name: "bailey", purl: "pkg:npm/bailey@" + number, about: "npm package with bailey.wasm and agent.wasm", sum: sha256.Sum256(npm)}},
		{"tools", filepath.Join(r.tools, "NOTICES.txt"), part{name: "bailey-tools", purl: "pkg:generic/bailey-tools@" + number, about: "starter tools as WASI programs", sum: sha256.Sum256(tools)}},
	} {
		text, err := os.ReadFile(p.at)
		if err != nil {
			return nil, nil, err
		}
		notices[p.key] = text
		p.part.version, p.part.kind = number, cdx.ComponentTypeApplication
		if p.part.works, err = worksOf(string(text)); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", p.at, err)
		}
		parts = append(parts, p.part)
	}
	return parts, notices, nil
}

// folderZip returns the files of a folder as a zip, which is the same for the same files.
func folderZip(dir string, at time.Time) ([]byte, error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range list { // sorted
		if !e.Type().IsRegular() {
			return nil, fmt.Errorf("%s/%s is no file", dir, e.Name())
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: e.Name(), Method: zip.Deflate, Modified: at})
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil {
			return nil, err
		}
	}
	err = z.Close()
	return b.Bytes(), err
}

// provenance writes how the assets were built, as a statement of in-toto with a predicate of SLSA. It is not signed: npm and the release's
// page sign their own.
func (r *release) provenance(ctx context.Context, dir, number string) error {
	list, err := hashes(dir)
	if err != nil {
		return err
	}
	var subjects []any
	for _, name := range slices.Sorted(maps.Keys(list)) {
		subjects = append(subjects, map[string]any{"name": name, "digest": map[string]string{"sha256": list[name]}})
	}
	made, err := command(ctx, ".", nil, "go", "env", "GOVERSION", "GOOS", "GOARCH")
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(map[string]any{
		"_type":         "https://in-toto.io/Statement/v1",
		"subject":       subjects,
		"predicateType": "https://slsa.dev/provenance/v1",
		"predicate": map[string]any{
			"buildDefinition": map[string]any{
				"buildType":            "https://" + pathOf + "/blob/main/Makefile#release",
				"externalParameters":   map[string]string{"VERSION": r.version},
				"internalParameters":   map[string]any{"go": strings.Fields(made), "uncommittedChanges": r.dirty},
				"resolvedDependencies": []any{map[string]any{"uri": "git+https://" + pathOf, "digest": map[string]string{"gitCommit": r.commit}}},
			},
			"runDetails": map[string]any{"builder": map[string]string{"id": "https://" + pathOf + "/blob/main/Makefile"}},
		},
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "bailey-"+number+".provenance.json"), append(text, '\n'), 0o644)
}

// hashes returns the SHA-256 of each file of a folder by name.
func hashes(dir string) (map[string]string, error) {
	list, err := os.ReadDir(dir)
	out := map[string]string{}
	for _, e := range list {
		f, err := os.Open(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		h := sha256.New()
		_, err = io.Copy(h, f)
		f.Close()
		if err != nil {
			return nil, err
		}
		out[e.Name()] = hex.EncodeToString(h.Sum(nil))
	}
	return out, err
}

// sums writes SHA256SUMS in the form of sha256sum.
func sums(dir string) error {
	list, err := hashes(dir)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if name != "SHA256SUMS" {
			fmt.Fprintf(&b, "%s  %s\n", list[name], name)
		}
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(b.String()), 0o644)
}
