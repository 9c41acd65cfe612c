package sandbox

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/bailey-go/bailey/protocol"
)

// Environment is the kind of place in which an agent's tools run.
type Environment string

const (
	// Web is a page in a browser.
	Web Environment = "web"
	// Cloud is a container or a small machine that is created for a job and deleted with it.
	Cloud Environment = "cloud"
	// Computer is the user's own machine, outside of a browser.
	Computer Environment = "computer"
)

// environments returns all environments, in order.
func environments() []Environment { return []Environment{Web, Cloud, Computer} }

// environment returns o, or the default of this build if o is empty. A program can't detect whether
// it runs in a container, so Cloud is never the default.
func environment(o Environment) (Environment, error) {
	switch {
	case o == "" && runtime.GOOS == "js":
		return Web, nil
	case o == "":
		return Computer, nil
	case !slices.Contains(environments(), o):
		return "", protocol.Errorf(protocol.ErrInvalidParams, "environment", string(o), "it must be web, cloud or computer")
	}
	return o, nil
}

// Availability is the availability of a tool in an environment.
type Availability struct {
	Tool        string
	Environment Environment
	Here        bool   // the tool can be used there
	Reason      string // why it can't be used, or its limitations; empty is none
}

// AvailabilityTable is a table of tools, environments and reasons, see [Box.AvailabilityTable].
type AvailabilityTable []Availability

// String returns the table in aligned columns, with a heading.
func (d AvailabilityTable) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	w.Write([]byte("tool\tenvironment\there\treason\n"))
	for _, a := range d {
		here := "no"
		if a.Here {
			here = "yes"
		}
		// The names and reasons of a server's tools may contain any characters.
		w.Write([]byte(oneLine(a.Tool) + "\t" + string(a.Environment) + "\t" + here + "\t" + oneLine(a.Reason) + "\n"))
	}
	w.Flush()
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// oneLine returns s with spaces in place of control characters, so that a cell stays on its line.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}

func availability(b *Box, e Environment) AvailabilityTable {
	var out AvailabilityTable
	known := map[string]bool{}
	add := func(id string, here bool, reason string) {
		known[id] = true
		out = append(out, Availability{Tool: id, Environment: e, Here: here, Reason: reason})
	}
	for _, m := range b.missing {
		add(m.Tool, false, m.Reason)
	}
	for t := range b.tools.All() {
		switch reason := lacks(b, t); {
		case reason != "":
			add(t.ID, false, reason)
		case b.byID[t.ID].browser && e != Web:
			add(t.ID, false, "an enclave is made of a browser's frames and workers, and there is no browser")
		default:
			add(t.ID, true, limits(t, e))
		}
	}
	for _, id := range append(b.tools.Locked(), "code_run", "tool_run") {
		if !known[id] {
			add(id, false, "the box was not given this tool")
		}
	}
	slices.SortFunc(out, func(x, y Availability) int { return cmp.Compare(x.Tool, y.Tool) })
	return out
}

// lacks returns the reason why a tool can't be used in any environment, or "".
func lacks(b *Box, t *protocol.Tool) string {
	for _, g := range t.Requires {
		if !b.policy.Authority().Has(g.Capability) {
			return "the policy does not grant " + string(g.Capability)
		}
	}
	switch {
	case t.ID == "undo" && !b.fs.Journal(), t.ID == "diff" && !b.fs.Journal() && b.o.FS == nil:
		return "the folder keeps no journal"
	case t.ID == "question" && b.o.AnswerModel == nil:
		return "nobody is there to answer"
	}
	return ""
}

// limits returns the limitations of a tool that can be used in e, or "".
func limits(t *protocol.Tool, e Environment) string {
	folder := needsFolder(Tool{Tool: *t})
	switch {
	case t.ID == "bash" && e == Computer:
		return "a shell of its own over the folder; package environment/computer adds the machine's programs that the policy names"
	case t.ID == "bash":
		return "a shell of its own over the folder, without the machine's programs"
	case t.ID == "tool_run" && e == Computer:
		return "WebAssembly programs that the app brings; package environment/computer adds the machine's programs that the policy names"
	case t.ID == "tool_run":
		return "WebAssembly programs that the app brings, without the machine's own"
	case (t.ID == "web_fetch" || t.ID == "web_search") && e == Web:
		return "only what servers let a page of another origin read (CORS), and no redirects; a relay goes further"
	case folder && e == Web:
		return "only in the folder the page has: one that the user picked, the origin-private one, or memory"
	case folder && e == Cloud:
		return "only in the container's folder, which goes with it"
	}
	return ""
}
