package sandbox

import (
	"encoding/base64"
	"net/url"
	"strings"

	"github.com/bailey-go/bailey/protocol"
)

// ForApp returns the result as a CallToolResult of the Model Context Protocol, for the page of a tool:
// iframe.App.Result, or the answer to its own call. It is the complete result.
func (r ToolResult) ForApp() map[string]any {
	if err := r.Err(); err != nil {
		return map[string]any{"isError": true, "content": []any{textBlock(r.ErrorText)}}
	}
	out := map[string]any{"isError": false}
	m, _ := r.Data.(map[string]any)
	text, ok := m["content"].(string)
	switch s, has := m["structured"].(map[string]any); {
	case has:
		out["structuredContent"] = s
	case m != nil && !ok:
		out["structuredContent"] = m
	}
	if !ok {
		text, _ = protocol.EncodeJSON(r.Data, protocol.JSONLimits{Bytes: 16 << 20})
	}
	blocks := []any{textBlock(text)}
	for _, f := range r.Files {
		data := base64.StdEncoding.EncodeToString(f.Data)
		switch kind, _, _ := strings.Cut(f.MediaType, "/"); kind {
		case "image", "audio":
			blocks = append(blocks, map[string]any{"type": kind, "data": data, "mimeType": f.MediaType})
		default:
			blocks = append(blocks, map[string]any{"type": "resource", "resource": map[string]any{"uri": "file:///" + url.PathEscape(f.Name), "mimeType": f.MediaType, "blob": data}})
		}
	}
	out["content"] = blocks
	return out
}

// Contents returns the result of a tool that reads a resource, as a ReadResourceResult of the protocol.
func (r ToolResult) Contents(uri string) (map[string]any, error) {
	if err := r.Err(); err != nil {
		return nil, err
	}
	var list []any
	for _, f := range r.Files {
		list = append(list, map[string]any{"uri": uri, "mimeType": f.MediaType, "blob": base64.StdEncoding.EncodeToString(f.Data)})
	}
	if m, _ := r.Data.(map[string]any); len(list) == 0 {
		text, _ := m["content"].(string)
		list = append(list, map[string]any{"uri": uri, "text": strings.TrimSuffix(text, "\n")})
	}
	return map[string]any{"contents": list}, nil
}

func textBlock(text string) map[string]any { return map[string]any{"type": "text", "text": text} }
