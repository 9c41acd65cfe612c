//go:build js && wasm

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/worker"
)

// binary is a WebAssembly program that contains several tools.
type binary struct {
	Name   string
	File   string
	Size   int
	Brotli int
	SHA256 string
	Tools  []any

	once   sync.Mutex
	module *worker.Module
}

// entry is a tool that a pipe can use.
type entry struct {
	*worker.Manifest
	in  *binary
	pkg *worker.Package // instead of in, for an installed package
}

// catalogue is the content of tools.json, the tools that make wasitools built, and the installed
// packages.
type catalogue struct {
	binaries []*binary
	tools    map[string]*entry
}

func fetchCatalogue(ctx context.Context) (*catalogue, error) {
	text, err := dom.Fetch(ctx, "tools/tools.json")
	if err != nil {
		return nil, fmt.Errorf("%w; make wasitools builds the tools", err)
	}
	tree, err := protocol.ParseJSON(string(text), protocol.JSONLimits{})
	if err != nil {
		return nil, err
	}
	var file struct {
		Binaries []wireBinary `json:"binaries"`
	}
	if err := protocol.Unmarshal(tree, &file); err != nil {
		return nil, err
	}
	c := &catalogue{tools: map[string]*entry{}}
	for _, w := range file.Binaries {
		b := &binary{Name: w.Name, File: w.File, Size: w.Size, Brotli: w.Brotli, SHA256: w.SHA256}
		for _, raw := range w.Tools {
			text, err := protocol.EncodeJSON(raw, protocol.JSONLimits{})
			if err != nil {
				return nil, err
			}
			m, err := worker.ParseManifest([]byte(text))
			if err != nil {
				return nil, err
			}
			c.tools[m.Name] = &entry{Manifest: m, in: b}
		}
		c.binaries = append(c.binaries, b)
	}
	return c, nil
}

type wireBinary struct {
	Name   string `json:"name"`
	File   string `json:"file"`
	Size   int    `json:"size"`
	Brotli int    `json:"brotli"`
	SHA256 string `json:"sha256"`
	Tools  []any  `json:"tools"`
}

func (c *catalogue) names() []string {
	names := make([]string, 0, len(c.tools))
	for name := range c.tools {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// load returns the module of a tool. A built tool is fetched at its first use, and compiled once.
// If its hash differs from the catalogue's, load returns an error.
func (a *app) load(ctx context.Context, e *entry) (*worker.Module, error) {
	if e.pkg != nil {
		return a.pool.Compile(ctx, e.pkg.Wasm())
	}
	b := e.in
	b.once.Lock()
	defer b.once.Unlock()
	if b.module != nil {
		return b.module, nil
	}
	dom.Status(fmt.Sprintf("Fetching %s: %s", b.Name, dom.Size(int64(b.Brotli))))
	wasm, err := dom.Fetch(ctx, "tools/"+b.File)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(wasm); hex.EncodeToString(sum[:]) != b.SHA256 {
		return nil, fmt.Errorf("%s is not what tools.json says: its hash is %x", b.File, sum)
	}
	b.module, err = a.pool.Compile(ctx, wasm)
	return b.module, err
}

// showTools fills the palette with the tools that match the search.
func (a *app) showTools() {
	palette := dom.Element("palette")
	palette.Call("replaceChildren")
	a.ofPalette.Release()
	want := strings.ToLower(strings.TrimSpace(dom.Value("search")))
	groups := map[string][]*entry{}
	var order []string
	for _, name := range a.tools.names() {
		e := a.tools.tools[name]
		if want != "" && !strings.Contains(e.Name+" "+strings.ToLower(e.Description), want) {
			continue
		}
		category := e.Category
		if e.pkg != nil {
			category = "installed"
		}
		if groups[category] == nil {
			order = append(order, category)
		}
		groups[category] = append(groups[category], e)
	}
	slices.Sort(order)
	for _, category := range order {
		section := dom.Create("div", "")
		section.Call("append", dom.Create("h3", category))
		for _, e := range groups[category] {
			b := a.ofPalette.Button(section, e.Name, "tool", func() { a.choose(e) })
			b.Set("title", e.Description)
		}
		palette.Call("append", section)
	}
	if len(order) == 0 {
		palette.Call("append", dom.Create("p", "No tool is called so."))
	}
}

// choose adds a tool to the pipe and shows its manual.
func (a *app) choose(e *entry) {
	if text := strings.TrimSpace(dom.Value("line")); text != "" && !strings.HasSuffix(text, "|") {
		insert("|")
	}
	insert(e.Name + " ")
	dom.SetText("manual", manual(e))
	dom.Hide("manual", false)
}

// manual returns the schema's description of a tool's arguments, or else the description of the
// tool.
func manual(e *entry) string {
	var s struct{ Properties map[string]any }
	tree, err := protocol.ParseJSON(e.Parameters, protocol.JSONLimits{})
	if err != nil {
		return e.Description
	}
	object, _ := tree.(map[string]any)
	s.Properties, _ = object["properties"].(map[string]any)
	args, _ := s.Properties["args"].(map[string]any)
	if text, ok := args["description"].(string); ok {
		return strings.TrimSpace(text)
	}
	return e.Description
}

// showNotices fetches the licences of the tools' programs when the user first opens them.
func (a *app) showNotices() error {
	box := dom.Element("licences")
	if box.Get("textContent").String() != "" {
		return nil
	}
	text, err := dom.Fetch(a.ctx, "tools/NOTICES.txt")
	if err == nil {
		box.Set("textContent", string(text))
	}
	return err
}
