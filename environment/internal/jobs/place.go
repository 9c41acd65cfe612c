package jobs

import (
	"context"
	"net"
)

// A Place is where a job runs: a bailey-box with a folder, and a folder of its sessions. Its methods may be called at the
// same time, but for Restore, which comes before all others, and Save, which one caller calls at a time.
type Place interface {
	// Restore writes the folder and the sessions of an entry of the store, before the first use.
	Restore(ctx context.Context, s Store, job string, e Entry) error
	// Save stores the folder and the sessions, and returns their snapshots. It works after Halt too.
	Save(ctx context.Context, s Store, job string) (tree, state string, err error)
	// Dial connects to bailey-box.
	Dial(ctx context.Context) (net.Conn, error)
	// Credential is the one of this launch of bailey-box.
	Credential() string
	// Ended is closed when bailey-box has ended, by itself or not.
	Ended() <-chan struct{}
	// Halt ends bailey-box and all that it started, and keeps the folders.
	Halt() error
	// Close ends bailey-box and all that it started, and removes the folders. Further calls return what the first one did.
	Close() error
}

// A Source has places for jobs.
type Source interface {
	// Take returns a place that nobody has used, for a job of the given name. It waits for one until ctx ends.
	Take(ctx context.Context, name string) (Place, error)
	// Notes returns the limits that are missing, a sentence for each.
	Notes() []string
	// Walls returns the protections around each place, as far as they are known, for users.
	Walls() []Wall
	// Close removes all places.
	Close() error
}

// A Wall is a protection of a place, for users.
type Wall struct {
	Name string `json:"name"`
	How  string `json:"how"`
}

// PlaceError is an error of a source, such as a cluster without room. Its text is for an operator's log, and has nothing
// of a message, a file or a job.
type PlaceError struct{ Text string }

// Error returns the text.
func (e *PlaceError) Error() string { return "jobs: " + e.Text }
