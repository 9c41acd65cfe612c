// Package kube is the client of package cluster: a source of jobs in pods, by claims of Agent Sandbox. It has no scheduler.
// The controller in the cluster keeps warm sandboxes, binds a claim to one, and removes it with its claim.
//
// A claim ends with its job. It has a time at which the controller deletes it, which a front end moves on while it lives. So
// the jobs of one that died end by themselves, and a sweep by any front end removes claims that a controller left.
package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/bailey-go/bailey/environment/internal/cluster"
	"github.com/bailey-go/bailey/environment/internal/jobs"
	"github.com/bailey-go/bailey/environment/internal/pod"
)

// Options configure a [Source]. Config, Key and the names of Cluster are required.
type Options struct {
	Config *rest.Config
	// Cluster has the names of the namespaces and of the pool. Front is set by New.
	Cluster cluster.Options
	// Key is that of the front ends.
	Key *pod.Key
	// Owner is the pod of this front end in the namespace of the jobs. Its claims are removed with it. The default is none.
	Owner cluster.Owner
	// Bind is the most time for a claim to get a job. The default is 1 minute.
	Bind time.Duration
	// Lease is the time after which the claims of a front end that died end. The default is 3 minutes.
	Lease time.Duration
	// Deadline is the most time of a job. Afterwards its session goes on in a new one. The default is 12 hours.
	Deadline time.Duration
	// Log gets what happens. The default is none.
	Log *slog.Logger
}

// Source is a source of jobs in pods.
type Source struct {
	o       Options
	client  dynamic.Interface
	claims  dynamic.ResourceInterface
	ctx     context.Context
	end     context.CancelFunc
	renewal sync.WaitGroup

	mu   sync.Mutex
	held map[string]time.Time // the claims of this source, with the times of their deadlines
}

var _ jobs.Source = (*Source)(nil)

func resource(group, version, plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: version, Resource: plural}
}

// requestTime is the most time of a request to the API server.
const requestTime = 15 * time.Second

// New returns a source, after it has found that the cluster has every protection of a job.
func New(ctx context.Context, o Options) (*Source, error) {
	for _, d := range []struct {
		field string
		value *time.Duration
		usual time.Duration
		least time.Duration
	}{{"Bind", &o.Bind, time.Minute, time.Second}, {"Lease", &o.Lease, 3 * time.Minute, 3 * time.Second}, {"Deadline", &o.Deadline, 12 * time.Hour, 3 * time.Second}} {
		if *d.value == 0 {
			*d.value = d.usual
		}
		if *d.value < d.least {
			return nil, fmt.Errorf("kube: Options.%s is %v; want at least %v, or 0 for %v", d.field, *d.value, d.least, d.usual)
		}
	}
	if o.Config == nil || o.Key == nil || o.Cluster.Namespace == "" || o.Cluster.FrontNamespace == "" || o.Cluster.Name == "" {
		return nil, errors.New("kube: Options: Config, Key and the names of Cluster are needed")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Cluster.Front = o.Key.Sum()
	conf := rest.CopyConfig(o.Config)
	conf.UserAgent = "bailey-front-kubernetes"
	conf.QPS, conf.Burst = 50, 100
	client, err := dynamic.NewForConfig(conf)
	if err != nil {
		return nil, fmt.Errorf("kube: %w", err)
	}
	s := &Source{o: o, client: client, held: map[string]time.Time{}}
	s.claims = client.Resource(resource(cluster.Group, cluster.Version, "sandboxclaims")).Namespace(o.Cluster.Namespace)
	s.ctx, s.end = context.WithCancel(context.Background())
	if err := s.verify(ctx); err != nil {
		s.end()
		return nil, err
	}
	s.sweep(ctx)
	s.renewal.Go(s.renew)
	return s, nil
}

// verify reads the objects that a job's protections are in.
func (s *Source) verify(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	var found [3]cluster.Object
	for i, x := range []struct {
		at   schema.GroupVersionResource
		name string
	}{
		{resource(cluster.Group, cluster.Version, "sandboxtemplates"), s.o.Cluster.Name},
		{resource(cluster.Group, cluster.Version, "sandboxwarmpools"), s.o.Cluster.Name},
		{resource("networking.k8s.io", "v1", "networkpolicies"), cluster.DenyAll},
	} {
		u, err := s.client.Resource(x.at).Namespace(s.o.Cluster.Namespace).Get(ctx, x.name, metav1.GetOptions{})
		if err != nil {
			return s.explain("read the "+x.at.Resource+" "+x.name, err)
		}
		found[i] = u.Object
	}
	if err := s.o.Cluster.Verify(found[0], found[1], found[2]); err != nil {
		return fmt.Errorf("kube: %w", err)
	}
	return nil
}

// explain returns an error for the log of an operator.
func (s *Source) explain(what string, err error) error {
	f := cluster.Failure{Message: err.Error()}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		x := status.Status()
		f.Code, f.Message = int(x.Code), x.Message
		if x.Details != nil {
			f.Kind, f.Name = x.Details.Kind, x.Details.Name
		}
	}
	return &jobs.PlaceError{Text: s.o.Cluster.Explain(what, f).Error()}
}

// Notes implements [jobs.Source].
func (s *Source) Notes() []string {
	return []string{"the number of processes of a pod is a limit of the kubelet (podPidsLimit), which its template can't set"}
}

// Walls implements [jobs.Source]. They are those of the template and the policy, which New has read.
func (s *Source) Walls() []jobs.Wall {
	return []jobs.Wall{
		{Name: "Pod", How: "each chat has a pod of its own, without a token of the cluster, without rights, and with limits of memory, processors and disk"},
		{Name: "Network policy", How: "a pod reaches the proxy alone, if the cluster's network enforces its policies"},
	}
}

// until is the time at which a claim ends that is renewed no more.
func (s *Source) until(deadline time.Time) time.Time {
	if t := time.Now().Add(s.o.Lease); t.Before(deadline) {
		return t
	}
	return deadline
}

// Take implements [jobs.Source]. It makes a claim and waits until it has a job.
func (s *Source) Take(ctx context.Context, name string) (jobs.Place, error) {
	ctx, cancel := context.WithTimeout(ctx, s.o.Bind)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	deadline := time.Now().Add(s.o.Deadline)
	object := &unstructured.Unstructured{Object: s.o.Cluster.Claim(name, s.until(deadline), s.o.Owner)}
	claim := object.GetName()
	s.mu.Lock()
	s.held[claim] = deadline
	s.mu.Unlock()
	made, err := s.claims.Create(ctx, object, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if err != nil {
		// A request that was given up may have been done.
		return nil, errors.Join(s.explain("create a claim", err), s.drop(claim))
	}
	address, err := s.bound(ctx, made)
	if err != nil {
		return nil, errors.Join(err, s.drop(claim))
	}
	p, err := pod.Connect(ctx, pod.ConnectOptions{Address: address, Key: s.o.Key, Throw: func() error { return s.drop(claim) }})
	if err != nil {
		return nil, &jobs.PlaceError{Text: "the job at " + address + ": " + err.Error()}
	}
	return p, nil
}

// bound waits for the address of a claim's job.
func (s *Source) bound(ctx context.Context, claim *unstructured.Unstructured) (string, error) {
	state := cluster.Read(claim.Object)
	for {
		if state.Address != "" {
			return state.Address, nil
		}
		if state.Final || ctx.Err() != nil {
			return "", s.unbound(state)
		}
		w, err := s.claims.Watch(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", claim.GetName()).String(), ResourceVersion: claim.GetResourceVersion()})
		if err == nil {
			for e := range w.ResultChan() {
				u, ok := e.Object.(*unstructured.Unstructured)
				if !ok { // the watch begins again
					break
				}
				claim = u
				if state = cluster.Read(u.Object); e.Type == "DELETED" {
					state = cluster.State{Reason: "the claim was deleted", Final: true}
				}
				if state.Address != "" || state.Final {
					break
				}
			}
			w.Stop()
			if state.Address != "" || state.Final {
				continue
			}
		}
		// The watch has ended early, or its version is too old.
		u, again := s.claims.Get(ctx, claim.GetName(), metav1.GetOptions{})
		switch {
		case again == nil:
			claim, state = u, cluster.Read(u.Object)
		case apierrors.IsNotFound(again):
			state = cluster.State{Reason: "the claim was deleted", Final: true}
		case ctx.Err() == nil:
			return "", s.explain("read a claim", errors.Join(again, err))
		}
		if err != nil && ctx.Err() == nil {
			rest := time.NewTimer(time.Second)
			select {
			case <-rest.C:
			case <-ctx.Done():
				rest.Stop()
			}
		}
	}
}

// unbound returns the reason for which there is no job, with that of its pod.
func (s *Source) unbound(state cluster.State) error {
	ctx, cancel := context.WithTimeout(context.Background(), requestTime)
	defer cancel()
	waits := ""
	if state.Sandbox != "" {
		if u, err := s.client.Resource(resource("", "v1", "pods")).Namespace(s.o.Cluster.Namespace).Get(ctx, state.Sandbox, metav1.GetOptions{}); err == nil {
			waits = cluster.Waits(u.Object)
		}
	}
	return &jobs.PlaceError{Text: cluster.Unbound(s.o.Bind, state, waits).Error()}
}

// drop deletes a claim of this source. The controller removes its sandbox.
func (s *Source) drop(claim string) error {
	s.mu.Lock()
	delete(s.held, claim) // no more renewals, so it ends even if it can't be deleted now
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), requestTime)
	defer cancel()
	if err := s.claims.Delete(ctx, claim, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return s.explain("delete a claim", err)
	}
	return nil
}

// renew lets the claims of this source live on, and sweeps.
func (s *Source) renew() {
	tick := time.NewTicker(s.o.Lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.ctx.Done():
			return
		}
		s.mu.Lock()
		held := map[string]time.Time{}
		for claim, deadline := range s.held {
			held[claim] = deadline
		}
		s.mu.Unlock()
		for claim, deadline := range held {
			if err := s.extend(claim, deadline); err != nil {
				s.o.Log.Error("a claim was not renewed", "claim", claim, "error", err.Error())
			}
		}
		s.sweep(s.ctx)
	}
}

func (s *Source) extend(claim string, deadline time.Time) error {
	text, err := json.Marshal(cluster.Renewal(s.until(deadline)))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(s.ctx, requestTime)
	defer cancel()
	_, err = s.claims.Patch(ctx, claim, types.MergePatchType, text, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) || s.ctx.Err() != nil { // its job ends, and the front end drops it
		return nil
	}
	if err != nil {
		return s.explain("renew a claim", err)
	}
	return nil
}

// Sweeping waits for clocks that differ.
const clocks = time.Minute

// sweep deletes the claims of front ends that died, which the controller should have deleted.
func (s *Source) sweep(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	all, err := s.claims.List(ctx, metav1.ListOptions{LabelSelector: cluster.Claims})
	if err != nil {
		if s.ctx.Err() == nil {
			s.o.Log.Error("claims were not swept", "error", s.explain("list the claims", err).Error())
		}
		return
	}
	for _, u := range all.Items {
		if !cluster.Expired(u.Object, time.Now().Add(-clocks)) {
			continue
		}
		// It is deleted as it was read, so one that was renewed since stays.
		version := u.GetResourceVersion()
		if err := s.claims.Delete(ctx, u.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &version}}); err == nil {
			s.o.Log.Warn("a claim of a front end that died was deleted", "claim", u.GetName())
		}
	}
}

// Close implements [jobs.Source].
func (s *Source) Close() error {
	s.end()
	s.renewal.Wait()
	s.mu.Lock()
	var left []string
	for claim := range s.held {
		left = append(left, claim)
	}
	s.mu.Unlock()
	var errs []error
	for _, claim := range left {
		errs = append(errs, s.drop(claim))
	}
	return errors.Join(errs...)
}
