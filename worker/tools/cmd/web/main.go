// Web is the binary of the commands for web pages, shell programs and Markdown.
package main

import "github.com/bailey-go/bailey/worker/tools/internal/web"

func main() { web.Commands().Main() }
