//go:build js && wasm

package main

import (
	"context"
	"fmt"
	"os"

	"github.com/bailey-go/bailey/wasm_exec/prebuilt/internal/page"
)

func main() {
	err := page.Serve(context.Background(), func(a *page.API) map[string]page.Method { // returns only if it fails
		b := opener{a, &dialogs{api: a}, &workers{}}
		return map[string]page.Method{"box": {Run: b.open}, "wasi": {Run: b.wasi}}
	})
	fmt.Fprintln(os.Stderr, "bailey:", err)
	os.Exit(1)
}
