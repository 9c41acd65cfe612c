package policy

// Read is read, which tests compare with Parse.
func Read(text string, o Options) (*Policy, error) {
	p, _, err := read(text, o)
	return p, err
}

// Expand is the error of expand.
func Expand(text string, vars map[string]string) error {
	_, err := expand(text, vars)
	return err
}

// Expanded is expand.
var Expanded = expand
