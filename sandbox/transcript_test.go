package sandbox

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/native"
)

// However a conversation is divided for its summary, each text is in it once, in order, and every piece
// is about as small as it must be.
func TestTranscriptInPieces(t *testing.T) {
	native.Only(t)
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"word ", "слово ", "词", "\n", "\"", "<b>", "👩", "}\n{"}
	for range 2000 {
		var list []ModelMessage
		want := ""
		for range 1 + r.IntN(5) {
			m := ModelMessage{Role: []Role{RoleUser, RoleAssistant}[r.IntN(2)]}
			for range r.IntN(4) {
				text := ""
				for range r.IntN(400) {
					text += words[r.IntN(len(words))]
				}
				switch r.IntN(4) {
				case 0:
					m.Parts = append(m.Parts, ModelPart{Type: PartCall, Tool: "read", Args: json.RawMessage(text)})
				case 1:
					m.Parts = append(m.Parts, ModelPart{Type: PartResult, Tool: "read", Text: text})
				case 2:
					m.Parts = append(m.Parts, ModelPart{Type: PartReasoning, Text: text})
				default:
					m.Parts = append(m.Parts, ModelPart{Type: PartText, Text: text})
					want += text
				}
			}
			list = append(list, m)
		}
		room := leastPiece + r.IntN(600)
		got := ""
		for rest, pieces := list, 0; len(rest) > 0; pieces++ {
			if pieces > 1000 {
				t.Fatal("it does not end")
			}
			var lines string
			lines, rest = transcript(rest, room)
			if n := tokensOf(lines); n > 2*room {
				t.Fatalf("a piece of %d tokens, for %d", n, room)
			}
			for line := range strings.Lines(lines) {
				var v struct{ From, Text string }
				if err := json.Unmarshal([]byte(line), &v); err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				if v.From == string(RoleUser) || v.From == string(RoleAssistant) {
					got += v.Text
				}
			}
		}
		if got != want {
			t.Fatalf("%d bytes came of %d", len(got), len(want))
		}
	}
}
