package markdown

import (
	"fmt"
	"strings"
)

// Kind says what sort of thing was stopped.
type Kind string

// Kinds of findings.
const (
	Element   Kind = "element"   // a tag that is not allowed; its text was kept unless it is code of another language
	Attribute Kind = "attribute" // an attribute that is not allowed, or a value that is not
	Scheme    Kind = "scheme"    // a link target that was dropped; the name is its scheme
	Image     Kind = "image"     // an image that was not shown; the name says why
	Limit     Kind = "limit"     // a limit was hit and the block shown as plain text; the name is that of the field of Limits
	Unclosed  Kind = "unclosed"  // a tag without its other half; it was closed at once, or dropped
	Deception Kind = "deception" // a link whose text looks like another target, a host of mixed scripts, text that turns direction or that nobody sees
	Broken    Kind = "broken"    // a block that the last check refused, shown as plain text: please report it
)

// Finding is one sort of thing that was stopped, and how often.
type Finding struct {
	Kind  Kind
	Name  string
	Count int
}

// String is the finding in words, such as "element <script> ×2".
func (f Finding) String() string {
	name := f.Name
	if f.Kind == Element || f.Kind == Unclosed {
		name = "<" + name + ">"
	}
	if f.Count == 1 {
		return string(f.Kind) + " " + name
	}
	return fmt.Sprintf("%s %s ×%d", f.Kind, name, f.Count)
}

// Report lists what was stopped, so that an app can show it. Its order is that
// of kind and name.
type Report struct {
	Findings []Finding
}

// Count is how many things of a kind were stopped; "" counts all.
func (r Report) Count(k Kind) int {
	n := 0
	for _, f := range r.Findings {
		if k == "" || f.Kind == k {
			n += f.Count
		}
	}
	return n
}

// String is the report in one line, "" if nothing was stopped.
func (r Report) String() string {
	var words []string
	for _, f := range r.Findings {
		words = append(words, f.String())
	}
	return strings.Join(words, ", ")
}

const (
	maxFindings    = 200 // different ones kept of a text; the rest are counted together
	maxFindingName = 64  // bytes of a name
)

// add counts n findings more.
func (r *Report) add(k Kind, name string, n int) {
	if len(name) > maxFindingName {
		name = strings.ToValidUTF8(name[:maxFindingName], "") + "…"
	}
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Kind == k && f.Name == name {
			f.Count += n
			return
		}
	}
	if len(r.Findings) >= maxFindings {
		name = "others"
		if last := &r.Findings[len(r.Findings)-1]; last.Name == name {
			last.Count += n
			return
		}
	}
	r.Findings = append(r.Findings, Finding{k, name, n})
}

// merge adds all of o to r.
func (r *Report) merge(o Report) {
	for _, f := range o.Findings {
		r.add(f.Kind, f.Name, f.Count)
	}
}

func (r *Report) sort() {
	f := r.Findings
	for i := 1; i < len(f); i++ {
		for k := i; k > 0 && (f[k].Kind < f[k-1].Kind || f[k].Kind == f[k-1].Kind && f[k].Name < f[k-1].Name); k-- {
			f[k], f[k-1] = f[k-1], f[k]
		}
	}
}
