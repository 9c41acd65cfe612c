package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/headers"
)

// pack writes the files of a package into a folder, and returns the folder.
func pack(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const onePolicy = `{"capabilities": {"net.fetch": ["api.example.com", "no.example.com"], "media.camera": true},
	"network": {"allowedDomains": ["api.example.com"], "deniedDomains": ["no.example.com"]}, "page": {"connect": ["localhost:11434"], "navigate": ["*.example.org"]}}`

// The headers of a build follow from its policy.json.
func TestBuildReadsThePolicy(t *testing.T) {
	text, err := os.ReadFile("testdata/hello/main.go")
	if err != nil {
		t.Fatal(err)
	}
	dir := pack(t, map[string]string{policyName: onePolicy, "main.go": string(text), "go.mod": "module example.org/hello\n\ngo 1.26\n"})
	out := t.TempDir()
	mustBuild(t, dir, out, "main")
	if exists(out, policyName) {
		t.Error("the policy is a file of the page")
	}
	use, err := decodeUse(read(t, out, headersName))
	if err != nil {
		t.Fatal(err)
	}
	h, err := pageHeaders(use)
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]bool{"api.example.com": true, "localhost:11434": true, "no.example.com": false, "example.com": false, "api.openai.com": false} {
		if h.Reaches(host) != want {
			t.Errorf("%s: %t\n%s", host, h.Reaches(host), h.CSP)
		}
	}
	if !strings.Contains(h.Permissions.String(), "camera=(self)") || strings.Contains(h.Permissions.String(), "microphone=(self)") || !strings.Contains(h.Connections.String(), "example.org") {
		t.Error(h.List())
	}
	var printed bytes.Buffer
	if err := headersCommand(context.Background(), []string{"-for", "json", "-policy", filepath.Join(dir, policyName)}, &printed, &printed); err != nil {
		t.Fatal(err)
	}
	want, err := h.Render("json")
	if err != nil || printed.String() != want {
		t.Errorf("headers prints\n%s\nand build wrote\n%s", printed.String(), want)
	}
	// Without the policy the next build closes what it had opened.
	if err := os.Remove(filepath.Join(dir, policyName)); err != nil {
		t.Fatal(err)
	}
	mustBuild(t, dir, out, "main")
	if exists(out, headersName) {
		t.Error("the headers outlive their policy")
	}
}

// Headers of another program, and those that somebody wrote, stay.
func TestHeadersOfOthersStay(t *testing.T) {
	plain, own := pack(t, nil), pack(t, map[string]string{policyName: onePolicy})
	out := t.TempDir()
	next := &manifest{}
	run := func(dir, name string) {
		t.Helper()
		b := &builder{dir: out, next: next}
		if b.headers(dir, name); b.err != nil {
			t.Fatal(b.err)
		}
	}
	run(own, "a")
	run(own, "b")
	run(plain, "b")
	if !exists(out, headersName) {
		t.Error("the headers of program a are gone with those of b")
	}
	run(plain, "a")
	if exists(out, headersName) {
		t.Error("the headers stay")
	}
	if err := os.WriteFile(filepath.Join(out, headersName), []byte(`{"connect": ["a.example.com"]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	run(plain, "a")
	if !exists(out, headersName) {
		t.Error("a file that no build wrote is gone")
	}
}

// A policy that can't be read ends the build with the reason, and so does a second list.
func TestPolicyErrorsSayWhatToDo(t *testing.T) {
	for want, files := range map[string]map[string]string{
		`section "page" of policy.json, and remove headers.json`: {policyName: `{}`, headersName: `{}`},
		`unknown key`:                   {policyName: `{"capabilites": {}}`},
		`unknown capability`:            {policyName: `{"capabilities": {"net.fecth": []}}`},
		`conect`:                        {policyName: `{"page": {"conect": ["a.com"]}}`},
		`would open every host`:         {policyName: `{"page": {"connect": ["*"]}}`},
		`would match every host`:        {policyName: `{"capabilities": {"net.fetch": ["*"]}}`},
		`the variable is not set`:       {policyName: `{"capabilities": {"net.fetch": ["$HOST"]}}`},
		`IPv6`:                          {policyName: `{"capabilities": {"net.fetch": ["[::1]:80"]}}`},
		`this is a policy`:              {headersName: `{"capabilities": {"code.run": true}}`},
		`from which the page's headers`: {policyName: `{`},
		`unknown field "conect"`:        {headersName: `{"conect": []}`},
	} {
		_, err := packageUse(pack(t, files))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", files, err, want)
		}
	}
	if use, err := packageUse(t.TempDir()); use != nil || err != nil {
		t.Errorf("an empty package: %s %v", use, err)
	}
	var out bytes.Buffer
	if err := headersCommand(context.Background(), []string{"-for", "nginx", "-policy", "a", "-f", "b"}, &out, &out); !errors.Is(err, errUsage) || !strings.Contains(out.String(), "two lists") {
		t.Errorf("%v %s", err, out.String())
	}
}

// A policy that grants nothing gives the headers of a page that uses nothing.
func TestEmptyPolicyOpensNothing(t *testing.T) {
	text, err := packageUse(pack(t, map[string]string{policyName: `{}`}))
	if err != nil {
		t.Fatal(err)
	}
	var u headers.Use
	if err := json.Unmarshal(text, &u); err != nil {
		t.Fatal(err)
	}
	h, err := headers.For(u)
	if err != nil || h.CSP.String() != headers.Default().CSP.String() {
		t.Errorf("%v: %s", err, h.CSP)
	}
}

// The command names the servers that package headers renders for, and no other.
func TestHeadersServers(t *testing.T) {
	for server := range strings.SplitSeq(servers, ", ") {
		if text, err := headers.Default().Render(server); err != nil || text == "" {
			t.Errorf("%s: %v", server, err)
		}
	}
	if _, err := headers.Default().Render("no such server"); err == nil || !strings.HasSuffix(err.Error(), servers) {
		t.Errorf("the package names other servers: %v", err)
	}
}
