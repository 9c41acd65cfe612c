package xss_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/iframe/internal/xss"
)

const sink = "http://127.0.0.1:9/sink"

func Example() {
	p := xss.Payload{ID: "svg-new-trick", Text: `<svg onload=RUN()><image href="SINK/ID">{{repeat:3:<b>}}`}
	text := p.Expand(sink)
	fmt.Println(strings.Contains(text, "postMessage(/xss:svg-new-trick/"))
	fmt.Println(text[strings.Index(text, "<image"):])
	// Output:
	// true
	// <image href="http://127.0.0.1:9/sink/svg-new-trick"><b><b><b>
}

func TestExpand(t *testing.T) {
	for text, want := range map[string]string{
		"{{b64:<b>}}": "PGI+", "{{pct:a b<}}": "a%20b%3C", "{{dec:ab}}": "&#97;&#98;", "{{hex:\n}}": "&#xa;",
		"{{repeat:2:[}}x{{repeat:2:](y)}}": "[[x](y)](y)", "//SINKHOST/ID": "//127.0.0.1:9/a-b", "RAPID ID.": "RAPID a-b.",
		"{{other}} {{repeat:x:a}}": "{{other}} {{repeat:x:a}}", "{{b64:ID}}": "YS1i",
	} {
		if got := (xss.Payload{ID: "a-b", Text: text}).Expand(sink); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestSampleHasEachClass(t *testing.T) {
	all, err := xss.Load()
	if err != nil {
		t.Fatal(err)
	}
	classes := func(list []xss.Payload) map[string]int {
		n := map[string]int{}
		for _, p := range list {
			n[p.Category+" "+p.Does]++
		}
		return n
	}
	want := classes(all)
	for _, every := range []int{1, 2, 5, len(all)} {
		some := xss.Sample(all, every)
		got := classes(some)
		for class, n := range want {
			if got[class] != (n+every-1)/every {
				t.Errorf("one of %d: %d of %d rows of %q", every, got[class], n, class)
			}
		}
		if every == len(all) && len(some) != len(want) {
			t.Errorf("one of %d: %d rows of %d classes", every, len(some), len(want))
		}
	}
}

// The collection itself: what every row must have, and how much there must be.
func TestCollection(t *testing.T) {
	const want, wantCategories = 450, 12
	all, err := xss.Load()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	texts := map[string]string{}
	categories := map[string]int{}
	id := regexp.MustCompile(`^[a-z0-9-]+$`)
	left := regexp.MustCompile(`\{\{(b64|dec|hex|pct|repeat)|RUN\(\)|SINK`)
	for _, p := range all {
		switch {
		case !id.MatchString(p.ID):
			t.Errorf("id %q: lower case letters, digits and dashes only", p.ID)
		case !strings.HasPrefix(p.ID, p.Category+"-"):
			t.Errorf("%s: the id must begin with its category, %s-", p.ID, p.Category)
		case seen[p.ID]:
			t.Errorf("%s: id used twice", p.ID)
		case p.Text == "" || p.Tries == "":
			t.Errorf("%s: text and tries must say something", p.ID)
		case texts[p.Text] != "":
			t.Errorf("%s: the same text as %s", p.ID, texts[p.Text])
		}
		switch p.Does {
		case "run", "load", "go", "clobber", "look":
		default:
			t.Errorf("%s: does %q: want run, load, go, clobber or look", p.ID, p.Does)
		}
		full := p.Expand(sink)
		if p.Does == "run" && p.Text == full {
			t.Errorf("%s: does run, but RUN() or SINK/ID is nowhere in it", p.ID)
		}
		if rest := left.FindString(full); rest != "" {
			t.Errorf("%s: %s was not expanded", p.ID, rest)
		}
		seen[p.ID], texts[p.Text] = true, p.ID
		categories[p.Category]++
	}
	if len(all) < want || len(categories) < wantCategories {
		t.Errorf("%d payloads in %d categories; want at least %d in %d", len(all), len(categories), want, wantCategories)
	}
	for c, n := range categories {
		if n < 20 {
			t.Errorf("category %s has %d payloads; want at least 20", c, n)
		}
	}
	t.Logf("%d payloads: %v", len(all), categories)
}
