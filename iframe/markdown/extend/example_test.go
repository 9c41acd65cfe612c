package extend_test

import (
	"fmt"

	"github.com/yuin/goldmark/extension"

	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/iframe/markdown/extend"
)

// The output of a goldmark extension is sanitised like all other content.
func ExampleGoldmark() {
	r, err := markdown.New(markdown.Options{Extensions: []markdown.Extension{extend.Goldmark(extension.DefinitionList)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	html, _, err := r.Render([]byte("Keep\n: the tower <img src=x onerror=alert(1)>\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(html)
	// Output:
	// <dl>
	// <dt>Keep</dt>
	// <dd>the tower <img data-image="x"></dd>
	// </dl>
}
