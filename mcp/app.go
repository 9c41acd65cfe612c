package mcp

import (
	"context"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailey-go/bailey/sandbox"
)

// appType is the media type of a page of a tool.
const appType = "text/html;profile=mcp-app"

// addApp serves the page of a tool as a resource, and names it in the tool, as the extension
// io.modelcontextprotocol/ui describes. A client without it shows nothing more than before.
func addApp(server *sdk.Server, box *sandbox.Box, t *sdk.Tool) error {
	page, _ := box.AppOf(t.Name)
	if page == nil {
		return nil
	}
	if page.URI == "" {
		page.URI = "ui://bailey/" + t.Name
	}
	if !strings.HasPrefix(page.URI, "ui://") || page.HTML == "" {
		return fmt.Errorf("mcp: the page of %s needs an address that begins with ui://, and HTML", t.Name)
	}
	t.Meta = sdk.Meta{"ui": map[string]any{"resourceUri": page.URI}}
	csp := map[string]any{}
	if len(page.Connect) > 0 {
		csp["connectDomains"] = page.Connect
	}
	if len(page.Resources) > 0 {
		csp["resourceDomains"] = page.Resources
	}
	if len(page.Frames) > 0 {
		csp["frameDomains"] = page.Frames
	}
	ui := map[string]any{"csp": csp, "prefersBorder": page.Border}
	wants := map[string]any{}
	for _, f := range page.Permissions {
		if f == "clipboard-write" {
			f = "clipboardWrite"
		}
		wants[f] = map[string]any{}
	}
	if len(wants) > 0 {
		ui["permissions"] = wants
	}
	about := sdk.Meta{"ui": ui}
	server.AddResource(&sdk.Resource{URI: page.URI, Name: t.Name, MIMEType: appType, Meta: about}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: page.URI, MIMEType: appType, Text: page.HTML, Meta: about}}}, nil
	})
	return nil
}
