package protocol

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"
)

// Tool is something code or a model may call: what it is called, what it takes,
// what it needs, and how it is done.
type Tool struct {
	ID          string
	Description string
	// Parameters is a JSON Schema; empty takes no arguments. See [Schema].
	Parameters string
	// Requires is what the tool needs: without a scope, wherever the host grants it.
	// A need never grants.
	Requires []Grant
	// Untrusted tools, such as those of an MCP server, are asked about by default.
	Untrusted bool
	// Server is the MCP server a tool comes from, or empty.
	Server string
	// Time is the tool's own limit; 0 is [Limits.ToolTime].
	Time time.Duration

	// Execute does it. args is a tree as [DecodeValue] returns it and fits
	// Parameters; use [Unmarshal] to put it into a struct. What is returned must be a
	// value that [EncodeValue] can write. Errors reach the code as code, reason and
	// message, and nothing else of the host.
	Execute func(ctx context.Context, args any) (any, error)

	schema *Schema
	need   Authority
}

// Check says why the arguments do not fit, or nil.
func (t *Tool) Check(args any) error {
	if args == nil {
		args = map[string]any{}
	}
	if err := t.schema.Validate(args); err != nil {
		return Errorf(CodeOf(err), "call", t.ID, "%w", err)
	}
	return nil
}

// Authority is what the tool may do under what the host grants.
func (t *Tool) Authority(host Authority) Authority { return host.Intersect(t.need) }

// RuleName is what rules call the tool: its id, or mcp:server:tool.
func (t *Tool) RuleName() string {
	if t.Server == "" {
		return t.ID
	}
	return "mcp:" + t.Server + ":" + strings.TrimPrefix(t.ID, t.Server+"_")
}

// Toolset is the tools of a run or a session, by id. It is safe for several
// goroutines.
type Toolset struct {
	mu    sync.RWMutex
	tools map[string]*Tool
}

// NewToolset makes a set of tools; see [Toolset.Add].
func NewToolset(tools ...Tool) (*Toolset, error) {
	s := &Toolset{}
	for _, t := range tools {
		if err := s.Add(t); err != nil {
			return nil, err
		}
	}
	return s, nil
}

const maxTools = 10_000

// Add puts a tool in the set. A bad id, schema or need is an error, and so is an id
// that is taken, or one of [LockedTools] with another shape of parameters.
func (s *Toolset) Add(t Tool) error {
	bad := func(format string, args ...any) error {
		return Errorf(ErrInvalidParams, "tool", quote(t.ID), format, args...)
	}
	if err := ValidToolName(t.ID); err != nil {
		return err
	}
	if len(t.Description) > 16*kib {
		return bad("the description is longer than %d bytes", 16*kib)
	}
	if t.Server != "" && (!validName(t.Server) || strings.Contains(t.Server, ":") || reservedKey(t.Server)) {
		return bad("the server's name %s must be letters, digits, _ and -", quote(t.Server))
	}
	if t.Time < 0 || t.Time > 300*time.Second {
		return bad("the time limit must be 0 to 300 s")
	}
	if t.Execute == nil {
		return bad("has no Execute")
	}
	var err error
	if t.schema, err = ParseSchema(t.Parameters); err != nil {
		return bad("%w", err)
	}
	if t.need, err = Need(t.Requires...); err != nil {
		return bad("%w", err)
	}
	if shape, locked := lockedTools()[t.ID]; locked {
		if err := sameShape(t.schema.root, shape); err != "" {
			return bad("is locked to %s; %s", shape, err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.tools[t.ID]; taken {
		return bad("there is a tool of that name already")
	}
	if len(s.tools) >= maxTools {
		return Errorf(ErrResourceLimit, "tool", quote(t.ID), "there are %d tools already", maxTools)
	}
	if s.tools == nil {
		s.tools = map[string]*Tool{}
	}
	s.tools[t.ID] = &t
	return nil
}

// Lookup returns the tool with that id, or [ErrToolNotFound].
func (s *Toolset) Lookup(id string) (*Tool, error) {
	if err := ValidToolName(id); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if t, ok := s.tools[id]; ok {
		return t, nil
	}
	return nil, Errorf(ErrToolNotFound, "call", id, "there is no tool of that name")
}

// Names returns the ids in order.
func (s *Toolset) Names() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]string, 0, len(s.tools))
	for id := range s.tools {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// All yields the tools in the order of their ids.
func (s *Toolset) All() iter.Seq[*Tool] {
	return func(yield func(*Tool) bool) {
		for _, id := range s.Names() {
			if t, err := s.Lookup(id); err == nil && !yield(t) {
				return
			}
		}
	}
}

// LockedTools are the ids that mean the same everywhere, with what they take: a
// name, then "?" if it may be missing.
func LockedTools() []string {
	var out []string
	for id := range lockedTools() {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

func lockedTools() map[string]string {
	return map[string]string{
		"read":        "path offset? limit?",
		"write":       "path content version?",
		"edit":        "path old_string new_string replace_all? version?",
		"glob":        "pattern path?",
		"grep":        "pattern path? include?",
		"bash":        "command timeout?",
		"todo":        "todos",
		"task":        "subagent_type prompt background? metadata?",
		"question":    "questions",
		"web_search":  "query max_results?",
		"web_fetch":   "url",
		"skill":       "name",
		"tool_search": "query",
	}
}

// sameShape says how a schema differs from a locked tool's shape, or nothing. What
// must be there must be known and may not be joined by more that must be there;
// more that may be missing would be another tool.
func sameShape(n *node, shape string) string {
	known := map[string]bool{}
	for _, word := range strings.Fields(shape) {
		name, optional := strings.CutSuffix(word, "?")
		known[name] = true
		if _, ok := n.props[name]; !ok && !optional {
			return "it has no " + name
		}
		if required := slices.Contains(n.required, name); required && optional {
			return name + " must be allowed to be missing"
		}
	}
	for name := range n.props {
		if !known[name] {
			return name + " is not part of it"
		}
	}
	return ""
}
