package gate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/protocol"
)

// A program makes many changes below many folders. Each folder is asked about once, so the work grows with the changes alone.
func TestManyChangesAskOnceAboutAFolder(t *testing.T) {
	const files, folders = 20_000, 100
	var list []protocol.FileChange
	for i := range files {
		list = append(list, protocol.FileChange{Path: fmt.Sprintf("r%d/d%d/%d", i%folders, i%7, i), Before: -1, Size: 1})
	}
	asked := map[string]int{}
	needs, err := Changes("tool_run", "prog", list, false, func(dir string) bool { asked[dir]++; return strings.HasPrefix(dir, "r") })
	if err != nil || len(needs) != mostListed+folders {
		t.Fatalf("%d needs, %v", len(needs), err)
	}
	if len(asked) > folders*8+1 {
		t.Errorf("%d folders were asked about", len(asked))
	}
	for dir, n := range asked {
		if n > 1 {
			t.Errorf("%s was asked about %d times", dir, n)
		}
	}
}
