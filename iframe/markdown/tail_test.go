package markdown_test

import (
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/bailey-go/bailey/examples/markdown/answers"
	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/internal/native"
)

// noteMarks are footnotes, which become numbers only once they are defined.
var noteMarks = regexp.MustCompile(`<sup.*?</sup>|\[\^\w*\]?`)

// lateLinks are links whose target is defined after them.
var lateLinks = regexp.MustCompile(`\[([^\[\]]+)\]\[\w+\]?`)

// visible is the text that a reader sees, without blanks.
func visible(s string) string {
	s = lateLinks.ReplaceAllString(noteMarks.ReplaceAllString(s, ""), "$1")
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(s))
	for tt := z.Next(); tt != html.ErrorToken; tt = z.Next() {
		if tt == html.TextToken {
			b.WriteString(strings.Join(strings.Fields(string(z.Text())), ""))
		}
	}
	return b.String()
}

// While an answer streams in, the shown text only grows, with few exceptions: markers do not
// appear and vanish, an address does not turn into a link, and a row does not turn into a
// table.
func TestTailDoesNotFlicker(t *testing.T) {
	native.Only(t)
	t.Parallel()
	r := newRenderer(t, markdown.Options{})
	for a := range answers.All() {
		final, _ := render(t, r, a.Text)
		all := visible(final)
		s := r.NewStream()
		var view screen
		taken, steps, worst := 0, 0, 0
		before, where := "", ""
		step := scaled(4, 12)
		for i := 0; i < len(a.Text); i += step {
			s.Write([]byte(a.Text[i:min(i+step, len(a.Text))]))
			view.apply(t, s.Patches())
			now := visible(view.String())
			steps++
			for _, marker := range []string{"](", "**", "```", "|--", "<details", "~~"} {
				if a.Name != "hostile" && strings.Contains(now, marker) && !strings.Contains(all, marker) {
					t.Errorf("%s: %q is seen at byte %d: …%s", a.Name, marker, i, now[max(0, len(now)-80):])
				}
			}
			same := 0
			for same < len(before) && same < len(now) && before[same] == now[same] {
				same++
			}
			if gone := len(before) - same; gone > 0 {
				taken += gone
				if gone > worst {
					worst = gone
					where = "…" + before[max(0, same-30):] + " → …" + now[max(0, same-30):]
				}
			}
			before = now
		}
		t.Logf("%s: %d steps, %d of %d bytes taken back, at most %d: %.300s", a.Name, steps, taken, len(all), worst, where)
		if a.Name != "hostile" && taken > len(all)/20 {
			t.Errorf("%s: %d of %d bytes were taken back", a.Name, taken, len(all))
		}
	}
}
