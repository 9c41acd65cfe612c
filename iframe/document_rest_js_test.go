package iframe

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/testpage"
)

// look is the part of a document that its frame paints, and the height with everything painted.
type look struct {
	Left   string // a letter for each section: x is not painted, - is painted
	H, All int
}

const lookInside = `(() => {
	const list = [...document.querySelectorAll("#root > section")];
	if (!list.length) return null;
	const tall = () => Math.ceil(document.getElementById("root").getBoundingClientRect().height);
	const h = tall(), was = list.map((e) => e.style.contentVisibility);
	list.forEach((e) => { e.style.contentVisibility = "visible"; });
	const all = tall();
	list.forEach((e, i) => { e.style.contentVisibility = was[i]; });
	return JSON.stringify({ Left: was.map((s) => s === "auto" ? "x" : "-").join(""), H: h, All: all });
})()`

func lookAt(t *testing.T) (l look) {
	t.Helper()
	for _, v := range testpage.EvalFrames(t, lookInside) {
		var text string
		if json.Unmarshal(v.Value, &text) == nil && text != "" {
			if err := json.Unmarshal([]byte(text), &l); err != nil {
				t.Fatal(err)
			}
		}
	}
	return l
}

// Unchanged sections far out of view are not painted. The document is as tall as if they were,
// also after a change of one of them, of the width and of the style.
func TestDocumentLeavesOutWhatIsFar(t *testing.T) {
	div := element(t, "div", map[string]string{"style": "height: 300px; width: 500px; overflow: auto"})
	d, err := NewDocument(testContext(t), ElementOf(jsx.ToRaw(div)), DocumentOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	const sections = 12
	for i := range sections {
		s := d.Section(fmt.Sprint(i))
		write(t, s, strings.Repeat("Words that go on until the line is full, and then some more of them.\n\n", 20))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	flush(t, d)
	paints := func(when string, ok func(look) bool) {
		t.Helper()
		var l look
		eventually(t, when, func() bool { l = lookAt(t); return ok(l) && l.H == l.All && l.H == d.Height() })
		t.Logf("%s: %+v", when, l)
	}
	top := func(l look) bool {
		return strings.HasPrefix(l.Left, "--") && strings.HasSuffix(l.Left, "xxxxx") && len(l.Left) == sections
	}
	bottom := func(l look) bool { return strings.HasPrefix(l.Left, "xxxxx") && strings.HasSuffix(l.Left, "--") }
	paints("at the top", top)

	if err := jsx.Set(div, "scrollTop", 1_000_000); err != nil {
		t.Fatal(err)
	}
	paints("at the bottom", bottom)

	before := d.Height()
	s := d.Section("late")
	write(t, s, "Something short.")
	flush(t, d)
	if d.Height() <= before {
		t.Errorf("a new section adds nothing to %d px", before)
	}
	paints("while one is open", func(l look) bool { return strings.HasPrefix(l.Left, "xxxxx") && strings.HasSuffix(l.Left, "-") })

	before = d.Height()
	must(jsx.Call(must(jsx.Get(div, "style"))(t), "setProperty", "width", "250px"))(t)
	eventually(t, "a taller document", func() bool { return d.Height() > before*5/4 })
	paints("narrow", func(l look) bool { return strings.Contains(l.Left, "xxxxx") })

	before = d.Height()
	if err := d.SetTheme(Theme{Variables: map[string]string{"--bailey-size": "24px"}}); err != nil {
		t.Fatal(err)
	}
	flush(t, d)
	if d.Height() < before*5/4 {
		t.Errorf("with larger letters it is %d px tall, before %d", d.Height(), before)
	}
	paints("with larger letters", func(l look) bool { return strings.Contains(l.Left, "xxxxx") })

	before = d.Height()
	if err := d.Section("1").Remove(); err != nil {
		t.Fatal(err)
	}
	flush(t, d)
	if d.Height() >= before {
		t.Errorf("without one section it is %d px tall, before %d", d.Height(), before)
	}
}
