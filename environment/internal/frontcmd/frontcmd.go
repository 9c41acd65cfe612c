// Package frontcmd is the command line of the front ends: bailey-front, and bailey-front-kubernetes in a module of its own.
package frontcmd

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

// A Command is one of the front ends. They differ in the place of their jobs.
type Command struct {
	Name string
	// Flags adds the flags of the place. nil is this machine, whose jobs have their command after the flags.
	Flags func(*flag.FlagSet)
	// Source returns the place, after the flags were read.
	Source func(context.Context, *slog.Logger) (jobs.Source, error)
}

// Limits of the connections, and of the series of an instrument.
const (
	maxConnections = 4096
	maxSeries      = 5000
)

// Run runs the command until ctx ends and all work was stored.
func Run(ctx context.Context, command Command, args []string, out, log io.Writer) (err error) {
	if len(args) > 0 && args[0] == "credential" {
		if len(args) != 2 {
			return fmt.Errorf("want: %s credential TENANT", command.Name)
		}
		secret, line, err := front.NewCredential(args[1])
		if err != nil {
			return err
		}
		fmt.Fprintln(log, "The credential, which is shown only now:", secret)
		_, err = fmt.Fprintln(out, line)
		return err
	}
	flags := flag.NewFlagSet(command.Name, flag.ContinueOnError)
	flags.SetOutput(log)
	at := flags.String("listen", "127.0.0.1:8800", "unix:PATH or 127.0.0.1:PORT")
	metrics := flags.String("metrics", "", "unix:PATH or 127.0.0.1:PORT for GET /metrics, in the format of Prometheus; the default is none")
	tenants := flags.String("tenants", "", "the file of credentials, see bailey-front credential TENANT")
	store := flags.String("store", "", "where sessions and files are: a folder of this machine, a database as postgres://user@host/name with its password in PGPASSWORD, or a bucket as s3://bucket/prefix with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	origins := flags.String("origin", "", "the origins whose pages may send requests, with commas between them; the default is none")
	drain := flags.Duration("drain", time.Minute, "how long SIGTERM waits for runs before it stops them")
	var o front.Options
	flags.DurationVar(&o.Jobs.Idle, "idle", 5*time.Minute, "the time without a run after which a job is paused")
	flags.IntVar(&o.Jobs.PerTenant, "per-tenant", 4, "the most jobs of a tenant at the same time")
	flags.IntVar(&o.MaxJobs, "jobs", 64, "the most jobs of all tenants at the same time")
	flags.IntVar(&o.MaxSessions, "sessions", 1000, "the most stored sessions of a tenant")
	flags.DurationVar(&o.RunTime, "run", 30*time.Minute, "the most time of a run")
	flags.Float64Var(&o.Rate, "rate", 20, "the most requests of a tenant in a second")
	local := command.Source == nil
	var model string
	var m models.Options
	if local {
		localFlags(flags, &o.Jobs)
		modelFlags(flags, &model, &m)
	} else {
		command.Flags(flags)
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *tenants == "" || *store == "" {
		return errors.New("-tenants and -store are needed")
	}
	if local {
		m.Key = os.Getenv("BAILEY_KEY")
		_ = os.Unsetenv("BAILEY_KEY")
		if err = localBox(flags.Args(), &o.Jobs); err == nil {
			o.Model, err = localModel(model, m, o.Jobs.Box[1:])
			o.Name = modelOf(o.Jobs.Box)
		}
	} else if flags.NArg() > 0 {
		err = fmt.Errorf("the argument %q is not expected", flags.Arg(0))
	}
	if err != nil {
		return err
	}
	if *origins != "" {
		o.Origins = strings.Split(*origins, ",")
	}
	if o.Tenants, err = front.ReadTenants(*tenants); err != nil {
		return err
	}
	if o.Jobs.Store, err = Open(ctx, *store); err != nil {
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
	if !local {
		if o.Source, err = command.Source(ctx, o.Log); err != nil {
			return err
		}
	}
	f, err := front.New(o)
	if err != nil {
		if o.Source != nil {
			err = errors.Join(err, o.Source.Close())
		}
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

// Open opens the store at an address.
func Open(ctx context.Context, address string) (jobs.Store, error) {
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

// localFlags adds the flags of jobs on this machine.
func localFlags(flags *flag.FlagSet, o *jobs.Options) {
	flags.StringVar(&o.Dir, "dir", "", "a folder for the folders of jobs, which other users can enter (mode 711)")
	flags.IntVar(&o.Warm, "warm", 4, "the number of jobs that wait for a session")
	flags.Int64Var(&o.Memory, "memory", 2<<30, "bytes of memory of a job")
	flags.Int64Var(&o.Processes, "processes", 512, "processes and threads of a job")
	flags.Int64Var(&o.CPU, "cpu", 1000, "thousandths of a processor of a job")
	flags.Int64Var(&o.Disk, "disk", 512<<20, "bytes of the folder of a job")
}

// localBox reads the command of jobs on this machine.
func localBox(args []string, o *jobs.Options) error {
	if o.Dir == "" || len(args) == 0 {
		return errors.New("-dir is needed, and the command of a job: -- bailey-box -policy FILE -model NAME@URL")
	}
	path, err := exec.LookPath(args[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return err
	}
	o.Box = append([]string{path}, args[1:]...)
	return nil
}

// modelFlags adds the flags of a model that jobs on this machine reach through the front end.
func modelFlags(flags *flag.FlagSet, model *string, m *models.Options) {
	flags.StringVar(model, "model", "", "the model of all jobs, which speaks Chat Completions, as name@https://host/path; the default is that of the command of a job")
	flags.Int64Var(&m.Requests, "model-requests", 3600, "the most requests of a tenant to the model in an hour")
	flags.Int64Var(&m.Bytes, "model-bytes", 1<<30, "the most bytes of a tenant to and from the model in an hour")
	flags.Int64Var(&m.Tokens, "model-tokens", 20_000_000, "the most tokens of a tenant in an hour, as the model's server counts them")
}

// modelOf returns the name of the model in the command of a job, "" without one.
func modelOf(args []string) string {
	for i, a := range args {
		flag, value, ok := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if !strings.HasPrefix(a, "-") || flag != "model" {
			continue
		}
		if !ok && i+1 < len(args) {
			value = args[i+1]
		}
		name, _, _ := strings.Cut(value, "@")
		return name
	}
	return ""
}

// localModel reads the model of jobs on this machine, whose command has the given arguments. Without one it is nil.
func localModel(model string, m models.Options, args []string) (*models.Options, error) {
	boxes := slices.ContainsFunc(args, func(a string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
		return a != name && name == "model"
	})
	switch {
	case model != "" && boxes:
		return nil, errors.New("-model is there twice: leave it out after --, where each job would have the key")
	case model == "" && m.Key != "":
		return nil, errors.New("BAILEY_KEY is set without -model: no job gets the key. Put -model before --")
	case model == "":
		return nil, nil
	}
	var ok bool
	if m.Model, m.URL, ok = strings.Cut(model, "@"); !ok {
		return nil, errors.New("-model must be name@https://host/path")
	}
	return &m, nil
}
