package shell_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/native"
	"github.com/bailey-go/bailey/sandbox/shell"
)

// sizes returns scripts that choose the size of some work, each with a part of the error of its
// refusal, or with "" if it is not refused.
func sizes() map[string]string {
	forty, kb := strings.Repeat("a", 40), "x=aaaaaaaaaaaaaaaa; for i in 1 2 3 4 5 6; do x=$x$x; done; "
	mb := kb + "m=$x; for i in 1 2 3 4 5 6 7 8 9; do m=$m$m; done; " // half of a MiB, because more would exceed the limit of all variables
	return map[string]string{
		// sed
		"sed '" + strings.Repeat("s/a/"+forty+"/g;", 5) + "' b.txt | wc -c":                                                                          "a line is too long",
		"sed '" + strings.Repeat("s/a/"+forty+"/g;", 9) + "' b.txt | wc -c":                                                                          "a line is too long",
		"sed '" + strings.Repeat("s/a/"+forty+"/g;", 3) + "' b.txt | wc -c":                                                                          "",
		"sed -i '" + strings.Repeat("s/a/"+forty+"/g;", 6) + "' b.txt":                                                                               "a line is too long",
		"sed 's/.*/" + strings.Repeat("&&", 400) + "/;s/.*/" + strings.Repeat("&&", 400) + "/;s/.*/" + strings.Repeat("&", 400) + "/' b.txt | wc -c": "a line is too long",
		mb + "echo $m | sed 's/.*/" + strings.Repeat("&", 9000) + "/' | wc -c":                                                                       "longer than 16 MiB",
		"seq 300000 | tr '\\n' a | sed -E 's/[0-9a]*b{0,200}/x/g' | wc -c":                                                                           "too long for the expression",
		"seq 300000 | tr '\\n' a | grep -oE '[0-9a]*b{0,200}'":                                                                                       "too long for the expression",
		"seq 10000 | tr '\\n' a | grep -cE '[0-9a]*b{1,200}'":                                                                                        "",
		"seq 300000 | sed 's/1/xx/g' | tail -n 1":                                                                                                    "",
		// jobs
		"while true; do sleep 100 & done":                      "64 background jobs",
		"for i in {1..64}; do sleep 0 & done; wait; echo ok":   "",
		"for i in {1..200}; do true & wait; done; echo ok":     "",
		"f() { f & f & wait; }; f":                             "64 background jobs",
		"for i in {1..65}; do sleep 100 & done":                "64 background jobs",
		"for i in {1..65}; do (sleep 100; (sleep 100)) & done": "64 background jobs",
		"echo $(for i in {1..65}; do sleep 100 & done)":        "64 background jobs",
		"eval 'while true; do sleep 100 & done'":               "64 background jobs",
		// one expansion
		mb + "y=${m//a/$m}":                                                                                         "one expansion",
		mb + "echo ${m//a/$x} | wc -c":                                                                              "one expansion",
		mb + "echo \"${m/a/$x}\" | wc -c":                                                                           "",
		mb + "echo " + strings.Repeat("$m", 40) + " | wc -c":                                                        "one expansion",
		mb + "echo \"" + strings.Repeat("$m", 40) + "\" | wc -c":                                                    "one expansion",
		mb + "echo {1..1000}$m | wc -c":                                                                             "one expansion",
		mb + "cat <<E | wc -c\n" + strings.Repeat("$m", 40) + "\nE":                                                 "one expansion",
		mb + "cat <<< \"" + strings.Repeat("$m", 40) + "\" | wc -c":                                                 "one expansion",
		mb + "[[ " + strings.Repeat("$m", 40) + " ]]":                                                               "one expansion",
		mb + "for i in " + strings.Repeat("$m", 40) + "; do :; done":                                                "one expansion",
		mb + "case " + strings.Repeat("$m", 40) + " in a) ;; esac":                                                  "one expansion",
		mb + "echo $((" + strings.Repeat("1+${#m}+", 4) + "1))":                                                     "",
		mb + "a=($m $m $m $m $m $m $m $m $m)":                                                                       "variables",
		mb + "set -- $m; echo ${@//a/$x} | wc -c":                                                                   "one expansion",
		mb + "declare -A h=([a]=$x [b]=$x$x); echo \"${h[@]//a/$m}\"":                                               "one expansion",
		mb + "y=m; echo ${!y//a/$x}":                                                                                "one expansion",
		mb + "declare -n r=m; echo ${r//a/$x}":                                                                      "one expansion",
		mb + "echo ${m//$m/b}":                                                                                      "one expansion",
		mb + "echo ${m##*$m}":                                                                                       "one expansion",
		mb + "echo ${m%%" + strings.Repeat("?", 200) + "}":                                                          "one expansion",
		mb + "[[ $m == " + strings.Repeat("*a", 100) + "b ]]":                                                       "too long for the text",
		mb + "case $m in " + strings.Repeat("*a", 100) + "b) ;; esac":                                               "too long for the text",
		"while [[ 1 ]]; do for x in a$x$x; do [[ 1 ]]; done; done":                                                  "more than",
		"eval 'x=aa; while [[ 1 ]]; do x=$x$x; done'":                                                               "variables",
		"trap 'x=aa; while [[ 1 ]]; do x=$x$x; done' EXIT":                                                          "variables",
		"echo 'x=aa; while [[ 1 ]]; do x=$x$x; done' > s.txt; . ./s.txt":                                            "variables",
		"x=aa; while [[ 1 ]]; do [[ ${y:=$x$x} ]]; x=$y$y; unset y; done":                                           "variables",
		"echo $(yes | cat; yes; yes; yes; yes)$(for i in {1..200}; do yes aaaaaaaaaaaaaaaaaaaaaaaaa; done) | wc -c": "prints more than 8 MiB",
		"x=$(while true; do yes aaaaaaaaaaaaaaaaaaaaaaaaa; done)":                                                   "prints more than 8 MiB",
		"while true; do echo $i; done | while read x; do y=$y$x$y$x$y; y=${y}a; done":                               "variables",
		mb + "y=$(printf '&%.0s' {1..400}); echo ${m/*/$y} | wc -c":                                                 "one expansion",
		mb + "y=$(printf '&%.0s' {1..400}); echo ${m//*/$y} | wc -c":                                                "one expansion",
		"x='x+x'; echo $((x))":                                                                                      "recursion level",
		"a=1; for i in {1..30}; do declare n$i=\"n$((i-1))+n$((i-1))\"; done; n0=1; echo $((n9)) $((n19))":          "recursion level",
		"trap 'kill -TERM $$; kill -INT $$' TERM INT; kill -TERM $$; echo over":                                     "",
		"for i in {1..70}; do sleep 9 & done; kill %1; wait":                                                        "64 background jobs",
		// printf, seq, yes, xargs, tr, mapfile, read
		"printf '" + strings.Repeat("%999999d", 100) + "' | wc -c":  "printf makes more",
		"printf '" + strings.Repeat("%.999999d", 100) + "' | wc -c": "printf makes more",
		"printf '%10d\\n' 1":                              "",
		"printf '%99999999999999999999d'":                 "printf makes more",
		"seq 1 1000001":                                   "more than 1,000,000",
		"seq 1 1000000 | tail -n 1":                       "",
		"seq -- -9223372036854775808 9223372036854775807": "more than 1,000,000",
		"seq 1 9223372036854775807":                       "more than 1,000,000",
		"seq 9223372036854775807 9223372036854775807":     "",
		"seq 1 0":                  "",
		mb + "seq -s $m 1 1000000": "longer than 16 MiB",
		mb + "echo $m | xargs -I{} echo " + strings.Repeat("{}", 200):          "longer than 16 MiB",
		mb + "echo $m | xargs -Ia echo $x | wc -c":                             "longer than 16 MiB",
		"echo a | tr a-z " + strings.Repeat("'\\001'-'\\177'", 1) + " | wc -c": "",
		"yes a | tr a '" + strings.Repeat("Ā-ϸ", 200) + "'":                    "65,536",
		"mapfile x < <(yes)": "mapfile reads more",
		"cat <(while true; do yes aaaaaaaaaaaaaaaaaaaaaaaaa; done)":                        "prints more than 8 MiB",
		"cat " + strings.Repeat("<(:) ", 65):                                               "64 process substitutions",
		"cat " + strings.Repeat("<(:) ", 64):                                               "",
		"for i in {1..200}; do cat <(:); done":                                             "",
		"for i in {1..30}; do yes aaaaaaaaaaaaaaaaaaaaa; done | mapfile x":                 "mapfile reads more",
		"for i in {1..6}; do yes aaaaaaaaaa; done | tr -d '\\n' | { read x; echo ${#x}; }": "a line is longer",
		"cut -f " + strings.Repeat("1,", 1001) + "1 a.txt":                                 "list of fields",
		"find / -path '" + strings.Repeat("*", 1025) + "'":                                 "1,024 bytes",
		// the commands that came later
		"echo '9^9^9' | bc":                           "the exponent is too large",
		"echo '2^1000' | bc | wc -l":                  "",
		"echo 'scale=10001' | bc":                     "10,000",
		"echo 'scale=10000' | bc":                     "",
		"printf 'x=3^9999\\nwhile (1) x=x*x\\n' | bc": "300,000 digits",
		"seq 20000 | split -l 1":                      "10,000 pieces",
		"seq 10000 | split -l 1; ls | wc -l":          "",
		"shuf -i 1-2000000":                           "1,000,000",
		"truncate -s 65M x":                           "64 MiB",
		"seq -f %999999f 1":                           "no % directive",
		"yes aaaaaaaaaaaaaaaaaaaa | head -n 99999 | sed -n 'H;${g;s/a/&&/g;s/a/&&&&&&&&&/g;p}' | wc -c":                            "a line is too long",
		"printf 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' | grep -E '^(a|aa)+\\1c$'":                                                      "too many steps",
		"printf 'abab' | grep -oE '(ab)\\1'":                                                                                       "",
		"f() { bash -c \"$(declare -f f); f\"; }; f":                                                                               "16 shells",
		"echo 'bash x.txt' > x.txt; bash x.txt":                                                                                    "16 shells",
		"xargs xargs xargs xargs xargs xargs xargs xargs xargs xargs xargs xargs xargs xargs xargs xargs xargs xargs echo < a.txt": "16 commands",
		"for i in {1..300}; do eval \"exec $((i+3))< a.txt\"; done":                                                                "256 open descriptors",
		"for i in {1..200}; do eval \"exec $((i+3))< a.txt\"; done; echo ok":                                                       "",
		"timeout 0.05 bash -c 'while :; do :; done'; echo $?":                                                                      "124",
		// text that becomes code
		"p=$(yes '(' | head -n 9999 | tr -d '\\n'); eval \"$p\"":                    "nested too deeply",
		"p=$(yes '(' | head -n 9999 | tr -d '\\n'); trap \"$p\" EXIT":               "nested too deeply",
		"p=$(yes '(' | head -n 9999 | tr -d '\\n'); echo \"$p\" > s.txt; . ./s.txt": "nested too deeply",
		"x=(1); unset \"x[$(printf '(%.0s' {1..9999})\"]":                           "",
		"p=$(yes '(' | head -n 9999 | tr -d '\\n'); x=(1); unset \"x[$p]\"":         "bad array subscript",
		"eval 'coproc cat'":           "coproc",
		"eval 'echo {1..100000}'":     "10,000 words",
		"f() { eval f; }; f":          "too deeply",
		"f() { f | cat; }; f":         "128 pipes",
		"f() { f | f; }; f":           "128 pipes",
		"f() { echo $(f | cat); }; f": "128 pipes",
		"f() { eval 'f | f'; }; f":    "128 pipes",
	}
}

// depths returns scripts of one line with n parts. For each part the parser, or a function that
// works on its tree, calls itself. With a browser's stack a few thousand parts ended the
// program.
func depths(n int) map[string]string {
	r := strings.Repeat
	return map[string]string{
		"and": "true" + r("&&true", n), "or": "true" + r("||true", n), "sum": "echo $((1" + r("+1", n) + "))", "comma": "((1" + r(",1", n) + "))", "assignments": "((a" + r("=a", n) + "))",
		"powers": "((1" + r("**1", n) + "))", "choices": "((1" + r("?1:1", n) + "))", "minus": "((" + r("- ", n) + "1))", "complement": "((" + r("~", n) + "1))",
		"functions": r("f()", n) + "{ :; }", "conditions": "[[ a" + r(" && a", n) + " ]]", "let": "let 1" + r("+1", n), "slice": "echo ${a:1" + r("+1", n) + "}",
		"elif": "if false; then :; " + r("elif false; then :; ", n) + "fi", "sum of lines": "echo $((1" + r("\n+1", n) + "))", "subscript": "echo ${a[1" + r("+1", n) + "]}", "and over lines": "true" + r("&&\ntrue", n),
		"in eval": "eval '((1" + r("+1", n) + "))'", "in a trap": "trap '((1" + r("+1", n) + "))' EXIT", "in unset": "a=(1); unset 'a[1" + r("+1", n) + "]'",
		"test": "test a" + r(" -a a", n), "[": "[ a" + r(" -a a", n) + " ]", "builtin": r("builtin ", n) + "true", "command": r("command ", n) + "true", "eval": r("eval ", n) + "true",
		"test of words": "w=' -a a'; for i in 1 2 3 4 5 6 7 8 9 10 11; do w=$w$w; done; test a $w", "builtin of words": "w='builtin '; for i in 1 2 3 4 5 6 7 8 9 10 11; do w=$w$w; done; $w true",
	}
}

// Scripts are refused before the stack is used up. In a browser the stack is small, and without
// the limits this test would end the program there.
func TestAttackDepthOfAScript(t *testing.T) {
	a := attack.Start(t, "05")
	a.NoSwitch("a stack that overflows ends the test itself: TestAttackDepthEndsTheProgram holds the controls, in processes of their own")
	b, _ := build(t, open, nil)
	n := 0
	for name, script := range depths(2500) {
		if n++; testing.Short() && n%4 != 0 { // the order differs between runs
			continue
		}
		script = script[:min(len(script), 65536)]
		out, code, err := run(t, b, script)
		said := out
		if err != nil {
			said += err.Error()
		}
		a.Try(name, !strings.Contains(said, "too deeply") && !strings.Contains(said, "more than") && !strings.Contains(said, "bad array subscript"))
		if t.Failed() {
			t.Logf("%q %d %v", said, code, err)
		}
	}
	for name, script := range depths(100) {
		if n++; testing.Short() && n%4 != 0 {
			continue
		}
		if strings.HasSuffix(name, "words") || name == "builtin" || name == "command" || name == "eval" {
			continue
		}
		if out, _, err := run(t, b, script); err != nil {
			t.Errorf("%s of 100: %q %v", name, out, err)
		}
	}
}

// No script can exceed its limits, by whichever command it tries.
func TestAttackSizesOfAScript(t *testing.T) {
	native.Only(t)
	a := attack.Start(t, "16")
	all := sizes()
	for _, script := range slices.Sorted(maps.Keys(all)) {
		want := all[script]
		b, _ := build(t, open, nil)
		out, code, err := run(t, b, script)
		said := out
		if err != nil {
			said += err.Error()
		}
		switch {
		case want == "" && err != nil:
			t.Errorf("%.80q: %v", script, err)
		case want != "":
			a.Try(script[:min(len(script), 80)], !strings.Contains(said, want))
		}
		if want == "one expansion" && strings.Contains(script, strings.Repeat("$m", 40)) {
			// The control: these take 20 MiB without the bound, others gigabytes.
			b, _, _ := buildWith(t, open, nil, shell.BashWithout("bounds", shell.Options{}))
			out, _, err := run(t, b, script)
			a.Off(script[:min(len(script), 80)], err == nil && !strings.Contains(out, want))
		}
		if want != "" && !strings.Contains(said, want) {
			t.Logf("%.80q: %.200q %d %v; want %q", script, out, code, err, want)
		}
	}
}
