// Bailey-job is the program of a pod of bailey-front-kubernetes. It starts a bailey-box in an empty folder and gives both to
// the front ends, see package pod. Manifests for it are made by bailey-front-kubernetes.
//
//	bailey-job -listen :8443 -front SUM -dir /work -- bailey-box -policy /etc/bailey/policy.json -model name@https://host/v1
//
// As egress it is the proxy that is the only way out of such pods: it connects to the hosts that the policy allows, and to
// those of -allow, which is the model's server. It resolves names itself, refuses private addresses, and logs each decision.
//
//	bailey-job egress -listen :3128 -policy /etc/bailey/policy.json -allow host:443
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bailey-go/bailey/environment/internal/jobs"
	"github.com/bailey-go/bailey/environment/internal/pod"
	"github.com/bailey-go/bailey/environment/internal/proxy"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bailey-job:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, log io.Writer) error {
	if len(args) > 0 && args[0] == "egress" {
		return egress(ctx, args[1:], log)
	}
	flags := flag.NewFlagSet("bailey-job", flag.ContinueOnError)
	flags.SetOutput(log)
	at := flags.String("listen", ":8443", "the address of the pod with a port")
	front := flags.String("front", "", "the sum of the key of the front ends, which bailey-front-kubernetes key prints")
	dir := flags.String("dir", "", "a folder for the job, whose earlier jobs are removed")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *front == "" || *dir == "" || flags.NArg() == 0 {
		return errors.New("-front and -dir are needed, and the command of the job: -- bailey-box -policy FILE -model NAME@URL")
	}
	box := flags.Args()
	path, err := exec.LookPath(box[0])
	if err == nil {
		box[0], err = filepath.Abs(path)
	}
	if err != nil {
		return err
	}
	var env []string
	for _, name := range []string{"BAILEY_KEY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "SSL_CERT_FILE"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return pod.Serve(ctx, pod.ServeOptions{Listen: func() (net.Listener, error) { return net.Listen("tcp", *at) }, Front: *front, Jobs: jobs.Options{Box: box, Env: env, Dir: *dir}})
}

// mostConnections is the most connections of all pods together.
const mostConnections = 1024

func egress(ctx context.Context, args []string, log io.Writer) error {
	flags := flag.NewFlagSet("bailey-job egress", flag.ContinueOnError)
	flags.SetOutput(log)
	at := flags.String("listen", ":3128", "the address with a port")
	file := flags.String("policy", "", "the policy of the jobs, a JSON file")
	more := flags.String("allow", "", "further hosts with ports, such as that of the model's server, with commas between them")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *file == "" || flags.NArg() > 0 {
		return errors.New("egress: -policy is needed, and no further arguments")
	}
	text, err := os.ReadFile(*file)
	if err != nil {
		return err
	}
	allow, err := allowed(string(text), *more)
	if err != nil {
		return err
	}
	out := slog.New(slog.NewJSONHandler(log, nil))
	p, err := proxy.New(proxy.Options{Most: mostConnections, Allow: allow, Log: func(d proxy.Decision) {
		out.Info("connection", "host", d.Host, "address", d.Address.String(), "allowed", d.Allowed, "reason", d.Reason)
	}})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", *at)
	if err != nil {
		return err
	}
	p.Serve(ctx, l)
	return nil
}

// allowed returns the decision about a host: the policy allows it without a question, or it is one of more.
func allowed(text, more string) (func(context.Context, string) error, error) {
	parsed, err := policy.Parse(text, policy.Options{})
	if err != nil {
		return nil, err
	}
	compiled, err := policy.Compile(parsed)
	if err != nil {
		return nil, err
	}
	var hosts []string
	for h := range strings.SplitSeq(more, ",") {
		if h == "" {
			continue
		}
		if _, port, err := net.SplitHostPort(h); err != nil || port == "" {
			return nil, fmt.Errorf("egress: -allow: %q is no host with a port, such as api.example.com:443", h)
		}
		hosts = append(hosts, strings.ToLower(h))
	}
	return func(_ context.Context, hostport string) error {
		if slices.Contains(hosts, strings.ToLower(hostport)) {
			return nil
		}
		d := compiled.Explain(policy.Call{Tool: "tool_run", Needs: []policy.Need{{Capability: protocol.NetFetch, Subject: hostport}}}, compiled.Authority(), nil).Decision
		if d.Action == protocol.ActionAllow {
			return nil
		}
		return protocol.Errorf(protocol.ErrCapabilityDenied, "connect", hostport, "the policy of the jobs does not allow it without a question")
	}, nil
}
