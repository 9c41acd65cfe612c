// Core is the binary of the commands for text, files, bytes, archives and differences.
package main

import "github.com/bailey-go/bailey/worker/tools/internal/core"

func main() { core.Commands().Main() }
