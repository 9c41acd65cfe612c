package shell

import (
	"fmt"
	"regexp"
	"regexp/syntax"
)

// expression compiles a pattern of [[ =~ ]]. It returns an error for a pattern over 1,024 bytes, or one that has over 2,000 steps when
// compiled.
func expression(text string) (*regexp.Regexp, error) {
	if len(text) > 1024 {
		return nil, fmt.Errorf("the expression is longer than 1,024 bytes")
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	p, err := syntax.Compile(parsed.Simplify())
	if err != nil || len(p.Inst) > 2_000 {
		return nil, fmt.Errorf("the expression is too large once its repetitions are written out")
	}
	re, err := regexp.Compile(text)
	if err == nil {
		re.Longest() // as in POSIX
	}
	return re, err
}
