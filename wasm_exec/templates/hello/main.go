//go:build js && wasm

// Hello shows a model's text, and runs a model's code. It needs no model and no key.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/bailey-go/bailey/iframe"
)

func main() {
	ctx := context.Background()
	view := must(iframe.NewDocument(ctx, must(iframe.ElementByID("app")), iframe.DocumentOptions{}))
	enclave := must(iframe.NewEnclave(ctx, iframe.EnclaveOptions{}))
	sum := must(enclave.Run(ctx, "return [1, 2, 3].reduce((a, b) => a + b)", iframe.RunOptions{}))
	answer := view.Section("answer-1")
	fmt.Fprintf(answer, "# Hello\n\nfrom a *model*, whose code says **%v**.", sum.Value)
	answer.Close()
	select {} // a page's program stays
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err) // the console and the page show it
	}
	return v
}
