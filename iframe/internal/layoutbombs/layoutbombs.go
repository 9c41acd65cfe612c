package layoutbombs

import (
	_ "embed" // for the corpus
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// MaxBytes is the size of the longest text, in bytes.
const MaxBytes = 200_000

//go:embed bombs.json
var corpus []byte

// Bomb is one text.
type Bomb struct {
	Name  string
	Tries string // the cost that it tries to cause
	Text  string // Markdown, at most MaxBytes
}

// Load returns the texts in bombs.json. A text in the file is a list of parts. A string stands
// for itself. [n, part, …] repeats its parts n times, or as often as MaxBytes permits if n is
// 0. {"from": "4E00", "to": "9FFF"} is each character of that range. Load returns an error for
// an invalid or repeated row.
func Load() ([]Bomb, error) {
	var rows []struct {
		Name, Tries string
		Text        parts
	}
	if err := json.Unmarshal(corpus, &rows); err != nil {
		return nil, fmt.Errorf("bombs.json: %w", err)
	}
	var bombs []Bomb
	seen := map[string]bool{}
	for _, row := range rows {
		if seen[row.Name] || row.Tries == "" {
			return nil, fmt.Errorf("bombs.json: %q is there twice, or does not say what it tries", row.Name)
		}
		seen[row.Name] = true
		fixed, fill, err := size(row.Text)
		if err != nil {
			return nil, fmt.Errorf("bombs.json: %q: %w", row.Name, err)
		}
		times := 0
		if fill > 0 {
			times = (MaxBytes - fixed) / fill
		}
		var b strings.Builder
		if err := expand(&b, row.Text, times); err != nil {
			return nil, fmt.Errorf("bombs.json: %q: %w", row.Name, err)
		}
		if b.Len() == 0 || b.Len() > MaxBytes {
			return nil, fmt.Errorf("bombs.json: %q has %d bytes: want 1 to %d", row.Name, b.Len(), MaxBytes)
		}
		bombs = append(bombs, Bomb{row.Name, row.Tries, b.String()})
	}
	return bombs, nil
}

// parts is what a text is made of, decoded once, because a part may be repeated 100,000 times.
type parts []part

// A part is a text, characters in a range, or other parts, repeated.
type part struct {
	text     string
	from, to rune // if to is not 0
	inner    parts
	times    int
}

// UnmarshalJSON reads the three forms that Load describes.
func (p *part) UnmarshalJSON(text []byte) (err error) {
	switch text[0] {
	case '"':
		return json.Unmarshal(text, &p.text)
	case '[':
		var list []json.RawMessage
		if err := json.Unmarshal(text, &list); err != nil {
			return err
		}
		if len(list) == 0 {
			return errors.New("an empty list: want a number and parts")
		}
		if p.times, err = strconv.Atoi(string(list[0])); err != nil {
			return err
		}
		p.inner = make(parts, len(list)-1)
		for i := range p.inner {
			if err := json.Unmarshal(list[1+i], &p.inner[i]); err != nil {
				return err
			}
		}
		return nil
	}
	var r struct{ From, To string }
	if err := json.Unmarshal(text, &r); err != nil {
		return err
	}
	from, err := strconv.ParseInt(r.From, 16, 32)
	if err != nil {
		return err
	}
	to, err := strconv.ParseInt(r.To, 16, 32)
	p.from, p.to = rune(from), rune(to)
	return err
}

// size returns in fixed the number of bytes of parts without the repetitions with n = 0, and in
// fill the number of bytes that each such repetition adds.
func size(p parts) (fixed, fill int, err error) {
	var once, twice strings.Builder
	if err := expand(&once, p, 0); err != nil {
		return 0, 0, err
	}
	if err := expand(&twice, p, 1); err != nil {
		return 0, 0, err
	}
	return once.Len(), twice.Len() - once.Len(), nil
}

func expand(b *strings.Builder, all parts, fill int) error {
	for _, p := range all {
		b.WriteString(p.text)
		for c := p.from; c <= p.to && p.to != 0; c++ {
			b.WriteRune(c)
		}
		n := p.times
		if n == 0 {
			n = fill
		}
		for range n {
			if b.Len() > 10*MaxBytes {
				return fmt.Errorf("more than %d bytes", b.Len())
			}
			if len(p.inner) == 0 {
				break
			}
			if err := expand(b, p.inner, fill); err != nil {
				return err
			}
		}
	}
	return nil
}
