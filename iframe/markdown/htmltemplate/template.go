// Package htmltemplate converts sanitised HTML for html/template. It is a separate package
// because html/template would be added to every page that shows Markdown.
package htmltemplate

import (
	"html/template"

	"github.com/bailey-go/bailey/iframe/markdown"
)

// HTML returns h as a template.HTML, which a template inserts unchanged. Its links do nothing,
// because there is no href and no script that handles them. Prefer
// [github.com/bailey-go/bailey/iframe.Srcdoc], which puts the HTML inside two frames.
func HTML(h markdown.HTML) template.HTML { return template.HTML(h.String()) }
