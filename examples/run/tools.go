//go:build js && wasm

package main

import (
	"context"
	"time"

	"github.com/bailey-go/bailey/protocol"
)

// notebook returns the tools that the code may use: two for the notes, and one that answers after
// 300 ms.
func notebook() []protocol.Tool {
	notes := map[string]string{
		"plan.md":     "Thursday: call Ana about the roof.",
		"shop.md":     "Bread, pears, a lamp.",
		"password.md": "Not here.",
	}
	name := `{"type":"object","properties":{"name":{"type":"string","maxLength":64}},"required":["name"],"additionalProperties":false}`
	return []protocol.Tool{
		{ID: "notes_list", Server: "notes", Description: "names of the notes", Execute: func(context.Context, any) (any, error) {
			return []any{"plan.md", "shop.md"}, nil
		}},
		{ID: "notes_read", Server: "notes", Description: "text of a note", Parameters: name, Execute: func(_ context.Context, args any) (any, error) {
			n, _ := args.(map[string]any)["name"].(string)
			if text, ok := notes[n]; ok && n != "password.md" {
				return text, nil
			}
			return nil, protocol.Errorf(protocol.ErrInvalidParams, "read", n, "there is no such note")
		}},
		{ID: "wait", Description: "answers after 300 ms", Execute: func(ctx context.Context, _ any) (any, error) {
			select {
			case <-time.After(300 * time.Millisecond):
				return "done", nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}},
	}
}
