//go:build !js

package typescript

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write web/guests anew from node_modules")

// The modules of Sucrase that remove types. Those of other languages are left out.
const modules = `HelperManager NameManager TokenProcessor parser/index parser/plugins/flow parser/plugins/jsx/index
parser/plugins/jsx/xhtml parser/plugins/types parser/plugins/typescript parser/tokenizer/index parser/tokenizer/keywords
parser/tokenizer/readWord parser/tokenizer/readWordTree parser/tokenizer/state parser/tokenizer/types parser/traverser/base
parser/traverser/expression parser/traverser/index parser/traverser/lval parser/traverser/statement parser/traverser/util
parser/util/charcodes parser/util/identifier parser/util/whitespace transformers/ESMImportTransformer
transformers/RootTransformer transformers/Transformer transformers/TypeScriptTransformer util/elideImportEquals
util/getClassInfo util/getDeclarationInfo util/getIdentifierNames util/getImportExportSpecifierInfo
util/getNonTypeIdentifiers util/getTSImportedNames util/isAsyncOperation util/isExportFrom util/isIdentifier
util/removeMaybeImportAttributes util/shouldElideDefaultExport`

// The library has the modules of the package that package.json pins, each to the byte, and its licence beside it.
func TestLibraryIsThatOfNPM(t *testing.T) {
	const sucrase = "../../node_modules/sucrase/"
	var pinned struct{ DevDependencies map[string]string }
	data, err := os.ReadFile("../../package.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &pinned); err != nil {
		t.Fatal(err)
	}
	version := pinned.DevDependencies["sucrase"]
	if version == "" || strings.Trim(version, "0123456789.") != "" {
		t.Errorf("package.json does not pin sucrase: %q", version)
	}
	head := "// Modules of Sucrase " + version + ", see typescript.LICENSE.txt. Made by: go test ./internal/typescript -update\n"
	if !strings.HasPrefix(library, head) && !*update {
		t.Errorf("typescript.js is of another version than %s: go test ./internal/typescript -update", version)
	}
	if _, err := os.Stat(sucrase); err != nil {
		t.Skip("make node_modules installs the package to compare with")
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.FromSlash(sucrase + name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if installed := read("package.json"); !strings.Contains(installed, `"version": "`+version+`"`) {
		t.Fatalf("node_modules has another version of sucrase than %s: make node_modules", version)
	}
	var b strings.Builder
	b.WriteString(head + "const modules = {\n")
	for name := range strings.FieldsSeq(modules) {
		b.WriteString(`"` + name + `": (exports, require) => {` + "\n" + read("dist/"+name+".js") + "\n},\n")
	}
	b.WriteString("};\n")
	for name, want := range map[string]string{"typescript.js": b.String(), "typescript.LICENSE.txt": read("LICENSE")} {
		path := filepath.Join("web", "guests", name)
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s differs from the package (%v): go test ./internal/typescript -update", name, err)
		}
	}
}
