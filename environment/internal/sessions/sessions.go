// Package sessions opens the store of a box's sessions by an address. A box on a server keeps its sessions
// outside of itself, so that another one can go on with them.
package sessions

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// A Store is a store of sessions that is closed after use.
type Store interface {
	sandbox.Store
	// Close gives the connections back. A session that is still locked is free for others 30 s later.
	Close()
}

// Open opens the store at an address, see Options.Sessions of package computer.
func Open(ctx context.Context, address string) (Store, error) {
	switch kind, dir, err := split(address); {
	case err != nil:
		return nil, err
	case kind == inMemory:
		return unclosed{sandbox.MemoryStore()}, nil
	case kind == inDatabase:
		return openPostgres(ctx, address)
	case kind == inBucket:
		return openObjects(ctx, address)
	default:
		return folder(dir)
	}
}

// Reach returns what a process needs to reach the store at an address: a folder to change, without links, and
// TCP ports to connect to. It opens nothing.
func Reach(address string) (folder string, ports []uint16, err error) {
	kind, dir, err := split(address)
	switch {
	case err != nil || kind == inMemory:
		return "", nil, err
	case kind == inDatabase:
		config, err := parse(address)
		if err != nil {
			return "", nil, err
		}
		return "", portsOf(config), nil
	case kind == inBucket:
		p, err := placeOf(address)
		if err != nil {
			return "", nil, err
		}
		return "", []uint16{p.port}, nil
	}
	if dir, err = filepath.Abs(dir); err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", nil, fmt.Errorf("sessions: %w", err)
	}
	return dir, nil, nil
}

const (
	inFolder = iota
	inMemory
	inDatabase
	inBucket
)

func split(address string) (kind int, dir string, err error) {
	scheme, rest, ok := strings.Cut(address, ":")
	switch {
	case address == "":
		return 0, "", errors.New("sessions: the address is empty: want a folder, memory:, postgres://user@host/database or s3://bucket/prefix")
	case address == "memory:":
		return inMemory, "", nil
	case ok && (scheme == "postgres" || scheme == "postgresql"):
		return inDatabase, "", nil
	case ok && scheme == "s3":
		return inBucket, "", nil
	case ok && scheme == "file":
		return inFolder, strings.TrimPrefix(rest, "//"), nil
	case strings.Contains(address, "://"):
		return 0, "", fmt.Errorf("sessions: no store has addresses with %s: want a folder, memory:, postgres://user@host/database or s3://bucket/prefix", scheme)
	}
	return inFolder, address, nil
}

func folder(dir string) (Store, error) {
	fsys, err := fsaccess.OpenDir(dir, fsaccess.DirOptions{})
	if err != nil {
		return nil, fmt.Errorf("sessions: %w", err)
	}
	return unclosed{sandbox.FolderStore(fsys)}, nil
}

// unclosed is a store without connections.
type unclosed struct{ sandbox.Store }

func (unclosed) Close() {}

// leases are the sessions that a store holds.
type leases struct {
	lease time.Duration

	mu   sync.Mutex
	held map[string]string // session → the holder in the store that this one is
}

func newLeases() leases { return leases{lease: 30 * time.Second, held: map[string]string{}} }

// holder returns the holder that this store is of a session, or none.
func (l *leases) holder(id string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held[id]
}

// elsewhere is the error of a session that another program holds.
func (l *leases) elsewhere(id string) error {
	return protocol.Errorf(protocol.ErrSession, "session", id, "the session is open elsewhere; close it there, or fork it. The session of a program that died is free after %v", l.lease)
}

// taken is the error of a change of a session that this store held once.
func (l *leases) taken(id string) error {
	return protocol.Errorf(protocol.ErrSession, "session", id, "another program has opened the session, because this one did not reach the store for %v; open it again", l.lease)
}

// hold renews a lease, until the function that it returns is called. That one gives it back by free. renew reports
// whether another one has the lease. A renewal that fails is tried again with the next one, and what comes after the
// loss of a lease is refused by each change.
func (l *leases) hold(ctx context.Context, id, holder string, renew func(context.Context) (lost bool), free func(context.Context)) func() {
	l.mu.Lock()
	l.held[id] = holder
	l.mu.Unlock()
	ctx = context.WithoutCancel(ctx)
	renewing, stop := context.WithCancel(ctx)
	var end sync.WaitGroup
	end.Go(func() {
		tick := time.NewTicker(l.lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-renewing.Done():
				return
			case <-tick.C:
			}
			limited, cancel := context.WithTimeout(renewing, l.lease/3)
			lost := renew(limited)
			cancel()
			if lost {
				return
			}
		}
	})
	return sync.OnceFunc(func() {
		stop()
		end.Wait()
		l.mu.Lock()
		if l.held[id] == holder {
			delete(l.held, id)
		}
		l.mu.Unlock()
		ctx, cancel := context.WithTimeout(ctx, l.lease)
		defer cancel()
		free(ctx) // without it the session is free after the lease
	})
}
