package iframe_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
)

// app stands for an element that the page's HTML has: <div id="app"></div>.
func app() {
	page, _ := jsx.Get(jsx.Global(), "document")
	body, _ := jsx.Get(page, "body")
	div, _ := jsx.Call(page, "createElement", "div")
	_ = jsx.Set(div, "id", "app")
	_, _ = jsx.Call(body, "append", div)
}

// A document shows a whole conversation. The model writes Markdown. A click on a link is a call
// of OnLink, and the program decides.
func ExampleNewDocument_link() {
	app()
	ctx := context.Background()
	parent, err := iframe.ElementByID("app")
	if err != nil {
		fmt.Println(err)
		return
	}
	view, err := iframe.NewDocument(ctx, parent, iframe.DocumentOptions{
		OnLink: func(_ context.Context, l iframe.Link) { fmt.Println("asked for", l.URL) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer view.Close()
	answer := view.Section("answer-1")
	model := strings.NewReader("# Hello\n\n<script>steal()</script>See [the notes](https://example.org/).\n")
	if _, err := io.Copy(answer, model); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Close())
	// Output: <nil>
}

// The model's code computes and calls the tools that it was given. It has no page, no network,
// and no more time than its limit.
func ExampleNewEnclave_tools() {
	ctx := context.Background()
	tools, err := protocol.NewToolset(protocol.Tool{
		ID:         "price",
		Parameters: `{"type":"object","properties":{"item":{"type":"string"}},"required":["item"]}`,
		Execute: func(_ context.Context, args any) (any, error) {
			return map[string]float64{"apple": 2, "pear": 3}[args.(map[string]any)["item"].(string)], nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	enclave, err := iframe.NewEnclave(ctx, iframe.EnclaveOptions{Level: protocol.Secure, Tools: tools})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer enclave.Close()
	res, err := enclave.Run(ctx, `
		const prices = await Promise.all(args.map((item) => callTool('price', {item})));
		console.log(typeof fetch, typeof document);
		return prices.reduce((a, b) => a + b);
	`, iframe.RunOptions{Args: []string{"apple", "pear"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Value, res.Console[0].Args)

	_, err = enclave.Run(ctx, `for (;;);`, iframe.RunOptions{Limits: protocol.Limits{Time: 200 * time.Millisecond}})
	fmt.Println(errors.Is(err, protocol.ErrTimeout))
	// Output:
	// 5 [undefined undefined]
	// true
}

// A pool runs many programs of one trust domain, each in a worker of its own.
func ExampleNewEnclavePool() {
	ctx := context.Background()
	pool, err := iframe.NewEnclavePool(ctx, iframe.PoolOptions{
		EnclaveOptions: iframe.EnclaveOptions{Level: protocol.Standard}, Max: 4, Spare: 2,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	sum := 0.0
	for n := range 3 {
		res, err := pool.Run(ctx, `globalThis.left = 1; return args * args`, iframe.RunOptions{Args: n})
		if err != nil {
			fmt.Println(err)
			return
		}
		sum += res.Value.(float64)
	}
	res, err := pool.Run(ctx, `return typeof left`, iframe.RunOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sum, res.Value)
	// Output: 5 undefined
}
