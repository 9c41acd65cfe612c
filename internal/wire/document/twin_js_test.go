package document

import (
	"encoding/json"
	"testing"

	"github.com/bailey-go/bailey/internal/jsx"
)

// The twin reads the batches of the vectors and writes their messages.
func TestTwin(t *testing.T) {
	readVectors(t)
	function, err := jsx.NewGlobal("Function", "vectors", JS+`
		const { batches, hellos, messages } = JSON.parse(vectors);
		return JSON.stringify([
			...batches.map((b) => [b.name, baileyDocument.batch(b.text), { seq: b.seq, orders: b.orders }]),
			...hellos.map((h) => ["hello", baileyDocument.hello(h.failure), h.text]),
			...messages.map((m) => [m.kind, baileyDocument.message(...m.fields), m.text]),
		].map(([name, got, want]) => [name, JSON.stringify(got), JSON.stringify(want)]));`)
	if err != nil {
		t.Fatal(err)
	}
	result, err := jsx.Invoke(function, string(vectorsText))
	if err != nil {
		t.Fatal(err)
	}
	text, err := jsx.String(result, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][3]string
	if err := json.Unmarshal([]byte(text), &rows); err != nil || len(rows) < 21 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, row := range rows {
		if row[1] != row[2] {
			t.Errorf("%s: %s, want %s", row[0], row[1], row[2])
		}
	}
}
