package cover

import (
	"testing"

	"github.com/bailey-go/bailey/internal/testpage"
)

func TestOwnPage(t *testing.T) {
	testpage.Run(t, testpage.Page{}, func(t *testing.T) {
		if got := Where("js", "own"); got != "own page" {
			t.Error(got)
		}
	})
}
