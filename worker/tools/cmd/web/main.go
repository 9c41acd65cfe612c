// Web is the binary of the commands for what pages and scripts are made of.
package main

import "github.com/bailey-go/bailey/worker/tools/internal/web"

func main() { web.Commands().Main() }
