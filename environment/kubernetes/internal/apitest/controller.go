package apitest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/bailey-go/bailey/internal/until"
)

// Controller answers the claims of a namespace as that of Agent Sandbox does: it makes a sandbox and a pod of the template,
// writes what is ready into their states, deletes a claim whose time is over, and removes everything with a claim. In the
// place of a kubelet it runs the command of the pod as a process of this machine, at an address of its own in 127.0.0.0/8.
type Controller struct {
	s         *Server
	t         testing.TB
	namespace string
	bin       string // with bailey-job and bailey-box
	// In the place of the template's.
	model, tools, engine string

	mu    sync.Mutex
	broke string // the reason for which a pod does not start
	next  int
	pods  map[string]*exec.Cmd // by the claim
	gone  map[string]func()
	work  sync.WaitGroup
}

// Control starts a controller until the end of the test. model is name@http://address. tools and engine are the paths for
// a template that has them.
func (s *Server) Control(t testing.TB, namespace, model, tools, engine string) *Controller {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "kube-bin-")
	if err == nil {
		err = os.Chmod(dir, 0o711)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	Build(t, dir, "bailey-job", "bailey-box")
	c := &Controller{s: s, t: t, namespace: namespace, bin: dir, model: model, tools: tools, engine: engine, pods: map[string]*exec.Cmd{}, gone: map[string]func(){}}
	ctx, cancel := context.WithCancel(context.Background())
	list, err := c.of(Claims).List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.work.Go(func() {
		for i := range list.Items {
			c.claim(ctx, &list.Items[i])
		}
		c.watch(ctx, list.GetResourceVersion())
	})
	t.Cleanup(func() {
		cancel()
		c.work.Wait()
		c.mu.Lock()
		var all []func()
		for _, remove := range c.gone {
			all = append(all, remove)
		}
		c.mu.Unlock()
		for _, remove := range all {
			remove()
		}
	})
	return c
}

// Break lets no more pods start, for a reason such as ErrImagePull, or any with "".
func (c *Controller) Break(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broke = reason
}

// Kill kills the pod of a claim, as a machine that has no more memory does.
func (c *Controller) Kill(claim string) {
	c.mu.Lock()
	cmd := c.pods[claim]
	c.mu.Unlock()
	if cmd != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}

// Claims returns the names of the claims in the cluster.
func (c *Controller) Claims() (names []string) {
	list, err := c.of(Claims).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		c.t.Error(err)
		return nil
	}
	for _, u := range list.Items {
		names = append(names, u.GetName())
	}
	return names
}

func (c *Controller) of(r schema.GroupVersionResource) dynamic.ResourceInterface {
	return c.s.Client.Resource(r).Namespace(c.namespace)
}

func (c *Controller) watch(ctx context.Context, version string) {
	for ctx.Err() == nil {
		w, err := c.of(Claims).Watch(ctx, metav1.ListOptions{ResourceVersion: version})
		if err != nil {
			if ctx.Err() == nil {
				c.t.Errorf("the controller: %v", err)
			}
			return
		}
		for e := range w.ResultChan() {
			u, ok := e.Object.(*unstructured.Unstructured)
			if !ok && ctx.Err() != nil { // the end of the test, which the watch tells so
				return
			}
			if !ok {
				c.t.Errorf("the controller: %v", e.Object)
				return
			}
			version = u.GetResourceVersion()
			if e.Type == "DELETED" {
				c.mu.Lock()
				remove := c.gone[u.GetName()]
				c.mu.Unlock()
				if remove != nil {
					remove()
				}
				continue
			}
			c.claim(ctx, u)
		}
	}
}

// claim does what a claim needs.
func (c *Controller) claim(ctx context.Context, u *unstructured.Unstructured) {
	text, _, _ := unstructured.NestedString(u.Object, "spec", "lifecycle", "shutdownTime")
	if end, err := time.Parse(time.RFC3339, text); err == nil {
		// A renewal comes as a change, and sees to its own end.
		time.AfterFunc(time.Until(end), func() {
			now, err := c.of(Claims).Get(ctx, u.GetName(), metav1.GetOptions{})
			if err != nil {
				return
			}
			text, _, _ := unstructured.NestedString(now.Object, "spec", "lifecycle", "shutdownTime")
			if end, err := time.Parse(time.RFC3339, text); err == nil && !end.After(time.Now()) {
				_ = c.of(Claims).Delete(ctx, u.GetName(), metav1.DeleteOptions{})
			}
		})
	}
	c.mu.Lock()
	known := c.gone[u.GetName()] != nil
	if !known {
		c.gone[u.GetName()] = sync.OnceFunc(func() { c.remove(u.GetName()) })
	}
	c.mu.Unlock()
	if known {
		return
	}
	c.work.Go(func() {
		if err := c.bind(ctx, u); err != nil && ctx.Err() == nil {
			reason, message := "ReconcilerError", "Error seen: "+err.Error()
			if named, ok := errors.AsType[reasoned](err); ok {
				reason, message = named.reason, named.text
			}
			c.state(ctx, u.GetName(), "", "", "False", reason, message)
		}
	})
}

type reasoned struct{ reason, text string }

func (r reasoned) Error() string { return r.text }

// bind makes the sandbox and the pod of a claim.
func (c *Controller) bind(ctx context.Context, u *unstructured.Unstructured) error {
	name := u.GetName()
	pool, _, _ := unstructured.NestedString(u.Object, "spec", "warmPoolRef", "name")
	p, err := c.of(Pools).Get(ctx, pool, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return reasoned{"WarmPoolNotFound", fmt.Sprintf("SandboxWarmPool %q not found", pool)}
	} else if err != nil {
		return err
	}
	template, _, _ := unstructured.NestedString(p.Object, "spec", "sandboxTemplateRef", "name")
	of, err := c.of(Templates).Get(ctx, template, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return reasoned{"TemplateNotFound", fmt.Sprintf("SandboxTemplate %q not found", template)}
	} else if err != nil {
		return err
	}
	pod, _, _ := unstructured.NestedMap(of.Object, "spec", "podTemplate")
	yes := true
	owner := func(kind, version string, uid metav1.Object) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: name, UID: uid.GetUID(), Controller: &yes}}
	}
	sandbox := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "agents.x-k8s.io/v1beta1", "kind": "Sandbox", "spec": map[string]any{"podTemplate": pod, "service": false}}}
	sandbox.SetName(name)
	sandbox.SetOwnerReferences(owner("SandboxClaim", "extensions.agents.x-k8s.io/v1beta1", u))
	if sandbox, err = c.of(Sandboxes).Create(ctx, sandbox, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}); err != nil {
		return err
	}
	labels, _, _ := unstructured.NestedStringMap(pod, "metadata", "labels")
	real := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "spec": pod["spec"]}}
	real.SetName(name)
	real.SetLabels(labels)
	real.SetOwnerReferences(owner("Sandbox", "agents.x-k8s.io/v1beta1", sandbox))
	if real, err = c.of(Pods).Create(ctx, real, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}); err != nil {
		return err
	}
	c.mu.Lock()
	broke := c.broke
	c.mu.Unlock()
	if broke != "" {
		c.status(ctx, Pods, name, map[string]any{"phase": "Pending", "containerStatuses": []any{map[string]any{"name": "bailey-job", "image": "x", "imageID": "", "ready": false, "restartCount": int64(0),
			"state": map[string]any{"waiting": map[string]any{"reason": broke, "message": "the registry has no such image"}}}}})
		c.state(ctx, name, name, "", "False", "DependenciesNotReady", "Pod exists with phase: Pending")
		return nil
	}
	c.state(ctx, name, name, "", "False", "DependenciesNotReady", "Pod exists with phase: Pending")
	ip, err := c.run(ctx, name, real)
	if err != nil {
		return err
	}
	c.status(ctx, Pods, name, map[string]any{"phase": "Running", "podIP": ip, "podIPs": []any{map[string]any{"ip": ip}}, "conditions": []any{map[string]any{"type": "Ready", "status": "True"}}})
	c.state(ctx, name, name, ip, "True", "DependenciesReady", "Pod is Ready")
	return nil
}

// run runs the command of a pod, and returns its address when it serves.
func (c *Controller) run(ctx context.Context, name string, pod *unstructured.Unstructured) (string, error) {
	containers, _, _ := unstructured.NestedSlice(pod.Object, "spec", "containers")
	container := containers[0].(map[string]any)
	var args []string
	for _, a := range container["command"].([]any) {
		args = append(args, a.(string))
	}
	dir, err := os.MkdirTemp("/tmp", "kube-pod-")
	if err == nil {
		err = os.Chmod(dir, 0o711)
	}
	if err != nil {
		return "", err
	}
	config, err := c.s.Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(c.namespace).Get(ctx, "bailey-policy", metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	policy, _, _ := unstructured.NestedString(config.Object, "data", "policy.json")
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "policy.json"), []byte(policy), 0o644), os.Mkdir(filepath.Join(dir, "work"), 0o711)); err != nil {
		return "", err
	}
	c.mu.Lock()
	c.next++
	ip := fmt.Sprintf("127.77.%d.%d", c.next/250, c.next%250+1)
	c.mu.Unlock()
	for i, a := range args {
		switch a {
		case "bailey-job", "bailey-box":
			args[i] = filepath.Join(c.bin, a)
		case ":8443":
			args[i] = ip + a
		case "/work":
			args[i] = filepath.Join(dir, "work")
		case "/etc/bailey/policy.json":
			args[i] = filepath.Join(dir, "policy.json")
		}
	}
	for flag, to := range map[string]string{"-model": c.model, "-tools": c.tools, "-engine": c.engine} {
		if i := slices.Index(args, flag); i > 0 {
			args[i+1] = to
		}
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	for _, e := range container["env"].([]any) {
		v, _, _ := unstructured.NestedString(e.(map[string]any), "value")
		if ref, is, _ := unstructured.NestedStringMap(e.(map[string]any), "valueFrom", "secretKeyRef"); is {
			secret, err := c.s.Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace(c.namespace).Get(ctx, ref["name"], metav1.GetOptions{})
			if err != nil {
				return "", err
			}
			encoded, _, _ := unstructured.NestedString(secret.Object, "data", ref["key"])
			var raw []byte
			if err := json.Unmarshal([]byte(`"`+encoded+`"`), &raw); err != nil {
				return "", err
			}
			v = string(raw)
		}
		cmd.Env = append(cmd.Env, e.(map[string]any)["name"].(string)+"="+v)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	var log bytes.Buffer
	out, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", err
	}
	ended := make(chan struct{})
	c.mu.Lock()
	c.pods[name] = cmd
	c.mu.Unlock()
	stop := context.AfterFunc(ctx, func() { c.Kill(name) })
	c.work.Go(func() {
		defer stop()
		_, _ = io.Copy(&log, bufio.NewReader(out))
		_ = cmd.Wait()
		close(ended)
		<-ctx.Done()
		os.RemoveAll(dir)
	})
	serves := until.Met(func() bool {
		select {
		case <-ended:
			return true
		case <-ctx.Done():
			return true
		default:
		}
		n, err := net.Dial("tcp", ip+":8443")
		if err == nil {
			n.Close()
		}
		return err == nil
	})
	select {
	case <-ended:
		return "", reasoned{"PodFailed", "Pod failed: " + log.String()}
	default:
	}
	if !serves {
		return "", errors.New("the pod does not serve")
	}
	return ip, nil
}

// status changes the state of an object.
func (c *Controller) status(ctx context.Context, r schema.GroupVersionResource, name string, status map[string]any) {
	text, err := json.Marshal(map[string]any{"status": status})
	if err == nil {
		_, err = c.of(r).Patch(ctx, name, "application/merge-patch+json", text, metav1.PatchOptions{}, "status")
	}
	if err != nil && ctx.Err() == nil && !apierrors.IsNotFound(err) {
		c.t.Errorf("the controller: the state of %s %s: %v", r.Resource, name, err)
	}
}

// state changes the states of a claim and of its sandbox.
func (c *Controller) state(ctx context.Context, claim, sandbox, ip, ready, reason, message string) {
	conditions := []any{map[string]any{"type": "Ready", "status": ready, "reason": reason, "message": message, "lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}}
	var ips []any
	if ip != "" {
		ips = []any{ip}
	}
	if sandbox != "" {
		c.status(ctx, Sandboxes, sandbox, map[string]any{"conditions": conditions, "podIPs": ips})
	}
	c.status(ctx, Claims, claim, map[string]any{"conditions": conditions, "sandbox": map[string]any{"name": sandbox, "podIPs": ips}})
}

// remove removes the pod and the sandbox of a claim.
func (c *Controller) remove(claim string) {
	c.Kill(claim)
	now := int64(0)
	for _, r := range []schema.GroupVersionResource{Sandboxes, Pods} {
		err := c.of(r).Delete(context.Background(), claim, metav1.DeleteOptions{GracePeriodSeconds: &now})
		if err != nil && !apierrors.IsNotFound(err) {
			c.t.Errorf("the controller: %v", err)
		}
	}
}
