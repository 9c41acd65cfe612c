package main

import (
	"strings"
	"testing"
)

func TestSum(t *testing.T) {
	const pass = `{"Action":"start","Package":"a"}
{"Action":"run","Package":"a","Test":"TestA"}
{"Action":"output","Package":"a","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"a","Test":"TestA","Output":"    a_test.go:3: no OPFS here\n"}
{"Action":"output","Package":"a","Test":"TestA","Output":"--- SKIP: TestA (0.00s)\n"}
{"Action":"skip","Package":"a","Test":"TestA","Elapsed":0}
{"Action":"output","Package":"a","Test":"TestC","Output":"    a_test.go:9: kept to itself\n"}
{"Action":"pass","Package":"a","Test":"TestC"}
{"Action":"output","Package":"a","Output":"PASS\n"}
{"Action":"pass","Package":"a","Elapsed":1.5}
{"Action":"skip","Package":"none"}
`
	for _, c := range []struct {
		name, in string
		ok       bool
		want     string
		without  string
	}{
		{"all is well", pass, true, "ok  \ta\t1.500s\nskipped: 1\n    1  no OPFS here\n", "kept"},
		{"a test fails", pass + `{"Action":"output","Package":"b","Test":"TestB","Output":"    b_test.go:1: why\n"}
{"Action":"fail","Package":"b","Test":"TestB"}
{"Action":"output","Package":"b","Output":"FAIL\tb\t0.1s\n"}
{"Action":"fail","Package":"b"}
`, false, "    b_test.go:1: why\nFAIL\tb\t0.1s\nskipped: 1\n", "kept"},
		{"a build fails", `{"ImportPath":"c","Action":"build-output","Output":"c.go:1: no\n"}
{"ImportPath":"c","Action":"build-fail"}
{"Action":"fail","Package":"c"}
`, false, "c.go:1: no\nskipped: 0\n", ""},
		{"a program ends in a test", `{"Action":"output","Package":"e","Test":"TestE","Output":"it was here\n"}
{"Action":"output","Package":"e","Output":"FAIL\te\t0.1s\n"}
{"Action":"fail","Package":"e"}
`, false, "it was here\nFAIL\te\t0.1s\nskipped: 0\n", ""},
		{"tests that take long", `{"Action":"pass","Package":"a","Test":"TestLong","Elapsed":3.25}
{"Action":"pass","Package":"a","Test":"TestLong/part","Elapsed":3}
{"Action":"pass","Package":"b","Test":"TestLongest","Elapsed":20}
{"Action":"pass","Package":"b","Test":"TestQuick","Elapsed":1.9}
`, true, "slowest:\n    20.0 s  b TestLongest\n     3.2 s  a TestLong\nskipped: 0\n", "Quick"},
		{"the go command speaks", "go: no such module\n", true, "go: no such module\nskipped: 0\n", ""},
		{"a last line without an end", `{"Action":"fail","Package":"d"}`, false, "skipped: 0\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			ok, err := sum(strings.NewReader(c.in), &out)
			if err != nil || ok != c.ok || !strings.Contains(out.String(), c.want) || c.without != "" && strings.Contains(out.String(), c.without) {
				t.Errorf("%v, %v:\n%s", ok, err, &out)
			}
		})
	}
}
