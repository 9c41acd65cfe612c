// Bailey-front-kubernetes is bailey-front with its jobs in the pods of a cluster, by Agent Sandbox. See docs/kubernetes.md for
// operators.
//
//	bailey-front-kubernetes key front.pem       # makes the key of the front ends and prints its sum
//	bailey-front-kubernetes manifests -front SUM -image registry/bailey@sha256:… -policy policy.json -proxy-ip 10.96.0.50 \
//	  -model name@https://host/v1 | kubectl apply -f -
//	bailey-front-kubernetes credential acme >>tenants
//	bailey-front-kubernetes -tenants tenants -store postgres://bailey@db/bailey -key front.pem
//
// In a pod it uses the token of its service account, and elsewhere the file of -kubeconfig.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/bailey-go/bailey/environment/internal/cluster"
	"github.com/bailey-go/bailey/environment/internal/frontcmd"
	"github.com/bailey-go/bailey/environment/internal/jobs"
	"github.com/bailey-go/bailey/environment/internal/pod"
	"github.com/bailey-go/bailey/environment/kubernetes/internal/kube"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bailey-front-kubernetes:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, log io.Writer) error {
	if len(args) > 0 {
		switch args[0] {
		case "key":
			return key(args[1:], out)
		case "manifests":
			return manifests(args[1:], out, log)
		}
	}
	var o kube.Options
	var config, file string
	return frontcmd.Run(ctx, frontcmd.Command{Name: "bailey-front-kubernetes",
		Flags: func(flags *flag.FlagSet) {
			names(flags, &o.Cluster)
			flags.StringVar(&config, "kubeconfig", "", "a file of kubectl; the default is the service account of this pod")
			flags.StringVar(&file, "key", "", "the file with the key of the front ends")
			flags.DurationVar(&o.Bind, "bind", time.Minute, "the most time for a session to get a job")
			flags.DurationVar(&o.Lease, "lease", 3*time.Minute, "the time after which the jobs of a front end that died end")
			flags.DurationVar(&o.Deadline, "deadline", 12*time.Hour, "the most time of a job; its session goes on in a new one")
			flags.Func("model", "not here, as a pod does not reach this process: bailey-front-kubernetes manifests has -model and -key-secret", func(string) error {
				return errors.New("the model of jobs in pods is that of their template: give -model and -key-secret to bailey-front-kubernetes manifests, and apply what it writes")
			})
		},
		Source: func(ctx context.Context, log *slog.Logger) (jobs.Source, error) {
			if os.Getenv("BAILEY_KEY") != "" {
				return nil, errors.New("BAILEY_KEY is set, and no job gets it from here: leave it out, and put it into the secret of bailey-front-kubernetes manifests -key-secret")
			}
			if file == "" {
				return nil, errors.New("-key is needed: bailey-front-kubernetes key FILE makes one")
			}
			var err error
			if o.Key, err = pod.ReadKey(file); err != nil {
				return nil, err
			}
			if config == "" {
				o.Config, err = rest.InClusterConfig()
			} else {
				o.Config, err = clientcmd.BuildConfigFromFlags("", config)
			}
			if err != nil {
				return nil, fmt.Errorf("the cluster: %w", err)
			}
			// Of the downward API, where the front end runs among the jobs.
			o.Owner = cluster.Owner{Name: os.Getenv("BAILEY_OWNER_POD"), UID: os.Getenv("BAILEY_OWNER_UID")}
			o.Log = log
			return kube.New(ctx, o)
		},
	}, args, out, log)
}

// names adds the flags that the manifests and a front end share.
func names(flags *flag.FlagSet, o *cluster.Options) {
	flags.StringVar(&o.Namespace, "namespace", "bailey-jobs", "the namespace of the jobs, which is theirs alone")
	flags.StringVar(&o.FrontNamespace, "front-namespace", "bailey", "the namespace of the front ends and of the proxy")
	flags.StringVar(&o.Name, "pool", "bailey", "the name of the template and of its pool")
}

// key writes a new key into a file that does not exist.
func key(args []string, out io.Writer) error {
	if len(args) != 1 {
		return errors.New("want: bailey-front-kubernetes key FILE")
	}
	f, err := os.OpenFile(args[0], os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	k := pod.NewKey()
	_, err = f.Write(k.PEM())
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, k.Sum())
	return err
}

// manifests writes the objects of a cluster, for kubectl apply.
func manifests(args []string, out, log io.Writer) error {
	flags := flag.NewFlagSet("bailey-front-kubernetes manifests", flag.ContinueOnError)
	flags.SetOutput(log)
	var o cluster.Options
	names(flags, &o)
	file := flags.String("policy", "", "the policy of the jobs, a JSON file")
	flags.StringVar(&o.Image, "image", "", "the image with bailey-job and bailey-box, as registry/name@sha256:…")
	flags.StringVar(&o.Tools, "tools", "", "the folder of the image with the WASI programs that make tools builds")
	flags.StringVar(&o.Engine, "engine", "", "the path in the image of quickjs.wasm of quickjs-wasi 3.6.2, for code_run")
	flags.StringVar(&o.Model, "model", "", "a model that speaks Chat Completions, as name@https://host/path")
	flags.StringVar(&o.KeySecret, "key-secret", "", "the name of a secret of the jobs' namespace with BAILEY_KEY, the key of the model's provider")
	flags.StringVar(&o.Front, "front", "", "the sum of the front ends' key")
	flags.StringVar(&o.ProxyIP, "proxy-ip", "", "a free address of the cluster's services, for the proxy")
	flags.StringVar(&o.RuntimeClass, "runtime-class", "gvisor", "the runtime class of the jobs")
	flags.BoolVar(&o.Landlock, "landlock", false, "the runtime has Landlock, which gVisor has not, so bailey-box puts itself into a sandbox too")
	flags.IntVar(&o.Warm, "warm", 4, "the number of pods that wait for a session")
	flags.IntVar(&o.Jobs, "jobs", 64, "the most pods of the namespace")
	flags.Int64Var(&o.Memory, "memory", 2<<30, "bytes of memory of a job")
	flags.Int64Var(&o.CPU, "cpu", 1000, "thousandths of a processor of a job")
	flags.Int64Var(&o.Disk, "disk", 512<<20, "bytes of the folder of a job")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *file == "" || flags.NArg() > 0 {
		return errors.New("manifests: -policy is needed, and no further arguments")
	}
	text, err := os.ReadFile(*file)
	if err != nil {
		return err
	}
	o.Policy = string(text)
	objects, err := cluster.Manifests(o)
	if err != nil {
		return err
	}
	list, err := cluster.JSON(objects)
	if err == nil {
		_, err = out.Write(append(list, '\n'))
	}
	return err
}
