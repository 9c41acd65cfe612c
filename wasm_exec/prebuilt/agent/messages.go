package main

import (
	"encoding/base64"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// messages returns stored messages as AI SDK's UIMessages. The answers of one run are one message there, with a step each.
// files returns the files of a part. A file whose content is gone is left out.
func messages(list []sandbox.Message, files func(sandbox.PartRecord) []sandbox.File) []any {
	out := []any{}
	var open map[string]any // the message of the assistant that further answers belong to
	for _, m := range list {
		if m.Role != sandbox.RoleAssistant {
			open = nil
		}
		to := open
		if to == nil {
			to = map[string]any{"id": m.ID, "role": string(m.Role), "parts": []any{}}
			out = append(out, to)
		}
		parts, _ := to["parts"].([]any)
		if m.Role == sandbox.RoleAssistant {
			open, parts = to, append(parts, map[string]any{"type": "step-start"})
			addUsage(to, m.Metadata.Usage)
		}
		for _, p := range m.Parts {
			parts = append(parts, uiParts(p, files)...)
		}
		to["parts"] = parts
	}
	return out
}

// addUsage adds the tokens of an answer to the metadata of a message.
func addUsage(to, usage map[string]any) {
	if len(usage) == 0 {
		return
	}
	meta, _ := to["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{"usage": map[string]any{}}
		to["metadata"] = meta
	}
	sum, _ := meta["usage"].(map[string]any)
	for k, v := range usage {
		n, ok := v.(float64)
		if have, _ := sum[k].(float64); ok {
			sum[k] = have + n
		}
	}
}

func uiParts(p sandbox.PartRecord, files func(sandbox.PartRecord) []sandbox.File) []any {
	data, _ := p.Data.(map[string]any)
	str := func(key string) string { s, _ := data[key].(string); return s }
	set := func(to map[string]any, key, value string) map[string]any {
		if value != "" {
			to[key] = value
		}
		return to
	}
	switch {
	case p.ToolCallID != "":
		return []any{toolPart(p, data)}
	case p.Type == "text" || p.Type == "reasoning":
		if str("text") == "" {
			return nil
		}
		return []any{map[string]any{"type": p.Type, "text": str("text"), "state": "done"}}
	case p.Type == "file":
		var out []any
		for _, f := range files(p) {
			out = append(out, set(map[string]any{"type": "file", "mediaType": f.MediaType, "url": "data:" + f.MediaType + ";base64," + base64.StdEncoding.EncodeToString(f.Data)}, "filename", f.Name))
		}
		return out
	case p.Type == "source-url":
		return []any{set(map[string]any{"type": p.Type, "sourceId": p.ID, "url": str("url")}, "title", str("title"))}
	case p.Type == "source-document":
		return []any{set(map[string]any{"type": p.Type, "sourceId": p.ID, "mediaType": str("media_type"), "title": str("title")}, "filename", str("filename"))}
	case len(p.Type) > 5 && p.Type[:5] == "data-":
		return []any{map[string]any{"type": p.Type, "id": p.ID, "data": p.Data}}
	}
	return nil
}

// toolPart returns the part of a call. A call that the user declined has an answered question.
func toolPart(p sandbox.PartRecord, data map[string]any) map[string]any {
	tool, _ := data["tool"].(string)
	out := map[string]any{"type": "tool-" + tool, "toolCallId": p.ToolCallID, "state": string(p.ToolState), "input": data["input"]}
	switch p.ToolState {
	case sandbox.ToolOutputAvailable:
		out["output"] = data["output"]
	case sandbox.ToolOutputError:
		out["errorText"], _ = data["error"].(string)
		if data["reason"] == string(protocol.ReasonRejected) {
			out["state"] = "output-denied"
			out["approval"] = map[string]any{"id": "ask-" + p.ToolCallID, "approved": false, "reason": out["errorText"]}
			delete(out, "errorText")
		}
	}
	return out
}
