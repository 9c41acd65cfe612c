package markdown_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bailey-go/bailey/iframe/markdown"
)

func Example() {
	r, err := markdown.New(markdown.Options{})
	if err != nil {
		panic(err)
	}
	html, report, err := r.Render([]byte("Hello *you* <script>alert(1)</script>[there](https://example.org)"))
	if err != nil {
		panic(err)
	}
	fmt.Print(html)
	fmt.Println(report)
	// Output:
	// <p>Hello <em>you</em> alert(1)<a data-href="https://example.org" role="link" tabindex="0">there</a></p>
	// element <script>
}

func ExampleStream() {
	r, err := markdown.New(markdown.Options{})
	if err != nil {
		panic(err)
	}
	s := r.NewStream()
	for _, token := range []string{"# He", "llo\n\nSo", "me **bo", "ld** text"} {
		s.Write([]byte(token))
		for _, p := range s.Patches() {
			fmt.Printf("%d %s", p.Key, p.HTML)
		}
	}
	s.Close()
	for _, p := range s.Patches() {
		fmt.Printf("%d %s", p.Key, p.HTML)
	}
	// Output:
	// 0 <h1>He</h1>
	// 0 <h1 id="user-content-hello">Hello</h1>
	// 1 <p>So</p>
	// 1 <p>Some <strong>bo</strong></p>
	// 1 <p>Some <strong>bold</strong> text</p>
}

// If the text of a link names another host, the real host is shown beside it.
func ExampleRenderer_Render_deception() {
	r, err := markdown.New(markdown.Options{})
	if err != nil {
		panic(err)
	}
	_, report, _ := r.Render([]byte("[www.bank.com](https://evil.example/login)"))
	for _, f := range report.Findings {
		fmt.Println(f.Kind, f.Name)
	}
	// Output:
	// deception evil.example
}

// A drawing is data that is checked: colours are the pieces of exactly the source, with a class each.
func ExampleOptions_draw() {
	r, err := markdown.New(markdown.Options{NoHeadingIDs: true}.Draw(func(_ context.Context, s markdown.Source) (markdown.Drawing, error) {
		if s.Lang != "go" {
			return markdown.Drawing{}, errors.New("only Go")
		}
		rest, _ := strings.CutPrefix(s.Text, "return")
		return markdown.Drawing{Spans: []markdown.Span{{Class: "keyword", Text: "return"}, {Text: rest}}}, nil
	}))
	if err != nil {
		panic(err)
	}
	html, _, _ := r.Render([]byte("```go\nreturn x\n```\n"))
	fmt.Print(html)
	// Output:
	// <pre><code class="language-go"><span class="hl-keyword">return</span> x
	// </code></pre>
}
