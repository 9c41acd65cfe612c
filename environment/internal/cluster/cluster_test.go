package cluster

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/environment/internal/clustertest"
	"github.com/bailey-go/bailey/internal/attack"
)

var update = flag.Bool("update", false, "write the golden file")

const rules = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "net.fetch": ["api.example.com"], "stream.send": true}, "rules": [{"permission": "*", "action": "allow"}]}`

func options() Options {
	return Options{Image: "registry.example/bailey@sha256:" + strings.Repeat("1", 64), Policy: rules, Front: strings.Repeat("2", 64), ProxyIP: "10.96.0.50", Model: "large@https://model.example/v1", KeySecret: "model-key", Tools: "/opt/bailey/tools", Engine: "/opt/bailey/quickjs.wasm"}
}

// read returns the manifests as the API server gets them: after JSON.
func read(t testing.TB, o Options) []Object {
	t.Helper()
	objects, err := Manifests(o)
	if err != nil {
		t.Fatal(err)
	}
	text, err := JSON(objects)
	if err != nil {
		t.Fatal(err)
	}
	var l struct{ Items []Object }
	if err := json.Unmarshal(text, &l); err != nil {
		t.Fatal(err)
	}
	return l.Items
}

func find(t testing.TB, all []Object, kind, name string) Object {
	t.Helper()
	for _, o := range all {
		if o["kind"] == kind && at(o, "metadata", "name") == name {
			return o
		}
	}
	t.Fatalf("there is no %s %s", kind, name)
	return nil
}

func TestGolden(t *testing.T) {
	objects, err := Manifests(options())
	if err != nil {
		t.Fatal(err)
	}
	got, err := JSON(objects)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join("testdata", "manifests.json")
	if *update {
		if err := os.WriteFile(name, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(got)+"\n" != string(want) {
		t.Error("the manifests differ from testdata/manifests.json: read the difference, then go test -update")
	}
}

// each calls do for all objects and lists in v.
func each(v any, do func(Object)) {
	switch x := v.(type) {
	case Object:
		do(x)
		for _, f := range x {
			each(f, do)
		}
	case list:
		for _, f := range x {
			each(f, do)
		}
	}
}

// Whatever the options are, each pod has these.
func TestEveryPod(t *testing.T) {
	for i, change := range []func(*Options){
		func(*Options) {},
		func(o *Options) { o.Landlock, o.RuntimeClass = true, "kata" },
		func(o *Options) { o.Model, o.KeySecret = "", "" },
		func(o *Options) { o.Memory, o.CPU, o.Disk, o.Warm, o.Jobs = 128<<20, 10, 16<<20, 1000, 100_000 },
		func(o *Options) { o.ProxyIP = "fd00::50" },
	} {
		o := options()
		change(&o)
		all := read(t, o)
		pods := 0
		for _, x := range all {
			each(x, func(o Object) {
				if _, is := o["containers"]; !is {
					return
				}
				pods++
				if o["automountServiceAccountToken"] != false || o["hostNetwork"] != nil || o["hostPID"] != nil || o["hostIPC"] != nil || at(o, "securityContext", "runAsNonRoot") != true || at(o, "securityContext", "seccompProfile", "type") != "RuntimeDefault" {
					t.Errorf("%d: %v", i, o)
				}
				for _, c := range o["containers"].(list) {
					s := at(c, "securityContext").(Object)
					if s["readOnlyRootFilesystem"] != true || s["allowPrivilegeEscalation"] != false || s["privileged"] != false || !same(s["capabilities"], Object{"drop": list{"ALL"}}) {
						t.Errorf("%d: %v", i, s)
					}
					for _, r := range []string{"memory", "cpu", "ephemeral-storage"} {
						if at(c, "resources", "limits", r) == nil || at(c, "resources", "limits", r) != at(c, "resources", "requests", r) {
							t.Errorf("%d: the limit of %s: %v", i, r, c)
						}
					}
				}
				for _, v := range o["volumes"].(list) {
					if at(v, "hostPath") != nil || at(v, "projected") != nil || at(v, "secret") != nil {
						t.Errorf("%d: %v", i, v)
					}
				}
			})
		}
		if pods != 2 {
			t.Errorf("%d: %d pods", i, pods)
		}
		text, _ := json.Marshal(all)
		for _, never := range []string{`"hostPath"`, `"hostPort"`, `"serviceAccountToken"`, `"*"`, "ClusterRole"} {
			if bytes.Contains(text, []byte(never)) && !(never == `"*"` && strings.Contains(rules, `"*"`)) {
				t.Errorf("%d: there is %s", i, never)
			}
		}
		if err := (Options{Namespace: "bailey-jobs", FrontNamespace: "bailey", Name: "bailey", Front: o.Front}).Verify(find(t, all, "SandboxTemplate", "bailey"), find(t, all, "SandboxWarmPool", "bailey"), find(t, all, "NetworkPolicy", denyAll)); err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	// The front end can't make pods, read secrets or change its jobs' template.
	for _, r := range at(find(t, read(t, options()), "Role", front), "rules").(list) {
		resources, verbs := fmt.Sprint(at(r, "resources")), fmt.Sprint(at(r, "verbs"))
		if resources != "[sandboxclaims]" && verbs != "[get]" || strings.Contains(resources, "secrets") || strings.Contains(resources, "/") {
			t.Errorf("%v", r)
		}
	}
}

// The names and texts of an operator's files, which a person or a program may have taken from elsewhere.
func TestAttackConfiguration(t *testing.T) {
	count := attack.Start(t, "pods")
	count.NoSwitch("values become JSON, and no text of one is part of another")
	number := len(read(t, options()))
	evil := []string{"a\nkind: ClusterRoleBinding", "a\n---\nkind: Pod", `a", "hostNetwork": true, "b": "`, "a b", "a,b=c", "a=b", "../x", "a/b", "$(id)", "`id`", "a;id", "-o", "--privileged", "A", "é", "a\x00b", strings.Repeat("z", 64), "a\u202eb", "{{.Name}}", ""}
	for _, field := range []string{"Namespace", "FrontNamespace", "Name", "RuntimeClass", "KeySecret", "Image", "Front", "ProxyIP", "Tools", "Engine"} {
		for _, text := range evil {
			o := options()
			to := map[string]*string{"Namespace": &o.Namespace, "FrontNamespace": &o.FrontNamespace, "Name": &o.Name, "RuntimeClass": &o.RuntimeClass, "KeySecret": &o.KeySecret, "Image": &o.Image, "Front": &o.Front, "ProxyIP": &o.ProxyIP, "Tools": &o.Tools, "Engine": &o.Engine}[field]
			if field == "Image" {
				if text == "a/b" || text == strings.Repeat("z", 64) { // names of images
					continue
				}
				text += "@sha256:" + strings.Repeat("1", 64)
			}
			*to = text
			if text == "" && field != "Front" && field != "ProxyIP" {
				continue // a default
			}
			_, err := Manifests(o)
			count.Try(field+" "+text, err == nil)
		}
	}
	for what, change := range map[string]func(*Options){
		"the cluster's namespace":         func(o *Options) { o.Namespace = "kube-system" },
		"the namespace of others":         func(o *Options) { o.FrontNamespace = "default" },
		"jobs beside the front ends":      func(o *Options) { o.Namespace = "bailey" },
		"an image that can change":        func(o *Options) { o.Image = "registry.example/bailey:latest" },
		"another image in its name":       func(o *Options) { o.Image = "evil.example/x --y@sha256:" + strings.Repeat("1", 64) },
		"a proxy that is every address":   func(o *Options) { o.ProxyIP = "0.0.0.0" },
		"a proxy that is a machine's":     func(o *Options) { o.ProxyIP = "169.254.169.254" },
		"a proxy that is the pod itself":  func(o *Options) { o.ProxyIP = "127.0.0.1" },
		"a proxy with a path":             func(o *Options) { o.ProxyIP = "10.0.0.1:80/@evil.example" },
		"a zone":                          func(o *Options) { o.ProxyIP = "fe80::1%eth0" },
		"a model with a password":         func(o *Options) { o.Model = "m@https://a:b@model.example/" },
		"a model in clear text":           func(o *Options) { o.Model = "m@http://model.example/" },
		"a model that is a flag":          func(o *Options) { o.Model = "-policy@https://model.example/" },
		"a model with two hosts":          func(o *Options) { o.Model = "m@https://model.example,evil.example/" },
		"tools of another folder":         func(o *Options) { o.Tools = "/opt/../work" },
		"a policy that allows every host": func(o *Options) { o.Policy = `{"network": {"allowedDomains": ["*"]}}` },
		"a policy that is none":           func(o *Options) { o.Policy = "kind: Secret" },
		"memory without end":              func(o *Options) { o.Memory = 1 << 50 },
		"less than no memory":             func(o *Options) { o.Memory = -1 },
	} {
		o := options()
		change(&o)
		_, err := Manifests(o)
		count.Try(what, err == nil)
	}
	// Texts of a policy that are forms of their own stay texts.
	o := options()
	o.Policy = `{"capabilities": {"fs.read": ["a\n---\nkind: ClusterRoleBinding", "\"}, \"hostNetwork\": true"]}}`
	all := read(t, o)
	count.Try("a path with a manifest", len(all) != number || at(find(t, all, "ConfigMap", "bailey-policy"), "data", "policy.json") != o.Policy)
	// Names of jobs have the tenant and the client's id.
	label := regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$`)
	names := append([]string{"acme-" + strings.Repeat("-", 36), "acme-a-"}, evil...)
	seen := map[any]bool{}
	for _, name := range names {
		c := Options{Namespace: "n", Name: "p"}.Claim(name, time.Unix(0, 0), Owner{})
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		value := at(c, "metadata", "labels", labelJob)
		count.Try("a job "+name, name != "" && len(name) > 2 && bytes.Contains(text, []byte(name)) || !label.MatchString(value.(string)) || seen[value] || at(c, "spec", "env") != nil || at(c, "spec", "additionalPodMetadata") != nil)
		seen[value] = true
	}
}

// A template of a cluster that lacks one protection is not used.
func TestAttackTemplate(t *testing.T) {
	count := attack.Start(t, "pods")
	names := Options{Namespace: "bailey-jobs", FrontNamespace: "bailey", Name: "bailey", Front: options().Front}
	for _, a := range clustertest.Weakened() {
		all := read(t, options())
		template, pool, deny := find(t, all, "SandboxTemplate", "bailey"), find(t, all, "SandboxWarmPool", "bailey"), find(t, all, "NetworkPolicy", denyAll)
		a.Change(template, pool, deny)
		count.Try(a.Name, names.Verify(template, pool, deny) == nil)
	}
	count.NoSwitch("the API server takes each of them, see TestAttackTemplates of module environment/kubernetes")
	if err := names.Verify(nil, nil, nil); err == nil {
		t.Error("nothing was accepted")
	}
}

func TestRead(t *testing.T) {
	claim := func(status, reason, message string, ips ...any) Object {
		return Object{"metadata": Object{}, "status": Object{"sandbox": Object{"name": "s", "podIPs": ips}, "conditions": list{Object{"type": "Finished", "status": "False"}, Object{"type": "Ready", "status": status, "reason": reason, "message": message}}}}
	}
	for what, c := range map[string]struct {
		claim Object
		want  State
	}{
		"new":          {Object{}, State{Reason: "the controller of Agent Sandbox has not seen the claim: does it run, with its extensions?"}},
		"ready":        {claim("True", "DependenciesReady", "Pod is Ready", "10.1.2.3"), State{Address: "10.1.2.3:8443", Sandbox: "s"}},
		"IPv6":         {claim("True", "DependenciesReady", "", "fd00::3"), State{Address: "[fd00::3]:8443", Sandbox: "s"}},
		"no address":   {claim("True", "DependenciesReady", ""), State{Reason: "the sandbox is ready and has no address", Sandbox: "s"}},
		"pending":      {claim("False", "DependenciesNotReady", "Pod exists with phase: Pending", "10.1.2.3"), State{Reason: "DependenciesNotReady: Pod exists with phase: Pending", Sandbox: "s"}},
		"no pool":      {claim("False", "WarmPoolNotFound", "gone"), State{Reason: "WarmPoolNotFound: gone", Sandbox: "s", Final: true}},
		"a line break": {claim("False", "ReconcilerError", "a\nb"), State{Reason: `ReconcilerError: a\nb`, Sandbox: "s"}},
		"a name":       {claim("True", "DependenciesReady", "", "metadata.internal"), State{Reason: `the address of the sandbox is \"metadata.internal\"`, Sandbox: "s", Final: true}},
		"a port":       {claim("True", "DependenciesReady", "", "10.1.2.3:80"), State{Reason: `the address of the sandbox is \"10.1.2.3:80\"`, Sandbox: "s", Final: true}},
		"the metadata": {claim("True", "DependenciesReady", "", "169.254.169.254"), State{Reason: `the address of the sandbox is \"169.254.169.254\"`, Sandbox: "s", Final: true}},
		"deleted":      {Object{"metadata": Object{"deletionTimestamp": "2026-01-01T00:00:00Z"}}, State{Reason: "the claim was deleted", Final: true}},
	} {
		if got := Read(c.claim); got != c.want {
			t.Errorf("%s: %+v, want %+v", what, got, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	o := Options{Namespace: "jobs"}
	for want, f := range map[string]Failure{
		"install its CRDs":                        {404, "", "", "the server could not find the requested resource"},
		"the namespace jobs does not exist":       {404, "namespaces", "jobs", "not found"},
		`sandboxtemplates "bailey" is missing`:    {404, "sandboxtemplates", "bailey", "not found"},
		"the quota of the namespace jobs is":      {403, "", "", `forbidden: exceeded quota: bailey-jobs, requested: count/sandboxclaims=1`},
		"no right to: apply the role":             {403, "", "", "cannot create resource"},
		"does not know the front end":             {401, "", "", "Unauthorized"},
		"did not answer":                          {0, "", "", "connection refused"},
		"has another version than v1beta1":        {422, "", "", `unknown field "spec.warmPoolRef"`},
		"busy or failing":                         {503, "", "", "etcd"},
		`a\nb`:                                    {409, "", "", "a\nb"},
		"the API server answered 409: " + "taken": {409, "", "", "taken"},
	} {
		if err := o.Explain("create a claim", f); !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "create a claim: ") {
			t.Errorf("%v lacks %q", err, want)
		}
	}
	pod := Object{"status": Object{"containerStatuses": list{Object{"state": Object{"waiting": Object{"reason": "ErrImagePull", "message": "not found"}}}}}}
	if err := Unbound(time.Second, State{Reason: "DependenciesNotReady: x"}, Waits(pod)); err.Error() != "no job within 1s: DependenciesNotReady: x; its pod waits: ErrImagePull: not found" {
		t.Error(err)
	}
	pod = Object{"status": Object{"conditions": list{Object{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"}}}}
	if err := Unbound(time.Second, State{Reason: "WarmPoolNotFound", Final: true}, Waits(pod)); err.Error() != "no job: WarmPoolNotFound; its pod waits: Unschedulable: 0/3 nodes" {
		t.Error(err)
	}
	if Waits(Object{}) != "" {
		t.Error("a pod without a status waits")
	}
}

func TestClaim(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("x", 3600))
	o := Options{Namespace: "jobs", Name: "pool"}
	c := o.Claim("acme-a", now, Owner{"front-0", "uid"})
	if at(c, "spec", "warmPoolRef", "name") != "pool" || at(c, "spec", "lifecycle", "shutdownTime") != "2026-01-02T02:04:05Z" || at(c, "spec", "lifecycle", "shutdownPolicy") != "Delete" || at(c, "metadata", "namespace") != "jobs" {
		t.Errorf("%v", c)
	}
	if other := o.Claim("acme-a", now, Owner{}); at(other, "metadata", "name") == at(c, "metadata", "name") || at(other, "metadata", "ownerReferences") != nil || at(c, "metadata", "ownerReferences") == nil {
		t.Errorf("%v", other)
	}
	if Expired(c, now) || !Expired(c, now.Add(2*time.Second)) || Expired(Object{}, now) || Expired(Object{"spec": Object{"lifecycle": Object{"shutdownTime": "soon"}}}, now) {
		t.Error("the end of a claim")
	}
}
