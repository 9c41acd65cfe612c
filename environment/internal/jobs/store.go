// Package jobs runs jobs on this machine: each has a folder of its own and a bailey-box in it, is created
// from a pool of waiting ones, fed from a snapshot, and thrown away. What must outlive a job is in a [Store]
// outside of it: its messages, and a snapshot of its folder from before each of them. A job that died is
// created again from the last one.
//
// The package trusts bailey-box's program and the store. It trusts no job: a job has limits, and what it left
// in its folder is read without following links.
package jobs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Entry is a message of the user to a job, or the end of its work for a while.
type Entry struct {
	N       int    `json:"n"` // from 1
	Message string `json:"message"`
	Tree    string `json:"tree"` // the snapshot of the folder from before the message, or from the pause
	// State is the snapshot of the sessions of the job's bailey-box from the same time. It is empty in entries that are
	// older than it.
	State string `json:"state,omitempty"`
	// Paused reports that all work was stored and nothing has come since, see [Job.Pause] and [Job.Checkpoint]. There
	// is no message then.
	Paused bool `json:"paused,omitempty"`
	// Files reports that the folder is one that the client copied in. Paused is set too.
	Files bool `json:"files,omitempty"`
}

// A Store keeps what outlives a job. It is safe for concurrent use by several processes.
type Store interface {
	// Put stores a content of a job and returns its SHA-256 in hex, by which Get returns it. Equal ones of a job are
	// stored once. Jobs share none, so a content is removed with its job, and its sum opens it for no other one.
	Put(ctx context.Context, job string, data []byte) (sum string, err error)
	// Get returns a content. A damaged one is an error, and that of a missing one wraps [fs.ErrNotExist].
	Get(ctx context.Context, job, sum string) ([]byte, error)
	// Append stores the next entry of a job. If there is an entry of this number, or another one has the lock of the
	// job, nothing is stored and the error wraps [ErrConflict]. If the one before it is missing, it is an error too.
	Append(ctx context.Context, job string, e Entry) error
	// Entries returns the entries of a job in order. A job without any has none.
	Entries(ctx context.Context, job string) ([]Entry, error)
	// Lock reserves a job until unlock is called, or 30 s after the calling program died. If another one has it, the
	// error wraps [ErrHeld].
	Lock(ctx context.Context, job string) (unlock func(), err error)
	// Jobs returns the names of the jobs of a group with entries or contents, in order. The group of a job is its name
	// up to the first hyphen.
	Jobs(ctx context.Context, group string) ([]string, error)
	// Delete removes a job with all of its contents. It returns no error if there is none.
	Delete(ctx context.Context, job string) error
}

// Errors of stores. The first is that of an entry that somebody else stored first, the second that of a lock that
// somebody else has.
var (
	ErrConflict = errors.New("jobs: another one stored this entry first: read the entries again")
	ErrHeld     = errors.New("jobs: another one works on this job: try again when its run has ended")
)

var (
	jobName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)
	sumName = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

func checkEntry(job string, e Entry) error {
	if err := checkName(job); err != nil {
		return err
	}
	if e.N < 1 || e.N > 1_000_000 || !sumName.MatchString(e.Tree) || e.State != "" && !sumName.MatchString(e.State) {
		return fmt.Errorf("jobs: entry %d of %s: the number must be 1 to 1,000,000, and tree and state a SHA-256 in hex", e.N, job)
	}
	return nil
}

func checkName(job string) error {
	if !jobName.MatchString(job) {
		return fmt.Errorf("jobs: %q is no name of a job: it needs 1 to 64 lower-case letters, digits and hyphens", job)
	}
	return nil
}

// groupOf returns the group of a job.
func groupOf(job string) string {
	group, _, _ := strings.Cut(job, "-")
	return group
}

// Folder returns a store in a folder of this machine. Its lock is the kernel's (flock), and ends with the process.
func Folder(dir string) (Store, error) {
	for _, d := range []string{"jobs", "locks"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			return nil, fmt.Errorf("jobs: %w", err)
		}
	}
	return folder(dir), nil
}

type folder string

func (f folder) at(job, sum string) string {
	return filepath.Join(string(f), "jobs", job, "content", sum[:2], sum)
}

// write writes a file whole or not at all. It is an error that wraps fs.ErrExist if there is one of the name.
func write(name string, data []byte) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	t, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(t.Name())
	_, err = t.Write(data)
	if err == nil {
		err = t.Sync()
	}
	if err = errors.Join(err, t.Close()); err != nil {
		return err
	}
	return os.Link(t.Name(), name) // unlike a move, it replaces nothing
}

func (f folder) Put(_ context.Context, job string, data []byte) (string, error) {
	if err := checkName(job); err != nil {
		return "", err
	}
	h := sha256.Sum256(data)
	sum := hex.EncodeToString(h[:])
	old, err := os.ReadFile(f.at(job, sum))
	if err == nil && bytes.Equal(old, data) {
		return sum, nil
	}
	if err == nil { // a damaged one
		if err := os.Remove(f.at(job, sum)); err != nil {
			return "", err
		}
	}
	if err := write(f.at(job, sum), data); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return sum, nil
}

func (f folder) Get(_ context.Context, job, sum string) ([]byte, error) {
	if err := checkName(job); err != nil {
		return nil, err
	}
	if !sumName.MatchString(sum) {
		return nil, fmt.Errorf("jobs: %q is no SHA-256 in hex", sum)
	}
	data, err := os.ReadFile(f.at(job, sum))
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	if h := sha256.Sum256(data); hex.EncodeToString(h[:]) != sum {
		return nil, fmt.Errorf("jobs: the content %s is damaged", sum)
	}
	return data, nil
}

func (f folder) entry(job string, n int) string {
	return filepath.Join(string(f), "jobs", job, strconv.Itoa(n)+".json")
}

func (f folder) Append(_ context.Context, job string, e Entry) error {
	if err := checkEntry(job, e); err != nil {
		return err
	}
	if e.N > 1 {
		if _, err := os.Stat(f.entry(job, e.N-1)); err != nil {
			return fmt.Errorf("jobs: entry %d of %s: the one before it is missing: %w", e.N, job, err)
		}
	}
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	err = write(f.entry(job, e.N), data)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w (entry %d of %s)", ErrConflict, e.N, job)
	}
	return err
}

func (f folder) Entries(_ context.Context, job string) (out []Entry, err error) {
	if err := checkName(job); err != nil {
		return nil, err
	}
	for n := 1; ; n++ {
		data, err := os.ReadFile(f.entry(job, n))
		if errors.Is(err, fs.ErrNotExist) {
			return out, nil
		}
		var e Entry
		if err == nil {
			err = json.Unmarshal(data, &e)
		}
		if err != nil || e.N != n {
			return nil, fmt.Errorf("jobs: entry %d of %s is damaged: %v", n, job, err)
		}
		out = append(out, e)
	}
}

// Jobs implements [Store].
func (f folder) Jobs(_ context.Context, group string) (out []string, err error) {
	list, err := os.ReadDir(filepath.Join(string(f), "jobs"))
	for _, e := range list {
		if name := e.Name(); jobName.MatchString(name) && groupOf(name) == group {
			out = append(out, name)
		}
	}
	return out, err
}

// Delete implements [Store]. The folder gets another name first, so that no other program finds a part of a job.
func (f folder) Delete(_ context.Context, job string) error {
	if err := checkName(job); err != nil {
		return err
	}
	gone, err := os.MkdirTemp(filepath.Join(string(f), "jobs"), ".gone-*")
	if err != nil {
		return err
	}
	err = os.Rename(filepath.Join(string(f), "jobs", job), filepath.Join(gone, "job"))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, os.RemoveAll(gone))
}
