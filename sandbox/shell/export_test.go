package shell

import "github.com/bailey-go/bailey/sandbox"

// BashUncontained is Bash without what contains panics of the interpreter's goroutines.
func BashUncontained(o Options) sandbox.Tool {
	o.uncontained = true
	return Bash(o)
}
