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
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"golang.org/x/net/netutil"

	"github.com/bailey-go/bailey/environment/internal/front"
	"github.com/bailey-go/bailey/environment/internal/jobs"
	"github.com/bailey-go/bailey/environment/internal/listen"
	"github.com/bailey-go/bailey/environment/internal/models"
	"github.com/bailey-go/bailey/environment/internal/sessions"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bailey-front:", err)
		os.Exit(1)
	}
}

// Limits of the connections, and of the series of an instrument.
const (
	maxConnections = 4096
	maxSeries      = 5000
)

func run(ctx context.Context, args []string, out, log io.Writer) (err error) {
	if len(args) > 0 && args[0] == "credential" {
		if len(args) != 2 {
			return errors.New("want: bailey-front credential TENANT")
		}
		secret, line, err := front.NewCredential(args[1])
		if err != nil {
			return err
		}
		fmt.Fprintln(log, "The credential, which is shown only now:", secret)
		_, err = fmt.Fprintln(out, line)
		return err
	}
	flags := flag.NewFlagSet("bailey-front", flag.ContinueOnError)
	flags.SetOutput(log)
	at := flags.String("listen", "127.0.0.1:8800", "unix:PATH or 127.0.0.1:PORT")
	metrics := flags.String("metrics", "", "unix:PATH or 127.0.0.1:PORT for GET /metrics, in the format of Prometheus; the default is none")
	tenants := flags.String("tenants", "", "the file of credentials, see bailey-front credential TENANT")
	store := flags.String("store", "", "where sessions and files are: a folder of this machine, a database as postgres://user@host/name with its password in PGPASSWORD, or a bucket as s3://bucket/prefix with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	dir := flags.String("dir", "", "a folder for the folders of jobs, which other users can enter (mode 711)")
	origins := flags.String("origin", "", "the origins whose pages may send requests, with commas between them; the default is none")
	drain := flags.Duration("drain", time.Minute, "how long SIGTERM waits for runs before it stops them")
	model := flags.String("model", "", "the model of all jobs, which speaks Chat Completions, as name@https://host/path; the default is that of the command of a job")
	var o front.Options
	var m models.Options
	flags.Int64Var(&m.Requests, "model-requests", 3600, "the most requests of a tenant to the model in an hour")
	flags.Int64Var(&m.Bytes, "model-bytes", 1<<30, "the most bytes of a tenant to and from the model in an hour")
	flags.Int64Var(&m.Tokens, "model-tokens", 20_000_000, "the most tokens of a tenant in an hour, as the model's server counts them")
	flags.DurationVar(&o.Jobs.Idle, "idle", 5*time.Minute, "the time without a run after which a job is paused")
	flags.IntVar(&o.Jobs.PerTenant, "per-tenant", 4, "the most jobs of a tenant at the same time")
	flags.IntVar(&o.MaxJobs, "jobs", 64, "the most jobs of all tenants at the same time")
	flags.IntVar(&o.Jobs.Warm, "warm", 4, "the number of jobs that wait for a session")
	flags.IntVar(&o.MaxSessions, "sessions", 1000, "the most stored sessions of a tenant")
	flags.DurationVar(&o.RunTime, "run", 30*time.Minute, "the most time of a run")
	flags.Float64Var(&o.Rate, "rate", 20, "the most requests of a tenant in a second")
	flags.Int64Var(&o.Jobs.Memory, "memory", 2<<30, "bytes of memory of a job")
	flags.Int64Var(&o.Jobs.Processes, "processes", 512, "processes and threads of a job")
	flags.Int64Var(&o.Jobs.CPU, "cpu", 1000, "thousandths of a processor of a job")
	flags.Int64Var(&o.Jobs.Disk, "disk", 512<<20, "bytes of the folder of a job")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *tenants == "" || *store == "" || *dir == "" || flags.NArg() == 0 {
		return errors.New("-tenants, -store and -dir are needed, and the command of a job: -- bailey-box -policy FILE -model NAME@URL")
	}
	o.Jobs.Box, o.Jobs.Dir = flags.Args(), *dir
	if o.Jobs.Box[0], err = exec.LookPath(o.Jobs.Box[0]); err == nil {
		o.Jobs.Box[0], err = filepath.Abs(o.Jobs.Box[0])
	}
	if err != nil {
		return err
	}
	m.Key = os.Getenv("BAILEY_KEY")
	_ = os.Unsetenv("BAILEY_KEY")
	boxes := slices.ContainsFunc(o.Jobs.Box[1:], func(a string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
		return a != name && name == "model"
	})
	switch {
	case *model != "" && boxes:
		return errors.New("-model is there twice: leave it out after --, where each job would have the key")
	case *model == "" && m.Key != "":
		return errors.New("BAILEY_KEY is set without -model: no job gets the key. Put -model before --")
	case *model != "":
		var ok bool
		if m.Model, m.URL, ok = strings.Cut(*model, "@"); !ok {
			return errors.New("-model must be name@https://host/path")
		}
		o.Model = &m
	}
	if *origins != "" {
		o.Origins = strings.Split(*origins, ",")
	}
	if o.Tenants, err = front.ReadTenants(*tenants); err != nil {
		return err
	}
	if o.Jobs.Store, err = open(ctx, *store); err != nil {
		return err
	}
	o.Log = slog.New(slog.NewJSONHandler(log, nil))
	registry := prometheus.NewRegistry()
	reader, err := exporter.New(exporter.WithRegisterer(registry), exporter.WithoutScopeInfo(), exporter.WithoutTargetInfo())
	if err != nil {
		return err
	}
	meters := sdk.NewMeterProvider(sdk.WithReader(reader), sdk.WithCardinalityLimit(maxSeries))
	o.Meter = meters
	// The group of the process may use a socket, for the balancer.
	l, address, err := listen.On(*at, 0o660)
	if err != nil {
		return err
	}
	defer l.Close()
	f, err := front.New(o)
	if err != nil {
		return err
	}
	if n, err := f.Found(); err != nil {
		o.Log.Error("jobs of a front end that was killed are left, the next start tries again", "error", err.Error())
	} else if n > 0 {
		o.Log.Warn("jobs of a front end that was killed were ended and removed", "jobs", n)
	}
	for _, note := range f.Notes() {
		o.Log.Warn("a limit is missing here", "note", note)
	}
	if *metrics != "" {
		m, _, err := listen.On(*metrics, 0o660)
		if err != nil {
			return errors.Join(err, f.Drain(ctx))
		}
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second}))
		s := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
		go func() { _ = s.Serve(m) }()
		defer s.Close()
	}
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGHUP)
	defer signal.Stop(again)
	server := f.Server()
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(netutil.LimitListener(l, maxConnections)) }()
	o.Log.Info("serving", "address", address)
	for {
		select {
		case <-again:
			t, err := front.ReadTenants(*tenants)
			if err != nil {
				o.Log.Error("credentials not read again, the old ones stay", "error", err.Error())
				continue
			}
			f.SetTenants(t)
			o.Log.Info("credentials read again")
		case err = <-failed:
			stopped, cancel := context.WithTimeout(context.Background(), *drain)
			defer cancel()
			return errors.Join(err, f.Drain(stopped))
		case <-ctx.Done():
			waiting, cancel := context.WithTimeout(context.Background(), *drain)
			defer cancel()
			err := f.Drain(waiting)
			// The clients read the ends of their streams.
			ending, done := context.WithTimeout(context.Background(), 10*time.Second)
			defer done()
			if server.Shutdown(ending) != nil {
				_ = server.Close()
			}
			return errors.Join(err, meters.Shutdown(context.Background()))
		}
	}
}

// open opens the store at an address.
func open(ctx context.Context, address string) (jobs.Store, error) {
	if address == "memory:" {
		return nil, errors.New("-store is memory:, which forgets everything with the process: name a folder, a database or a bucket")
	}
	folder, _, err := sessions.Reach(address)
	if err != nil && (strings.Contains(address, "://") || !errors.Is(err, os.ErrNotExist)) {
		return nil, err
	}
	if folder != "" || err != nil {
		return jobs.Folder(cmp.Or(folder, address))
	}
	s, err := sessions.Open(ctx, address)
	if err != nil {
		return nil, err
	}
	return jobs.InSessions(s), nil
}
