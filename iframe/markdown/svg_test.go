package markdown_test

import (
	"context"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/internal/attack"
)

// hostileSVG are diagrams of a renderer that lies. Each of them has an effect where nothing checks it: inside the page, or
// as an image of a browser that loads or moves what an SVG names.
var hostileSVG = strings.Split(strings.TrimSpace(`
<svg viewBox="0 0 9 9" onload="alert(1)"></svg>
<svg viewBox="0 0 9 9"><script>alert(1)</script></svg>
<svg viewBox="0 0 9 9"><script href="https://evil.test/"/></svg>
<svg viewBox="0 0 9 9"><rect onclick="alert(1)" width="9" height="9"/></svg>
<svg viewBox="0 0 9 9"><a href="javascript:alert(1)"><text>x</text></a></svg>
<svg viewBox="0 0 9 9"><a xlink:href="https://evil.test/"><text>x</text></a></svg>
<svg viewBox="0 0 9 9"><image href="https://evil.test/a.png"/></svg>
<svg viewBox="0 0 9 9"><image xlink:href="data:image/svg+xml,<svg/>"/></svg>
<svg viewBox="0 0 9 9"><use href="https://evil.test/a.svg#a"/></svg>
<svg viewBox="0 0 9 9"><use href="#a"/><g id="a"><use href="#a"/></g></svg>
<svg viewBox="0 0 9 9"><foreignObject><iframe srcdoc="x"></iframe></foreignObject></svg>
<svg viewBox="0 0 9 9"><foreignObject width="9" height="9"><div style="background:url(https://evil.test/)">x</div></foreignObject></svg>
<svg viewBox="0 0 9 9"><style>@import url(https://evil.test/);</style></svg>
<svg viewBox="0 0 9 9"><style>svg{background:url(https://evil.test/)}</style><text>x</text></svg>
<svg viewBox="0 0 9 9"><style></svg><img src=x onerror=alert(1)></style></svg>
<svg viewBox="0 0 9 9" style="background:url(https://evil.test/)"></svg>
<svg viewBox="0 0 9 9" style="position:fixed;inset:0"></svg>
<svg viewBox="0 0 9 9" class="bailey-note"><text>Shown as plain text</text></svg>
<svg viewBox="0 0 9 9"><rect fill="url(https://evil.test/a.svg#a)" width="9" height="9"/></svg>
<svg viewBox="0 0 9 9"><rect fill="url(#a)" width="9" height="9"/></svg>
<svg viewBox="0 0 9 9"><rect stroke="url('https://evil.test/')" width="9" height="9"/></svg>
<svg viewBox="0 0 9 9"><rect filter="url(https://evil.test/#a)" width="9" height="9"/></svg>
<svg viewBox="0 0 9 9"><rect mask="url(#a)" clip-path="url(#b)" width="9" height="9"/></svg>
<svg viewBox="0 0 9 9"><line marker-end="url(https://evil.test/#a)" x2="9"/></svg>
<svg viewBox="0 0 9 9"><line marker-end="url(#a);background:url(x)" x2="9"/></svg>
<svg viewBox="0 0 9 9"><animate attributeName="href" to="javascript:alert(1)"/></svg>
<svg viewBox="0 0 9 9"><set attributeName="onload" to="alert(1)"/></svg>
<svg viewBox="0 0 9 9"><animateTransform attributeName="transform" type="scale" to="900"/></svg>
<svg viewBox="0 0 9 9"><filter id="a"><feImage href="https://evil.test/"/></filter></svg>
<svg viewBox="0 0 9 9"><pattern id="a"><image href="https://evil.test/"/></pattern></svg>
<svg viewBox="0 0 9 9"><font-face><font-face-src><font-face-uri href="https://evil.test/"/></font-face-src></font-face></svg>
<svg viewBox="0 0 9 9"><color-profile href="https://evil.test/"/></svg>
<svg viewBox="0 0 9 9"><cursor href="https://evil.test/"/></svg>
<svg viewBox="0 0 9 9"><handler type="text/javascript">alert(1)</handler></svg>
<svg viewBox="0 0 9 9"><discard begin="1s"/></svg>
<svg viewBox="0 0 9 9"><text><tspan onclick="alert(1)">x</tspan></text></svg>
<svg viewBox="0 0 9 9"><text><img src=x onerror=alert(1)></text></svg>
<svg viewBox="0 0 9 9"><text><![CDATA[<script>alert(1)</script>]]></text></svg>
<svg viewBox="0 0 9 9"><text>a<!-- --!><script>alert(1)</script> --></text></svg>
<svg viewBox="0 0 9 9"><title><script>alert(1)</script></title></svg>
<svg viewBox="0 0 9 9"><desc><img src=x onerror=alert(1)></desc></svg>
<svg viewBox="0 0 9 9"><metadata><script>alert(1)</script></metadata></svg>
<svg viewBox="0 0 9 9"></svg><script>alert(1)</script>
<svg viewBox="0 0 9 9"></svg><svg viewBox="0 0 9 9"><script>alert(1)</script></svg>
<svg viewBox="0 0 9 9"><svg onload="alert(1)"></svg></svg>
<svg viewBox="0 0 9 9"><g></svg><img src=x onerror=alert(1)>
<?xml-stylesheet href="https://evil.test/"?><svg viewBox="0 0 9 9"></svg>
<!DOCTYPE svg [<!ENTITY a "b">]><svg viewBox="0 0 9 9"><text>&a;</text></svg>
<!DOCTYPE svg SYSTEM "https://evil.test/"><svg viewBox="0 0 9 9"></svg>
<svg xmlns:x="https://evil.test/" viewBox="0 0 9 9"><x:script>alert(1)</x:script></svg>
<svg viewBox="0 0 9 9" xml:base="https://evil.test/"><text>x</text></svg>
<svg viewBox="0 0 9 9"><rect width="9e9" height="9e9"/></svg>
<svg viewBox="0 0 9 9"><rect width="999999999" height="1"/></svg>
<svg viewBox="0 0 9e99 9e99"></svg>
<svg viewBox="0 0 99999999 9"></svg>
<svg viewBox="0 0 0 0"></svg>
<svg viewBox="0 0 -5 9"></svg>
<svg viewBox="0 0 1 9999"></svg>
<svg viewBox="0 0 NaN Infinity"></svg>
<svg width="99999" height="99999"></svg>
<svg viewBox="0 0 9 9"><text font-size="999999999">x</text></svg>
<svg viewBox="0 0 9 9"><text font-family="url(https://evil.test/)">x</text></svg>
<svg viewBox="0 0 9 9"><g transform="scale(9e99)"><rect width="9" height="9"/></g></svg>
<svg viewBox="0 0 9 9"><g transform="url(https://evil.test/)"><rect width="9" height="9"/></g></svg>
<svg viewBox="0 0 9 9"><path d="M0 0 url(https://evil.test/)"/></svg>
<svg viewBox="0 0 9 9"><text>a`+"\u202e"+`moc.knab</text></svg>
<html><svg viewBox="0 0 9 9"></svg></html>
<img src=x onerror=alert(1)>
loose text
<math><mi>x</mi></math>
`), "\n")

var (
	svgShapes     = strings.Fields("svg style g defs marker path polygon polyline line rect circle ellipse text tspan")
	svgAttributes = regexp.MustCompile(`^((x|y|x1|y1|x2|y2|cx|cy|r|rx|ry|width|height|stroke-width|font-size|refX|refY|markerWidth|markerHeight)="-?[0-9]{1,6}(\.[0-9]+)?"|d[xy]="-?[\d.]+(em)?"|` +
		`(points|viewBox|stroke-dasharray)="[-0-9. ]+"|d="[A-Za-z0-9., +-]+"|(fill|stroke)="(none|currentColor|#[0-9a-fA-F]+|var\(--bailey-[a-z]+\))"|` +
		`(id|text-anchor|font-style|font-weight|orient|xmlns)="[A-Za-z0-9:/._-]+"|marker-(start|mid|end)="url\(#[\w-]+\)"|transform="[a-z]+\([-0-9. ]+\)")$`)
	svgImage = regexp.MustCompile(`<img src="data:image/svg\+xml;base64,([^"]*)" alt="[^"<>]*" width="(\d+)" height="(\d+)">`)
)

// svgEffects returns what a diagram does beyond showing shapes and texts.
func svgEffects(svg string) (found []string) {
	d := xml.NewDecoder(strings.NewReader(svg))
	style := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			return append(found, err.Error())
		}
		switch t := token.(type) {
		case xml.StartElement:
			if !slices.Contains(svgShapes, t.Name.Local) || t.Name.Space != "http://www.w3.org/2000/svg" {
				found = append(found, fmt.Sprintf("<%s> of %s", t.Name.Local, t.Name.Space))
			}
			style = t.Name.Local == "style"
			for _, a := range t.Attr {
				if s := a.Name.Local + `="` + a.Value + `"`; a.Name.Space != "" || !svgAttributes.MatchString(s) {
					found = append(found, s)
				}
			}
		case xml.EndElement:
			style = false
		case xml.CharData:
			if s := string(t); style && strings.ContainsAny(s, "@\\") && strings.Contains(strings.ReplaceAll(s, "@media(prefers-color-scheme:dark)", ""), "@") || style && strings.Contains(s, "url") || strings.ContainsAny(s, "\u202e\u202d") {
				found = append(found, s)
			}
		default:
			found = append(found, fmt.Sprintf("%T", token))
		}
	}
}

func TestAttackDrawnDiagrams(t *testing.T) {
	a := attack.Start(t, "drawn")
	for i, svg := range hostileSVG {
		r := newRenderer(t, markdown.Options{}.Draw(func(context.Context, markdown.Source) (markdown.Drawing, error) {
			return markdown.Drawing{SVG: svg}, nil
		}))
		// Without the check the image would be these bytes, or in the page these elements.
		raw := strings.Replace(svg, "<svg ", `<svg xmlns="http://www.w3.org/2000/svg" `, 1)
		a.Off("diagram "+strconv.Itoa(i), len(svgEffects(raw)) > 0)
		out, report := render(t, r, "```mermaid\na\n```")
		var found []string
		if m := svgImage.FindStringSubmatch(out); m != nil {
			clean, err := base64.StdEncoding.DecodeString(m[1])
			if err != nil {
				t.Fatal(err)
			}
			found = svgEffects(string(clean))
			w, _ := strconv.Atoi(m[2])
			h, _ := strconv.Atoi(m[3])
			if w > 4096 || h > 4096 || w < 1 || h < 1 {
				found = append(found, m[2]+" x "+m[3])
			}
		} else if strings.Contains(out, "<img") {
			found = append(found, "another image")
		}
		if rest := svgImage.ReplaceAllString(out, ""); strings.Contains(rest, "alert(1)") || strings.Contains(rest, "evil.test") || !strings.Contains(rest, `<pre><code class="language-mermaid">a`) {
			found = append(found, rest)
		}
		if !r.Verify(out) || report.Count(markdown.Broken) > 0 {
			found = append(found, "refused: "+report.String())
		}
		a.Try("diagram "+strconv.Itoa(i), len(found) > 0)
		if len(found) > 0 {
			t.Errorf("%s\n%q\n%s", svg, found, out)
		}
	}
}

// A text cannot show an SVG as an image, and each of the later walls refuses one that is not written by this package.
func TestAttackDiagramsOfTheText(t *testing.T) {
	a := attack.Start(t, "drawn")
	r := newRenderer(t, markdown.Options{}.Draw(func(context.Context, markdown.Source) (markdown.Drawing, error) {
		return markdown.Drawing{}, errors.New("none")
	}))
	for i, svg := range append(slices.Clone(hostileSVG), `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"></svg>`) {
		data := "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(svg))
		for _, text := range []string{"![a](" + data + ")", `<img src="` + data + `">`, svg, `<figure><img src="` + data + `"></figure>`} {
			out, _ := render(t, r, text)
			shown := strings.Contains(out, `src="data:`) || strings.Contains(out, "<svg")
			a.Try("text "+strconv.Itoa(i), shown)
			if shown {
				t.Errorf("%s\n%s", text, out)
			}
		}
		wall := r.Verify(`<p><img src="` + data + `" alt="a"></p>`)
		a.Try("last check "+strconv.Itoa(i), wall)
		if wall {
			t.Errorf("the last check accepts %s", svg)
		}
	}
	a.NoSwitch("TestAttackDrawnDiagrams shows the effects without the check")
}

// What the check writes, it leaves as it is. Numbers are short, names keep their letters.
func TestDiagram(t *testing.T) {
	const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 387.55 729.9" width="1" height="1" style="--bg:#FFF"><style>a</style>
<defs><marker id="arrow" markerWidth="8" refX="8" orient="auto-start-reverse"><polygon points="0 0, 8 2.4" fill="var(--bailey-muted)" /></marker></defs>
<g transform="translate(1.005,2) rotate(4)"><rect x="199.65000000000003" y="-0.001" width="147.9px" height="9" fill="red" stroke="#f00"/></g>
<text x="1" dy="0.35em" text-anchor="middle">A &lt;b&gt; <tspan>c</tspan></text><line marker-end="url(#arrow)" x2="1e3"></line></svg>`
	r := newRenderer(t, markdown.Options{}.Draw(func(context.Context, markdown.Source) (markdown.Drawing, error) {
		return markdown.Drawing{SVG: svg}, nil
	}))
	out, _ := render(t, r, "```mermaid\nx\n```")
	m := svgImage.FindStringSubmatch(out)
	if m == nil || m[2] != "388" || m[3] != "730" || !strings.Contains(out, `alt="mermaid: A &lt;b&gt;, c"`) {
		t.Fatal(out)
	}
	clean, _ := base64.StdEncoding.DecodeString(m[1])
	_, body, _ := strings.Cut(string(clean), "</style>")
	if want := `<defs><marker id="arrow" markerWidth="8" refX="8" orient="auto-start-reverse"><polygon points="0 0 8 2.4" fill="var(--bailey-muted)"></polygon></marker></defs>` +
		`<g transform="translate(1.005,2) rotate(4)"><rect x="199.65" y="0" width="147.9" height="9" stroke="#f00"></rect></g>` +
		`<text x="1" dy="0.35em" text-anchor="middle">A &lt;b&gt; <tspan>c</tspan></text><line marker-end="url(#arrow)"></line></svg>`; body != want {
		t.Errorf("%s\nwant\n%s", body, want)
	}
}

// Limits of a diagram.
func TestDiagramLimits(t *testing.T) {
	shown := func(svg string) bool {
		r := newRenderer(t, markdown.Options{}.Draw(func(context.Context, markdown.Source) (markdown.Drawing, error) {
			return markdown.Drawing{SVG: svg}, nil
		}))
		out, _ := render(t, r, "```mermaid\nx\n```")
		return svgImage.MatchString(out)
	}
	of := func(inner string) string { return `<svg viewBox="0 0 9 9">` + inner + "</svg>" }
	empty := len(of("<text></text>"))
	for _, c := range []struct {
		name  string
		at    int
		build func(n int) string
	}{
		{"bytes", 128 << 10, func(n int) string { return of("<text>" + strings.Repeat("a", n-empty) + "</text>") }},
		{"elements", 3000, func(n int) string { return of(strings.Repeat("<g/>", n-1)) }},
		{"depth", 30, func(n int) string { return of(strings.Repeat("<g>", n-1) + strings.Repeat("</g>", n-1)) }},
		{"ratio", 1000, func(n int) string { return `<svg viewBox="0 0 ` + strconv.Itoa(n) + ` 1"></svg>` }},
	} {
		for n, want := range map[int]bool{c.at - 1: true, c.at: true, c.at + 1: false} {
			if got := shown(c.build(n)); got != want {
				t.Errorf("%s: %d: shown %v, want %v", c.name, n, got, want)
			}
		}
	}
}
