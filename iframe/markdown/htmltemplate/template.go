// Package htmltemplate hands sanitised HTML to html/template. It is a package of
// its own because html/template would add to every page that shows Markdown.
package htmltemplate

import (
	"html/template"

	"github.com/bailey-go/bailey/iframe/markdown"
)

// HTML is h for a template, which inserts it as it is. It has no href and no
// script to handle links: prefer [github.com/bailey-go/bailey/iframe.Srcdoc], which
// keeps it behind two frames.
func HTML(h markdown.HTML) template.HTML { return template.HTML(h.String()) }
