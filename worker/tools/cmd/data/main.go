// Data is the binary of the commands for JSON, YAML, TOML, CSV, XML and records.
package main

import "github.com/bailey-go/bailey/worker/tools/internal/data"

func main() { data.Commands().Main() }
