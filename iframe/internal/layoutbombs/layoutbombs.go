package layoutbombs

import (
	_ "embed" // for the corpus
	"encoding/json"
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
		Text        []json.RawMessage
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

// size returns in fixed the number of bytes of parts without the repetitions with n = 0, and in
// fill the number of bytes that each such repetition adds.
func size(parts []json.RawMessage) (fixed, fill int, err error) {
	var once, twice strings.Builder
	if err := expand(&once, parts, 0); err != nil {
		return 0, 0, err
	}
	if err := expand(&twice, parts, 1); err != nil {
		return 0, 0, err
	}
	return once.Len(), twice.Len() - once.Len(), nil
}

func expand(b *strings.Builder, parts []json.RawMessage, fill int) error {
	for _, part := range parts {
		switch part[0] {
		case '"':
			var s string
			if err := json.Unmarshal(part, &s); err != nil {
				return err
			}
			b.WriteString(s)
		case '[':
			var list []json.RawMessage
			if err := json.Unmarshal(part, &list); err != nil {
				return err
			}
			n, err := strconv.Atoi(string(list[0]))
			if err != nil {
				return err
			}
			if n == 0 {
				n = fill
			}
			for range n {
				if b.Len() > 10*MaxBytes {
					return fmt.Errorf("more than %d bytes", b.Len())
				}
				if err := expand(b, list[1:], fill); err != nil {
					return err
				}
			}
		default:
			var r struct{ From, To string }
			if err := json.Unmarshal(part, &r); err != nil {
				return err
			}
			from, err := strconv.ParseInt(r.From, 16, 32)
			if err != nil {
				return err
			}
			to, err := strconv.ParseInt(r.To, 16, 32)
			if err != nil {
				return err
			}
			for c := from; c <= to; c++ {
				b.WriteRune(rune(c))
			}
		}
	}
	return nil
}
