package pod

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"sync"
	"time"

	"github.com/bailey-go/bailey/environment/internal/jobs"
)

// ConnectOptions configure [Connect]. Address, Key and Throw are required.
type ConnectOptions struct {
	Address string // of the pod, as IP:port
	Key     *Key
	// Throw removes the pod. It is called once, by Close, or by Connect if it fails.
	Throw func() error

	off bool // another pod at the address is taken for this one, for a test
}

// Place is a job in a pod, in the front end.
type Place struct {
	o          ConnectOptions
	cert       tls.Certificate
	web        *http.Client
	credential string
	ended      chan struct{}
	stop       context.CancelFunc
	thrown     func() error

	mu    sync.Mutex
	pod   string          // the sum of the pod's key, "" before the first connection
	known map[string]bool // the contents that are in the store
	all   bool            // the next save gets each content, as the last one failed
}

var _ jobs.Place = (*Place)(nil)

// The times of a connection that ends without a word, of a pod whose machine has lost its power.
var alive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 4}

// credentialForm is that of daemon.NewCredential.
var credentialForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Connect launches the job of a pod that nobody has launched. It tries once, and an error has removed the pod.
func Connect(ctx context.Context, o ConnectOptions) (_ *Place, err error) {
	p := &Place{o: o, ended: make(chan struct{}), known: map[string]bool{}, thrown: sync.OnceValue(o.Throw)}
	watch, stop := context.WithCancel(context.Background())
	p.stop = stop
	defer func() {
		if err != nil {
			stop()
			err = errors.Join(err, p.thrown())
		}
	}()
	if p.cert, err = o.Key.certificate(); err != nil {
		return nil, err
	}
	p.web = &http.Client{
		Transport: &http.Transport{DialTLSContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return p.dial(ctx, protocolJob) },
			DisableCompression: true, ResponseHeaderTimeout: 2 * time.Minute, MaxResponseHeaderBytes: 16 << 10, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	text, err := p.small(ctx, "/launch")
	if err != nil {
		return nil, err
	}
	var hello struct{ Credential string }
	if json.Unmarshal(text, &hello) != nil || !credentialForm.MatchString(hello.Credential) {
		return nil, errors.New("pod: the pod answered without a credential: its image is not that of a job")
	}
	p.credential = hello.Credential
	resp, err := p.do(watch, http.MethodGet, "/ended", nil)
	if err != nil {
		return nil, err
	}
	go func() {
		// The response has no bytes. It ends with bailey-box, its container, its pod or its machine.
		_, _ = io.CopyN(io.Discard, resp.Body, 1)
		resp.Body.Close()
		close(p.ended)
		p.web.CloseIdleConnections()
	}()
	return p, nil
}

// dial connects to the pod, and to no other one at its address.
func (p *Place) dial(ctx context.Context, protocol string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	d := tls.Dialer{NetDialer: &net.Dialer{KeepAliveConfig: alive}, Config: &tls.Config{
		Certificates: []tls.Certificate{p.cert}, MinVersion: tls.VersionTLS13, NextProtos: []string{protocol},
		InsecureSkipVerify: true, // the key of the first connection is expected, below, and no name is
		VerifyConnection: func(state tls.ConnectionState) error {
			if state.NegotiatedProtocol != protocol {
				return errors.New("pod: the pod speaks another protocol: its image has another version")
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.pod == "" || p.o.off {
				p.pod = sumOf(state)
			}
			return is(state, p.pod)
		}}}
	return d.DialContext(ctx, "tcp", p.o.Address)
}

// do sends a request, and returns a response with status 200.
func (p *Place) do(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, "https://pod"+path, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+p.credential)
	resp, err := p.web.Do(r)
	if err != nil {
		return nil, fmt.Errorf("pod: the job did not answer: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, fmt.Errorf("pod: the job answered %s with status %d", path, resp.StatusCode)
	}
	return resp, nil
}

// small sends a request with a short answer.
func (p *Place) small(ctx context.Context, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	resp, err := p.do(ctx, http.MethodPost, path, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	if err != nil {
		return nil, fmt.Errorf("pod: the job did not answer: %w", err)
	}
	return text, nil
}

// Restore implements [jobs.Place].
func (p *Place) Restore(ctx context.Context, s jobs.Store, job string, e jobs.Entry) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r, w := io.Pipe()
	sent := make(chan error, 1)
	var sums []string
	go func() {
		b := bufio.NewWriterSize(w, 64<<10)
		var err error
		for tree, sum := range []string{e.Tree, e.State} {
			var list []jobs.Node
			if sum != "" && err == nil {
				list, err = jobs.Nodes(ctx, s, job, sum)
			}
			for _, n := range list {
				var data []byte
				if n.Sum != "" && err == nil {
					data, err = s.Get(ctx, job, n.Sum)
					sums = append(sums, n.Sum)
				}
				if err == nil {
					err = item{tree, n, int64(len(data))}.write(b, data)
				}
			}
			if err == nil && sum != "" {
				sums = append(sums, sum)
			}
		}
		if err == nil {
			err = item{Tree: treeEnd}.write(b, nil)
		}
		if err == nil {
			err = b.Flush()
		}
		w.CloseWithError(err)
		sent <- err
	}()
	resp, err := p.do(ctx, http.MethodPost, "/restore", r)
	if err == nil {
		_, err = io.CopyN(io.Discard, resp.Body, 4<<10)
		resp.Body.Close()
		if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	r.CloseWithError(errors.Join(err, io.ErrClosedPipe))
	if err := errors.Join(<-sent, err); err != nil {
		return fmt.Errorf("pod: a snapshot was not restored: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, sum := range sums {
		p.known[sum] = true
	}
	return nil
}

// Save implements [jobs.Place].
func (p *Place) Save(ctx context.Context, s jobs.Store, job string) (tree, state string, err error) {
	p.mu.Lock()
	path := "/save"
	if p.all {
		path += "?all=1"
	}
	p.all = true
	known := p.known
	p.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	resp, err := p.do(ctx, http.MethodPost, path, bytes.NewReader(nil))
	if err != nil {
		return "", "", err
	}
	defer resp.Body.Close()
	b := bufio.NewReaderSize(resp.Body, maxLine)
	r := [2]*jobs.Recording{jobs.NewRecording(s, job, known), jobs.NewRecording(s, job, known)}
	for {
		i, data, err := readItem(b)
		if err == nil && i.Tree == treeEnd {
			break
		}
		if err == nil {
			err = r[i.Tree].Add(ctx, i.Node, data)
		}
		if err != nil {
			return "", "", fmt.Errorf("pod: the snapshot: %w", err)
		}
	}
	if tree, err = r[0].End(ctx); err == nil {
		state, err = r[1].End(ctx)
	}
	if err == nil {
		p.mu.Lock()
		p.all = false
		p.mu.Unlock()
	}
	return tree, state, err
}

// Dial implements [jobs.Place].
func (p *Place) Dial(ctx context.Context) (net.Conn, error) { return p.dial(ctx, protocolBox) }

// Credential implements [jobs.Place].
func (p *Place) Credential() string { return p.credential }

// Ended implements [jobs.Place].
func (p *Place) Ended() <-chan struct{} { return p.ended }

// Halt implements [jobs.Place].
func (p *Place) Halt() error {
	_, err := p.small(context.Background(), "/halt")
	return err
}

// Close implements [jobs.Place].
func (p *Place) Close() error {
	err := p.thrown()
	p.stop()
	<-p.ended
	p.web.CloseIdleConnections()
	return err
}
