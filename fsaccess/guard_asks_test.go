package fsaccess

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/protocol"
)

// A file about which the user is asked does not exist before the answer, not even empty. A
// refusal leaves no trace. Both hold for every way to write the file.
func TestGuardAsksBeforeAnythingIsThere(t *testing.T) {
	script := []byte("#!/bin/sh\n")
	ways := map[string]func(f FS) error{
		"WriteFile": func(f FS) error { return f.WriteFile("start.sh", script, 0o644) },
		"Create": func(f FS) error {
			h, err := f.Create("start.sh")
			if err != nil {
				return err
			}
			_, err = h.(core.File).Write(script)
			return errors.Join(err, h.Close())
		},
		"append": func(f FS) error {
			h, err := f.OpenFile("start.sh", os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o644)
			if err != nil {
				return err
			}
			_, err = h.(core.File).Write(script)
			return errors.Join(err, h.(core.File).Sync(), h.Close())
		},
		"large": func(f FS) error {
			h, err := f.Create("start.sh")
			if err != nil {
				return err
			}
			piece := bytes.Repeat(script, 100_000)
			for range 40 { // more than is looked at, and more than is staged
				if _, werr := h.(core.File).Write(piece); werr != nil {
					err = werr
					break
				}
			}
			if cerr := h.Close(); err == nil {
				err = cerr
			}
			return err
		},
		"copy": func(f FS) error {
			m := NewMemory(MemoryOptions{})
			return errors.Join(m.WriteFile("x", script, 0o644), Copy(context.Background(), f, "start.sh", m, "x", CopyOptions{}))
		},
	}
	for source, empty := range sources(t) {
		for way, write := range ways {
			if way == "large" && runtime.GOOS == "js" && testing.Short() && source != "opfs" {
				continue
			}
			for _, answer := range []bool{true, false} {
				t.Run(fmt.Sprint(source, " ", way, " ", answer), func(t *testing.T) { asksFirst(t, empty, write, answer, false) })
				t.Run(fmt.Sprint("journal over ", source, " ", way, " ", answer), func(t *testing.T) { asksFirst(t, empty, write, answer, true) })
			}
		}
	}
}

func asksFirst(t *testing.T, empty func(testing.TB) FS, write func(FS) error, yes, journaled bool) {
	low := empty(t)
	asked, first := 0, 0
	nothing := func() {
		if list, err := low.ReadDir("."); err != nil || len(list) != 0 {
			t.Errorf("while it is asked there is %v, %v", list, err)
		}
	}
	o := GuardOptions{
		Ask: func(context.Context, Question) (bool, error) { asked++; nothing(); return yes, nil },
		AskFirst: func(_ context.Context, q Question) (bool, error) {
			first++
			nothing()
			if q.Op != "create" {
				t.Errorf("asked to %s", q.Op)
			}
			return true, nil
		},
	}
	var f FS = Guard(low, protocol.FSPolicy{AllowWrite: patterns(t, "**")}, o)
	var j *Journal
	if journaled {
		j = NewJournal(f, NewMemory(MemoryOptions{}), JournalOptions{})
		f = j
	}
	err := write(f)
	if asked != 1 && yes || asked == 0 || (err == nil) != yes {
		t.Errorf("asked %d times, %v", asked, err)
	}
	if first != 1 {
		t.Errorf("asked %d times whether a file may be made", first)
	}
	list, err := low.ReadDir(".")
	if err != nil || (len(list) == 1) != yes {
		t.Errorf("afterwards there is %v, %v", list, err)
	}
	if journaled {
		h, err := j.History(context.Background())
		if err != nil || (len(h) == 1) != yes {
			t.Errorf("the journal has %v, %v", h, err)
		}
	}
}

// A question shows the whole content that would be written.
func TestQuestionDiff(t *testing.T) {
	q := Question{Op: "write", Path: "d/run.sh", Kind: KindScript, Content: []byte("#!/bin/sh\nrm -r .\n")}
	text, err := q.Diff(t.Context())
	if want := "--- /dev/null\n+++ b/d/run.sh\n@@ -0,0 +1,2 @@\n+#!/bin/sh\n+rm -r .\n"; err != nil || text != want {
		t.Errorf("%q, %v", text, err)
	}
}
