//go:build !js

package mcp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/needs"
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
		needs.Missing(t, "the conformance suite is missing: make node_modules installs it")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		needs.Missing(t, "Node.js is missing: make node_modules installs it")
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

// The server passes the scenarios about its tools, and about the resources and prompts that an app adds to it.
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
	addOwn(server, gif)
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	defer web.Close()
	const asks = "a box's tool asks its own user, and no client and no client's model"
	const follows = "a box does not watch its folder for a client"
	t.Run("scenarios", func(t *testing.T) {
		for name, why := range map[string]string{
			"server-initialize": "", "logging-set-level": "", "ping": "", "tools-list": "", "tools-call-simple-text": "", "tools-call-image": "", "tools-call-audio": "",
			"tools-call-embedded-resource": "", "tools-call-mixed-content": "", "tools-call-error": "", "tools-call-with-progress": "", "json-schema-2020-12": "",
			"server-sse-polling": "", "server-sse-multiple-streams": "", "resources-list": "", "prompts-list": "", "dns-rebinding-protection": "",
			"completion-complete": "nothing of a box can be completed", "tools-call-with-logging": "a box's log is for its own user",
			"tools-call-sampling": asks, "tools-call-elicitation": asks, "elicitation-sep1034-defaults": asks, "elicitation-sep1330-enums": asks,
			"resources-subscribe": follows, "resources-unsubscribe": follows,
			// These are the app's own, beside those of the box.
			"resources-read-text": "", "resources-read-binary": "", "resources-templates-read": "",
			"prompts-get-simple": "", "prompts-get-with-args": "", "prompts-get-embedded-resource": "", "prompts-get-with-image": "",
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				scenario(t, why, append(run, "server", "--url", web.URL, "--scenario", name)...)
			})
		}
	})
}

// addOwn adds resources and prompts of an app's own to the server that NewServer has returned: with addresses and names that
// a box does not have. The suite reads them beside the box's.
func addOwn(server *sdk.Server, image []byte) {
	read := func(kind, text string, data []byte) sdk.ResourceHandler {
		return func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: kind, Text: text, Blob: data}}}, nil
		}
	}
	server.AddResource(&sdk.Resource{Name: "static-text", URI: "test://static-text", MIMEType: "text/plain"}, read("text/plain", "This is a text.", nil))
	server.AddResource(&sdk.Resource{Name: "static-binary", URI: "test://static-binary", MIMEType: "image/gif"}, read("image/gif", "", image))
	server.AddResourceTemplate(&sdk.ResourceTemplate{Name: "template", URITemplate: "test://template/{id}/data", MIMEType: "application/json"}, func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		id := strings.TrimSuffix(strings.TrimPrefix(r.Params.URI, "test://template/"), "/data")
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: "application/json", Text: fmt.Sprintf(`{"id":%q}`, id)}}}, nil
	})
	prompt := func(name string, content func(args map[string]string) sdk.Content, args ...string) {
		p := &sdk.Prompt{Name: name, Description: "A prompt of the app's own."}
		for _, a := range args {
			p.Arguments = append(p.Arguments, &sdk.PromptArgument{Name: a, Required: true})
		}
		server.AddPrompt(p, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: content(r.Params.Arguments)}}}, nil
		})
	}
	prompt("test_simple_prompt", func(map[string]string) sdk.Content { return &sdk.TextContent{Text: "This is a simple prompt."} })
	prompt("test_prompt_with_arguments", func(args map[string]string) sdk.Content {
		return &sdk.TextContent{Text: args["arg1"] + " and " + args["arg2"]}
	}, "arg1", "arg2")
	prompt("test_prompt_with_embedded_resource", func(args map[string]string) sdk.Content {
		return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: args["resourceUri"], MIMEType: "text/plain", Text: "This is a resource."}}
	}, "resourceUri")
	prompt("test_prompt_with_image", func(map[string]string) sdk.Content { return &sdk.ImageContent{MIMEType: "image/gif", Data: image} })
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
