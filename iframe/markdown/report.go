package markdown

import (
	"fmt"
	"strings"
)

// Kind is a category of stopped content.
type Kind string

// Kinds of findings.
const (
	// Element is a tag that is not allowed. Its text stays, except for elements such as script and
	// style.
	Element Kind = "element"

	// Attribute is an attribute that is not allowed, or one with an invalid value.
	Attribute Kind = "attribute"

	// Scheme is a link target that was removed. The name is its scheme, or a reason such as "too
	// long".
	Scheme Kind = "scheme"

	// Image is an image that is not shown. The name is its scheme, or a reason such as "too large".
	Image Kind = "image"

	// Limit is a limit that was hit. If the name is a field of Limits, "elements" or "directions",
	// the block is shown as plain text. If it is "marks", the count is the number of combining
	// characters that are not shown.
	Limit Kind = "limit"

	// Unclosed is a tag without its counterpart. It was closed at once, or removed.
	Unclosed Kind = "unclosed"

	// Deception is a link text that looks like another target, a host of mixed scripts, or
	// characters that are invisible or change the text direction.
	Deception Kind = "deception"

	// Broken is a block that failed the last check and is shown as plain text. Please report it.
	Broken Kind = "broken"
)

// Finding is one sort of stopped content, with its count.
type Finding struct {
	Kind  Kind
	Name  string
	Count int
}

// String returns the finding in words, such as "element <script> ×2".
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

// Report lists the stopped content, so that an app can show it. It is sorted by kind and name.
type Report struct {
	Findings []Finding
}

// Count returns the number of stopped items of a kind. The kind "" counts all.
func (r Report) Count(k Kind) int {
	n := 0
	for _, f := range r.Findings {
		if k == "" || f.Kind == k {
			n += f.Count
		}
	}
	return n
}

// String returns the report in one line, and "" if nothing was stopped.
func (r Report) String() string {
	var words []string
	for _, f := range r.Findings {
		words = append(words, f.String())
	}
	return strings.Join(words, ", ")
}

const (
	maxFindings    = 200 // different findings kept for a text. Further ones are counted together
	maxFindingName = 64  // bytes of a name
)

// add adds n to the count of a finding.
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

// merge adds all findings of o to r.
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
