package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/bailey-go/bailey/headers"
	"github.com/bailey-go/bailey/internal/hosted"
	"github.com/bailey-go/bailey/protocol"
)

// enclaveUse describes the enclave whose page is in a folder.
type enclaveUse struct {
	Level     protocol.Level `json:"level"`
	Warm      bool           `json:"warm,omitempty"`
	DOM       bool           `json:"dom,omitempty"`
	Policy    string         `json:"policy,omitempty"`    // Trusted Types policy
	Embedders []string       `json:"embedders,omitempty"` // origins; none is the page's own
}

func (u enclaveUse) page() (hosted.Page, error) {
	return hosted.Enclave(hosted.Options{Level: u.Level, Warm: u.Warm, DOM: u.DOM, Policy: u.Policy}, u.Embedders)
}

func (u enclaveUse) headers() (headers.Headers, error) {
	page, err := u.page()
	if err != nil {
		return headers.Headers{}, fmt.Errorf("enclave: %w", err)
	}
	return parsedHeaders(page)
}

// enclaveCommand writes a folder with an enclave's page and its headers.json, from which the
// commands serve and headers derive the headers to send with it.
func enclaveCommand(_ context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("enclave", flag.ContinueOnError)
	var u enclaveUse
	f.Func("level", "the enclave's `level`: strict (the default), secure, standard or permissive", func(s string) (err error) {
		u.Level, err = protocol.ParseLevel(strings.ToUpper(s))
		return err
	})
	f.BoolVar(&u.Warm, "warm", false, "for EnclaveOptions.Warm")
	f.BoolVar(&u.DOM, "dom", false, "for NewDOMEnclave")
	f.StringVar(&u.Policy, "policy", "", "the `name` of the Trusted Types policy, if it is not bailey")
	f.Func("embed", "an `origin` whose pages embed it, if it is not its own (repeat for more)", func(s string) error {
		u.Embedders = append(u.Embedders, s)
		return nil
	})
	dir := f.String("o", "", "the `folder` to write into")
	if _, err := parse(f, args, stderr, 0, "-o DIR"); err != nil {
		return err
	}
	if *dir == "" {
		fmt.Fprintln(stderr, "wasm_exec enclave: name a folder of its own with -o")
		return errUsage
	}
	page, err := u.page()
	if err != nil {
		return fmt.Errorf("enclave: %w", err)
	}
	return writeHosted(*dir, page, map[string]enclaveUse{"enclave": u}, stdout)
}

// writeHosted writes a page of package hosted, and the headers.json that describes it.
func writeHosted(dir string, page hosted.Page, use any, stdout io.Writer) error {
	text, err := json.MarshalIndent(use, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, x := range []struct {
		name string
		data []byte
	}{{"index.html", []byte(page.HTML)}, {headersName, append(text, '\n')}} {
		if err := writeFile(filepath.Join(dir, x.name), x.data); err != nil {
			return err
		}
	}
	fmt.Fprintf(stdout, "%s: serve it with its headers: wasm_exec headers -f %s -for SERVER\n",
		filepath.Join(dir, "index.html"), filepath.Join(dir, headersName))
	return nil
}
