package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"io/fs"
	"slices"
	"strings"

	nethtml "golang.org/x/net/html"
)

// about is a page in the list of pages: its name, and what it says of itself.
type about struct {
	name, title, text string
	picture           string // data: URL
}

const (
	maxAbout   = 256 << 10 // bytes of the page whose title is read
	maxPicture = 64 << 10  // bytes of its picture
)

// aboutPage reads the title and description of a page's index.html, and its picture: preview.webp. All of it may be missing.
func aboutPage(name string, dir fs.FS) about {
	a := about{name: name}
	if dir == nil {
		return a
	}
	if st, err := fs.Stat(dir, "preview.webp"); err == nil && st.Size() <= maxPicture {
		if data, err := fs.ReadFile(dir, "preview.webp"); err == nil {
			a.picture = "data:image/webp;base64," + base64.StdEncoding.EncodeToString(data)
		}
	}
	if st, err := fs.Stat(dir, "index.html"); err != nil || st.Size() > maxAbout {
		return a
	}
	f, err := dir.Open("index.html")
	if err != nil {
		return a
	}
	defer f.Close()
	z := nethtml.NewTokenizer(f)
	for {
		switch z.Next() {
		case nethtml.ErrorToken:
			return a
		case nethtml.StartTagToken, nethtml.SelfClosingTagToken:
			switch t := z.Token(); t.Data {
			case "title":
				if z.Next() == nethtml.TextToken {
					a.title = strings.TrimSpace(z.Token().Data)
				}
			case "meta":
				of := map[string]string{}
				for _, attr := range t.Attr {
					of[attr.Key] = attr.Val
				}
				if strings.EqualFold(of["name"], "description") {
					a.text = strings.TrimSpace(of["content"])
				}
			case "body":
				return a
			}
		}
	}
}

const listStyle = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif;background:light-dark(#fafaf7,#14171b);color:light-dark(#1d2127,#e4e6ea)}
body{margin:0 auto;padding:1.5rem;max-width:75rem}ul{list-style:none;margin:0;padding:0;display:grid;gap:1.25rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,20rem),1fr))}
li{border:1px solid light-dark(#d5d9e0,#3b424c);border-radius:14px;overflow:hidden;background:light-dark(#fff,#1a1e23)}a{display:block;color:inherit;text-decoration:none;height:100%}
a:hover h2{text-decoration:underline}a:focus-visible{outline:3px solid light-dark(#0b57b8,#8ab4f8);outline-offset:-3px;border-radius:14px}
img{display:block;width:100%;aspect-ratio:16/10;object-fit:cover;object-position:top;border-bottom:1px solid light-dark(#d5d9e0,#3b424c)}h2{font-size:1.1rem;margin:.8rem 1rem .2rem}p{margin:0 1rem 1rem;color:light-dark(#59616c,#a3abb6)}
.plain{display:block}.plain li{border:0;background:none}.plain a{display:inline;height:auto;text-decoration:underline}`

// listPolicy is the policy of the list: its own style, and pictures in it.
func listPolicy() string {
	sum := sha256.Sum256([]byte(listStyle))
	return "default-src 'none'; img-src data:; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// listing is the page with the list of pages. Those that say nothing of themselves are at the end.
func listing(pages []about) string {
	var b strings.Builder
	b.WriteString("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">" +
		"<meta name=\"color-scheme\" content=\"light dark\"><link rel=\"icon\" href=\"data:,\"><title>Pages</title><style>" + listStyle + "</style><main><h1>Pages</h1>")
	rest := slices.DeleteFunc(slices.Clone(pages), func(a about) bool { return a.title != "" })
	if len(rest) < len(pages) {
		b.WriteString("<ul>")
		for _, a := range pages {
			if a.title == "" {
				continue
			}
			fmt.Fprintf(&b, "<li><a href=\"%s/\">", html.EscapeString(a.name))
			if a.picture != "" {
				fmt.Fprintf(&b, "<img src=\"%s\" alt=\"\">", a.picture)
			}
			fmt.Fprintf(&b, "<h2>%s</h2>", html.EscapeString(a.title))
			if a.text != "" {
				fmt.Fprintf(&b, "<p>%s</p>", html.EscapeString(a.text))
			}
			b.WriteString("</a></li>")
		}
		b.WriteString("</ul>")
	}
	if len(rest) > 0 {
		b.WriteString("<ul class=\"plain\">")
		for _, a := range rest {
			fmt.Fprintf(&b, "<li><a href=\"%s/\">%s</a></li>", html.EscapeString(a.name), html.EscapeString(a.name))
		}
		b.WriteString("</ul>")
	}
	if len(pages) == 0 {
		b.WriteString("<p>none yet: build one into this folder</p>")
	}
	return b.String() + "</main>"
}
