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
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bailey-go/bailey/environment/internal/daemon"
	"github.com/bailey-go/bailey/environment/internal/jobs"
	"github.com/bailey-go/bailey/internal/attack"
)

// The test is also a bailey-box that writes the files that it is told to.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "box" {
		box(os.Args[2:])
		return
	}
	os.Exit(m.Run())
}

func box(args []string) {
	dir, state := "", ""
	for i := 0; i+1 < len(args); i += 2 {
		switch args[i] {
		case "-dir":
			dir = args[i+1]
		case "-state":
			state = args[i+1]
		}
	}
	l, err := net.Listen("unix", filepath.Join(os.Getenv("TMPDIR"), "s"))
	if err != nil {
		panic(err)
	}
	credential := daemon.NewCredential()
	line, _ := json.Marshal(map[string]string{"address": "unix:" + l.Addr().String(), "credential": credential})
	fmt.Printf("%s\n", line)
	_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+credential {
			http.Error(w, "", http.StatusUnauthorized)
			return
		}
		if r.URL.Path == "/die" {
			os.Exit(3)
		}
		text, err := io.ReadAll(r.Body)
		if err == nil {
			err = errors.Join(os.WriteFile(filepath.Join(dir, r.URL.Path), text, 0o640), os.WriteFile(filepath.Join(state, "last"), []byte(r.URL.Path), 0o600))
		}
		fmt.Fprint(w, "wrote ", r.URL.Path, " ", err)
	}))
}

// open serves a pod, and returns its address and how to end it.
func open(t testing.TB, k *Key, address string, off bool) (string, func()) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(ctx, ServeOptions{Listen: func() (net.Listener, error) { return l, nil }, Front: k.Sum(), Jobs: jobs.Options{Box: []string{exe, "box"}, Dir: t.TempDir()}, off: off})
	}()
	end := sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the pod: %v", err)
		}
	})
	t.Cleanup(end)
	return l.Addr().String(), end
}

func connect(t testing.TB, k *Key, address string, off bool) *Place {
	t.Helper()
	p, err := Connect(t.Context(), ConnectOptions{Address: address, Key: k, Throw: func() error { return nil }, off: off})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// say sends a request to the box.
func say(p *Place, path, text string) (string, error) {
	c := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return p.Dial(ctx) }, DisableKeepAlives: true}}
	r, err := http.NewRequest("POST", "http://bailey-box"+path, strings.NewReader(text))
	if err != nil {
		return "", err
	}
	r.Header.Set("Authorization", "Bearer "+p.Credential())
	resp, err := c.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

func must(t testing.TB, p *Place, path, text string) {
	t.Helper()
	if got, err := say(p, path, text); err != nil || got != "wrote "+path+" <nil>" {
		t.Fatalf("%q, %v", got, err)
	}
}

func store(t testing.TB) jobs.Store {
	t.Helper()
	s, err := jobs.Folder(filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The folder of one pod becomes that of another, by the store.
func TestFolder(t *testing.T) {
	k, s := NewKey(), store(t)
	address, _ := open(t, k, "127.0.0.1:0", false)
	p := connect(t, k, address, false)
	large := strings.Repeat("0123456789", 30_000)
	must(t, p, "/a.txt", "one")
	must(t, p, "/b.txt", large)
	must(t, p, "/empty", "")
	tree, state, err := p.Save(t.Context(), s, "acme-a")
	if err != nil {
		t.Fatal(err)
	}
	list, err := jobs.Files(t.Context(), s, "acme-a", tree)
	if err != nil || len(list) != 3 || list[0].Path != "a.txt" || list[0].Mode != 0o640 {
		t.Fatalf("%+v, %v", list, err)
	}
	if data, err := s.Get(t.Context(), "acme-a", list[1].Sum); err != nil || string(data) != large {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	// The second time, nothing that the store has is sent.
	if again, st, err := p.Save(t.Context(), s, "acme-a"); err != nil || again != tree || st != state {
		t.Errorf("%s, %v", again, err)
	}
	must(t, p, "/a.txt", "two")
	next, _, err := p.Save(t.Context(), s, "acme-a")
	if err != nil || next == tree {
		t.Errorf("%v", err)
	}
	// A store that fails, and works again.
	must(t, p, "/c.txt", "three")
	if _, _, err := p.Save(t.Context(), failing{s}, "acme-a"); !errors.Is(err, errFull) {
		t.Errorf("%v", err)
	}
	if next, state, err = p.Save(t.Context(), s, "acme-a"); err != nil {
		t.Fatal(err)
	}
	// After its end the folder is there still.
	if err := p.Halt(); err != nil {
		t.Error(err)
	}
	<-p.Ended()
	if again, _, err := p.Save(t.Context(), s, "acme-a"); err != nil || again != next {
		t.Errorf("%v", err)
	}
	other, _ := open(t, k, "127.0.0.1:0", false)
	q := connect(t, k, other, false)
	if err := q.Restore(t.Context(), s, "acme-a", jobs.Entry{Tree: next, State: state}); err != nil {
		t.Fatal(err)
	}
	if again, st, err := q.Save(t.Context(), s, "acme-a"); err != nil || again != next || st != state {
		t.Errorf("%s, %v", again, err)
	}
	if err := q.Restore(t.Context(), s, "acme-a", jobs.Entry{Tree: strings.Repeat("0", 64)}); err == nil {
		t.Error("a snapshot that is not there was restored")
	}
}

var errFull = errors.New("full")

type failing struct{ jobs.Store }

func (failing) Put(context.Context, string, []byte) (string, error) { return "", errFull }

// The end of bailey-box, and that of its pod, reach the front end.
func TestEnd(t *testing.T) {
	k := NewKey()
	address, _ := open(t, k, "127.0.0.1:0", false)
	p := connect(t, k, address, false)
	if _, err := say(p, "/die", ""); err == nil {
		t.Error("it answered")
	}
	<-p.Ended()
	second, end := open(t, k, "127.0.0.1:0", false)
	q := connect(t, k, second, false)
	end()
	<-q.Ended()
	// A pod without a bailey-box is none.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := Serve(t.Context(), ServeOptions{Listen: func() (net.Listener, error) { return l, nil }, Front: k.Sum(), Jobs: jobs.Options{Box: []string{"/bin/true"}, Dir: t.TempDir()}}); err == nil {
		t.Error("it was served")
	}
	for _, sum := range []string{"", "x", k.Sum() + "0"} {
		if err := Serve(t.Context(), ServeOptions{Front: sum}); err == nil || !strings.Contains(err.Error(), "sum of the key") {
			t.Errorf("%q: %v", sum, err)
		}
	}
}

func TestKey(t *testing.T) {
	name := filepath.Join(t.TempDir(), "key")
	k := NewKey()
	if err := os.WriteFile(name, k.PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	if again, err := ReadKey(name); err != nil || again.Sum() != k.Sum() || !sumForm.MatchString(k.Sum()) {
		t.Error(err)
	}
	if err := os.Chmod(name, 0o604); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadKey(name); err == nil || !strings.Contains(err.Error(), "chmod") {
		t.Error(err)
	}
	if err := errors.Join(os.Chmod(name, 0o600), os.WriteFile(name, []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{name, name + "0"} {
		if _, err := ReadKey(bad); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

// Others in the cluster try to be a front end, and a pod tries to be another one.
func TestAttackPod(t *testing.T) {
	count := attack.Start(t, "pods")
	k, other := NewKey(), NewKey()
	launch := func(k *Key, off bool) bool {
		address, _ := open(t, NewKey(), "127.0.0.1:0", off)
		p, err := Connect(t.Context(), ConnectOptions{Address: address, Key: k, Throw: func() error { return nil }})
		if err == nil {
			defer p.Close()
		}
		return err == nil
	}
	count.Try("another key launches a job", launch(other, false))
	count.Off("another key launches a job", launch(other, true))
	address, end := open(t, k, "127.0.0.1:0", false)
	p := connect(t, k, address, false)
	must(t, p, "/a.txt", "one")
	thrown := 0
	_, err := Connect(t.Context(), ConnectOptions{Address: address, Key: k, Throw: func() error { thrown++; return nil }})
	count.Try("a job is launched twice", err == nil || thrown != 1)
	for what, conf := range map[string]*tls.Config{
		"no certificate":      {NextProtos: []string{protocolBox}},
		"no protocol":         {Certificates: []tls.Certificate{certificate(t, k)}},
		"an older TLS":        {NextProtos: []string{protocolBox}, Certificates: []tls.Certificate{certificate(t, k)}, MaxVersion: tls.VersionTLS12},
		"a stolen public key": {NextProtos: []string{protocolBox}, Certificates: []tls.Certificate{{Certificate: certificate(t, k).Certificate, PrivateKey: other.private}}},
	} {
		conf.InsecureSkipVerify = true
		count.Try(what, reaches(address, conf))
	}
	mine := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocolBox}, Certificates: []tls.Certificate{certificate(t, k)}}
	count.Off("no certificate", reaches(address, mine))
	// The front ends share a key, and a job is still one launch's.
	for _, path := range []string{"/save", "/restore", "/halt", "/ended"} {
		q := &Place{o: p.o, cert: p.cert, web: p.web, pod: p.pod, credential: strings.Repeat("0", 64)}
		method := "POST"
		if path == "/ended" {
			method = "GET"
		}
		resp, err := q.do(t.Context(), method, path, nil)
		if err == nil {
			resp.Body.Close()
		}
		count.Try("another launch's credential at "+path, err == nil)
	}
	// The cluster gives the address to another pod, of another tenant.
	taken := func(off bool) bool {
		address, end := open(t, k, "127.0.0.1:0", false)
		p := connect(t, k, address, off)
		end()
		<-p.Ended()
		_, _ = open(t, k, address, false)
		c, err := p.Dial(t.Context())
		if err == nil {
			c.Close()
		}
		return err == nil
	}
	count.Try("another pod at the address of a job", taken(false))
	count.Off("another pod at the address of a job", taken(true))
	end()
}

func certificate(t testing.TB, k *Key) tls.Certificate {
	t.Helper()
	c, err := k.certificate()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// reaches reports whether bailey-box answers.
func reaches(address string, conf *tls.Config) bool {
	c, err := tls.Dial("tcp", address, conf)
	if err != nil {
		return false
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET / HTTP/1.0\r\n\r\n"); err != nil {
		return false
	}
	answer, _ := io.ReadAll(c)
	return bytes.Contains(answer, []byte("401"))
}

// A pod that was taken over sends what is no snapshot.
func TestAttackSnapshot(t *testing.T) {
	count := attack.Start(t, "pods")
	count.NoSwitch("a snapshot has one reader, which the store's own snapshots pass too")
	file := func(path, mode, sum, size, data string) string {
		return fmt.Sprintf(`{"tree":0,"node":{"path":%s,"mode":%s,"sum":%q},"size":%s}`+"\n%s", path, mode, sum, size, data)
	}
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	end := `{"tree":2,"node":{"path":"","mode":0},"size":0}` + "\n"
	save := func(text string) error {
		l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate(t, NewKey())}, ClientAuth: tls.RequireAnyClientCert, NextProtos: []string{protocolJob}})
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/launch":
				fmt.Fprintf(w, `{"credential": %q}`, strings.Repeat("a", 64))
			case "/ended":
				w.WriteHeader(200)
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			case "/save":
				_, _ = io.WriteString(w, text)
			}
		})}
		go func() { _ = server.Serve(l) }()
		defer server.Close()
		p := connect(t, NewKey(), l.Addr().String(), false)
		_, _, err = p.Save(t.Context(), store(t), "acme-a")
		return err
	}
	if err := save(file(`"a"`, "420", abc, "3", "abc") + end); err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{
		"a path out of the folder": file(`"../a"`, "420", abc, "3", "abc") + end,
		"an absolute path":         file(`"/etc/a"`, "420", abc, "3", "abc") + end,
		"the folder itself":        file(`"."`, "420", abc, "3", "abc") + end,
		"a path with a NUL":        file(`"a\u0000b/../.."`, "420", abc, "3", "abc") + end,
		"a mode that is a link":    file(`"a"`, "134218239", abc, "3", "abc") + end,
		"a program of its owner":   file(`"a"`, "8389101", abc, "3", "abc") + end,
		"another content":          file(`"a"`, "420", abc, "3", "abd") + end,
		"a sum that is a path":     file(`"a"`, "420", "../../other/"+abc[:52], "3", "abc") + end,
		"a content it never sent":  file(`"a"`, "420", abc, "-1", "") + end,
		"fewer bytes":              file(`"a"`, "420", abc, "4", "abc"),
		"no end":                   file(`"a"`, "420", abc, "3", "abc"),
		"nothing":                  "",
		"a size below nothing":     file(`"a"`, "420", abc, "-5", "abc") + end,
		"a size without end":       file(`"a"`, "420", abc, "99999999999", "abc") + end,
		"another tree":             `{"tree":7,"node":{"path":"a","mode":420},"size":0}` + "\n" + end,
		"a line without end":       strings.Repeat("a", 2*maxLine),
		"no JSON":                  "a\n" + end,
		"more files than may be":   strings.Repeat(`{"tree":0,"node":{"path":"a","mode":420},"size":0}`+"\n", 20_001) + end,
	} {
		count.Try(what, save(text) == nil)
	}
	if _, _, err := readItem(bufio.NewReaderSize(strings.NewReader(""), maxLine)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}
