// Bailey-box serves a folder of this machine to one user, as a box: over the Model Context Protocol and
// as UI message streams, on a Unix socket or on loopback. See package daemon for the addresses.
//
//	bailey-box -dir notes -policy policy.json -tools build/tools -engine node_modules/quickjs-wasi/quickjs.wasm
//
// It prints one line of JSON with its address and the credential of this launch. Before its first request it
// puts itself into a sandbox: it can then reach the folder, its own files and the web's ports, and nothing
// else of the machine. With -model it answers /chat; the key is in the variable BAILEY_KEY.
//
// With -origin https://app.example the pages of that origin may use it too, at 127.0.0.1:8730 by default. They need the
// credential, so the user gives them the printed line. Without -dir, or with an empty one, the folder is for files that are
// copied in, and their changes are taken by the client: the user's own files are not touched.
//
// With -state the sessions outlive it: in a folder, or in a PostgreSQL database that several machines share (see
// computer.Options.Sessions). Its line then has the id with which another bailey-box goes on: -session ID.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/bailey-go/bailey/environment/computer"
	"github.com/bailey-go/bailey/environment/internal/daemon"
	"github.com/bailey-go/bailey/environment/internal/listen"
	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/chat"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/provider"
)

func main() {
	computer.Main()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bailey-box:", err)
		os.Exit(1)
	}
}

// hello is the line that bailey-box prints when it serves.
type hello struct {
	Address    string `json:"address"` // unix:PATH or http://127.0.0.1:PORT
	Credential string `json:"credential"`
	Session    string `json:"session"` // its id, for -session, or empty with -session latest
	Confined   bool   `json:"confined"`
	// Notes are the protections and savings that this machine does not have.
	Notes []string `json:"notes,omitempty"`
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("bailey-box", flag.ContinueOnError)
	dir := flags.String("dir", "", "the folder; the default with -origin is a new one, which is removed at the end")
	var origins []string
	flags.Func("origin", "an origin whose pages may use this box, such as https://app.example; may be given several times", func(origin string) error {
		origins = append(origins, origin)
		return daemon.CheckOrigin(origin)
	})
	file := flags.String("policy", "", "the policy, a JSON file outside of the folder")
	tools := flags.String("tools", "", "the folder with the WASI programs that make tools builds")
	engine := flags.String("engine", "", "quickjs.wasm of quickjs-wasi 3.6.2, for code_run")
	state := flags.String("state", "", "where the sessions are: a folder, a database as postgres://user@host/name with its password in PGPASSWORD, or a bucket as s3://bucket/prefix with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; without it they are in memory")
	earlier := flags.String("session", "", "the id of a session in -state to go on with; the default is a new one. With latest, the first request opens the one that changed last, or a new one")
	at := flags.String("listen", "", "unix:PATH or 127.0.0.1:PORT; the default is a socket in a new folder of its own, or "+pagesAt+" with -origin")
	cache := flags.String("cache", "", "a folder for compiled programs; the default is one of this user, and none compiles them at each start")
	outside := flags.Bool("outside", false, "the box runs in a sandbox of its own already, such as a pod with gVisor, which has no Landlock: it does not make one for itself. A program of the machine still needs one, or it does not start")
	model := flags.String("model", "", "a model that speaks Chat Completions, as name@https://host/path")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *dir == "" && len(origins) == 0 || *file == "" || flags.NArg() > 0 {
		return errors.New("-dir (or -origin) and -policy are needed, and no further arguments")
	}
	text, err := os.ReadFile(*file)
	if err != nil {
		return err
	}
	p, err := policy.Parse(string(text), policy.Options{})
	if err != nil {
		return err
	}
	base, err := os.MkdirTemp("", "bailey-box-")
	if err == nil {
		base, err = filepath.EvalSymlinks(base)
	}
	if err == nil {
		err = errors.Join(os.Chmod(base, 0o711), os.Mkdir(filepath.Join(base, "tmp"), 0o711))
	}
	if err != nil {
		return err
	}
	if *dir == "" {
		*dir = filepath.Join(base, "files")
		if err := os.Mkdir(*dir, 0o700); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, empty(*dir)) }()
	}
	for _, path := range []*string{dir, tools, engine} {
		if *path == "" {
			continue
		}
		if *path, err = filepath.Abs(*path); err == nil {
			*path, err = filepath.EvalSymlinks(*path)
		}
		if err != nil {
			return err
		}
	}
	if rel, err := filepath.Rel(*dir, *file); err == nil && filepath.IsLocal(rel) {
		return errors.New("-policy is a file in the folder, where a model could change it: move it elsewhere")
	}
	before, err := os.ReadDir(*dir)
	if err != nil {
		return err
	}
	asker := &chat.Asker{}
	o := computer.Options{Dir: *dir, Tools: *tools, Engine: *engine, Cache: *cache, Sessions: *state, Box: sandbox.Options{Policy: p, Ask: asker}}
	d := daemon.Options{Asker: asker, Credential: daemon.NewCredential(), Origins: origins}
	if *model != "" {
		name, server, ok := strings.Cut(*model, "@")
		if !ok {
			return errors.New("-model must be name@https://host/path")
		}
		if o.Ports, err = ports(server); err != nil {
			return err
		}
		d.Model = provider.OpenAIChat(provider.Options{Key: os.Getenv("BAILEY_KEY"), Model: name, URL: server, Transport: transport{}})
	}
	_ = os.Unsetenv("BAILEY_KEY")
	// The socket's mode lets nobody else connect.
	usual := "unix:" + filepath.Join(base, "box.sock")
	if len(origins) > 0 {
		usual = pagesAt
	}
	l, address, err := listen.On(cmp.Or(*at, usual), 0o600)
	if err != nil {
		return err
	}
	// From here on nothing else of the machine can be reached, before any byte of a client is read.
	if !*outside {
		if o, err = o.SandboxSelf(filepath.Join(base, "tmp")); err != nil {
			return errors.Join(err, l.Close())
		}
		d.Walls = walls
	}
	for _, secret := range []string{"PGPASSWORD", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"} {
		_ = os.Unsetenv(secret)
	}
	folder, err := fsaccess.OpenDir(*dir, fsaccess.DirOptions{})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	o.Box.FS = fsaccess.NewJournal(folder, fsaccess.NewMemory(fsaccess.MemoryOptions{}), fsaccess.JournalOptions{})
	c, err := computer.New(o)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	var mu sync.Mutex
	var opened *sandbox.Session // the last one, as the daemon closes those before
	defer func() {
		mu.Lock()
		defer mu.Unlock()
		if opened != nil {
			opened.Close()
		}
	}()
	open := func(ctx context.Context, id string) (*sandbox.Session, error) {
		s, err := func() (*sandbox.Session, error) {
			if id == "latest" {
				id = ""
				list, err := c.Box.Sessions(ctx)
				if err != nil {
					return nil, err
				}
				if len(list) > 0 {
					id = list[0].ID
				}
			}
			if id != "" {
				return c.Box.OpenSession(ctx, id)
			}
			return c.Box.NewSession(ctx, sandbox.SessionOptions{Workspace: filepath.Base(*dir)})
		}()
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			opened = s
		}
		return s, err
	}
	d.Box, d.Lacks = c.Box, c.Notes()
	if *outside {
		d.Lacks = append(slices.Clip(d.Lacks), "the box has no sandbox of its own, but the one around it (-outside)")
	}
	if len(before) == 0 { // a folder with files is the user's own, and is never replaced
		d.Files = folder
		d.Begin = func(ctx context.Context) (*sandbox.Session, error) { return open(ctx, "") }
	}
	id := ""
	if *earlier == "latest" {
		d.Open = func(ctx context.Context) (*sandbox.Session, error) { return open(ctx, *earlier) }
	} else {
		if d.Session, err = open(ctx, *earlier); err != nil {
			return errors.Join(err, l.Close())
		}
		id = d.Session.ID()
	}
	handler, err := daemon.New(d)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10, BaseContext: func(net.Listener) context.Context { return ctx }}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	line, err := json.Marshal(hello{address, d.Credential, id, !*outside, c.Notes()})
	if err == nil {
		_, err = out.Write(append(line, '\n'))
	}
	if err != nil {
		return errors.Join(err, l.Close())
	}
	if len(origins) > 0 {
		fmt.Fprintln(os.Stderr, "bailey-box: paste the line above into the page, and keep this program running")
	}
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// pagesAt is where pages find the box. Their headers name it, so it is the same at each start.
const pagesAt = "127.0.0.1:8730"

// walls are the protections around the process once SandboxSelf has returned.
var walls = []daemon.Wall{
	{Name: "Landlock", How: "this box changes its own folder alone, reads the system's programs beside it, and connects to the web's ports alone"},
	{Name: "seccomp", How: "this box and its programs make no raw connection, and no call of the system that is not theirs"},
	{Name: "Network proxy", How: "a program of the machine connects only to hosts that this box's policy names"},
}

// empty removes all that is in a folder. The folder itself is in one that the sandbox does not let be changed.
func empty(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	f, err := root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	for _, name := range names {
		err = errors.Join(err, root.RemoveAll(name))
	}
	return err
}

// ports returns the TCP port of a model's server, which the sandbox must let through.
func ports(address string) ([]uint16, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("-model must be name@https://host/path")
	}
	if u.Port() == "" {
		return nil, nil
	}
	n, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil {
		return nil, fmt.Errorf("-model: the port %s is no number up to 65535", u.Port())
	}
	return []uint16{uint16(n)}, nil
}

// transport sends the requests to the model.
type transport struct{}

func (transport) Do(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
	req, err := http.NewRequestWithContext(ctx, r.Method, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	for k, v := range r.Header {
		req.Header.Set(k, v)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	header := map[string]string{}
	for k := range resp.Header {
		header[strings.ToLower(k)] = resp.Header.Get(k)
	}
	return &fetch.Response{Status: resp.StatusCode, Header: header, Body: resp.Body}, nil
}
