package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"mime"
	"net/url"
	"path"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// addresses of files begin so.
const addresses = "file:///"

// addResources serves files of the folder as resources.
func addResources(server *sdk.Server, box *sandbox.Box, o Options) error {
	if len(o.Resources) == 0 {
		return nil
	}
	if !slices.Contains(o.Tools, "read") {
		return fmt.Errorf("mcp: Resources need the tool read among Tools")
	}
	read := func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return readResource(ctx, box, o, req.Params.URI)
	}
	for _, name := range o.Resources {
		if !fs.ValidPath(name) || name == "." {
			return fmt.Errorf("mcp: %q is no path of a file below the folder", name)
		}
		uri := url.URL{Scheme: "file", Path: "/" + name}
		server.AddResource(&sdk.Resource{URI: uri.String(), Name: name, MIMEType: mediaType(name)}, read)
	}
	server.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: addresses + "{+path}", Name: "file", Description: "A file of the folder, by its path."}, read)
	return nil
}

func mediaType(name string) string {
	kind, _, _ := strings.Cut(mime.TypeByExtension(path.Ext(name)), ";")
	return kind
}

// readResource reads a file by a call of the tool read.
func readResource(ctx context.Context, box *sandbox.Box, o Options, uri string) (*sdk.ReadResourceResult, error) {
	u, err := url.Parse(uri)
	if err != nil || !strings.HasPrefix(uri, addresses) || u.RawQuery != "" || u.Fragment != "" {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	name := strings.TrimPrefix(u.Path, "/")
	res := box.CallForModel(o.context(ctx), "read", map[string]any{"path": name}, o.Local)
	if res.Result.Err() != nil {
		return nil, fmt.Errorf("%s", res.Text)
	}
	out := &sdk.ReadResourceResult{}
	for _, f := range res.Files {
		out.Contents = append(out.Contents, &sdk.ResourceContents{URI: uri, MIMEType: f.MediaType, Blob: f.Data})
	}
	if len(out.Contents) > 0 {
		return out, nil
	}
	var got struct {
		Content   string `json:"content"`
		Truncated bool   `json:"truncated"`
	}
	if err := json.Unmarshal([]byte(res.Text), &got); err != nil {
		return nil, fmt.Errorf("%s is not sent: %s", name, strings.Join(res.Withheld, "; "))
	}
	if got.Truncated {
		return nil, fmt.Errorf("%s is too long for a resource: read it in parts, with the tool read", name)
	}
	out.Contents = []*sdk.ResourceContents{{URI: uri, MIMEType: mediaType(name), Text: got.Content}}
	return out, nil
}

// addPrompts serves skills as prompts.
func addPrompts(server *sdk.Server, box *sandbox.Box, o Options) error {
	if _, err := box.Toolset().Lookup("skill"); err != nil && len(o.Prompts) > 0 {
		return fmt.Errorf("mcp: Prompts need the tool skill in the box: %w", err)
	}
	for _, s := range o.Prompts {
		name := s.Name
		p := &sdk.Prompt{Name: name, Description: s.Description, Arguments: []*sdk.PromptArgument{{Name: "arguments", Description: s.ArgumentHint}}}
		server.AddPrompt(p, func(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			args := map[string]any{"name": name}
			if text := req.Params.Arguments["arguments"]; text != "" {
				args["arguments"] = text
			}
			res := box.CallForModel(o.context(ctx), "skill", args, o.Local)
			if err := res.Result.Err(); err != nil {
				return nil, fmt.Errorf("%s", protocol.Public(err).Message)
			}
			var got struct {
				Content string `json:"content"`
			}
			if err := json.Unmarshal([]byte(res.Text), &got); err != nil {
				return nil, fmt.Errorf("%s is not sent: %s", name, strings.Join(res.Withheld, "; "))
			}
			return &sdk.GetPromptResult{Description: p.Description, Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: got.Content}}}}, nil
		})
	}
	return nil
}
