package examples

import (
	"path/filepath"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
)

// look is a state of a page in a window. Its name is that of its screenshot.
type look struct {
	name          string
	dark          bool
	width, height int
	show          func(t *testing.T, p *e2e.Page) // brings the page into the state, nil for the first one
	after         func(t *testing.T, p *e2e.Page) // continues behind the checks, nil for nothing
	loud          bool                            // the state logs errors, because it tries requests that must be blocked
	bare          bool                            // no screenshot is kept
}

// looks opens a page for each look. Nothing may violate the rules of accessibility, log an error or be
// wider than the window. With -shots it writes a screenshot of each into the folder of the example.
func looks(t *testing.T, example string, open func(*testing.T, *e2e.Browser) *e2e.Page, list []look) {
	t.Helper()
	b := launch(t, e2e.Options{})
	for i, l := range list {
		if testing.Short() && !*shots && i%3 != 1 {
			continue // make e2e looks at all of them
		}
		t.Run(l.name, func(t *testing.T) {
			ctx := testContext(t)
			p := open(t, b)
			defer p.Close()
			must(t, p.Viewport(ctx, l.width, l.height, 1))
			must(t, p.Dark(ctx, l.dark))
			if l.show != nil {
				l.show(t, p)
			}
			noViolations(t, p)
			if !l.loud {
				noErrors(t, p)
			}
			if wide := eval[int](t, p, `document.documentElement.scrollWidth`); wide > l.width {
				t.Errorf("the page is %d px wide in a window of %d", wide, l.width)
			}
			if *shots && !l.bare {
				_, err := p.Screenshot(ctx, e2e.Shot{File: filepath.Join(root, "examples", example, "screenshots", l.name+".png")})
				must(t, err)
			}
			if l.after != nil {
				l.after(t, p)
			}
		})
	}
}
