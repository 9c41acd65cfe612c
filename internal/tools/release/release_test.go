package main

import (
	"bytes"
	"crypto/sha256"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

const root = "../../.."

// small makes a repository with three modules, of which one needs the two others.
func small(t *testing.T) *release {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"LICENSE":       "Permission is hereby granted, free of charge, without restriction",
		"go.mod":        "module github.com/bailey-go/bailey\n\ngo 1.26.0\n",
		"bailey.go":     "package bailey\n\nconst Name = \"bailey\"\n",
		"mcp/go.mod":    "module github.com/bailey-go/bailey/mcp\n\ngo 1.26.0\n\nrequire github.com/bailey-go/bailey v0.0.0-00010101000000-000000000000\n\nreplace github.com/bailey-go/bailey => ..\n",
		"mcp/mcp.go":    "package mcp\n\nimport \"github.com/bailey-go/bailey\"\n\nconst Name = bailey.Name + \"/mcp\"\n",
		"a/env/go.mod":  "module github.com/bailey-go/bailey/a/env\n\ngo 1.26.0\n\nrequire (\n\tgithub.com/bailey-go/bailey v0.0.0\n\tgithub.com/bailey-go/bailey/mcp v0.0.0\n)\n\nreplace github.com/bailey-go/bailey => ../..\n\nreplace github.com/bailey-go/bailey/mcp => ../../mcp\n",
		"a/env/env.go":  "package env\n\nimport (\n\t\"github.com/bailey-go/bailey\"\n\t\"github.com/bailey-go/bailey/mcp\"\n)\n\nconst Name = mcp.Name + bailey.Name\n",
		"a/env/LICENSE": "its own",
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "-q", "-m", "all"}} {
		if _, err := command(t.Context(), dir, nil, "git", args...); err != nil {
			t.Fatal(err)
		}
	}
	r := &release{version: "v0.1.0", root: dir, out: filepath.Join(t.TempDir(), "out"), modules: []string{"a/env", ".", "mcp"}}
	if err := r.empty(); err != nil {
		t.Fatal(err)
	}
	if err := r.source(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The modules require each other by version, have the same hashes by their tags as in the proxy, and are used without the repository. The
// patch makes the repository as it is tagged, which is as it was before.
func TestModules(t *testing.T) {
	for _, tool := range []string{"git", "sh"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	r := small(t)
	ctx := t.Context()
	mods, err := stage(ctx, r.root, filepath.Join(r.out, "source"), r.version, r.modules)
	must(t, err)
	must(t, pack(mods, filepath.Join(r.out, "proxy"), r.time))
	must(t, r.tags(mods))
	must(t, r.patch(ctx))
	var order []string
	for _, m := range mods {
		order = append(order, m.tag())
	}
	if want := []string{"v0.1.0", "mcp/v0.1.0", "a/env/v0.1.0"}; !slices.Equal(order, want) {
		t.Errorf("the tags are %q, want %q", order, want)
	}
	for _, m := range mods {
		if bytes.Contains(m.file, []byte("replace")) || m.dir != "." && !bytes.Contains(m.file, []byte("github.com/bailey-go/bailey v0.1.0\n")) {
			t.Errorf("%s:\n%s", m.path, m.file)
		}
	}
	must(t, r.checkTags(ctx, mods))
	program := `package main

import "github.com/bailey-go/bailey/a/env"

func main() { println(env.Name) }
`
	must(t, r.consume(ctx, []consumer{{"a/env", text(program), "", nil}}))

	if out, err := command(ctx, r.root, nil, "git", "status", "--porcelain"); err != nil || out != "" {
		t.Errorf("the repository was changed: %s, %v", out, err)
	}
	_, err = command(ctx, r.root, nil, "git", "apply", filepath.Join(r.out, "release.patch"))
	must(t, err)
	for _, name := range []string{"go.mod", "mcp/go.mod", "mcp/go.sum", "a/env/go.mod", "a/env/go.sum"} {
		want, _ := os.ReadFile(filepath.Join(r.out, "source", name))
		got, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil || !bytes.Equal(got, want) || len(got) == 0 {
			t.Errorf("%s is %q, %v, want %q", name, got, err, want)
		}
	}

	// With a file changed after the hashes were made, the check fails.
	must(t, os.WriteFile(filepath.Join(r.out, "source/mcp/mcp.go"), []byte("package mcp\n\nconst Name = \"other\"\n"), 0o644))
	if err := r.checkTags(ctx, mods); err == nil || !strings.Contains(err.Error(), "the hashes are") {
		t.Errorf("a changed file: %v", err)
	}
	if err := r.consume(ctx, []consumer{{"a/env", text(strings.ReplaceAll(program, "env.Name", "env.Other")), "", nil}}); err == nil {
		t.Error("a program with an unknown name builds")
	}
}

func TestRefused(t *testing.T) {
	r := small(t)
	for _, version := range []string{"", "0.1.0", "v1", "v0.1", "latest", "v2.0.0"} {
		if _, err := stage(t.Context(), r.root, t.TempDir(), version, r.modules); err == nil || !strings.Contains(err.Error(), "v0.1.0") {
			t.Errorf("version %q: %v", version, err)
		}
	}
	if _, err := stage(t.Context(), r.root, t.TempDir(), "v0.1.0", []string{".", "a/env"}); err == nil || !strings.Contains(err.Error(), "no module of the release") {
		t.Errorf("a replacement of a module that is not tagged: %v", err)
	}
	mine := t.TempDir()
	must(t, os.WriteFile(filepath.Join(mine, "thesis.txt"), nil, 0o644))
	r.out = mine
	if err := r.empty(); err == nil {
		t.Error("a folder of the user's would be emptied")
	}
}

// Each module of the repository is tagged, or is for its development alone.
func TestEachModuleIsKnown(t *testing.T) {
	development := []string{"environment/kubernetes/apiserver", "environment/kubernetes/gvisor", "internal/tools", "sandbox/secrets/publicset"}
	list, err := command(t.Context(), root, nil, "git", "ls-files", "go.mod", "*/go.mod")
	must(t, err)
	var dirs []string
	for line := range strings.SplitSeq(strings.TrimSpace(list), "\n") {
		if !strings.Contains(line, "testdata/") {
			dirs = append(dirs, filepath.ToSlash(filepath.Dir(line)))
		}
	}
	want := append(slices.Clone(own), development...)
	slices.Sort(want)
	slices.Sort(dirs)
	if !slices.Equal(dirs, want) {
		t.Errorf("the modules are %q, and this command knows of %q", dirs, want)
	}
	mods, err := stage(t.Context(), root, t.TempDir(), "v0.1.0", own)
	must(t, err)
	if len(mods) != len(own) || mods[0].dir != "." {
		t.Errorf("%d modules, the first is %s", len(mods), mods[0].dir)
	}
	used := map[string]bool{}
	for _, c := range consumers {
		used[c.module] = true
	}
	for _, m := range mods {
		if bytes.Contains(m.file, []byte("replace ")) {
			t.Errorf("%s has a replace line", m.path)
		}
		if !used[strings.TrimPrefix(m.dir, ".")] {
			t.Errorf("no program uses %s", m.path)
		}
	}
}

func TestWorksOf(t *testing.T) {
	section := func(name, text string) string {
		return "\n\n" + rule + "\n" + name + "\n" + rule + "\n\n" + text + "\n"
	}
	const mit = "Permission is hereby granted, free of charge, to any person … without restriction"
	head := "It is made of these works:\n\n  Go 1.26.8, its library\n  example.org/a v1.2.3\n  github.com/bailey-go/bailey\n  jq (jq-1.7.1)\n  git, its source\n"
	text := head + section("Go 1.26.8, its library", "BSD") + section("example.org/a v1.2.3", mit) + section("github.com/bailey-go/bailey", "x") + section("jq (jq-1.7.1)", mit) + section("git, its source", "GNU General Public License, version 2")
	works, err := worksOf(text)
	must(t, err)
	want := []work{{"Go", "1.26.8", "pkg:golang/std@1.26.8", "BSD-3-Clause"}, {"example.org/a", "v1.2.3", "pkg:golang/example.org/a@v1.2.3", "MIT"}, {"jq", "1.7.1", "", "MIT"}, {"git", "", "", "GPL-2.0-only"}}
	if !slices.Equal(works, want) {
		t.Errorf("got  %+v\nwant %+v", works, want)
	}
	for name, bad := range map[string]string{"no list": "hello", "no text of a work": head + section("Go 1.26.8, its library", "BSD"), "empty": "\n" + section("x", "y")} {
		if _, err := worksOf(bad); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// What the repository embeds and requires has a licence that the bill of materials names.
func TestLicences(t *testing.T) {
	works, err := embedded(root)
	must(t, err)
	more, err := worksOfModule(t.Context(), root)
	must(t, err)
	if len(more) < 6 {
		t.Errorf("only %d works", len(more))
	}
	for _, w := range append(works, more...) {
		if w.licence == "" || w.licence == "GPL-2.0-only" {
			t.Errorf("%s has the licence %q", w.name, w.licence)
		}
	}
	for text, want := range map[string]string{
		"Apache License\n Version 2.0, January 2004":                                       "Apache-2.0",
		"Mozilla Public License Version 2.0":                                               "MPL-2.0",
		"Redistribution and use in source\nand binary forms … Neither the name of":         "BSD-3-Clause",
		"Redistribution and use in source and binary forms, with":                          "BSD-2-Clause",
		"Permission to use, copy, modify, and/or distribute this software for any purpose": "ISC",
		"All rights reserved.": "",
	} {
		if got := licenceOf(text); got != want {
			t.Errorf("%.40q is %q, want %q", text, got, want)
		}
	}
}

// The bill of materials is of CycloneDX's schema, and the same for the same release.
func TestBOM(t *testing.T) {
	r := &release{version: "v0.1.0", commit: strings.Repeat("a", 40), time: time.Unix(1_700_000_000, 0).UTC()}
	parts := []part{
		{name: pathOf, version: "v0.1.0", purl: "pkg:golang/" + pathOf + "@v0.1.0", kind: cdx.ComponentTypeLibrary, sum: sha256.Sum256(nil), works: []work{goModule("example.org/a", "v1.0.0", "MIT")}},
		{name: "bailey-tools", version: "0.1.0", purl: "pkg:generic/bailey-tools@0.1.0", kind: cdx.ComponentTypeApplication, works: []work{{name: "SQLite"}, goModule("example.org/a", "v1.0.0", "MIT")}, needs: []string{"pkg:golang/" + pathOf + "@v0.1.0"}},
	}
	bom, err := bomOf(r, parts)
	must(t, err)
	again, err := bomOf(r, parts)
	must(t, err)
	if !bytes.Equal(bom, again) {
		t.Error("the second text differs")
	}
	must(t, checkSchema(t.Context(), bom))
	for _, part := range []string{`"specVersion": "1.6"`, `"purl": "pkg:golang/example.org/a@v1.0.0"`, `"name": "SQLite"`, `"dependsOn"`, `"alg": "SHA-256"`} {
		if !bytes.Contains(bom, []byte(part)) {
			t.Errorf("%s is missing in\n%s", part, bom)
		}
	}
	if n := bytes.Count(bom, []byte(`"bom-ref": "pkg:golang/example.org/a@v1.0.0"`)); n != 1 {
		t.Errorf("a work of two parts is there %d times", n)
	}
	for from, to := range map[string]string{`"id": "MIT"`: `"id": "my own"`, `"type": "library"`: `"type": "book"`, `"alg": "SHA-256"`: `"alg": "CRC"`, `"bomFormat"`: `"bomformat"`} {
		if err := checkSchema(t.Context(), bytes.ReplaceAll(bom, []byte(from), []byte(to))); err == nil {
			t.Errorf("with %s the schema agrees", to)
		}
	}
}

// sha256sum agrees with the sums, and not after a change.
func TestSums(t *testing.T) {
	if _, err := exec.LookPath("sha256sum"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "a b.txt"), []byte("one"), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "c.zip"), []byte("two"), 0o644))
	for range 2 { // the second leaves out the file itself
		must(t, sums(dir))
	}
	out, err := command(t.Context(), dir, nil, "sha256sum", "-c", "SHA256SUMS")
	if err != nil || strings.Count(out, "OK") != 2 {
		t.Errorf("%s, %v", out, err)
	}
	must(t, os.WriteFile(filepath.Join(dir, "c.zip"), []byte("three"), 0o644))
	if _, err := command(t.Context(), dir, nil, "sha256sum", "-c", "SHA256SUMS"); err == nil {
		t.Error("a changed file is not found")
	}
}

// A zip of a folder is the same for the same files.
func TestFolderZip(t *testing.T) {
	dir, at := t.TempDir(), time.Unix(1_700_000_000, 0)
	must(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one"), 0o644))
	one, err := folderZip(dir, at)
	must(t, err)
	must(t, os.Chtimes(filepath.Join(dir, "a.txt"), at, at))
	two, err := folderZip(dir, at)
	must(t, err)
	if !bytes.Equal(one, two) {
		t.Error("the zips differ")
	}
	must(t, os.Mkdir(filepath.Join(dir, "b"), 0o755))
	if _, err := folderZip(dir, at); err == nil {
		t.Error("a folder in it is left out")
	}
}
