// Package wasm is the wire between the host and the broker of a WebAssembly program. Orders go
// down as objects of the structured clone, and messages go up as packed bytes. wasm.js is its twin
// in the broker and in the worker below it, which sends the same messages without a generation.
// Both are tested with the vectors in testdata. The package trusts nothing that comes up, and the
// caller checks the names and numbers in a message.
package wasm

import (
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
)

// JS is the JavaScript twin: the text of a constant baileyWasm. It stands behind jsx.PackedJS.
//
//go:embed wasm.js
var JS string

// Pong is the text that a broker answers to [Ping].
const Pong = "pong"

// Order is a message to a broker. [jsx.ToJS] converts it.
type Order = map[string]any

// Ping returns the order to answer [Pong].
func Ping() Order { return Order{"op": "ping"} }

// Learn returns the order to keep a module: a compiled one, or its bytes to compile. glue is the
// first script in the workers of the module, or "". ahead is from [Ahead], or nil.
func Learn(id int, code any, glue string, ahead Order) Order {
	o := Order{"op": "module", "id": id, "code": code}
	if glue != "" {
		o["glue"] = glue
	}
	if ahead != nil {
		o["ahead"] = ahead
	}
	return o
}

// Range is the size of a memory in pages, or of a table in elements.
type Range struct {
	Initial uint64 `json:"initial"`
	Maximum uint64 `json:"maximum"`
}

// Table is a table that a module imports.
type Table struct {
	Element string `json:"element"`
	Range
}

// NewTable returns a table of functions.
func NewTable(r Range) *Table { return &Table{Element: "anyfunc", Range: r} }

// Ahead returns how to make an instance before a run needs it. memory and table are the ones that
// the module imports, or nil.
func Ahead(memory *Range, table *Table) Order {
	o := Order{"mode": ""}
	if memory != nil {
		o["memory"] = Order{"initial": memory.Initial, "maximum": memory.Maximum}
	}
	if table != nil {
		o["table"] = Order{"element": table.Element, "initial": table.Initial, "maximum": table.Maximum}
	}
	return o
}

// Forget returns the order to drop a module.
func Forget(id int) Order { return Order{"op": "forget", "id": id} }

// Waits are the reasons for which a program may have to wait. A program without any runs faster.
type Waits uint8

const (
	WaitFiles  Waits = 1 << iota // a lazy mount
	WaitInput                    // input that is not complete
	WaitHost                     // a host function or poll_oneoff
	WaitAtAll                    // any of these, or room for its output
	noMoreWait                   // above all others
)

// String returns one letter for each reason, as the worker reads them: l i f s.
func (w Waits) String() string {
	var b []byte
	for i, bit := 0, WaitFiles; bit < noMoreWait; i, bit = i+1, bit<<1 {
		if w&bit != 0 {
			b = append(b, "lifs"[i])
		}
	}
	return string(b)
}

// MarshalText returns the letters.
func (w Waits) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// Start is the order to run a module. The tree of files and the input are set by the caller as
// "tree" and "stdin", because their buffers are transferred.
type Start struct {
	Gen, Module int
	Waits       Waits
	Config      string // the JSON of a Config
	Time        time.Duration
	Output      int64 // bytes
	Message     int64 // bytes of one message
	Asks        int
}

// Order returns the order.
func (s Start) Order() Order {
	return Order{"op": "start", "gen": s.Gen, "module": s.Module, "mode": s.Waits.String(), "config": s.Config, "limits": Order{
		"time": s.Time.Milliseconds(), "output": float64(s.Output), "message": float64(s.Message), "asks": s.Asks,
	}}
}

// Config is the part of a start that only the worker reads.
type Config struct {
	Args       []string `json:"args"`
	Env        []string `json:"env"`
	Resolution int64    `json:"resolution"` // of the clocks, in ns
	WholeInput bool     `json:"wholeInput"` // the input of the start is complete
	Waits      Waits    `json:"mode"`
	Limits     struct {
		Files  int   `json:"files"`
		Read   int64 `json:"read"`
		Write  int64 `json:"write"`
		Output int64 `json:"output"`
		Credit int   `json:"credit"` // bytes of output that may be sent and not yet acknowledged
	} `json:"limits"`
	Go        bool     `json:"go,omitempty"`  // a program of GOOS=js
	Dir       string   `json:"dir,omitempty"` // of a program of GOOS=js
	Time      string   `json:"time,omitempty"`
	Seed      []uint32 `json:"seed,omitempty"`
	Call      *string  `json:"call,omitempty"` // the exported function to call, instead of _start
	Params    []string `json:"params"`
	HostFuncs []string `json:"hostFuncs"` // module, NUL, name
	Memory    *Range   `json:"memory,omitempty"`
	Table     *Table   `json:"table,omitempty"`
}

// Kill returns the order to end a run with an error.
func Kill(gen int, code, message string) Order {
	return Order{"op": "kill", "gen": gen, "code": code, "message": message}
}

// Ack returns the order that acknowledges n bytes of output.
func Ack(gen, n int) Order { return Order{"op": "ack", "gen": gen, "n": n} }

// Input returns the order with input, as a Uint8Array. An empty one is the end of the input.
func Input(gen int, data any) Order { return Order{"op": "in", "gen": gen, "data": data} }

// Answer returns the order that answers a request with bytes, as a Uint8Array.
func Answer(gen int, id uint32, data any) Order {
	return Order{"op": "answer", "gen": gen, "id": int(id), "data": data}
}

// Refuse returns the order that answers a request with an errno of WASI preview1.
func Refuse(gen int, id uint32, errno int) Order {
	return Order{"op": "answer", "gen": gen, "id": int(id), "errno": errno}
}

// Op is the first byte of a message. The generation follows as a u32.
type Op byte

const (
	Started  Op = 1 // a worker has the module
	Output   Op = 2 // {u8 descriptor, u32 length, bytes}…
	Wanted   Op = 3 // the program waits for input
	Exited   Op = 4 // u32 code, figures, changes
	Failed   Op = 5 // string code, string message, figures
	Asked    Op = 6 // u32 id, u8 kind, u8 mount, string path
	Returned Op = 7 // string: results of an exported function, as JSON
	Stopped  Op = 8 // like Failed, sent by the broker: the worker may still be running
	Compiled Op = 9 // the module's id instead of the generation, string: the error, or ""
)

// HeadSize is the number of bytes before the part that belongs to the kind of a message.
const HeadSize = 5

// ReadHead reads the kind and the generation.
func ReadHead(u *jsx.Unpacker) (op Op, gen int, err error) {
	op, gen = Op(u.U8()), int(u.U32())
	return op, gen, u.Err()
}

// EachOutput calls fn for each piece of output in the part after the head. The descriptor is 1 or 2.
func EachOutput(b []byte, fn func(fd byte, b []byte) error) error {
	for u := jsx.Unpack(b); u.Left() > 0; {
		fd, piece := u.U8(), u.Bytes()
		if u.Err() != nil || fd != 1 && fd != 2 {
			return errors.New("malformed output")
		}
		if err := fn(fd, piece); err != nil {
			return err
		}
	}
	return nil
}

// Figures are the measurements that only the worker has.
type Figures struct {
	Read, Written, Memory int64 // bytes
	Files                 int   // the most open at once
	Input                 int64 // bytes
}

// ReadFigures reads figures.
func ReadFigures(u *jsx.Unpacker) Figures {
	return Figures{Read: u.Int(), Written: u.Int(), Memory: u.Int(), Files: int(u.U32()), Input: u.Int()}
}

// ReadFailure reads the rest of a message of the kind Failed or Stopped.
func ReadFailure(u *jsx.Unpacker) (code, message string, f Figures, err error) {
	code, message, f = u.String(), u.String(), ReadFigures(u)
	return code, message, f, u.Close()
}

// AskKind is the kind of a request.
type AskKind byte

const (
	AskDir  AskKind = 1 // the names in a folder
	AskFile AskKind = 2 // the bytes of a file
	AskFunc AskKind = 7 // a host function. The path is JSON: [module, name, [arguments]]
)

// Ask is a request of the program.
type Ask struct {
	ID    uint32
	Kind  AskKind
	Mount int
	Path  string
}

// ReadAsk reads the rest of a message of the kind Asked.
func ReadAsk(u *jsx.Unpacker) (Ask, error) {
	a := Ask{u.U32(), AskKind(u.U8()), int(u.U8()), u.String()}
	return a, u.Close()
}

// ReadText reads the rest of a message of the kind Returned or Compiled.
func ReadText(u *jsx.Unpacker) (string, error) {
	s := u.String()
	return s, u.Close()
}

// ChangeKind is the kind of a change.
type ChangeKind byte

const (
	Remove ChangeKind = 1 + iota
	RemoveDir
	MakeDir
	Write   // bytes
	Rename  // string: the new path
	Symlink // string: the path that it holds
	Link    // string: another name of the same file
)

// Change is one change that a program made in a mount.
type Change struct {
	Kind  ChangeKind
	Mount int
	Path  string
	Data  []byte // of a Write, in the memory of the message
	To    string // of a Rename, a Symlink or a Link
}

// ReadChanges reads the rest of a message of the kind Exited, behind the figures.
func ReadChanges(u *jsx.Unpacker) ([]Change, error) {
	list := make([]Change, u.Count(6))
	for i := range list {
		c := Change{Kind: ChangeKind(u.U8()), Mount: int(u.U8()), Path: u.String()}
		switch c.Kind {
		case Write:
			c.Data = u.Bytes()
		case Rename, Symlink, Link:
			c.To = u.String()
		case Remove, RemoveDir, MakeDir:
		default:
			return nil, fmt.Errorf("a change of kind %d", c.Kind)
		}
		if u.Err() != nil {
			return nil, u.Err()
		}
		list[i] = c
	}
	return list, u.Close()
}
