// Bailey-relay is a relay of the Browser Tool Calling Protocol: pages offer tools in a session, and agents
// that know the session call them, over package sandbox/btcp or with other clients of the protocol.
//
//	bailey-relay token -tenant acme -role page >> tokens.txt   # prints the token to standard error
//	bailey-relay -tokens tokens.txt -origin https://app.example -listen 127.0.0.1:8765
//
// It listens on loopback or on a Unix socket. A proxy with TLS, such as HAProxy or nginx, stands before it. A
// line of the tokens is a tenant, a role (page, agent or both) and the SHA-256 of the token. Clients of one
// tenant alone meet. A session needs a name of at least 16 characters, which its page makes at random and
// gives to its agents.
package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/bailey-go/bailey/environment/internal/btcprelay"
	"github.com/bailey-go/bailey/environment/internal/listen"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bailey-relay:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, log io.Writer) error {
	if len(args) > 0 && args[0] == "token" {
		return token(args[1:], out, log)
	}
	flags := flag.NewFlagSet("bailey-relay", flag.ContinueOnError)
	flags.SetOutput(log)
	var o btcprelay.Options
	file := flags.String("tokens", "", "the file with the tokens' lines, as bailey-relay token prints them")
	at := flags.String("listen", "127.0.0.1:8765", "unix:PATH, or an address of loopback with a port")
	flags.Func("origin", "an origin of pages that may use the relay, such as https://app.example; may be repeated", func(s string) error {
		o.Origins = append(o.Origins, s)
		return nil
	})
	flags.BoolVar(&o.PathTokens, "path-tokens", false, "also accept a token in the path, as /token/TOKEN/events, for clients that can't send a header")
	flags.DurationVar(&o.Time, "time", time.Minute, "the limit of one call")
	flags.DurationVar(&o.Grace, "grace", time.Minute, "the time for which a session waits for a disconnected page")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *file == "" || flags.NArg() > 0 {
		return errors.New("-tokens is needed, and no further arguments; bailey-relay token -h explains the file")
	}
	text, err := os.ReadFile(*file)
	if err != nil {
		return err
	}
	if o.Tokens, err = btcprelay.ParseTokens(string(text)); err != nil {
		return err
	}
	o.Log = slog.New(slog.NewTextHandler(log, nil))
	relay, err := btcprelay.New(o)
	if err != nil {
		return err
	}
	// The group of the process may use a socket, for the balancer.
	l, address, err := listen.On(*at, 0o660)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: relay, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	fmt.Fprintf(out, "listening on %s\n", address)
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	relay.Close()
	// The streams have ended, so only short requests are left.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return server.Shutdown(ctx)
}

// token makes a token. Its line goes to out and the token itself to log, so that the line can be appended to
// a file.
func token(args []string, out, log io.Writer) error {
	flags := flag.NewFlagSet("bailey-relay token", flag.ContinueOnError)
	flags.SetOutput(log)
	tenant := flags.String("tenant", "", "whose token it is; clients of one tenant meet")
	role := flags.String("role", "", "page, agent or both")
	if err := flags.Parse(args); err != nil {
		return err
	}
	made := rand.Text()
	sum := sha256.Sum256([]byte(made))
	line := fmt.Sprintf("%s %s %s", *tenant, *role, hex.EncodeToString(sum[:]))
	if _, err := btcprelay.ParseTokens(line); err != nil || strings.ContainsAny(*tenant, " \t\r\n#") {
		return errors.New("want -tenant with a name, and -role page, agent or both")
	}
	if _, err := fmt.Fprintln(out, line); err != nil {
		return err
	}
	_, err := fmt.Fprintln(log, made)
	return err
}
