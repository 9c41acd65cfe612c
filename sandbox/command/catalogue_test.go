package command_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/command"
)

const toolManifest = `{"name":"%s","version":"1.0.0","description":"d","parameters":{"type":"object"},"execution":{"argStyle":"cli","fileAccess":"none"}}`

func catalogueOf(file, sum string, tools ...string) string {
	var list []string
	for _, t := range tools {
		list = append(list, fmt.Sprintf(toolManifest, t))
	}
	return fmt.Sprintf(`{"name":"core","file":%q,"size":4,"brotli":3,"sha256":%q,"tools":[%s]}`, file, sum, strings.Join(list, ","))
}

// server is a folder of files as a page fetches them.
type server map[string]string

func (s server) fetch(_ context.Context, name string) ([]byte, error) {
	text, ok := s[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return []byte(text), nil
}

// This example gets the commands that "make tools" has built. In a page fetch asks the page's own server.
func ExampleCatalogue() {
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("wasm")))
	files := server{"tools/tools.json": `{"binaries":[` + catalogueOf("core.wasm", sum, "cat", "sort") + `]}`, "tools/core.wasm": "wasm"}
	options, err := command.Catalogue(context.Background(), files.fetch, "tools/tools.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(options.Commands)
	files["tools/core.wasm"] = "another"
	_, err = options.Fetch(context.Background(), "core.wasm")
	fmt.Println(errors.Is(err, protocol.ErrSecurityViolation))
	// Output:
	// map[cat:core.wasm sort:core.wasm]
	// true
}

func TestCatalogue(t *testing.T) {
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("wasm")))
	whole := func(entries ...string) string { return `{"binaries":[` + strings.Join(entries, ",") + `]}` }
	for want, text := range map[string]string{
		"it is no catalogue":             `{"binaries":`,
		"twice":                          whole(catalogueOf("a.wasm", sum, "cat"), catalogueOf("a.wasm", sum, "sort")),
		"is in a.wasm and in b.wasm":     whole(catalogueOf("a.wasm", sum, "cat"), catalogueOf("b.wasm", sum, "cat")),
		"has no SHA-256":                 whole(catalogueOf("a.wasm", sum[:62], "cat")),
		"not the name of a file beside":  whole(catalogueOf("../a.wasm", sum, "cat")),
		"is not the name of a file":      whole(catalogueOf("", sum, "cat")),
		"has no commands":                whole(catalogueOf("a.wasm", sum)),
		"a tool of a.wasm":               whole(catalogueOf("a.wasm", sum, "not a name")),
		"\"https://x.wasm\" is not":      whole(catalogueOf("https://x.wasm", sum, "cat")),
		"it is no catalogue: unknown ke": `{"binaries":[],"more":1}`,
	} {
		_, err := command.Catalogue(t.Context(), server{"t/tools.json": text}.fetch, "t/tools.json")
		if !errors.Is(err, protocol.ErrInvalidParams) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := command.Catalogue(t.Context(), server{}.fetch, "t/tools.json"); err == nil || !strings.Contains(err.Error(), "make tools") {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := command.Catalogue(t.Context(), nil, "t/tools.json"); err == nil {
		t.Error("without a function it reads something")
	}
	o, err := command.Catalogue(t.Context(), server{"t/tools.json": whole(catalogueOf("a.wasm", strings.ToUpper(sum), "cat")), "t/a.wasm": "wasm"}.fetch, "t/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	if wasm, err := o.Fetch(t.Context(), "a.wasm"); string(wasm) != "wasm" || err != nil {
		t.Errorf("%q %v", wasm, err)
	}
	if _, err := o.Fetch(t.Context(), "b.wasm"); err == nil {
		t.Error("a module that the catalogue does not have is fetched")
	}
}
