//go:build !js

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "agent runs in a page: build it with `make dist`")
	os.Exit(2)
}
