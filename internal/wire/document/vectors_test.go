package document

import (
	_ "embed"
	"encoding/json"
	"slices"
	"testing"

	"github.com/bailey-go/bailey/internal/jsx/trust"
)

// vectors are read by both sides: Go writes batches and reads messages, JavaScript the reverse.
type vectors struct {
	Batches []struct {
		Name   string  `json:"name"`
		Seq    int     `json:"seq"`
		Orders [][]any `json:"orders"`
		Text   string  `json:"text"`
	} `json:"batches"`
	Hellos []struct {
		Failure string `json:"failure"`
		Text    string `json:"text"`
	} `json:"hellos"`
	Messages []struct {
		Fields []any    `json:"fields"`
		Text   string   `json:"text"`
		Kind   string   `json:"kind"`
		Seq    int      `json:"seq"`
		Height int      `json:"height"`
		Rest   []string `json:"rest"`
	} `json:"messages"`
	Refused []string `json:"refused"`
}

//go:embed testdata/vectors.json
var vectorsText []byte

func readVectors(t *testing.T) vectors {
	t.Helper()
	var v vectors
	if err := json.Unmarshal(vectorsText, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Batches) < 5 || len(v.Hellos) < 2 || len(v.Messages) < 14 || len(v.Refused) < 16 {
		t.Fatal("vectors are missing")
	}
	return v
}

// apply gives b an order of a vector.
func apply(t *testing.T, b *Batch, order []any) {
	text := func(i int) string { return order[i].(string) }
	number := func(i int) int { return int(order[i].(float64)) }
	switch order[0] {
	case "set":
		after := First
		if order[3] != nil {
			after = number(3)
		}
		b.Set(text(1), number(2), after, trust.SanitisedHTML(text(4)))
	case "drop":
		b.Drop(text(1), number(2))
	case "section":
		b.Section(text(1), text(2), text(3), text(4))
	case "remove":
		b.Remove(text(1))
	case "busy":
		b.Busy(text(1), order[2].(bool))
	case "css":
		b.CSS(text(1))
	case "variable":
		b.Variable(text(1), text(2))
	case "scheme":
		b.Scheme(text(1))
	case "overflow":
		b.Overflow(order[1].(bool))
	case "image":
		b.Image(number(1), text(2), text(3))
	case "copied":
		b.Copied(text(1), text(2))
	default:
		t.Fatalf("an unknown order %v", order[0])
	}
}

func TestBatch(t *testing.T) {
	for _, c := range readVectors(t).Batches {
		var b Batch
		b.Reset(c.Seq)
		for _, o := range c.Orders {
			apply(t, &b, o)
		}
		if b.String() != c.Text || b.Len() != len(c.Orders) {
			t.Errorf("%s: %s, want %s", c.Name, b.String(), c.Text)
		}
	}
}

func TestParseMessage(t *testing.T) {
	v := readVectors(t)
	for _, c := range v.Hellos {
		if failure, ok := ParseHello(c.Text); !ok || failure != c.Failure {
			t.Errorf("%q: %q, %v", c.Text, failure, ok)
		}
	}
	for _, c := range v.Messages {
		m, err := ParseMessage(c.Text)
		if err != nil || m.Kind != c.Kind || m.Seq != c.Seq || m.Height != c.Height || !slices.Equal(m.Fields, c.Rest) {
			t.Errorf("%q: %+v, %v", c.Text, m, err)
		}
	}
	for _, text := range v.Refused {
		if m, err := ParseMessage(text); err == nil {
			t.Errorf("%q was believed: %+v", text, m)
		}
	}
}
