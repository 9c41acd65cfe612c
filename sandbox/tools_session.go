package sandbox

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/bailey-go/bailey/protocol"
)

// Todo is an entry of the model's own list of tasks.
type Todo struct {
	ID       string `json:"id,omitempty"`
	Content  string `json:"content"`
	Status   string `json:"status"` // pending, in_progress, completed, cancelled
	Priority string `json:"priority,omitempty"`
}

func todoTool() Tool {
	return Tool{
		Tool: protocol.Tool{ID: "todo",
			Description: "Keeps the list of what is to do: give the whole list each time.",
			Parameters: `{"type":"object","properties":{"todos":{"type":"array","maxItems":200,"items":{"type":"object","properties":{"id":{"type":"string"},"content":{"type":"string","minLength":1,"maxLength":2000},
				"status":{"enum":["pending","in_progress","completed","cancelled"]},"priority":{"enum":["low","medium","high"]}},"required":["content","status"],"additionalProperties":false}}},"required":["todos"],"additionalProperties":false}`},
		Run: func(_ context.Context, c *Call) (any, error) {
			var a struct {
				Todos []Todo `json:"todos"`
			}
			if err := c.Bind(&a); err != nil {
				return nil, err
			}
			c.scope.mu.Lock()
			c.scope.todos = a.Todos
			c.scope.mu.Unlock()
			m, _ := c.Args.(map[string]any)
			return map[string]any{"todos": m["todos"]}, nil
		},
	}
}

// ModelQuestion is a question of the model to the user, by the tool question.
type ModelQuestion struct {
	Question string `json:"question"`
	Header   string `json:"header,omitempty"` // a heading, or empty
	// Options are the suggested answers. The user may also give another answer.
	Options []struct {
		Label       string `json:"label"`
		Description string `json:"description,omitempty"`
	} `json:"options,omitempty"`
	MultiSelect bool `json:"multi_select,omitempty"` // the user may choose several options
}

func questionTool() Tool {
	return Tool{
		Tool: protocol.Tool{ID: "question", Time: protocol.Permissive.Limits().Time,
			Description: "Asks the user. Returns the answers, a list for each question.",
			Parameters: `{"type":"object","properties":{"questions":{"type":"array","minItems":1,"maxItems":10,"items":{"type":"object","properties":{"question":{"type":"string","minLength":1,"maxLength":2000},
				"header":{"type":"string","maxLength":80},"options":{"type":"array","maxItems":20,"items":{"type":"object","properties":{"label":{"type":"string","maxLength":200},"description":{"type":"string","maxLength":1000}},
				"required":["label"],"additionalProperties":false}},"multi_select":{"type":"boolean"}},"required":["question"],"additionalProperties":false}}},"required":["questions"],"additionalProperties":false}`},
		Run: func(ctx context.Context, c *Call) (any, error) {
			var a struct {
				Questions []ModelQuestion `json:"questions"`
			}
			if err := c.Bind(&a); err != nil {
				return nil, err
			}
			if c.box.o.AnswerModel == nil {
				return nil, protocol.Errorf(protocol.ErrExecution, "question", "", "nobody is there to answer; go on with what you know").WithReason(protocol.ReasonNobodyAsks)
			}
			var answers [][]string
			var err error
			c.Await(func() { answers, err = c.box.o.AnswerModel(ctx, a.Questions) })
			if err != nil {
				return nil, err
			}
			out := []any{}
			for i := range a.Questions {
				row := []any{}
				if i < len(answers) {
					for _, s := range answers[i] {
						row = append(row, s)
					}
				}
				out = append(out, row)
			}
			return map[string]any{"answers": out}, nil
		},
	}
}

func toolSearchTool() Tool {
	return Tool{
		Tool: protocol.Tool{ID: "tool_search", Description: "Finds tools by words of their name and description. Those it finds can be called from then on.",
			Parameters: `{"type":"object","properties":{"query":{"type":"string","minLength":1,"maxLength":500}},"required":["query"],"additionalProperties":false}`},
		Run: func(_ context.Context, c *Call) (any, error) {
			matches := []any{}
			for _, t := range searchTools(c.box, c.scope, c.text("query"), maxMatches) {
				matches = append(matches, map[string]any{"id": t.ID, "description": t.Description})
				c.scope.found(t.ID)
			}
			return map[string]any{"matches": matches}, nil
		},
	}
}

// maxMatches is the number of tools that one search finds.
const maxMatches = 10

// searchTools returns the tools of an agent that match most of the words in query. A match in the name
// counts three times.
func searchTools(b *Box, s *scope, query string, most int) []*protocol.Tool {
	type hit struct {
		t *protocol.Tool
		n int
	}
	var hits []hit
	words := strings.FieldsFunc(strings.ToLower(query), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	for t := range b.tools.All() {
		if t.ID == "tool_search" || s.only != nil && !s.only[t.ID] {
			continue
		}
		id, text := strings.ToLower(t.ID), strings.ToLower(t.Description)
		n := 0
		for _, w := range words {
			if strings.Contains(id, w) {
				n += 3
			}
			if strings.Contains(text, w) {
				n++
			}
		}
		if n > 0 {
			hits = append(hits, hit{t, n})
		}
	}
	slices.SortStableFunc(hits, func(x, y hit) int { return y.n - x.n })
	var out []*protocol.Tool
	for _, h := range hits[:min(len(hits), most)] {
		out = append(out, h.t)
	}
	return out
}

// found adds a tool to those whose description is sent to the model.
func (s *scope) found(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tools == nil {
		s.tools = map[string]bool{}
	}
	s.tools[id] = true
}

// remember finds the tools again that the model had found in a stored conversation. Its messages say that these can
// be called, and the model calls none whose description it does not get.
func (s *scope) remember(ps []PartRecord) {
	for _, p := range ps {
		d, _ := p.Data.(map[string]any)
		if d["tool"] != "tool_search" || p.ToolState != ToolOutputAvailable {
			continue
		}
		out, _ := d["output"].(map[string]any)
		matches, _ := out["matches"].([]any)
		for _, m := range matches[:min(len(matches), maxMatches)] {
			m, _ := m.(map[string]any)
			if id, _ := m["id"].(string); id != "" {
				s.found(id)
			}
		}
	}
}
