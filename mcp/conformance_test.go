//go:build !js

package mcp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/mcp"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// suite returns the command that runs MCP's official conformance suite, which is an npm package.
func suite(t *testing.T) []string {
	t.Helper()
	shim, err := filepath.Abs("testdata/conformance/register.mjs")
	must(t, err)
	program, err := filepath.Abs("../node_modules/@modelcontextprotocol/conformance/dist/index.js")
	must(t, err)
	if _, err := os.Stat(program); err != nil {
		t.Skip("the conformance suite is missing: make node_modules installs it")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("Node.js is missing")
	}
	return []string{node, "--import", shim, program}
}

// sample is the part of each class that runs with -short.
var sample = []string{"tools_call", "sse-retry", "auth/metadata-var2", "auth/scope-step-up", "auth/pre-registration", "tools-call-mixed-content", "tools-call-with-progress", "json-schema-2020-12", "tools-call-sampling"}

// scenario runs one scenario of the suite. why is the reason why it fails, or "" if it passes.
func scenario(t *testing.T, why string, command ...string) {
	t.Helper()
	if testing.Short() && !slices.Contains(sample, command[len(command)-1]) {
		t.Skip("without -short all scenarios run")
	}
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir = t.TempDir() // into which it writes its results
	cmd.Env = append(os.Environ(), "BAILEY_CONFORMANCE=client")
	out, err := cmd.CombinedOutput()
	switch {
	case err != nil && why == "":
		t.Errorf("it fails: %v\n%s", err, out[max(0, len(out)-3000):])
	case err == nil && why != "":
		t.Errorf("it passes, although it is listed as failing: %s", why)
	}
}

// The client passes the suite's scenarios. docs/mcp.md has the same list.
func TestConformanceOfTheClient(t *testing.T) {
	run := suite(t)
	self, err := os.Executable()
	must(t, err)
	const machines = "an extension for machines without a user, which a page is not"
	for name, why := range map[string]string{
		"initialize": "", "tools_call": "", "elicitation-sep1034-client-defaults": "", "sse-retry": "",
		"auth/metadata-default": "", "auth/metadata-var1": "", "auth/metadata-var2": "", "auth/metadata-var3": "", "auth/basic-cimd": "",
		"auth/scope-from-www-authenticate": "", "auth/scope-from-scopes-supported": "", "auth/scope-omitted-when-undefined": "", "auth/scope-step-up": "", "auth/scope-retry-limit": "",
		"auth/token-endpoint-auth-basic": "", "auth/token-endpoint-auth-post": "", "auth/token-endpoint-auth-none": "", "auth/pre-registration": "",
		"auth/2025-03-26-oauth-metadata-backcompat": "", "auth/2025-03-26-oauth-endpoint-fallback": "",
		"auth/resource-mismatch": "", "auth/offline-access-scope": "", "auth/offline-access-not-supported": "",
		"auth/client-credentials-jwt": machines, "auth/client-credentials-basic": machines, "auth/cross-app-access-complete-flow": machines,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario(t, why, append(run, "client", "--command", self, "--scenario", name)...)
		})
	}
}

// The server passes the scenarios about what it serves.
func TestConformanceOfTheServer(t *testing.T) {
	run := suite(t)
	mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	must(t, mem.WriteFile("notes.md", []byte("# Notes"), 0o644))
	p, err := policy.Parse(`{"capabilities": {"stream.send": true, "fs.read": ["."]}, "rules": [{"permission": "*", "action": "allow"}]}`, policy.Options{})
	must(t, err)
	tool := func(id, schema string, run func(ctx context.Context, c *sandbox.Call) (any, error)) sandbox.Tool {
		return sandbox.Tool{Tool: protocol.Tool{ID: id, Description: "A tool of the suite.", Parameters: schema}, Run: run}
	}
	gif := []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02L\x01\x00;")
	image := sandbox.File{Name: "a.gif", MediaType: "image/gif", Data: gif}
	pdf := sandbox.File{Name: "a.pdf", MediaType: "application/pdf", Data: []byte("%PDF-")}
	files := func(list ...sandbox.File) func(context.Context, *sandbox.Call) (any, error) {
		return func(_ context.Context, c *sandbox.Call) (any, error) {
			for _, f := range list {
				if err := c.AddFile(f); err != nil {
					return nil, err
				}
			}
			return map[string]any{"ok": true}, nil
		}
	}
	skill := func(name string) sandbox.Skill {
		return sandbox.Skill{Name: name, Description: "A prompt of the suite.", Content: "This is a prompt. $ARGUMENTS", Trusted: true}
	}
	tools := []sandbox.Tool{
		tool("test_simple_text", "", func(context.Context, *sandbox.Call) (any, error) { return map[string]any{"text": "a text"}, nil }),
		tool("test_error_handling", "", func(context.Context, *sandbox.Call) (any, error) {
			return nil, protocol.Errorf(protocol.ErrExecution, "test", "", "it broke")
		}),
		tool("test_image_content", "", files(image)),
		tool("test_audio_content", "", files(sandbox.File{Name: "a.wav", MediaType: "audio/wav", Data: []byte("RIFF")})),
		tool("test_embedded_resource", "", files(pdf)),
		tool("test_multiple_content_types", "", files(image, pdf)),
		tool("test_tool_with_progress", "", func(ctx context.Context, _ *sandbox.Call) (any, error) {
			for _, text := range []string{"one", "two", "three"} {
				sandbox.ReportProgress(ctx, text)
				if err := pause(ctx); err != nil {
					return nil, err
				}
			}
			return map[string]any{"ok": true}, nil
		}),
		tool("json_schema_2020_12_tool", `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"address":{"type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"}},"additionalProperties":false}`,
			func(context.Context, *sandbox.Call) (any, error) { return map[string]any{"ok": true}, nil }),
	}
	o := mcp.Options{Resources: []string{"notes.md"}, Prompts: []sandbox.Skill{skill("notes")}}
	for _, t := range tools {
		o.Tools = append(o.Tools, t.ID)
	}
	o.Tools = append(o.Tools, "read")
	box, err := sandbox.New(sandbox.Options{FS: mem, Policy: p, Tools: append(sandbox.Standard(), tools...), Skills: o.Prompts})
	must(t, err)
	server, err := mcp.NewServer(box, o)
	must(t, err)
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	defer web.Close()
	const asks = "a box's tool asks its own user, and no client and no client's model"
	const fixtures = "it needs resources with the suite's own addresses, and a box serves the files of its folder"
	const names = "it needs prompts with names of another form than skills have"
	const follows = "a box does not watch its folder for a client"
	t.Run("scenarios", func(t *testing.T) {
		for name, why := range map[string]string{
			"server-initialize": "", "logging-set-level": "", "ping": "", "tools-list": "", "tools-call-simple-text": "", "tools-call-image": "", "tools-call-audio": "",
			"tools-call-embedded-resource": "", "tools-call-mixed-content": "", "tools-call-error": "", "tools-call-with-progress": "", "json-schema-2020-12": "",
			"server-sse-polling": "", "server-sse-multiple-streams": "", "resources-list": "", "prompts-list": "", "dns-rebinding-protection": "",
			"completion-complete": "nothing of a box can be completed", "tools-call-with-logging": "a box's log is for its own user",
			"tools-call-sampling": asks, "tools-call-elicitation": asks, "elicitation-sep1034-defaults": asks, "elicitation-sep1330-enums": asks,
			"resources-read-text": fixtures, "resources-read-binary": fixtures, "resources-templates-read": fixtures, "resources-subscribe": follows, "resources-unsubscribe": follows,
			"prompts-get-simple": names, "prompts-get-with-args": names, "prompts-get-embedded-resource": names, "prompts-get-with-image": names,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				scenario(t, why, append(run, "server", "--url", web.URL, "--scenario", name)...)
			})
		}
	})
}

// pause is a bit longer than the least time between two notifications of progress.
func pause(ctx context.Context) error {
	t := time.NewTimer(150 * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
