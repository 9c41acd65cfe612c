package markdown

import (
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// alerts are the kinds of alerts, which GitHub writes as a block quote whose first line is [!NOTE].
var alerts = [...]string{"Note", "Tip", "Important", "Warning", "Caution"}

// alertKind returns the kind of alert that a line names, or "".
func alertKind(line []byte) string {
	s := strings.TrimSpace(string(line))
	i := slices.IndexFunc(alerts[:], func(kind string) bool { return strings.EqualFold(s, "[!"+kind+"]") })
	if i < 0 {
		return ""
	}
	return alerts[i]
}

// alert returns the start of a block quote: with the title of an alert if it is one. Then it removes the line that
// names the alert from the tree.
func alert(n *ast.Blockquote, src []byte) string {
	const plain = "<blockquote>\n"
	p, ok := n.FirstChild().(*ast.Paragraph)
	if !ok || p.Lines().Len() == 0 {
		return plain
	}
	line := p.Lines().At(0)
	kind := alertKind(line.Value(src))
	if kind == "" {
		return plain
	}
	var first []ast.Node
	broken := false
	c := p.FirstChild()
	for ; c != nil && !broken; c = c.NextSibling() {
		t, ok := c.(*ast.Text)
		if !ok {
			return plain // a link with this name
		}
		first, broken = append(first, t), t.SoftLineBreak() || t.HardLineBreak()
	}
	for _, c := range first {
		p.RemoveChild(p, c)
	}
	if !p.HasChildren() {
		n.RemoveChild(n, p)
	}
	return `<blockquote class="bailey-alert bailey-alert-` + strings.ToLower(kind) + `">` + "\n" + `<p class="bailey-alert-title">` + kind + "</p>\n"
}

// mayAlert reports whether an unfinished line may become the first line of an alert.
func mayAlert(line []byte) bool {
	s := strings.ToLower(strings.TrimSpace(string(line)))
	for _, kind := range alerts {
		if strings.HasPrefix("[!"+strings.ToLower(kind)+"]", s) {
			return true
		}
	}
	return false
}
