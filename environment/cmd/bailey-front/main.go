// Bailey-front starts jobs for the requests of tenants: a bailey-box for each session, with a folder and limits of its
// own. It listens on loopback or a Unix socket, behind a balancer that has TLS. See docs/front.md for operators, and
// package front for the addresses.
//
//	bailey-front credential acme >>tenants
//	bailey-front -tenants tenants -store postgres://bailey@db/bailey -dir /var/lib/bailey -model name@https://host/v1 -- bailey-box -policy policy.json
//
// The command after -- is that of each job. The model's key is in the variable BAILEY_KEY. It stays in this process: a
// job has a token that is good while a run of its session is active, see package models.
//
// Several of them may share a store: a database or a bucket, or a folder of one machine. SIGHUP reads the credentials
// again. SIGTERM ends it, after all work was stored.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/bailey-go/bailey/environment/internal/frontcmd"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bailey-front:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, log io.Writer) error {
	return frontcmd.Run(ctx, frontcmd.Command{Name: "bailey-front"}, args, out, log)
}
