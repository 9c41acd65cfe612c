// Package apitest starts a real API server of Kubernetes with the custom resources of Agent Sandbox, and a controller that
// answers claims with processes of this machine. It is for tests only.
//
// There is no kubelet and no gVisor, and no controller of Kubernetes itself: nothing enforces a network policy or a limit.
package apitest

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"embed"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/bailey-go/bailey/internal/until"
)

//go:embed crds/*.gz
var crds embed.FS

// Server is an API server.
type Server struct {
	Admin, Front *rest.Config // of a user with all rights, and of the front ends' service account
	Client       dynamic.Interface
}

// Program returns the path of a program that make environments builds into .bin, or skips the test.
func Program(t testing.TB, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("NOT TESTED: it is for make environments")
	}
	dir, err := os.Getwd()
	for err == nil {
		path := filepath.Join(dir, ".bin", name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
		if filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	if os.Getenv("BAILEY_REQUIRE") != "" {
		t.Fatalf("%s is missing: make environments builds it", name)
	}
	t.Skipf("NOT TESTED: %s is missing, make environments builds it", name)
	return ""
}

// Build builds commands of module environment into a folder.
func Build(t testing.TB, dir string, names ...string) {
	t.Helper()
	home, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/bailey-go/bailey/environment").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		cmd := exec.Command("go", "build", "-o", filepath.Join(dir, name), "./cmd/"+name)
		cmd.Dir = strings.TrimSpace(string(home))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}

// start starts a program until the end of the test, with its output in the test's log if it fails.
func start(t testing.TB, path string, args ...string) {
	t.Helper()
	var log bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			text := log.Bytes()
			t.Logf("%s: %s", filepath.Base(path), text[max(0, len(text)-4000):])
		}
	})
}

// port returns a port that nobody has.
func port(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// Start starts etcd and kube-apiserver for a test.
func Start(t testing.TB) *Server {
	t.Helper()
	etcd, api := Program(t, "etcd"), Program(t, "kube-apiserver")
	dir := t.TempDir()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	file := func(name string, data []byte) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	signing := file("sa.key", pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	tokens := file("tokens", []byte("admin-token,admin,admin,system:masters\nfront-token,system:serviceaccount:bailey:bailey-front,front,\"system:serviceaccounts,system:serviceaccounts:bailey,system:authenticated\"\n"))
	client, peer, secure := port(t), port(t), port(t)
	start(t, etcd, "--data-dir", filepath.Join(dir, "etcd"), "--unsafe-no-fsync", "--log-level", "warn", "--listen-client-urls", "http://127.0.0.1:"+client, "--advertise-client-urls", "http://127.0.0.1:"+client,
		"--listen-peer-urls", "http://127.0.0.1:"+peer, "--initial-advertise-peer-urls", "http://127.0.0.1:"+peer, "--initial-cluster", "default=http://127.0.0.1:"+peer)
	start(t, api, "--etcd-servers", "http://127.0.0.1:"+client, "--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1", "--endpoint-reconciler-type", "none", "--secure-port", secure, "--cert-dir", filepath.Join(dir, "certs"),
		"--authorization-mode", "RBAC", "--token-auth-file", tokens, "--service-account-issuer", "https://api.example", "--service-account-key-file", signing, "--service-account-signing-key-file", signing,
		"--service-cluster-ip-range", "10.96.0.0/16", "--allow-privileged=true")
	config := func(token string) *rest.Config {
		return &rest.Config{Host: "https://127.0.0.1:" + secure, BearerToken: token, TLSClientConfig: rest.TLSClientConfig{Insecure: true}, QPS: 1000, Burst: 1000}
	}
	s := &Server{Admin: config("admin-token"), Front: config("front-token")}
	web, err := rest.HTTPClientFor(s.Admin)
	if err == nil {
		s.Client, err = dynamic.NewForConfig(s.Admin)
	}
	if err != nil {
		t.Fatal(err)
	}
	until.True(t, "the API server is ready", func() bool {
		resp, err := web.Get(s.Admin.Host + "/readyz")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode == http.StatusOK
	})
	return s
}

// InstallCRDs installs the custom resources of Agent Sandbox.
func (s *Server) InstallCRDs(t testing.TB) {
	t.Helper()
	list, err := crds.ReadDir("crds")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		f, err := crds.Open("crds/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		var o map[string]any
		if err := yaml.Unmarshal(text, &o); err != nil {
			t.Fatal(err)
		}
		// The controller's webhook, which converts between versions, is not here: there is one version.
		spec := o["spec"].(map[string]any)
		delete(spec, "conversion")
		spec["versions"] = slices.DeleteFunc(spec["versions"].([]any), func(v any) bool { return v.(map[string]any)["name"] != "v1beta1" })
		if err := s.Apply(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	until.True(t, "the custom resources are served", func() bool {
		for _, r := range []schema.GroupVersionResource{Sandboxes, Claims, Templates, Pools} {
			if _, err := s.Client.Resource(r).Namespace("default").List(t.Context(), metav1.ListOptions{}); err != nil {
				return false
			}
		}
		return true
	})
}

// The resources of Agent Sandbox, and others.
var (
	Sandboxes = schema.GroupVersionResource{Group: "agents.x-k8s.io", Version: "v1beta1", Resource: "sandboxes"}
	Claims    = schema.GroupVersionResource{Group: "extensions.agents.x-k8s.io", Version: "v1beta1", Resource: "sandboxclaims"}
	Templates = schema.GroupVersionResource{Group: "extensions.agents.x-k8s.io", Version: "v1beta1", Resource: "sandboxtemplates"}
	Pools     = schema.GroupVersionResource{Group: "extensions.agents.x-k8s.io", Version: "v1beta1", Resource: "sandboxwarmpools"}
	Pods      = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
)

// kinds are the resources of the kinds of the manifests.
var kinds = map[string]string{"Namespace": "namespaces", "NetworkPolicy": "networkpolicies", "ServiceAccount": "serviceaccounts", "ResourceQuota": "resourcequotas", "ConfigMap": "configmaps",
	"SandboxTemplate": "sandboxtemplates", "SandboxWarmPool": "sandboxwarmpools", "Role": "roles", "RoleBinding": "rolebindings", "Deployment": "deployments", "Service": "services",
	"CustomResourceDefinition": "customresourcedefinitions", "RuntimeClass": "runtimeclasses", "Secret": "secrets", "Pod": "pods"}

// Resource returns the client of an object's kind, in its namespace.
func (s *Server) Resource(o map[string]any) (dynamic.ResourceInterface, string, error) {
	u := unstructured.Unstructured{Object: o}
	gv, err := schema.ParseGroupVersion(u.GetAPIVersion())
	if err == nil && kinds[u.GetKind()] == "" {
		err = fmt.Errorf("the kind %s is not in the table", u.GetKind())
	}
	if err != nil {
		return nil, "", err
	}
	r := s.Client.Resource(gv.WithResource(kinds[u.GetKind()]))
	if u.GetNamespace() == "" {
		return r, u.GetName(), nil
	}
	return r.Namespace(u.GetNamespace()), u.GetName(), nil
}

// Apply makes an object, or changes it, as kubectl apply --server-side does. The server refuses unknown fields.
func (s *Server) Apply(ctx context.Context, o map[string]any, dryRun ...string) error {
	r, name, err := s.Resource(o)
	if err != nil {
		return err
	}
	text, err := yaml.Marshal(o)
	if err != nil {
		return err
	}
	force := true
	_, err = r.Patch(ctx, name, "application/apply-patch+yaml", text, metav1.PatchOptions{FieldManager: "test", Force: &force, FieldValidation: metav1.FieldValidationStrict, DryRun: dryRun})
	return err
}
