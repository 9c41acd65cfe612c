package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/bailey-go/bailey/internal/relay"
)

func serveCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("serve", flag.ContinueOnError)
	addr := f.String("addr", "127.0.0.1:8080", "`address` to listen on; port 0 takes any free one")
	public := f.Bool("public", false, "allow an address that other machines can reach")
	relays := f.Bool("relay", false, "fetch web pages for the pages served here, at the address that is printed")
	apps := f.String("apps", "", "another `address`, such as 127.0.0.1:8081, for the sandbox proxy of pages of tools")
	rest, err := parse(f, args, stderr, 1, "DIR")
	if err != nil {
		return err
	}
	site, err := newSite(rest[0])
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	defer site.Close()
	site.public = *public
	var handler http.Handler = site
	if *relays {
		if *public {
			return errors.New("serve: -relay is for this machine alone, and -public lets others in: leave one of them out")
		}
		r, err := relay.New(relay.Options{Log: stdout, Local: localName})
		if err != nil {
			return fmt.Errorf("serve: %w", err)
		}
		handler = r.Beside(site)
		defer fmt.Fprintln(stdout, "the relay has ended, and its address with it")
		fmt.Fprintf(stdout, "the relay's address, for the settings of a page: %s\n", r.Address())
	}
	l, err := listen(ctx, *addr, *public, stdout)
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	if hint := unbuilt(rest[0]); hint != "" {
		fmt.Fprintln(stderr, hint)
	}
	fmt.Fprintf(stdout, "serving %s at http://%s/ (Ctrl-C ends it)\n", rest[0], l.Addr())
	err = serveApps(ctx, l, handler, *apps, *public, func(clean string) (siteUse, error) { return site.use(cmp.Or(strings.TrimPrefix(clean, "/"), ".")) },
		func(host string) { site.proxies = host }, stdout)
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// unbuilt returns a hint for a folder with the source of a page that was not built into it, or "".
func unbuilt(dir string) string {
	if exists := func(pattern string) bool { m, _ := filepath.Glob(filepath.Join(dir, pattern)); return len(m) > 0 }; exists(manifestName) || !exists("*.go") && !exists("go.mod") {
		return ""
	}
	return fmt.Sprintf("%s has Go files and no %s, so its page was not built here, and the source is served: build it with \"wasm_exec build %s -o dist\" and serve dist, or use \"wasm_exec dev %s\"", dir, manifestName, quoted(dir), quoted(dir))
}

// serve serves until ctx ends. Then it gives open responses 2 s to finish.
func serve(ctx context.Context, l net.Listener, h http.Handler) error {
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := srv.Shutdown(last); err != nil {
		srv.Close()
	}
	<-failed
	return nil
}

// listen listens on addr. If the port is taken, it uses the next free one of 20 and prints it.
func listen(ctx context.Context, addr string, public bool, stdout io.Writer) (net.Listener, error) {
	host, portText, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("-addr %q is not host:port", addr)
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("-addr %q: the port must be a number from 0 to 65535", addr)
	}
	if !public && !loopback(host) {
		return nil, fmt.Errorf("-addr %q can be reached by other machines: add -public if that is meant, or use 127.0.0.1", addr)
	}
	var lc net.ListenConfig
	for p := port; p < port+20 && p <= 65535; p++ {
		l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.FormatUint(p, 10)))
		if err == nil {
			if p != port {
				fmt.Fprintf(stdout, "port %d is taken, so this is port %d\n", port, p)
			}
			return l, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("ports %d to %d are all taken: choose another with -addr", port, min(port+19, 65535))
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// newSite returns a handler that serves the folder dir.
func newSite(dir string) (*site, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot open %s: build something into it first (%w)", dir, err)
	}
	return &site{root: root}, nil
}
