//go:build js && wasm

package main

import (
	"context"
	"fmt"
	"os"

	"github.com/bailey-go/bailey/wasm_exec/prebuilt/internal/page"
)

func main() {
	err := page.Serve(context.Background(), nil) // returns only if it fails
	fmt.Fprintln(os.Stderr, "bailey:", err)
	os.Exit(1)
}
