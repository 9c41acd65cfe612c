package attack

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
)

// Suite is a row of the table.
type Suite struct {
	Name  string // the argument of Start
	Title string
}

// Suites returns all rows of the table, in order: the findings of two reviews, then the collections
// of attacks.
func Suites() []Suite {
	return []Suite{
		{"01", "links in a folder lead past the lists"},
		{"02", "files of git and editors that run commands"},
		{"03", "programs see and write ungranted files"},
		{"04", "questions that say less than is done"},
		{"05", "a line of shell ends the program"},
		{"06", "a fetched page freezes the page"},
		{"07", "an edit ends the program before the question"},
		{"08", "a program destroys under a blanket rule"},
		{"09", "undo shows one step and takes back another"},
		{"10", "undo of a folder's move passes the rules below"},
		{"11", "deleting a folder passes the rules below"},
		{"12", "a NUL hides the written text"},
		{"13", "links that say one host and lead to another"},
		{"14", "subagents without number"},
		{"15", "dangerous kinds of files unseen"},
		{"16", "memory of a script"},
		{"17", "Windows' short names"},
		{"18", "archives that two readers read differently"},
		{"19", "credentials in keys and addresses"},
		{"20", "names of MCP servers' tools"},
		{"21", "lint with a known vulnerability"},
		{"22", "spaces push out of view"},
		{"view", "answers to questions out of view"},
		{"23", "escape sequences in a terminal"},
		{"24", "arguments changed during the question"},
		{"B1", "tables that freeze the page"},
		{"B2", "Copy copies an unseen text"},
		{"B3", "links that look like another host's"},
		{"B4", "clocks finer than the level's"},
		{"B5", "combining marks that freeze the page"},
		{"B6", "further recipients of a mail address"},
		{"B7", "honest code accused"},
		{"B8", "floods from a taken-over frame"},
		{"B9", "values that break a printer"},
		{"srt", "settings read wider than sandbox-runtime"},
		{"headers", "headers that open more than their policy"},
		{"secrets", "a stored secret gets out, or to another host"},
		{"server", "an MCP server that means harm"},
		{"unseen", "words of a page that its reader does not see"},
		{"xss", "XSS with each wall alone"},
		{"drawn", "renderers whose drawings lie"},
		{"realm", "realm with each layer off"},
		{"frames", "the walls around the realm, each off"},
		{"leaks", "leak lab"},
		{"views", "one decision for one path"},
		{"drill", "injection drill"},
		{"skills", "a folder's skill takes more than was agreed to"},
		{"machine", "a program of the machine leaves its sandbox"},
		{"proxy", "a program's requests reach an ungranted host"},
		{"relay", "a client of a BTCP relay acts as another, or fills it"},
		{"front", "a request of a tenant, or its job, reaches more than the tenant's own"},
		{"pods", "a job's pod, or the text of its configuration, has more than a job's rights"},
		{"apps", "the page of a tool (MCP Apps) that means harm"},
		{"sent", "the data that a conversation sends, to whom, and as whose words"},
	}
}

// Count is the report of one test about a suite.
type Count struct {
	Suite     string `json:"suite"`
	Test      string `json:"test"` // the name of the test, or the layout of the leak lab
	Tried     int    `json:"tried"`
	Controls  int    `json:"controls"` // attempts with the defence off
	Off       int    `json:"off"`      // the number of controls that succeeded
	Succeeded int    `json:"succeeded"`
	NoSwitch  string `json:"noSwitch,omitempty"` // the reason why the test has no control
}

// prefixes are those of the names of tests that make attack runs. suite is for tests that start
// none, because the two collections are older than this package.
var prefixes = [...]struct{ name, suite string }{{"TestAttack", ""}, {"TestXSS", "xss"}, {"TestInjectionDrill", "drill"}}

// IsTest reports whether make attack runs a test of this name.
func IsTest(name string) bool {
	_, ok := SuiteOf(name)
	return ok
}

// SuiteOf returns the suite of a test by the name of the test, or "" if the test must start one. ok
// reports whether make attack runs the test.
func SuiteOf(test string) (suite string, ok bool) {
	for _, p := range prefixes {
		if strings.HasPrefix(test, p.name) {
			return p.suite, true
		}
	}
	return "", false
}

const mark = "attack: {"

// Line returns c as a line that Parse reads.
func (c Count) Line() string {
	b, err := json.Marshal(c)
	if err != nil {
		return err.Error() // never happens for strings and numbers
	}
	return "attack: " + string(b)
}

// Parse returns the Count in a line of a test's output, and whether there is one.
func Parse(line string) (Count, bool) {
	i := strings.Index(line, mark)
	if i < 0 {
		return Count{}, false
	}
	var c Count
	if json.Unmarshal([]byte(strings.TrimSpace(line[i+len(mark)-1:])), &c) != nil || !known(c.Suite) {
		return Count{}, false
	}
	return c, true
}

func known(name string) bool {
	for _, s := range Suites() {
		if s.Name == name {
			return true
		}
	}
	return false
}

// Table counts the attacks of one suite in one test. It is safe for concurrent use.
type Table struct {
	t  testing.TB
	mu sync.Mutex
	c  Count
}

// Start returns a table for the suite. At the end of the test it logs the counts. The test fails if
// it has no attempts. It also fails if no control succeeded, unless NoSwitch has the reason: a
// defence that changes nothing proves nothing. A test may have controls only.
func Start(t testing.TB, suite string) *Table {
	t.Helper()
	if !known(suite) {
		t.Fatalf("attack.Start(%q): there is no such suite; internal/attack lists them", suite)
	}
	if !IsTest(t.Name()) {
		t.Fatalf("%s: make attack runs the tests whose names begin with TestAttack", t.Name())
	}
	test, _, _ := strings.Cut(t.Name(), "/")
	a := &Table{t: t, c: Count{Suite: suite, Test: test}}
	t.Cleanup(a.end)
	return a
}

// Try reports an attack against everything as it is shipped. If it succeeded, the test fails.
func (a *Table) Try(name string, succeeded bool) {
	a.t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.c.Tried++
	if succeeded {
		a.c.Succeeded++
		a.t.Errorf("attack %s: %s: SUCCEEDED", a.c.Suite, name)
	}
}

// Off reports the same attack with the defence off. It need not succeed, because other defences may
// stop it too.
func (a *Table) Off(name string, succeeded bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.c.Controls++
	if succeeded {
		a.c.Off++
	}
}

// NoSwitch stores the reason why this test has no control, such as a defence that is the absence of
// code.
func (a *Table) NoSwitch(why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.c.NoSwitch = why
}

func (a *Table) end() {
	a.t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.t.Skipped() {
		return
	}
	switch {
	case a.t.Failed():
	case a.c.Tried+a.c.Controls == 0:
		a.t.Errorf("attack %s: nothing was tried", a.c.Suite)
	case a.c.Off == 0 && a.c.NoSwitch == "":
		a.t.Errorf("attack %s: no attack succeeded with the defence off (%d tried): the test shows nothing", a.c.Suite, a.c.Controls)
	}
	a.t.Log(a.c.Line())
}
