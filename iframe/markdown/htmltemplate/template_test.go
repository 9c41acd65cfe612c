package htmltemplate_test

import (
	"html/template"
	"os"

	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/iframe/markdown/htmltemplate"
)

func ExampleHTML() {
	r, err := markdown.New(markdown.Options{})
	if err != nil {
		panic(err)
	}
	html, _, err := r.Render([]byte("*safe* <img src=x onerror=alert(1)>"))
	if err != nil {
		panic(err)
	}
	t := template.Must(template.New("").Parse("<main>{{.}}</main>"))
	if err := t.Execute(os.Stdout, htmltemplate.HTML(html)); err != nil {
		panic(err)
	}
	// Output:
	// <main><p><em>safe</em> <img data-image="x"></p>
	// </main>
}
