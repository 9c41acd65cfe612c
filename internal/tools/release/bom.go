package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// A work is a part of an asset that is not of Bailey.
type work struct {
	name, version string
	purl          string // "" for a work of no registry
	licence       string // SPDX, or "" if it has another form
}

func (w work) ref() string {
	if w.purl != "" {
		return w.purl
	}
	return "work:" + strings.ReplaceAll(w.name, " ", "-") + "@" + w.version
}

// goModule returns the work of a module in Go.
func goModule(path, version, licence string) work {
	return work{path, version, "pkg:golang/" + path + "@" + version, licence}
}

// licenceOf returns the SPDX identifier of a licence text, or "". It knows those of the works that Bailey ships.
func licenceOf(text string) string {
	text = strings.Join(strings.Fields(strings.ToLower(text)), " ")
	has := func(parts ...string) bool {
		return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(text, p) })
	}
	switch {
	case has("gnu general public license", "version 2"):
		return "GPL-2.0-only"
	case has("apache license", "version 2.0"):
		return "Apache-2.0"
	case has("mozilla public license", "2.0"):
		return "MPL-2.0"
	case has("redistribution and use in source and binary forms", "neither the name"):
		return "BSD-3-Clause"
	case has("redistribution and use in source and binary forms"):
		return "BSD-2-Clause"
	case has("permission is hereby granted, free of charge", "without restriction"):
		return "MIT"
	case has("permission to use, copy, modify, and/or distribute this software for any purpose"), has("permission to use, copy, modify, and distribute this software for any purpose"):
		return "ISC"
	case has("this software is provided 'as-is'", "altered source versions"):
		return "Zlib"
	}
	return ""
}

var rule = strings.Repeat("=", 78)

// worksOf reads a file of notices: its list of works, and the text of each.
func worksOf(notices string) ([]work, error) {
	head, _, ok := strings.Cut(notices, rule)
	if !ok {
		return nil, errors.New("the notices have no works")
	}
	var out []work
	for line := range strings.Lines(head) {
		name, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "  ")
		if !ok {
			continue
		}
		_, text, ok := strings.Cut(notices, "\n"+rule+"\n"+name+"\n"+rule+"\n")
		if !ok {
			return nil, fmt.Errorf("the notices list %s, and have no text of it", name)
		}
		text, _, _ = strings.Cut(text, "\n"+rule+"\n")
		licence := licenceOf(text)
		path, version, _ := strings.Cut(name, " ")
		switch {
		case path == "Go":
			version, _, _ = strings.Cut(version, ",")
			out = append(out, work{"Go", version, "pkg:golang/std@" + version, "BSD-3-Clause"})
		case path == pathOf || strings.HasPrefix(path, pathOf+"/"):
		case strings.HasPrefix(version, "v") && strings.Contains(path, "."):
			out = append(out, goModule(path, version, licence))
		default: // such as jq (jq-1.7.1)
			name, version, _ := strings.Cut(name, " (")
			name, _, _ = strings.Cut(name, ",")
			version = strings.TrimSuffix(version, ")")
			if !slices.ContainsFunc(out, func(w work) bool { return w.name == name }) {
				out = append(out, work{name: name, version: strings.TrimPrefix(version, strings.ToLower(name)+"-"), licence: licence})
			}
		}
	}
	if len(out) == 0 {
		return nil, errors.New("the notices have no works")
	}
	return out, nil
}

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying)`)

// worksOfModule returns the modules that the packages of a module in dir are built with, for the host and the browser. Their tests are not
// looked at.
func worksOfModule(ctx context.Context, dir string) ([]work, error) {
	var out []work
	for _, target := range []string{"", "js", "wasip1"} {
		env := []string{"GOWORK=off"}
		if target != "" {
			env = append(env, "GOOS="+target, "GOARCH=wasm", "CGO_ENABLED=0")
		}
		text, err := command(ctx, dir, env, "go", "list", "-e", "-deps", "-json=Module", "./...")
		if err != nil {
			return nil, err
		}
		for d := json.NewDecoder(strings.NewReader(text)); ; {
			var p struct {
				Module *struct{ Path, Version, Dir string }
			}
			if err := d.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, err
			}
			m := p.Module
			if m == nil || m.Path == pathOf || strings.HasPrefix(m.Path, pathOf+"/") || slices.ContainsFunc(out, func(w work) bool { return w.name == m.Path }) {
				continue
			}
			licence, err := licenceIn(m.Dir)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.Path, err)
			}
			out = append(out, goModule(m.Path, m.Version, licence))
		}
	}
	slices.SortFunc(out, func(a, b work) int { return strings.Compare(a.name, b.name) })
	return out, nil
}

// licenceIn returns the licence of a folder.
func licenceIn(dir string) (string, error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, e := range list {
		if licenceFile.MatchString(e.Name()) && e.Type().IsRegular() {
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			return licenceOf(string(text)), err
		}
	}
	return "", errors.New("it has no licence file, so it can't be shipped")
}

// embedded returns the JavaScript libraries that the root module embeds. package.json has their versions.
func embedded(root string) ([]work, error) {
	text, err := os.ReadFile(filepath.Join(root, "package.json"))
	if err != nil {
		return nil, err
	}
	var p struct{ DevDependencies map[string]string }
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, err
	}
	var out []work
	for _, lib := range []struct{ name, licence string }{
		{"@highlightjs/cdn-assets", "iframe/guests/web/guests/highlight.LICENSE.txt"},
		{"beautiful-mermaid", "iframe/guests/web/guests/mermaid.LICENSE.txt"},
		{"sucrase", "internal/typescript/web/guests/typescript.LICENSE.txt"},
		{"temml", "iframe/guests/web/guests/temml.LICENSE.txt"},
	} {
		version := p.DevDependencies[lib.name]
		licence, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(lib.licence)))
		if err != nil || version == "" {
			return nil, fmt.Errorf("%s: version %q, %v", lib.name, version, err)
		}
		out = append(out, work{lib.name, version, "pkg:npm/" + strings.Replace(lib.name, "@", "%40", 1) + "@" + version, licenceOf(string(licence))})
	}
	return out, nil
}

// part is a component of the release itself.
type part struct {
	name, version, purl, about string
	kind                       cdx.ComponentType
	sum                        [sha256.Size]byte // of its file
	works                      []work
	needs                      []string // purls of other parts
}

// bomOf returns the bill of materials as CycloneDX JSON. The same release has the same text.
func bomOf(r *release, parts []part) ([]byte, error) {
	licences := func(id string) *cdx.Licenses {
		if id == "" {
			return &cdx.Licenses{{License: &cdx.License{Name: "as in the notices of the release"}}}
		}
		return &cdx.Licenses{{License: &cdx.License{ID: id}}}
	}
	root := "pkg:github/bailey-go/bailey@" + r.version
	b := cdx.NewBOM()
	b.Metadata = &cdx.Metadata{
		Timestamp: r.time.Format("2006-01-02T15:04:05Z"),
		Component: &cdx.Component{BOMRef: root, Type: cdx.ComponentTypeLibrary, Name: "bailey", Version: r.version, PackageURL: root, Licenses: licences("Apache-2.0"),
			ExternalReferences: &[]cdx.ExternalReference{{Type: cdx.ERTypeVCS, URL: "https://" + pathOf}}},
		Properties: &[]cdx.Property{{Name: "commit", Value: r.commit}},
	}
	var components []cdx.Component
	var all []string
	known := map[string]bool{}
	dependencies := []cdx.Dependency{}
	for _, p := range parts {
		all = append(all, p.purl)
		components = append(components, cdx.Component{BOMRef: p.purl, Type: p.kind, Name: p.name, Version: p.version, Description: p.about, PackageURL: p.purl, Licenses: licences("Apache-2.0"),
			Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(p.sum[:])}}})
		on := slices.Clone(p.needs)
		for _, w := range p.works {
			on = append(on, w.ref())
			if !known[w.ref()] {
				known[w.ref()] = true
				components = append(components, cdx.Component{BOMRef: w.ref(), Type: cdx.ComponentTypeLibrary, Name: w.name, Version: w.version, PackageURL: w.purl, Licenses: licences(w.licence)})
			}
		}
		slices.Sort(on)
		on = slices.Compact(on)
		dependencies = append(dependencies, cdx.Dependency{Ref: p.purl, Dependencies: &on})
	}
	dependencies = append(dependencies, cdx.Dependency{Ref: root, Dependencies: &all})
	slices.SortFunc(components, func(x, y cdx.Component) int { return strings.Compare(x.BOMRef, y.BOMRef) })
	slices.SortFunc(dependencies, func(x, y cdx.Dependency) int { return strings.Compare(x.Ref, y.Ref) })
	b.Components, b.Dependencies = &components, &dependencies
	text, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80 // a UUID of version 8, whose bits are our own
	b.SerialNumber = fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
	var out bytes.Buffer
	err = cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(b, cdx.SpecVersion1_6)
	return out.Bytes(), err
}
