package shell

import (
	"fmt"
	"regexp"
	"regexp/syntax"
)

// expression compiles a pattern of grep or sed. With fixed the pattern is plain text. It
// returns an error for a pattern over 1,024 bytes, or one that has over 2,000 steps when
// compiled.
func expression(text string, fixed, fold bool) (*pattern, error) {
	if fixed {
		text = regexp.QuoteMeta(text)
	}
	if fold {
		text = "(?i)" + text
	}
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
	return &pattern{Regexp: re, steps: len(p.Inst)}, err
}
