package headers

import (
	"context"
	"testing"

	"github.com/bailey-go/bailey/internal/testpage"
)

func TestCheckInAPage(t *testing.T) {
	header := map[string]string{}
	for _, h := range Default().List() {
		header[h.Name] = h.Value
	}
	t.Run("default headers", func(t *testing.T) {
		testpage.Run(t, testpage.Page{Header: header}, func(t *testing.T) {
			list, err := Check(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range list {
				t.Logf("%-28s %v %s", f.Name, f.Holds, f.How)
				if !f.Holds && !(f.Name == "require-trusted-types-for" && testpage.Has(testpage.NoTrustedTypes)) {
					t.Errorf("does not hold: %+v", f)
				}
			}
		})
	})
	t.Run("no headers", func(t *testing.T) {
		list, err := Check(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			if f.Holds && f.Name != "Permissions-Policy" { // headless browsers deny the camera themselves
				t.Errorf("holds in a page without headers: %+v", f)
			}
		}
	})
}
