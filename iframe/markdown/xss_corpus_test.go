package markdown_test

import (
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

//go:embed testdata/xss/*.json
var xssFiles embed.FS

// xssPayload is a row of testdata/xss; README.md there says how to add one.
type xssPayload struct {
	ID       string `json:"id"`
	Category string `json:"-"`
	Does     string `json:"does"`   // run, load, go, clobber or look
	Text     string `json:"text"`   // Markdown or HTML, as a model would write it
	Quoted   string `json:"quoted"` // the same as a Go string literal, for bytes that are not UTF-8
	Tries    string `json:"tries"`
}

// xssSink is where a payload phones: an HTTP server that counts.
const xssSink = "http://127.0.0.1:9/sink"

func loadXSS(t testing.TB) []xssPayload {
	t.Helper()
	names, err := fs.Glob(xssFiles, "testdata/xss/*.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []xssPayload
	for _, name := range names {
		data, err := xssFiles.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			Category, About string
			Payloads        []xssPayload
		}
		d := json.NewDecoder(strings.NewReader(string(data)))
		d.DisallowUnknownFields()
		if err := d.Decode(&file); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, p := range file.Payloads {
			p.Category = file.Category
			if p.Quoted != "" {
				if p.Text, err = strconv.Unquote(p.Quoted); err != nil {
					t.Fatalf("%s: row %d, %q: quoted: %v", name, i, p.ID, err)
				}
			}
			all = append(all, p)
		}
	}
	return all
}

// xssMarker is the JavaScript that tells on itself wherever it runs. It holds
// no quote, space, equals sign, angle bracket or asterisk, so that it stands in any
// attribute, in CSS and in Markdown; postMessage reaches the top from an opaque frame too.
func xssMarker(id string) string {
	say := "(/xss:" + id + "/.source,String.fromCharCode(42))"
	return "Reflect.set(self,/__xss/.source,/" + id + "/.source),parent.postMessage" + say + ",top.postMessage" + say
}

var (
	xssWordID = regexp.MustCompile(`\bID\b`)
	xssCall   = regexp.MustCompile(`(?s)\{\{(b64|dec|hex|pct|repeat:\d+):(.*?[^}])\}\}`)
)

// expand makes the row's text the attack it stands for.
func (p xssPayload) expand(sink string) string {
	host := strings.TrimSuffix(strings.TrimPrefix(sink, "http://"), "/sink")
	s := xssWordID.ReplaceAllLiteralString(p.Text, p.ID)
	s = strings.NewReplacer("RUN()", xssMarker(p.ID), "SINKHOST", host, "SINK", sink).Replace(s)
	return xssCall.ReplaceAllStringFunc(s, func(call string) string {
		m := xssCall.FindStringSubmatch(call)
		name, arg := m[1], m[2]
		switch name {
		case "b64":
			return base64.StdEncoding.EncodeToString([]byte(arg))
		case "pct":
			return strings.ReplaceAll(url.QueryEscape(arg), "+", "%20")
		case "dec", "hex":
			form := map[string]string{"dec": "&#%d;", "hex": "&#x%x;"}[name]
			var b strings.Builder
			for _, r := range arg {
				fmt.Fprintf(&b, form, r)
			}
			return b.String()
		default:
			n, _ := strconv.Atoi(strings.TrimPrefix(name, "repeat:"))
			return strings.Repeat(arg, n)
		}
	})
}

// The collection itself: what every row must have, and how much there must be.
func TestXSSCollection(t *testing.T) {
	const want, wantCategories = 450, 12
	all := loadXSS(t)
	seen := map[string]bool{}
	texts := map[string]string{}
	categories := map[string]int{}
	id := regexp.MustCompile(`^[a-z0-9-]+$`)
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
		if !strings.Contains("run load go clobber look", p.Does) || p.Does == "" {
			t.Errorf("%s: does %q: want run, load, go, clobber or look", p.ID, p.Does)
		}
		full := p.expand(xssSink)
		if p.Does == "run" && p.Text == full {
			t.Errorf("%s: does run, but RUN() or SINK/ID is nowhere in it", p.ID)
		}
		if rest := regexp.MustCompile(`\{\{(b64|dec|hex|pct|repeat)|RUN\(\)|SINK`).FindString(full); rest != "" {
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
