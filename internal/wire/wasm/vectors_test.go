package wasm

import (
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
)

// vectors are read by both sides: Go writes orders and reads messages, JavaScript the reverse.
type vectors struct {
	Orders []struct {
		Name   string          `json:"name"`
		Object json.RawMessage `json:"object"`
	} `json:"orders"`
	Configs []struct {
		Name   string          `json:"name"`
		Object json.RawMessage `json:"object"`
	} `json:"configs"`
	Messages []struct {
		Name string          `json:"name"`
		Make string          `json:"make"` // JavaScript
		Hex  string          `json:"hex"`
		Want json.RawMessage `json:"want"`
	} `json:"messages"`
}

//go:embed testdata/vectors.json
var vectorsText []byte

func readVectors(t *testing.T) vectors {
	t.Helper()
	var v vectors
	if err := json.Unmarshal(vectorsText, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Orders) < 12 || len(v.Configs) < 3 || len(v.Messages) < 14 {
		t.Fatal("vectors are missing")
	}
	return v
}

// orders are the orders of the vectors, with texts in the place of bytes.
func orders() map[string]Order {
	return map[string]Order{
		"ping":                   Ping(),
		"module":                 Learn(1, "code", "", nil),
		"module of Go":           Learn(2, "code", "glue", nil),
		"module to make ahead":   Learn(3, "code", "", Ahead(&Range{1, 16}, NewTable(Range{2, 10}))),
		"module without imports": Learn(4, "code", "", Ahead(nil, nil)),
		"forget":                 Forget(3),
		"start": Start{Gen: 7, Module: 1, Waits: WaitFiles | WaitInput | WaitHost | WaitAtAll, Config: "{}",
			Time: 1500 * time.Millisecond, Output: 1024, Message: 1 << 32, Asks: 10}.Order(),
		"kill":   Kill(7, "ABORTED", "the command was killed"),
		"ack":    Ack(7, 4096),
		"input":  Input(7, "bytes"),
		"answer": Answer(7, 1<<32-1, "bytes"),
		"refuse": Refuse(7, 1, 44),
	}
}

// same reports whether two texts are the same JSON.
func same(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(x, y)
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestOrders(t *testing.T) {
	made := orders()
	for _, v := range readVectors(t).Orders {
		if got := encode(t, made[v.Name]); !same(t, got, v.Object) {
			t.Errorf("%s: %s, want %s", v.Name, got, v.Object)
		}
		delete(made, v.Name)
	}
	for name := range made {
		t.Errorf("%s has no vector", name)
	}
}

func TestConfigs(t *testing.T) {
	call := "add"
	made := map[string]Config{
		"a command": {Args: []string{"a", "b"}, Env: []string{"A=1"}, Resolution: 1e6, WholeInput: true},
		"a function": {Args: []string{"add"}, Env: []string{}, Resolution: 1, Waits: WaitInput | WaitHost, Time: "12", Seed: []uint32{1, 2, 3, 4},
			Call: &call, Params: []string{"1", "n2"}, HostFuncs: []string{"env\x00now"}, Memory: &Range{1, 2}, Table: NewTable(Range{0, 4})},
		"a program of Go": {Args: []string{"a"}, Env: []string{}, Resolution: 1, WholeInput: true, Go: true, Dir: "/w"},
	}
	for _, v := range readVectors(t).Configs {
		c := made[v.Name]
		if v.Name == "a command" {
			c.Limits.Files, c.Limits.Read, c.Limits.Write, c.Limits.Output, c.Limits.Credit = 1, 2, 3, 4, 5
		}
		if got := encode(t, c); !same(t, got, v.Object) {
			t.Errorf("%s: %s, want %s", v.Name, got, v.Object)
		}
	}
}

// read decodes a message into the form of the vectors.
func read(b []byte) (map[string]any, error) {
	u := jsx.Unpack(b)
	op, gen, err := ReadHead(u)
	m := map[string]any{"op": op, "gen": gen}
	if err != nil {
		return m, err
	}
	figures := func(f Figures) {
		m["figures"] = []any{f.Read, f.Written, f.Memory, f.Files, f.Input}
	}
	switch op {
	case Output:
		var list [][]any
		err = EachOutput(b[HeadSize:], func(fd byte, b []byte) error {
			list = append(list, []any{fd, string(b)})
			return nil
		})
		m["output"] = list
		return m, err
	case Exited:
		m["code"] = u.U32()
		figures(ReadFigures(u))
		list, err := ReadChanges(u)
		rows := [][]any{}
		for _, c := range list {
			rows = append(rows, []any{c.Kind, c.Mount, c.Path, string(c.Data), c.To})
		}
		m["changes"] = rows
		return m, err
	case Failed, Stopped:
		var f Figures
		m["word"], m["text"], f, err = ReadFailure(u)
		figures(f)
	case Asked:
		var a Ask
		a, err = ReadAsk(u)
		m["ask"] = []any{a.ID, a.Kind, a.Mount, a.Path}
	case Returned, Compiled:
		m["text"], err = ReadText(u)
	case Started, Wanted:
		err = u.Close()
	}
	return m, err
}

func TestMessages(t *testing.T) {
	for _, v := range readVectors(t).Messages {
		b, err := hex.DecodeString(v.Hex)
		if err != nil {
			t.Fatal(err)
		}
		m, err := read(b)
		if got := encode(t, m); err != nil || !same(t, got, v.Want) {
			t.Errorf("%s: %s, %v; want %s", v.Name, got, err, v.Want)
		}
		for n := range b { // a message that was cut off
			if _, err := read(b[:n]); err == nil && (m["op"] != Output || n < HeadSize) {
				t.Errorf("%s: %d of %d bytes were believed", v.Name, n, len(b))
			}
		}
		if _, err := read(append(b, 0)); err == nil {
			t.Errorf("%s: a byte too many was believed", v.Name)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte{4, 1, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := read(b)
		if rows, ok := m["changes"].([][]any); ok && err == nil && len(rows) > len(b)/6 {
			t.Errorf("%d changes in %d bytes", len(rows), len(b))
		}
	})
}
