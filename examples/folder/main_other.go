//go:build !(js && wasm)

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "This program is a page. Build it with: go run ./wasm_exec build ./examples/folder -o build/folder")
	os.Exit(2)
}
