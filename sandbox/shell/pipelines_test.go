//go:build !js

package shell_test

import (
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/agentlines"
	"github.com/bailey-go/bailey/internal/needs"
	"github.com/bailey-go/bailey/sandbox/shell"
)

// pipelines writes random pipelines over the files of package agentlines. The same number gives the same pipeline.
type pipelines struct{ *rand.Rand }

// one returns one of some texts that are separated by line breaks.
func (p pipelines) one(texts string) string {
	list := strings.Split(strings.Trim(texts, "\n"), "\n")
	return list[p.Intn(len(list))]
}

// some returns each of some words in every third case or so.
func (p pipelines) some(words string) string {
	var out []string
	for _, w := range strings.Split(words, "\n") {
		if w = strings.TrimSpace(w); w != "" && p.Intn(3) == 0 {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}

func (p pipelines) file() string {
	return p.one(`
names.txt
nums.txt
dup.txt
words.txt
mixed.txt
tricky.txt
pairs.txt
colon.txt
sizes.txt
floats.txt
tabs.tsv
data.csv
join1.txt
old.txt
new.txt
config.ini
empty.txt
app.log
src/main.go`)
}

func (p pipelines) regex() string {
	return p.one(`
a
'^a'
'e$'
'[a-e]'
'[^a-z]'
'[[:digit:]][[:digit:]]*'
'.'
'a.*e'
'^$'
'\(a\|e\)'
'a\+'
'\bthe\b'
'x\*y'
'=.*'
'[0-9]\{2,\}'
'\(.\)\1'
'b*'
'\.'
'^[A-Z]'
'\w\w$'`)
}

func (p pipelines) extended() string {
	return p.one(`
'a|e'
'^(a|b)'
'[0-9]+'
'(.)\1'
'a?b'
'^.{5}$'
'[[:upper:]]+'
'(one|two)$'
'\<b'
'(a|b)*c'
'x{0,2}y'
'^\s'`)
}

func (p pipelines) sed() string {
	re := strings.Trim(p.regex(), "'")
	return "'" + p.one(fmt.Sprintf(`
s/%[1]s/X/
s/%[1]s/<&>/g
s/%[1]s/&&/2
/%[1]s/d
/%[1]s/!d
%[2]sp
1,%[2]sd
$d
/%[1]s/,$s/^/> /
y/abc/xyz/
2i\
s/\(.\)\(.\)/\2\1/
n;d
$!N;s/\n/+/
1!G;h;$!d
/%[1]s/{s//Y/;p}
/%[1]s/a after
/%[1]s/c changed
%[2]sq
=
s/%[1]s/X/gp
s/.*/\U&/
s/\w*/\u&/
1~2d
s/a/b/;ta;s/$/ no/;:a
l`, re, strconv.Itoa(1+p.Intn(4)))) + "'"
}

// filter is a command that reads its input.
func (p pipelines) filter() string {
	switch p.Intn(19) {
	case 0:
		return "grep " + p.some("-i\n-v\n-n\n-c\n-o\n-w") + " " + p.regex()
	case 1:
		return "grep -E " + p.some("-i\n-v\n-n\n-x\n-o") + " " + p.extended()
	case 2:
		return "sed " + p.some("-n") + " " + p.sed()
	case 3:
		return "sort " + p.some("-r\n-n\n-u\n-f\n-b\n-s") + " " + p.one("\n-k2\n-k1,1\n-k2,2n\n-t, -k3\n-t: -k2,2nr\n-k1.2,1.3\n-V\n-h\n-g")
	case 4:
		return "uniq " + p.one("\n-c\n-d\n-u\n-i\n-f1\n-s2\n-w3\n-cd")
	case 5:
		return "cut " + p.one("-c1\n-c2-4\n-c-3\n-b2-\n-d' ' -f1\n-d, -f2\n-d: -f1,3\n-d' ' -f2- --output-delimiter=+\n-f1\n-d, -f2 -s\n--complement -c2")
	case 6:
		return "tr " + p.one("a-z A-Z\n-d aeiou\n-s ' '\n' ' '\\n'\n-cd 'a-z\\n'\n'[:lower:]' '[:upper:]'\n-c 'a-z\\n' .\n-ds a b\nabc x\n'a-c' '1-3'")
	case 7:
		return "head -n " + p.one("1\n2\n3\n-1\n-2\n0")
	case 8:
		return "tail -n " + p.one("1\n2\n3\n+1\n+2\n+3\n0")
	case 9:
		return "wc " + p.one("-l\n-w\n-c\n-m\n-L\n")
	case 10:
		return p.one("tac\nrev\ncat -n\ncat -A\ncat -s\nnl\nnl -ba\nnl -ba -w3 -s:")
	case 11:
		return "paste " + p.one("-s\n-s -d,\n-s -d ',;'\n- -\n-d: - -\n- "+p.file())
	case 12:
		return "fold " + p.one("-w5\n-w8 -s\n-b -w3")
	case 13:
		return "xargs " + p.one("\n-n1\n-n2 echo a\n-I{} echo '<{}>'\n-L1 echo\n-d '\\n' -n2 echo") // quotes in the input are errors of both
	case 14:
		return "while IFS= read -r l; do " + p.one("echo \"[$l]\"\nprintf '%s;' \"${l%%e*}\"\n[[ $l == a* ]] && echo \"$l\"\necho \"${#l}\"\necho \"${l^^}\"\necho \"${l//a/b}\"\necho \"${l:1:2}\"") + "; done"
	case 15:
		return "{ " + p.filter() + "; echo end; }"
	case 16:
		return p.one("tee /dev/null\ntee -a /dev/null\ntee /dev/null /dev/null") // whether the source of the pipeline lists a new file is a race
	case 17:
		return p.one("base64\nmd5sum\nod -c\nod -An -tx1\nxxd -p\nexpand\nexpand -t4\nunexpand -a\ncksum")
	}
	return "comm " + p.some("-1\n-2\n-3") + " - <(sort " + p.file() + ")"
}

// source is a command that has no input.
func (p pipelines) source() string {
	switch p.Intn(14) {
	case 0:
		return "seq " + p.one("5\n2 6\n1 2 9\n5 -1 1\n-s, 4\n-w 8 11")
	case 1:
		return "printf " + p.one("'%s\\n' b a c\n'%d-%s\\n' 1 x 2 y\n'%5.1f|%-4s|\\n' 2.25 ab\n'%x %o %c\\n' 255 8 hello\n'a\\tb\\n'\n'%03d\\n' 7 42")
	case 2:
		return "grep " + p.one("-n\n-c\n-l\n-L\n-h\n-A1\n-B1\n-C1\n-m1") + " " + p.regex() + " " + p.file() + " " + p.file()
	case 3:
		return "find . " + p.one("-name '*.txt'\n-type d\n-size +20c\n-name 'n*' -o -name 's*'\n-maxdepth 1 -type f\n-path '*src*'\n-empty\n! -name '*.txt' -type f\n-iname '*.md'") + " | sort"
	case 4:
		return "diff " + p.one("\n-u --label a --label b\n-q\n-y -W40\n-i\n-w\n-U1 --label a --label b") + " " + p.one("old.txt new.txt\nnames.txt dup.txt\nspaced1.txt spaced2.txt\ncomm1.txt comm2.txt\nempty.txt names.txt")
	case 5:
		return "join " + p.one("\n-a1\n-v2\n-o 1.1,2.2\n-e X -a1 -o 0,2.2") + " join1.txt join2.txt"
	case 6:
		return "ls " + p.one("src\n-d s*\n-1 docs\n-p\n-F scripts\n-R src")
	case 7:
		return "for f in " + p.one("*.txt\nsrc/*\n{a,b}{1,2}\n$(seq 3)\ns*/*.s?") + "; do " + p.one("echo \"${f##*/}\"\necho \"${f%.*}\"\nbasename \"$f\"\nprintf '%s %d\\n' \"$f\" ${#f}") + "; done"
	case 8:
		return "echo " + p.one("$((3 * 4 + 2 ** 3))\n\"${x:-none}\" ${HOME:+set}\n{1..5}\n$'a\\tb'\na b | tr ' ' '\\n'\n-e 'x\\ny'\n-n abc")
	case 9:
		return p.one("head\ntail\nnl\ntac\nrev\nwc\nsort") + " " + p.file()
	case 10:
		return "sed " + p.some("-n\n-E") + " " + p.sed() + " " + p.file()
	case 11:
		return "cut -d' ' -f" + p.one("1\n2\n1,2\n2-") + " " + p.file()
	}
	return "cat " + p.file()
}

func (p pipelines) pipeline() string {
	out := p.source()
	for range 1 + p.Intn(4) {
		out += " | " + p.filter()
	}
	return out
}

// script is a pipeline, or something made of it.
func (p pipelines) script() string {
	switch a := p.pipeline(); p.Intn(9) {
	case 0:
		return unhurried(a) + `; echo "${PIPESTATUS[@]}"`
	case 1:
		return "set -o pipefail; " + unhurried(a) + "; echo $?"
	case 2:
		return "x=$(" + a + `); echo "${#x} ${x%%` + "$'\\n'" + `*}"`
	case 3:
		return "{ " + a + "; } > made.txt; wc -l < made.txt; head -n 2 made.txt"
	case 4:
		return a + " && echo yes || echo no"
	case 5:
		return "mapfile -t a < <(" + a + `); echo "${#a[@]} ${a[0]}"; ((${#a[@]})) && echo "${a[-1]}"`
	default:
		return a
	}
}

// unhurried returns a pipeline in which no command ends before its input, because the exit code of the one before is a race then.
func unhurried(pipeline string) string {
	return regexp.MustCompile(`(head -n|tail -n|grep -m) ?[0-9]`).ReplaceAllString(pipeline, "head -n 30")
}

// pipelineDiffers are the numbers of pipelines that differ, with the reasons.
var pipelineDiffers = map[int]string{
	343:  "GNU's tr works on bytes, and this one on characters",
	616:  "whether an empty match is a word (grep -w 'b*')",
	1023: agentlines.Depends + "a race: the command after ends before its input",
}

// Random pipelines print the same and end as in bash with GNU's tools. PIPELINES is how many, from the number FROM on.
func TestPipelines(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		needs.Missing(t, "there is no bash here to compare with")
	}
	from, n := 0, 1200
	if testing.Short() {
		n = 320
	}
	for name, value := range map[string]*int{"FROM": &from, "PIPELINES": &n} {
		if text := os.Getenv(name); text != "" {
			if *value, err = strconv.Atoi(text); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	list := make([]string, n)
	for i := range list {
		list[i] = pipelines{rand.New(rand.NewSource(int64(from + i)))}.script()
	}
	agree := 0
	for i, diff := range agentlines.Diffs(t, bash, shell.Bash(shell.Options{}), list) {
		reason, known := pipelineDiffers[from+i]
		switch {
		case diff == "" && known:
			t.Errorf("%d: %s\nis as in bash now: it is no known difference any more (%s)", from+i, list[i], reason)
		case diff == "":
			agree++
		case !known:
			t.Errorf("%d: %s\n%s", from+i, list[i], diff)
		}
	}
	t.Logf("%d of %d pipelines agree with bash", agree, n)
}
