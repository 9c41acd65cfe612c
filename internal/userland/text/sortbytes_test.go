package text

import (
	"bytes"
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/bailey-go/bailey/internal/userland/tool"
)

// The sort by the first eight bytes orders as the standard one, for rows that share beginnings, are prefixes of one another, have bytes of
// all values, or are equal.
func TestSortBytesOrdersAsTheStandardSort(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	random := func(most, letters int) []byte {
		b := make([]byte, r.Intn(most+1))
		for i := range b {
			if b[i] = byte(r.Intn(letters)); letters < 200 {
				b[i] += 'a'
			}
		}
		return b
	}
	for round := range 400 {
		shared, letters := random(20, 256), []int{1, 2, 5, 256}[round%4]
		rows := make([][]byte, r.Intn(200))
		for i := range rows {
			switch {
			case i > 0 && r.Intn(4) == 0: // equal to another one, or longer
				rows[i] = append(bytes.Clone(rows[r.Intn(i)]), random(round%3, letters)...)
			case round%2 == 0:
				rows[i] = append(bytes.Clone(shared), random(12, letters)...)
			default:
				rows[i] = random(24, letters)
			}
		}
		want := slices.Clone(rows)
		slices.SortStableFunc(want, bytes.Compare)
		sortBytes(&tool.Env{World: tool.OS{}}, rows)
		for i := range rows {
			if !bytes.Equal(rows[i], want[i]) {
				t.Fatalf("round %d, row %d of %d: %q, want %q", round, i, len(rows), rows[i], want[i])
			}
		}
	}
}

// Many rows, most of which differ only after the first eight bytes of their rest.
func TestSortBytesOfManyRows(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	rows := make([][]byte, 20_000)
	for i := range rows {
		rows[i] = fmt.Appendf(nil, "line %08d of %d", r.Intn(50), r.Intn(1000))
	}
	want := slices.Clone(rows)
	slices.SortFunc(want, bytes.Compare)
	sortBytes(&tool.Env{World: tool.OS{}}, rows)
	if !slices.EqualFunc(rows, want, bytes.Equal) {
		t.Error("the order is another one")
	}
}
