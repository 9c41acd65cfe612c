package markdown

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/microcosm-cc/bluemonday"
)

// ourPolicy returns the second layer of the sanitiser: bluemonday with the same elements and
// attributes, listed independently. The output of our own renderer passes unchanged.
func ourPolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements(strings.Fields(`abbr acronym address article aside b bdi big blockquote br caption center cite code col colgroup dd del
		details dfn div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hgroup hr i ins kbd li main mark menu nav ol p pre q rp rt
		ruby s samp section small span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr`)...)
	p.AllowNoAttrs().OnElements(strings.Fields(`a acronym address big center details figcaption font footer header main menu nav section img
		input kbd samp summary wbr col colgroup hgroup var rp rt ruby tt`)...)
	number := regexp.MustCompile(`^-?[0-9]{1,9}%?$`)
	p.AllowAttrs(strings.Fields("align class dir id lang title aria-label")...).Globally()
	for rule := range strings.SplitSeq(`data-fragment data-path data-warning:a|alt data-image data-warning:img|checked disabled:input|open:details|`+
		`datetime:del ins time|reversed:ol|valign:td th|scope abbr:th`, "|") {
		attrs, tags, _ := strings.Cut(rule, ":")
		p.AllowAttrs(strings.Fields(attrs)...).OnElements(strings.Fields(tags)...)
	}
	for _, rule := range [...][3]string{
		{"data-href", "a", `^(https?|mailto|tel):[!-;=?-~]+$`},
		{"role", "a", `^link$`},
		{"tabindex", "a", `^0$`},
		{"src", "img", `^data:image/(png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=]+$`},
		{"type", "input", `^checkbox$`},
		{"type", "ol", `^[1aAiI]$`},
	} {
		p.AllowAttrs(rule[0]).Matching(regexp.MustCompile(rule[2])).OnElements(rule[1])
	}
	for rule := range strings.SplitSeq("width height:img|start value:ol li|colspan rowspan:td th|span:col colgroup", "|") {
		attrs, tags, _ := strings.Cut(rule, ":")
		p.AllowAttrs(strings.Fields(attrs)...).Matching(number).OnElements(strings.Fields(tags)...)
	}
	return p
}

// narrow applies the app's policy to a block and then ours, so the app's policy can add
// nothing. It closes the elements that remain open.
func narrow(r *Renderer, block []byte) []byte {
	out := r.policy.SanitizeBytes(r.opts.Policy.SanitizeBytes(block))
	var marked bytes.Buffer
	i := 0
	for t := range tags(out) {
		marked.Write(out[i:t.at])
		marked.WriteByte(mark)
		i = t.at
	}
	marked.Write(out[i:])
	var ignored Report
	balanced, limit := balance(r, [][]byte{marked.Bytes()}, nil, &ignored)
	if limit != "" {
		return []byte{mark} // refused by the last check
	}
	return balanced
}
