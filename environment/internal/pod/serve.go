package pod

import (
	"bufio"
	"context"
	"crypto/subtle"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/bailey-go/bailey/environment/internal/jobs"
)

// ServeOptions configure [Serve]. All of them are required.
type ServeOptions struct {
	// Listen listens at the pod's address. It is called when bailey-box serves, so a pod that takes connections is ready.
	Listen func() (net.Listener, error)
	// Front is the sum of the key of the front ends, see [Key.Sum].
	Front string
	// Jobs are the command of bailey-box and a folder, which is emptied: a container that began again has nobody's files.
	Jobs jobs.Options

	off bool // another key is let through, for a test
}

var sumForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Serve starts a bailey-box and serves it to the front ends until ctx ends. If bailey-box ends before its launch, Serve
// returns an error. Afterwards it serves the folder, until ctx ends.
func Serve(ctx context.Context, o ServeOptions) (err error) {
	if !sumForm.MatchString(o.Front) {
		return fmt.Errorf("pod: the sum of the key of the front ends is %q: want 64 digits in hex", o.Front)
	}
	old, err := filepath.Glob(filepath.Join(o.Jobs.Dir, "job-*"))
	for _, dir := range old {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	if err != nil {
		return fmt.Errorf("pod: the folder of jobs: %w", err)
	}
	place, err := jobs.Start(ctx, o.Jobs)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, place.Close()) }()
	cert, err := NewKey().certificate()
	if err != nil {
		return err
	}
	s := &server{place: place, launched: make(chan struct{}), sent: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /launch", s.launch)
	mux.HandleFunc("POST /restore", s.launches(s.restore))
	mux.HandleFunc("POST /save", s.launches(s.save))
	mux.HandleFunc("POST /halt", s.launches(s.halt))
	mux.HandleFunc("GET /ended", s.launches(s.ended))
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10, ErrorLog: log.New(io.Discard, "", 0) /* of the kubelet's probes */, TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){
		protocolBox: func(_ *http.Server, c *tls.Conn, _ http.Handler) { s.box(ctx, c) },
	}}
	conf := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13, ClientAuth: tls.RequireAnyClientCert, NextProtos: []string{protocolJob, protocolBox},
		SessionTicketsDisabled: true, VerifyConnection: func(state tls.ConnectionState) error {
			if state.NegotiatedProtocol == "" {
				return errors.New("pod: the other end speaks no protocol of a pod")
			}
			if o.off {
				return nil
			}
			return is(state, o.Front)
		}}
	l, err := o.Listen()
	if err != nil {
		return fmt.Errorf("pod: %w", err)
	}
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(tls.NewListener(l, conf)) }()
	defer web.Close()
	ended := place.Ended()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-failed:
			return err
		case <-ended:
			select {
			case <-s.launched: // the front end may save the folder
				ended = nil
			default:
				return errors.New("pod: bailey-box ended before its launch")
			}
		}
	}
}

// server has what the requests share.
type server struct {
	place    *jobs.Process
	launched chan struct{}

	mu   sync.Mutex // one request at a time, but for /ended
	once bool
	sent map[string]bool // the contents that the front end has
}

func answer(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, "{}\n")
}

func (s *server) launch(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.once {
		http.Error(w, "the job was launched already", http.StatusConflict)
		return
	}
	s.once = true
	close(s.launched)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"credential": s.place.Credential()})
}

// launches lets the requests of the front end through that launched the job.
func (s *server) launches(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-s.launched:
		default:
			http.Error(w, "the job is not launched", http.StatusConflict)
			return
		}
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+s.place.Credential())) != 1 {
			http.Error(w, "the credential is not that of this launch", http.StatusUnauthorized)
			return
		}
		next(w, r)
	}
}

func (s *server) restore(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := bufio.NewReaderSize(r.Body, maxLine)
	folder, state := s.place.Folders()
	for {
		i, data, err := readItem(b)
		if err == nil && i.Tree == treeEnd {
			answer(w, nil)
			return
		}
		if err == nil {
			to := folder
			if i.Tree == treeState {
				to = state
			}
			if err = i.Node.Write(to, data); err == nil && i.Node.Sum != "" {
				s.sent[i.Node.Sum] = true
			}
		}
		if err != nil {
			answer(w, err)
			return
		}
	}
}

// save sends the folder and the sessions. With the query all it sends each content, also one that it has sent before.
func (s *server) save(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.URL.Query().Has("all") {
		clear(s.sent)
	}
	b := bufio.NewWriterSize(w, 64<<10)
	folder, state := s.place.Folders()
	for tree, dir := range []*os.Root{folder, state} {
		if err := jobs.Walk(r.Context(), dir, func(n jobs.Node, data []byte) error {
			i := item{tree, n, int64(len(data))}
			if n.Sum != "" && s.sent[n.Sum] {
				i.Size = -1
			}
			s.sent[n.Sum] = true
			return i.write(b, data)
		}); err != nil {
			_ = b.Flush()
			panic(http.ErrAbortHandler) // without an end, so the front end stores nothing
		}
	}
	if (item{Tree: treeEnd}).write(b, nil) != nil || b.Flush() != nil {
		panic(http.ErrAbortHandler)
	}
}

func (s *server) halt(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer(w, s.place.Halt())
}

// ended answers when bailey-box has ended.
func (s *server) ended(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusOK)
	if http.NewResponseController(w).Flush() != nil {
		return
	}
	select {
	case <-s.place.Ended():
	case <-r.Context().Done():
	}
}

// box passes a connection on to bailey-box, which wants its credential.
func (s *server) box(ctx context.Context, c *tls.Conn) {
	defer c.Close()
	out, err := s.place.Dial(ctx)
	if err != nil {
		return
	}
	defer out.Close()
	defer context.AfterFunc(ctx, func() { c.Close(); out.Close() })()
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(out, c)
		if u, ok := out.(*net.UnixConn); ok {
			_ = u.CloseWrite()
		}
	})
	both.Go(func() {
		_, _ = io.Copy(c, out)
		_ = c.CloseWrite()
		_ = c.SetReadDeadline(time.Now().Add(time.Minute)) // bailey-box is done, and the front end closes soon
	})
	both.Wait()
}
