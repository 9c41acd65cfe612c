package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/bailey-go/bailey/environment/internal/boxtest"
	"github.com/bailey-go/bailey/environment/internal/cluster"
	"github.com/bailey-go/bailey/environment/internal/clustertest"
	"github.com/bailey-go/bailey/environment/internal/jobs"
	"github.com/bailey-go/bailey/environment/internal/pod"
	"github.com/bailey-go/bailey/environment/kubernetes/internal/apitest"
	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/until"
)

const rules = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "stream.send": true}, "rules": [{"permission": "*", "action": "allow"}]}`

func options(k *pod.Key) cluster.Options {
	return cluster.Options{Image: "registry.example/bailey@sha256:" + strings.Repeat("1", 64), Policy: rules, Front: k.Sum(), ProxyIP: "10.96.0.50", KeySecret: "model-key", Model: "large@https://model.example/v1", Warm: 1}
}

var names = cluster.Options{Namespace: "bailey-jobs", FrontNamespace: "bailey", Name: "bailey"}

// manifests returns the objects as kubectl sends them.
func manifests(t testing.TB, k *pod.Key) []map[string]any {
	t.Helper()
	objects, err := cluster.Manifests(options(k))
	if err != nil {
		t.Fatal(err)
	}
	text, err := cluster.JSON(objects)
	if err != nil {
		t.Fatal(err)
	}
	var l struct{ Items []map[string]any }
	if err := json.Unmarshal(text, &l); err != nil {
		t.Fatal(err)
	}
	return l.Items
}

func find(t testing.TB, all []map[string]any, kind, name string) map[string]any {
	t.Helper()
	for _, o := range all {
		u := unstructured.Unstructured{Object: o}
		if u.GetKind() == kind && u.GetName() == name {
			return o
		}
	}
	t.Fatalf("there is no %s %s", kind, name)
	return nil
}

// prepare applies the manifests, and the two objects that they expect.
func prepare(t testing.TB, s *apitest.Server, k *pod.Key) {
	t.Helper()
	for _, o := range append(manifests(t, k),
		map[string]any{"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": map[string]any{"name": "gvisor"}, "handler": "runsc"},
		map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "model-key", "namespace": "bailey-jobs"}, "stringData": map[string]any{"BAILEY_KEY": "key-of-the-model"}}) {
		if err := s.Apply(t.Context(), o); err != nil {
			t.Fatalf("%v: %v", o["kind"], err)
		}
	}
}

// source returns a source, closed at the end of the test.
func source(t testing.TB, s *apitest.Server, k *pod.Key, change func(*Options)) *Source {
	t.Helper()
	o := Options{Config: s.Front, Cluster: names, Key: k, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	if change != nil {
		change(&o)
	}
	x, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// call calls a tool of a job's box.
func call(t testing.TB, j *jobs.Job, tool string, args map[string]any) string {
	t.Helper()
	web := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return j.Dial(ctx) }}
	c, err := boxtest.ConnectBy(t.Context(), web, j.Credential)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil || res.IsError {
		t.Fatalf("%+v, %v", res, err)
	}
	return res.Content[0].(*sdk.TextContent).Text
}

// The API server takes every object, refuses the pods that are to be refused, and gives the front end the rights of its role
// and no others.
func TestManifests(t *testing.T) {
	s, k := apitest.Start(t), pod.NewKey()
	// Without Agent Sandbox the front end says what to install.
	if _, err := New(t.Context(), Options{Config: s.Admin, Cluster: names, Key: k}); err == nil || !strings.Contains(err.Error(), "install its CRDs") {
		t.Errorf("%v", err)
	}
	s.InstallCRDs(t)
	if _, err := New(t.Context(), Options{Config: s.Admin, Cluster: names, Key: k}); err == nil || !strings.Contains(err.Error(), "apply the manifests") {
		t.Errorf("%v", err)
	}
	if _, err := New(t.Context(), Options{Config: s.Front, Cluster: names, Key: k}); err == nil || !strings.Contains(err.Error(), "apply the role") {
		t.Errorf("%v", err)
	}
	prepare(t, s, k)
	for _, o := range manifests(t, k) { // again, without a change
		if err := s.Apply(t.Context(), o, "All"); err != nil {
			t.Errorf("%v: %v", o["kind"], err)
		}
	}
	wrong := find(t, manifests(t, k), "SandboxTemplate", "bailey")
	wrong["spec"].(map[string]any)["podTemplat"] = map[string]any{}
	if err := s.Apply(t.Context(), wrong, "All"); err == nil {
		t.Error("the server took an unknown field")
	}
	source(t, s, k, nil)
	if _, err := New(t.Context(), Options{Config: s.Front, Cluster: names, Key: pod.NewKey()}); err == nil || !strings.Contains(err.Error(), "the key of other front ends") {
		t.Errorf("%v", err)
	}
	stranger := rest.CopyConfig(s.Front)
	stranger.BearerToken = "unknown"
	if _, err := New(t.Context(), Options{Config: stranger, Cluster: names, Key: k}); err == nil || !strings.Contains(err.Error(), "does not know the front end") {
		t.Errorf("%v", err)
	}
	// The rights.
	front, err := dynamic.NewForConfig(s.Front)
	if err != nil {
		t.Fatal(err)
	}
	v1 := func(resource string) schema.GroupVersionResource {
		return schema.GroupVersionResource{Version: "v1", Resource: resource}
	}
	for what, err := range map[string]error{
		"read secrets":          second(front.Resource(v1("secrets")).Namespace("bailey-jobs").List(t.Context(), metav1.ListOptions{})),
		"read a secret":         second(front.Resource(v1("secrets")).Namespace("bailey-jobs").Get(t.Context(), "model-key", metav1.GetOptions{})),
		"make a pod":            second(front.Resource(v1("pods")).Namespace("bailey-jobs").Create(t.Context(), aPod(t, k, "p", nil), metav1.CreateOptions{})),
		"list pods":             second(front.Resource(v1("pods")).Namespace("bailey-jobs").List(t.Context(), metav1.ListOptions{})),
		"a program in a pod":    second(front.Resource(v1("pods")).Namespace("bailey-jobs").Create(t.Context(), aPod(t, k, "p", nil), metav1.CreateOptions{}, "exec")),
		"change the template":   second(front.Resource(apitest.Templates).Namespace("bailey-jobs").Patch(t.Context(), "bailey", "application/merge-patch+json", []byte(`{"spec": {"networkPolicyManagement": "Unmanaged"}}`), metav1.PatchOptions{})),
		"another template":      second(front.Resource(apitest.Templates).Namespace("bailey-jobs").Get(t.Context(), "other", metav1.GetOptions{})),
		"make a sandbox":        second(front.Resource(apitest.Sandboxes).Namespace("bailey-jobs").Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{"apiVersion": "agents.x-k8s.io/v1beta1", "kind": "Sandbox", "metadata": map[string]any{"name": "x"}}}, metav1.CreateOptions{})),
		"remove the deny-all":   front.Resource(schema.GroupVersionResource{Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"}).Namespace("bailey-jobs").Delete(t.Context(), cluster.DenyAll, metav1.DeleteOptions{}),
		"claims elsewhere":      second(front.Resource(apitest.Claims).Namespace("default").List(t.Context(), metav1.ListOptions{})),
		"the names of machines": second(front.Resource(v1("nodes")).List(t.Context(), metav1.ListOptions{})),
	} {
		if !apierrors.IsForbidden(err) {
			t.Errorf("the front end may %s: %v", what, err)
		}
	}
	// A pod of the template is taken, and none with more rights.
	pods := s.Client.Resource(apitest.Pods).Namespace("bailey-jobs")
	for what, change := range map[string]func(spec, container map[string]any){
		"the template's":  nil,
		"machine network": func(p, _ map[string]any) { p["hostNetwork"] = true },
		"machine pids":    func(p, _ map[string]any) { p["hostPID"] = true },
		"a machine folder": func(p, _ map[string]any) {
			p["volumes"] = append(p["volumes"].([]any), map[string]any{"name": "h", "hostPath": map[string]any{"path": "/"}})
		},
		"privileges":    func(_, c map[string]any) { c["securityContext"].(map[string]any)["privileged"] = true },
		"an escalation": func(_, c map[string]any) { delete(c["securityContext"].(map[string]any), "allowPrivilegeEscalation") },
		"root": func(p, c map[string]any) {
			delete(p, "securityContext")
			c["securityContext"].(map[string]any)["runAsNonRoot"] = false
		},
		"no seccomp": func(_, c map[string]any) {
			c["securityContext"].(map[string]any)["seccompProfile"] = map[string]any{"type": "Unconfined"}
		},
		"capabilities":     func(_, c map[string]any) { delete(c["securityContext"].(map[string]any), "capabilities") },
		"no runtime class": func(p, _ map[string]any) { p["runtimeClassName"] = "none" },
		"no limits":        func(_, c map[string]any) { delete(c, "resources") },
	} {
		_, err := pods.Create(t.Context(), aPod(t, k, "p", change), metav1.CreateOptions{DryRun: []string{"All"}, FieldValidation: metav1.FieldValidationStrict})
		if (err == nil) != (change == nil) && what != "no limits" { // the quota's controller is not there, see TestErrors
			t.Errorf("%s: %v", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// aPod is a pod of the template.
func aPod(t testing.TB, k *pod.Key, name string, change func(spec, container map[string]any)) *unstructured.Unstructured {
	t.Helper()
	template := find(t, manifests(t, k), "SandboxTemplate", "bailey")
	p, _, _ := unstructured.NestedMap(template, "spec", "podTemplate")
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": name}, "spec": p["spec"]}}
	if change != nil {
		spec := p["spec"].(map[string]any)
		change(spec, spec["containers"].([]any)[0].(map[string]any))
	}
	return u
}

// The API server takes templates that lack a protection, and a front end does not use them.
func TestAttackTemplates(t *testing.T) {
	s, k := apitest.Start(t), pod.NewKey()
	s.InstallCRDs(t)
	prepare(t, s, k)
	count := attack.Start(t, "pods")
	for _, a := range clustertest.Weakened() {
		all := manifests(t, k)
		list := []map[string]any{find(t, all, "SandboxTemplate", "bailey"), find(t, all, "SandboxWarmPool", "bailey"), find(t, all, "NetworkPolicy", cluster.DenyAll)}
		a.Change(list[0], list[1], list[2])
		var err error
		for _, o := range list {
			r, name, e := s.Resource(o)
			if e != nil {
				t.Fatal(e)
			}
			err = errors.Join(err, r.Delete(t.Context(), name, metav1.DeleteOptions{}), s.Apply(t.Context(), o))
		}
		count.Off(a.Name, err == nil) // nothing else stops it before a pod is made
		_, err = New(t.Context(), Options{Config: s.Front, Cluster: names, Key: k})
		count.Try(a.Name, err == nil)
	}
}

// A job is made from a claim, works, is paused, goes on, and ends with its claim.
func TestJob(t *testing.T) {
	s, k := apitest.Start(t), pod.NewKey()
	s.InstallCRDs(t)
	prepare(t, s, k)
	c := s.Control(t, "bailey-jobs", "large@http://127.0.0.1:1/v1", "", "")
	store, err := jobs.Folder(filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := jobs.NewPool(jobs.Options{Store: store}, source(t, s, k, nil))
	if err != nil {
		t.Fatal(err)
	}
	j, err := p.Create(t.Context(), "acme-a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Say(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	call(t, j, "write", map[string]any{"path": "d/a.txt", "content": "made"})
	if got := c.Claims(); len(got) != 1 {
		t.Fatalf("%q", got)
	}
	if err := j.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := c.Claims(); len(got) != 0 {
		t.Errorf("%q", got)
	}
	// It goes on in another pod, which then dies.
	if j, err = p.Create(t.Context(), "acme-a"); err != nil {
		t.Fatal(err)
	}
	if got := call(t, j, "read", map[string]any{"path": "d/a.txt"}); !strings.Contains(got, "made") {
		t.Errorf("%q", got)
	}
	if _, err := j.Say(t.Context(), "second"); err != nil {
		t.Fatal(err)
	}
	call(t, j, "write", map[string]any{"path": "b.txt", "content": "lost"})
	c.Kill(c.Claims()[0])
	<-j.Ended()
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if j, err = p.Create(t.Context(), "acme-a"); err != nil {
		t.Fatal(err)
	}
	if j.Last.Message != "second" || j.Last.N != 3 {
		t.Errorf("%+v", j.Last)
	}
	if got := call(t, j, "glob", map[string]any{"pattern": "**"}); strings.Contains(got, "b.txt") || !strings.Contains(got, "d/a.txt") {
		t.Errorf("%q", got)
	}
	// The claim's label has no name.
	list, err := s.Client.Resource(apitest.Claims).Namespace("bailey-jobs").List(t.Context(), metav1.ListOptions{LabelSelector: cluster.Claims})
	if err != nil || len(list.Items) != 1 || strings.Contains(fmt.Sprint(list.Items), "acme") {
		t.Errorf("%v %v", list, err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if got := c.Claims(); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

// The claims of a front end that died end, by the controller or by the sweep of another one.
func TestCrash(t *testing.T) {
	s, k := apitest.Start(t), pod.NewKey()
	s.InstallCRDs(t)
	prepare(t, s, k)
	claims := s.Client.Resource(apitest.Claims).Namespace("bailey-jobs")
	there := func(name string) bool {
		_, err := claims.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
		return err == nil
	}
	// Without a controller: a sweep deletes what is over, and nothing else.
	over := names.Claim("acme-a", time.Now().Add(-time.Hour), cluster.Owner{})
	alive := names.Claim("acme-a", time.Now().Add(time.Hour), cluster.Owner{})
	other := names.Claim("acme-a", time.Now().Add(-time.Hour), cluster.Owner{})
	other["metadata"].(map[string]any)["labels"] = map[string]any{"app.kubernetes.io/managed-by": "somebody"}
	var name [3]string
	for i, o := range []map[string]any{over, alive, other} {
		u, err := claims.Create(t.Context(), &unstructured.Unstructured{Object: o}, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
		if err != nil {
			t.Fatal(err)
		}
		name[i] = u.GetName()
	}
	source(t, s, k, nil)
	if there(name[0]) || !there(name[1]) || !there(name[2]) {
		t.Errorf("after a sweep: %v %v %v", there(name[0]), there(name[1]), there(name[2]))
	}
	// With one: a lease that is renewed is moved on, and ends without its front end.
	s.Control(t, "bailey-jobs", "large@http://127.0.0.1:1/v1", "", "")
	x := source(t, s, k, func(o *Options) { o.Lease = 3 * time.Second })
	place, err := x.Take(t.Context(), "acme-b")
	if err != nil {
		t.Fatal(err)
	}
	mine := ""
	for claim := range x.held {
		mine = claim
	}
	end := func() string {
		u, err := claims.Get(t.Context(), mine, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		text, _, _ := unstructured.NestedString(u.Object, "spec", "lifecycle", "shutdownTime")
		return text
	}
	first := end()
	until.True(t, "the lease is renewed", func() bool { return end() != first })
	x.mu.Lock()
	clear(x.held) // it renews no more, as if it had died
	x.mu.Unlock()
	<-place.Ended()
	until.True(t, "the claim is deleted", func() bool { return !there(mine) })
	if err := place.Close(); err != nil { // there is nothing left to delete
		t.Error(err)
	}
}

// Each failure says what it is and what to do.
func TestErrors(t *testing.T) {
	s, k := apitest.Start(t), pod.NewKey()
	s.InstallCRDs(t)
	prepare(t, s, k)
	fails := func(x *Source, wants ...string) {
		t.Helper()
		p, err := x.Take(t.Context(), "acme-a")
		if err == nil {
			_ = p.Close()
			t.Errorf("no error, want %q", wants)
			return
		}
		for _, want := range wants {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v lacks %q", err, want)
			}
		}
		if _, ok := errors.AsType[*jobs.PlaceError](err); !ok {
			t.Errorf("%T", err)
		}
		list, err := s.Client.Resource(apitest.Claims).Namespace("bailey-jobs").List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) > 0 {
			t.Errorf("%d claims are left, %v", len(list.Items), err)
		}
	}
	short := source(t, s, k, func(o *Options) { o.Bind = time.Second })
	fails(short, "no job within 1s", "has not seen the claim")
	c := s.Control(t, "bailey-jobs", "large@http://127.0.0.1:1/v1", "", "")
	c.Break("ErrImagePull")
	fails(short, "no job within 1s", "Pod exists with phase: Pending", "its pod waits: ErrImagePull: the registry has no such image")
	c.Break("")
	long := source(t, s, k, nil)
	// A template whose command does not run.
	configs := s.Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("bailey-jobs")
	if _, err := configs.Patch(t.Context(), "bailey-policy", "application/merge-patch+json", []byte(`{"data": {"policy.json": "{"}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	fails(long, "no job: PodFailed")
	// The quota's controller is not here, so the test writes what it would.
	quotas := s.Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "resourcequotas"}).Namespace("bailey-jobs")
	if _, err := quotas.Patch(t.Context(), "bailey-jobs", "application/merge-patch+json", []byte(`{"status": {"hard": {"count/sandboxclaims.extensions.agents.x-k8s.io": "0"}, "used": {"count/sandboxclaims.extensions.agents.x-k8s.io": "0"}}}`), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	full := func() bool {
		o := names.Claim("acme-a", time.Now().Add(time.Hour), cluster.Owner{})
		_, err := long.claims.Create(t.Context(), &unstructured.Unstructured{Object: o}, metav1.CreateOptions{DryRun: []string{"All"}})
		return apierrors.IsForbidden(err)
	}
	until.True(t, "the quota is full", full)
	fails(long, "the quota of the namespace bailey-jobs is used up")
	if _, err := quotas.Patch(t.Context(), "bailey-jobs", "application/merge-patch+json", []byte(`{"status": {"hard": {"count/sandboxclaims.extensions.agents.x-k8s.io": "9"}, "used": {"count/sandboxclaims.extensions.agents.x-k8s.io": "0"}}}`), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	until.True(t, "the quota has room", func() bool { return !full() })
	if err := s.Client.Resource(apitest.Pools).Namespace("bailey-jobs").Delete(t.Context(), "bailey", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	fails(long, `no job: WarmPoolNotFound: SandboxWarmPool \"bailey\" not found`)
	// Somebody takes the role away.
	roles := s.Client.Resource(schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"}).Namespace("bailey-jobs")
	if err := roles.Delete(t.Context(), "bailey-front", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until.True(t, "the right is gone", func() bool {
		_, err := long.claims.List(t.Context(), metav1.ListOptions{})
		return apierrors.IsForbidden(err)
	})
	fails(long, "has no right to: apply the role")
	gone := absent(t, k)
	if gone == nil || !strings.Contains(gone.Error(), "the API server did not answer") {
		t.Errorf("%v", gone)
	}
	for _, o := range []Options{{}, {Config: s.Front, Key: k}, {Config: s.Front, Key: k, Cluster: names, Bind: time.Millisecond}} {
		if _, err := New(t.Context(), o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}

// absent asks an API server that is not there.
func absent(t testing.TB, k *pod.Key) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	_, err = New(t.Context(), Options{Config: &rest.Config{Host: "https://" + l.Addr().String()}, Cluster: names, Key: k})
	return err
}
