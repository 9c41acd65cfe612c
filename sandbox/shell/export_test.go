package shell

import "github.com/bailey-go/bailey/sandbox"

// BashWithout is Bash with a defence switched off, by the name of its field in off.
func BashWithout(defence string, o Options) sandbox.Tool {
	*map[string]*bool{"contain": &o.off.contain, "compare": &o.off.compare, "bounds": &o.off.bounds}[defence] = true
	return Bash(o)
}
