package leaklab

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestVectors(t *testing.T) {
	seen := map[string]bool{}
	fit := regexp.MustCompile(`^[a-z]+-[0-9]+$`)
	for _, v := range All() {
		if seen[v.ID] || !fit.MatchString(v.ID) {
			t.Errorf("%s: not unique, or unfit for a host's name", v.ID)
		}
		seen[v.ID] = true
		if body := v.HTML + v.JS; seen[body] {
			t.Errorf("%s is there twice: %s", v.ID, body)
		} else {
			seen[body] = true
		}
		if (v.HTML == "") == (v.JS == "") {
			t.Errorf("%s is both or neither", v.ID)
		}
		x := v.Expand(Target{"127.0.0.9", "1234"})
		if !strings.Contains(x.HTML+x.JS, "127.0.0.9") || strings.Contains(x.HTML+x.JS, "{H}") {
			t.Errorf("%s leads nowhere: %s", v.ID, x.HTML+x.JS)
		}
	}
	if n := len(All()); n < 200 {
		t.Errorf("%d vectors; at least 200 are wanted", n)
	}
}

func TestMustHold(t *testing.T) {
	for _, engine := range Engines() {
		for layout, want := range map[string]bool{"plain": false, "dom": false, "compute": true, "app": engine == "chromium", "app-conforming": engine == "chromium"} {
			if got := slices.Contains(MustHold(engine), layout); got != want {
				t.Errorf("%s %s: must hold is %v", engine, layout, got)
			}
		}
	}
}
