package protocol

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"
)

// Tool is a function that code or a model may call: its name, its parameters, the capabilities that
// it needs and its implementation.
type Tool struct {
	ID          string
	Description string
	// Parameters is a JSON Schema, see [Schema]. Empty means no arguments.
	Parameters string
	// Requires are the capabilities that the tool needs. One without a scope is needed wherever the
	// host grants it. Requires never grants anything.
	Requires []Grant
	// Untrusted tools, such as those of an MCP server, need the user's consent by default.
	Untrusted bool
	// Server is the name of the MCP server of the tool, or empty.
	Server string
	// Time is the tool's own time limit, at most 300 s. 0 is [Limits.ToolTime].
	Time time.Duration

	// Execute runs the tool. args is a tree as [ParseJSON] returns it, which may also
	// contain [Undefined], [Map] and the other values of JavaScript. It is valid for Parameters.
	// [Unmarshal] converts it to a struct. The result must be such a tree, or a Go value that
	// [EncodeJSON] accepts. The caller receives only the code, the reason and the message of an
	// error, see [Public].
	Execute func(ctx context.Context, args any) (any, error)

	schema *Schema
	need   Authority
}

// Check returns nil if the arguments are valid for Parameters, else an error that names the
// problems.
func (t *Tool) Check(args any) error {
	if args == nil {
		args = map[string]any{}
	}
	if err := t.schema.Validate(args); err != nil {
		return Errorf(CodeOf(err), "call", t.ID, "%w", err)
	}
	return nil
}

// Authority returns the part of the host's authority that the tool needs.
func (t *Tool) Authority(host Authority) Authority { return host.Intersect(t.need) }

// RuleName returns the name of the tool in rules: its id, or mcp:server:tool.
func (t *Tool) RuleName() string {
	if t.Server == "" {
		return t.ID
	}
	return "mcp:" + t.Server + ":" + strings.TrimPrefix(t.ID, t.Server+"_")
}

// Sum returns a hash of what the server of the tool says about it: its description and its parameters.
// A lasting answer of the user about the tool is for this hash alone, because the user saw no other form
// of the tool. A tool without a server is the app's own, and has no hash.
func (t *Tool) Sum() string {
	if t.Server == "" {
		return ""
	}
	h := sha256.Sum256([]byte(t.Description + "\x00" + t.Parameters))
	return hex.EncodeToString(h[:16])
}

// Toolset is a set of tools by id, for a run or a session. It is safe for concurrent use.
type Toolset struct {
	mu    sync.RWMutex
	tools map[string]*Tool
}

// NewToolset returns a set with these tools, or the first error of [Toolset.Add].
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

// Add adds a tool to the set. For a bad id it returns the error of [ValidToolName]. It returns
// [ErrInvalidParams] for a bad schema, server or time limit, for an unknown capability, for an id
// that the set contains already, and for one of [Toolset.Locked] whose parameters differ. It returns
// [ErrResourceLimit] if the set has 10,000 tools.
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
	if t.need, err = RequiredAuthority(t.Requires...); err != nil {
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

// Lookup returns the tool with this id, or [ErrToolNotFound]. An id that is not valid gives the
// error of [ValidToolName].
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

// All returns an iterator over the tools in the order of their ids.
func (s *Toolset) All() iter.Seq[*Tool] {
	return func(yield func(*Tool) bool) {
		for _, id := range s.Names() {
			if t, err := s.Lookup(id); err == nil && !yield(t) {
				return
			}
		}
	}
}

// Locked returns the ids of the tools that have the same meaning and parameters everywhere,
// such as read, in order. A set refuses another tool of such a name.
func (*Toolset) Locked() []string {
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
		"skill":       "name arguments?",
		"tool_search": "query",
	}
}

// sameShape returns how a schema differs from a locked tool's shape, or an empty text. A shape is a
// list of parameters, each with "?" if it is optional. The schema must have all required
// parameters, may not require the optional ones, and may have no others.
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
