package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// checkSchema checks a bill of materials against the JSON schema of CycloneDX, which is a file of the library's module.
func checkSchema(ctx context.Context, bom []byte) error {
	dir, err := command(ctx, ".", nil, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go")
	if err != nil {
		return err
	}
	load := func(name string) (*jsonschema.Schema, error) {
		text, err := os.ReadFile(filepath.Join(strings.TrimSpace(dir), "schema", name))
		if err != nil {
			return nil, err
		}
		s := new(jsonschema.Schema)
		return s, json.Unmarshal(text, s)
	}
	s, err := load("bom-1.6.schema.json")
	if err != nil {
		return err
	}
	schema, err := s.Resolve(&jsonschema.ResolveOptions{Loader: func(u *url.URL) (*jsonschema.Schema, error) {
		name := path.Base(u.Path)
		if name == "jsf-0.82.schema.json" { // the module has it below another name
			name = "jsf-0.82.schemax.json"
		}
		return load(name)
	}})
	if err != nil {
		return fmt.Errorf("the schema of CycloneDX: %w", err)
	}
	var v any
	if err := json.Unmarshal(bom, &v); err != nil {
		return err
	}
	if err := schema.Validate(v); err != nil {
		return fmt.Errorf("the bill of materials is not of CycloneDX's schema: %w", err)
	}
	return nil
}
