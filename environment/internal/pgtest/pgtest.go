//go:build unix

// Package pgtest runs a PostgreSQL server for tests. It is for tests only.
package pgtest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Server is a PostgreSQL server on a socket in a folder of its own, and on a port of loopback.
type Server struct {
	dir  string
	bin  string
	port int
	cred *syscall.Credential
	made atomic.Int64
}

var (
	started atomic.Pointer[Server]
	one     = sync.OnceValues(start)
)

// Main calls run, which runs the tests, and ends the server, if a test started it.
func Main(run func() int) int {
	defer func() {
		if s := started.Load(); s != nil {
			_ = s.Control("stop", "-m", "immediate")
			_ = os.RemoveAll(s.dir)
		}
	}()
	return run()
}

// Start returns the server of this test binary. On a machine without PostgreSQL it skips the test.
func Start(t testing.TB) *Server {
	t.Helper()
	s, err := one()
	if errors.Is(err, errMissing) {
		t.Skipf("NOT TESTED: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Database makes a new database, and returns the two addresses of it: by the socket and by loopback.
func (s *Server) Database(t testing.TB) (socket, loopback string) {
	t.Helper()
	name := fmt.Sprint("test", s.made.Add(1))
	address := func(name string) string {
		return fmt.Sprintf("postgres:///%s?user=bailey&host=%s&port=%d", name, s.dir, s.port)
	}
	do(t, address("postgres"), "create database "+name)
	return address(name), fmt.Sprintf("postgres://bailey@127.0.0.1:%d/%s", s.port, name)
}

// errMissing is the error of a machine without a server.
var errMissing = errors.New("there is no PostgreSQL (Debian: apt-get install postgresql)")

func start() (*Server, error) {
	s := &Server{}
	places, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if at, err := exec.LookPath("initdb"); err == nil {
		places = append(places, filepath.Dir(at))
	}
	if len(places) == 0 {
		return nil, errMissing
	}
	s.bin = places[len(places)-1]
	if os.Getuid() == 0 { // the server does not run as root
		u, err := user.Lookup("postgres")
		if err != nil {
			return nil, errMissing
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		s.cred = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	var err error
	if s.dir, err = os.MkdirTemp("/tmp", "sessions-"); err != nil { // a socket's path is at most 107 bytes
		return nil, err
	}
	if s.cred != nil {
		if err := os.Chown(s.dir, int(s.cred.Uid), int(s.cred.Gid)); err != nil {
			return nil, err
		}
	}
	if err := s.run("initdb", "-D", s.dir+"/data", "-U", "bailey", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free
	if err != nil {
		return nil, err
	}
	s.port = l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	started.Store(s)
	return s, s.Control("start")
}

// Control runs pg_ctl, such as with stop or start, and waits for its end.
func (s *Server) Control(args ...string) error {
	return s.run("pg_ctl", append(args, "-w", "-D", s.dir+"/data", "-l", s.dir+"/log", "-o", fmt.Sprintf("-c listen_addresses=127.0.0.1 -c port=%d -c unix_socket_directories=%s -c fsync=off", s.port, s.dir))...)
}

func (s *Server) run(program string, args ...string) error {
	cmd := exec.Command(filepath.Join(s.bin, program), args...)
	cmd.Dir, cmd.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: s.cred}
	out, err := cmd.CombinedOutput()
	if err != nil {
		log, _ := os.ReadFile(s.dir + "/log")
		return fmt.Errorf("%s: %w\n%s%s", program, err, out, log)
	}
	return nil
}

// Cut ends all connections to a database.
func Cut(t testing.TB, address string) {
	t.Helper()
	do(t, address, "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()")
}

func do(t testing.TB, address, query string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), address)
	if err == nil {
		_, err = c.Exec(t.Context(), query)
		err = errors.Join(err, c.Close(t.Context()))
	}
	if err != nil {
		t.Fatal(err)
	}
}
