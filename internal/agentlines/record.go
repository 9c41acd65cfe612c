package agentlines

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/sandbox"
)

// answers is the file with the recorded answers of bash, an answer a line.
const answers = "agent_answers.json"

// answer is a command line and the recorded answer of bash, for a page, in which there is no other bash.
type answer struct {
	Line  string            `json:"line"`
	Out   string            `json:"out,omitempty"`
	Code  int               `json:"code,omitempty"`
	Files map[string]string `json:"files,omitempty"` // files that are new or changed, with their content
	Gone  []string          `json:"gone,omitempty"`  // files that were removed
}

func answerOf(script string, r Ran) answer {
	a := answer{Line: script, Out: r.out, Code: r.code}
	for name, text := range r.files {
		if was, ok := files[name]; !ok || comparable(name, []byte(was)) != text {
			if a.Files == nil {
				a.Files = map[string]string{}
			}
			a.Files[name] = text
		}
	}
	for name := range files {
		if _, ok := r.files[name]; !ok && !strings.HasSuffix(name, "/") {
			a.Gone = append(a.Gone, name)
		}
	}
	slices.Sort(a.Gone)
	return a
}

// ran is the reverse of answerOf.
func (a answer) ran() Ran {
	r := Ran{a.Out, a.Code, map[string]string{}}
	for name, text := range files {
		if !strings.HasSuffix(name, "/") && !slices.Contains(a.Gone, name) {
			r.files[name] = comparable(name, []byte(text))
		}
	}
	for name, text := range a.Files {
		r.files[name] = comparable(name, []byte(text))
	}
	return r
}

func read(t testing.TB, dir string) (list []answer) {
	data, err := os.ReadFile(filepath.Join(dir, answers))
	must(t, err)
	for line := range strings.Lines(string(data)) {
		var a answer
		must(t, json.Unmarshal([]byte(line), &a))
		list = append(list, a)
	}
	return list
}

// recorded compares the answers of the machine's bash with the recorded ones. With the variable RECORD it records them.
func recorded(t *testing.T, dir string, list []string, wants []Ran, known map[string]string) {
	if os.Getenv("RECORD") != "" {
		record(t, dir, list, wants)
	}
	have := map[string]answer{}
	for _, a := range read(t, dir) {
		have[a.Line] = a
	}
	for i, script := range list {
		a, ok := have[script]
		delete(have, script)
		switch {
		case !ok && Needs(script) == "":
			t.Errorf("%s\nhas no recorded answer: run the test with RECORD=1", script)
		case !ok || Needs(script) != "" || strings.HasPrefix(known[script], Depends):
		case wants[i].Diff(a.ran()) != "":
			t.Errorf("%s\nThe answer of this machine's bash is not the recorded one, with which a page is compared: %s", script, wants[i].Diff(a.ran()))
		}
	}
	for script := range have {
		t.Errorf("%s\nhas a recorded answer, and is not in agent.txt: run the test with RECORD=1", script)
	}
}

func record(t *testing.T, dir string, list []string, wants []Ran) {
	old := map[string]answer{}
	if _, err := os.Stat(filepath.Join(dir, answers)); err == nil {
		for _, a := range read(t, dir) {
			old[a.Line] = a
		}
	}
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	for i, script := range list {
		a, ok := answerOf(script, wants[i]), true
		if Needs(script) != "" { // it stays as it is, until a machine has the command
			a, ok = old[script]
		}
		if ok {
			must(t, e.Encode(a))
		}
	}
	must(t, os.WriteFile(filepath.Join(dir, answers), []byte(out.String()), 0o644))
}

// Recorded compares the answers of the tool bash with the recorded ones of the machine's bash, for each of every so many command lines.
// known are the lines with a known difference. One that is no longer there fails the test, too.
func Recorded(t *testing.T, dir string, bailey sandbox.Tool, known map[string]string, every int) {
	agree, total := 0, 0
	for i, a := range read(t, dir) {
		if i%every != 0 {
			continue
		}
		total++
		got, err := InBailey(t, bailey, a.Line)
		diff := got.Diff(a.ran())
		if err != nil {
			diff = err.Error()
		}
		reason, differs := known[a.Line]
		switch {
		case diff == "" && differs && !strings.HasPrefix(reason, Depends):
			t.Errorf("%s\nis as in bash now: it is no known difference any more (%s)", a.Line, reason)
		case diff == "":
			agree++
		case !differs:
			t.Errorf("%s\n%s", a.Line, diff)
		}
	}
	t.Logf("%d of %d command lines agree with the recorded answers of bash", agree, total)
}
