package xss

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
)

//go:embed *.json
var files embed.FS

var (
	// HarnessHTML and HarnessJS are a page that inserts texts into frames of its own and
	// reports the markers that ran. HarnessHTML loads harness.js.
	//go:embed harness.html
	HarnessHTML string
	//go:embed harness.js
	HarnessJS string
)

// Payload is one attack.
type Payload struct {
	ID       string `json:"id"`
	Category string `json:"-"`
	Does     string `json:"does"`   // run, load, go, clobber or look
	Text     string `json:"text"`   // Markdown or HTML, as a model would write it, not expanded
	Quoted   string `json:"quoted"` // the same as a Go string literal, for bytes that are not UTF-8
	Tries    string `json:"tries"`
}

// Load returns all attacks of the collection.
func Load() ([]Payload, error) {
	names, err := fs.Glob(files, "*.json")
	if err != nil {
		return nil, err
	}
	var all []Payload
	for _, name := range names {
		data, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var file struct {
			Category, About string
			Payloads        []Payload
		}
		d := json.NewDecoder(strings.NewReader(string(data)))
		d.DisallowUnknownFields()
		if err := d.Decode(&file); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for i, p := range file.Payloads {
			p.Category = file.Category
			if p.Quoted != "" {
				if p.Text, err = strconv.Unquote(p.Quoted); err != nil {
					return nil, fmt.Errorf("%s: row %d, %q: quoted: %w", name, i, p.ID, err)
				}
			}
			all = append(all, p)
		}
	}
	return all, nil
}

// Sample returns a subset: in each category, one of every so many rows for each value of Does,
// beginning with the first. So every sample contains each class, and is the same in each run.
func Sample(all []Payload, every int) []Payload {
	var some []Payload
	seen := map[[2]string]int{}
	for _, p := range all {
		class := [2]string{p.Category, p.Does}
		if seen[class]%every == 0 {
			some = append(some, p)
		}
		seen[class]++
	}
	return some
}

// Marker returns JavaScript that reports the id to its own window, its parent and the top. It
// has no quote, space, equals sign, angle bracket or asterisk, so it can be part of any
// attribute, of CSS and of Markdown. postMessage reaches the top from an opaque frame as well,
// with the text "xss:" and the id.
func Marker(id string) string {
	say := "(/xss:" + id + "/.source,String.fromCharCode(42))"
	return "Reflect.set(self,/__xss/.source,/" + id + "/.source),parent.postMessage" + say + ",top.postMessage" + say
}

var (
	wordID = regexp.MustCompile(`\bID\b`)
	call   = regexp.MustCompile(`(?s)\{\{(b64|dec|hex|pct|repeat:\d+):(.*?[^}])\}\}`)
)

// Expand returns the attack that the row's text stands for. The sink is the URL of a server
// that counts requests, "http://host:port/sink".
func (p Payload) Expand(sink string) string {
	host := strings.TrimSuffix(strings.TrimPrefix(sink, "http://"), "/sink")
	s := wordID.ReplaceAllLiteralString(p.Text, p.ID)
	s = strings.NewReplacer("RUN()", Marker(p.ID), "SINKHOST", host, "SINK", sink).Replace(s)
	return call.ReplaceAllStringFunc(s, func(c string) string {
		m := call.FindStringSubmatch(c)
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

// Forms returns the texts to test p with: the attack itself, and the attack in an HTML block.
// In an HTML block, Markdown leaves constructs unchanged that it would otherwise treat as text.
func (p Payload) Forms(sink string) []string {
	text := p.Expand(sink)
	return []string{text, "<div>\n" + text + "\n</div>"}
}
