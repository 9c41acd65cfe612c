// Command text is the small text tools in one binary. Its first argument, by the name it was
// started with or the one after it, says which.
package main

import (
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/itchyny/gojq/cli"
)

// tools are the commands; each gets its own arguments and returns what went wrong.
var tools = map[string]func(args []string, in io.Reader, out io.Writer) error{
	"awk": awk, "shfmt": shfmt, "minify": minifyText, "diff": diff, "toml2json": toml2json, "markdown": markdown,
	"csv": csvToJSON, "cut": cut, "xxd": xxd, "tree": tree, "xmllint": xmllint, "uuid": uuid, "jwt": jwt,
}

func main() {
	name, args := path.Base(os.Args[0]), os.Args[1:]
	if _, ok := tools[name]; !ok && name != "jq" && name != "yq" && len(args) > 0 {
		name, args = args[0], args[1:]
	}
	switch name {
	case "jq":
		os.Args = append([]string{"jq"}, args...)
		os.Exit(cli.Run())
	case "yq": // jq over YAML
		os.Args = append([]string{"yq", "--yaml-input", "--yaml-output"}, args...)
		os.Exit(cli.Run())
	}
	tool, ok := tools[name]
	if !ok {
		names := []string{"jq", "yq"}
		for n := range tools {
			names = append(names, n)
		}
		slices.Sort(names)
		fmt.Fprintf(os.Stderr, "text: no tool %q; there are %s\n", name, strings.Join(names, " "))
		os.Exit(2)
	}
	if err := tool(args, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// input is the files named, one after the other, or what is piped in.
func input(args []string, in io.Reader) (string, error) {
	if len(args) == 0 {
		b, err := io.ReadAll(in)
		return string(b), err
	}
	var all strings.Builder
	for _, name := range args {
		b, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		all.Write(b)
	}
	return all.String(), nil
}
