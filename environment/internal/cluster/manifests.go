// Package cluster has the objects of Kubernetes for jobs in pods, as values without a client: the manifests that an operator
// applies once, the claim of a job, and the reading of what the API server and the controller of Agent Sandbox answer
// (sigs.k8s.io/agent-sandbox, version v1beta1). Module environment/kubernetes has the client.
//
// A front end may create and delete claims, and nothing else. The template of all pods is the operator's. [Options.Verify] finds out
// whether one has every protection, and a front end uses no other.
//
// The package trusts the operator's options, as far as their forms go, and the API server. No name of a tenant or of a
// session is part of an object, but as a sum.
package cluster

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/bailey-go/bailey/sandbox/policy"
)

// Object is an object of the API.
type Object = map[string]any

type list = []any

// The parts of the API of Agent Sandbox.
const (
	Group   = "extensions.agents.x-k8s.io"
	Version = "v1beta1"
)

// Names of objects that have one for all.
const (
	jobPort      = 8443
	egressPort   = 3128
	managedBy    = "app.kubernetes.io/managed-by"
	nameLabel    = "app.kubernetes.io/name"
	front        = "bailey-front"
	job          = "bailey-job"
	egress       = "bailey-egress"
	denyAll      = "bailey-deny-all"
	labelJob     = "bailey-go.github.io/job"
	nobody       = 65532 // the user of pods, and their group
	policyFolder = "/etc/bailey"
)

// Options describe the jobs of a cluster. Image, Policy, Front and ProxyIP are required.
type Options struct {
	// Namespace is that of the jobs, which is theirs alone. The default is bailey-jobs.
	Namespace string
	// FrontNamespace is that of the front ends and of the proxy. The default is bailey.
	FrontNamespace string
	// Name is that of the template and of its pool. The default is bailey.
	Name string
	// Image has bailey-job and bailey-box. It is named by its sum, as registry/name@sha256:….
	Image string
	// Policy is the text of the jobs' policy.
	Policy string
	// Tools and Engine are the paths of the WASI programs and of quickjs.wasm in the image, for tool_run, bash and code_run. The
	// default is none.
	Tools, Engine string
	// Model is that of the jobs, as name@https://host/path.
	Model string
	// KeySecret is the name of a secret with the entry BAILEY_KEY, the key of the model's provider. The default is none.
	KeySecret string
	// Front is the sum of the key of the front ends.
	Front string
	// ProxyIP is the address of the proxy's service, which the cluster has not given away. Pods resolve no names.
	ProxyIP string
	// RuntimeClass is that of the pods. The default is gvisor.
	RuntimeClass string
	// Landlock says that the runtime has Landlock, so that bailey-box can put itself into a sandbox of its own too. gVisor
	// has none.
	Landlock bool
	// Warm is the number of pods that wait for a session, and Jobs the most pods of the namespace. The defaults are 4 and 64.
	Warm, Jobs int
	// Memory and Disk, in bytes, and CPU, in thousandths of a processor, are limits of a pod. The defaults are 2 GiB, 512 MiB
	// and 1000.
	Memory, Disk, CPU int64
}

var (
	nameForm  = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$`)
	imageForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9._:/-]{0,198}[a-z0-9])?@sha256:[0-9a-f]{64}$`)
	sumForm   = regexp.MustCompile(`^[0-9a-f]{64}$`)
	pathForm  = regexp.MustCompile(`^(/[A-Za-z0-9_][A-Za-z0-9._-]{0,63}){1,8}$`)
	modelForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$`)
)

// check fills in the defaults.
func (o *Options) check() error {
	for _, n := range []struct {
		field string
		value *string
		usual string
	}{{"Namespace", &o.Namespace, "bailey-jobs"}, {"FrontNamespace", &o.FrontNamespace, "bailey"}, {"Name", &o.Name, "bailey"}, {"RuntimeClass", &o.RuntimeClass, "gvisor"}} {
		if *n.value = cmp.Or(*n.value, n.usual); !nameForm.MatchString(*n.value) {
			return fmt.Errorf("cluster: Options.%s is %q: want 1 to 40 lower-case letters, digits and hyphens", n.field, *n.value)
		}
	}
	for _, n := range []string{o.Namespace, o.FrontNamespace} {
		if n == "default" || strings.HasPrefix(n, "kube-") {
			return fmt.Errorf("cluster: the namespace %s is the cluster's own: the manifests would take its traffic", n)
		}
	}
	if o.Namespace == o.FrontNamespace {
		return fmt.Errorf("cluster: Options.Namespace and FrontNamespace are both %q: jobs need a namespace of their own, in which nothing is allowed", o.Namespace)
	}
	if !imageForm.MatchString(o.Image) {
		return fmt.Errorf("cluster: Options.Image is %q: want registry/name@sha256: and 64 digits in hex, so that it can't become another one", o.Image)
	}
	if !sumForm.MatchString(o.Front) {
		return fmt.Errorf("cluster: Options.Front is %q: want the sum of the front ends' key, which bailey-front-kubernetes key prints", o.Front)
	}
	if o.KeySecret != "" && !nameForm.MatchString(o.KeySecret) {
		return fmt.Errorf("cluster: Options.KeySecret is %q: want the name of a secret", o.KeySecret)
	}
	for _, path := range []string{o.Tools, o.Engine} {
		if path != "" && !pathForm.MatchString(path) {
			return fmt.Errorf("cluster: Options.Tools or Engine is %q: want an absolute path of the image", path)
		}
	}
	ip, err := netip.ParseAddr(o.ProxyIP)
	if err != nil || ip.Zone() != "" || !ip.IsGlobalUnicast() {
		return fmt.Errorf("cluster: Options.ProxyIP is %q: want a free address of the cluster's services, such as 10.96.0.50", o.ProxyIP)
	}
	o.ProxyIP = ip.String()
	if _, err := policy.Parse(o.Policy, policy.Options{}); err != nil {
		return fmt.Errorf("cluster: Options.Policy: %w", err)
	}
	if o.Model != "" {
		if _, err := o.modelHost(); err != nil {
			return err
		}
	}
	for _, l := range []struct {
		field              string
		value              *int64
		usual, least, most int64
	}{{"Memory", &o.Memory, 2 << 30, 128 << 20, 1 << 40}, {"Disk", &o.Disk, 512 << 20, 16 << 20, 1 << 40}, {"CPU", &o.CPU, 1000, 10, 1_000_000}} {
		if *l.value == 0 {
			*l.value = l.usual
		}
		if *l.value < l.least || *l.value > l.most {
			return fmt.Errorf("cluster: Options.%s is %d; want %d to %d, or 0 for %d", l.field, *l.value, l.least, l.most, l.usual)
		}
	}
	o.Warm, o.Jobs = cmp.Or(o.Warm, 4), cmp.Or(o.Jobs, 64)
	if o.Warm < 1 || o.Warm > 1000 || o.Jobs < 1 || o.Jobs > 100_000 {
		return fmt.Errorf("cluster: Options.Warm is %d and Jobs %d; want 1 to 1,000 and 1 to 100,000, or 0 for 4 and 64", o.Warm, o.Jobs)
	}
	return nil
}

// modelHost returns the model's server with its port.
func (o *Options) modelHost() (string, error) {
	name, address, ok := strings.Cut(o.Model, "@")
	u, err := url.Parse(address)
	if !ok || !modelForm.MatchString(name) || err != nil || u.Scheme != "https" || u.User != nil || u.RawQuery != "" || !regexp.MustCompile(`^[a-z0-9.-]{1,253}$`).MatchString(u.Hostname()) {
		return "", errors.New("cluster: Options.Model must be name@https://host/path")
	}
	port := cmp.Or(u.Port(), "443")
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", errors.New("cluster: Options.Model must be name@https://host/path")
	}
	return u.Hostname() + ":" + port, nil
}

func object(version, kind, namespace, name string) Object {
	meta := Object{"name": name, "labels": Object{managedBy: front}}
	if namespace != "" {
		meta["namespace"] = namespace
	}
	return Object{"apiVersion": version, "kind": kind, "metadata": meta}
}

// with adds fields to an object.
func with(o Object, fields Object) Object {
	for k, v := range fields {
		o[k] = v
	}
	return o
}

// restricted are the labels of a namespace whose pods the API server holds to the strictest of its three standards.
func restricted(o Object) Object {
	labels := o["metadata"].(Object)["labels"].(Object)
	for _, mode := range []string{"enforce", "audit", "warn"} {
		labels["pod-security.kubernetes.io/"+mode] = "restricted"
	}
	return o
}

// peer are the pods of a name in a namespace.
func peer(namespace, name string) Object {
	return Object{"namespaceSelector": Object{"matchLabels": Object{"kubernetes.io/metadata.name": namespace}}, "podSelector": Object{"matchLabels": Object{nameLabel: name}}}
}

func tcp(port int64) list { return list{Object{"protocol": "TCP", "port": port}} }

// podSecurity and containerSecurity are the rights of a pod: none.
func podSecurity() Object {
	return Object{"runAsNonRoot": true, "runAsUser": int64(nobody), "runAsGroup": int64(nobody), "fsGroup": int64(nobody), "seccompProfile": Object{"type": "RuntimeDefault"}}
}

func containerSecurity() Object {
	return Object{"allowPrivilegeEscalation": false, "privileged": false, "readOnlyRootFilesystem": true, "runAsNonRoot": true,
		"capabilities": Object{"drop": list{"ALL"}}, "seccompProfile": Object{"type": "RuntimeDefault"}}
}

// limits are the same as the requests, so that a pod has what it may take.
func limits(memory, cpu, disk int64) Object {
	r := func() Object {
		return Object{"memory": strconv.FormatInt(memory, 10), "cpu": strconv.FormatInt(cpu, 10) + "m", "ephemeral-storage": strconv.FormatInt(disk, 10)}
	}
	return Object{"limits": r(), "requests": r()}
}

// Manifests returns the objects for the jobs of a cluster, in the order in which they are applied. A front end's own pod is
// not one of them.
func Manifests(o Options) ([]Object, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	rights := func(group string, resources list, names list, verbs ...any) Object {
		r := Object{"apiGroups": list{group}, "resources": resources, "verbs": list(verbs)}
		if names != nil {
			r["resourceNames"] = names
		}
		return r
	}
	most := int64(o.Jobs)
	out := []Object{
		restricted(object("v1", "Namespace", "", o.FrontNamespace)),
		restricted(object("v1", "Namespace", "", o.Namespace)),
		with(object("networking.k8s.io/v1", "NetworkPolicy", o.Namespace, denyAll), Object{"spec": Object{"podSelector": Object{}, "policyTypes": list{"Ingress", "Egress"}}}),
		with(object("v1", "ServiceAccount", o.Namespace, job), Object{"automountServiceAccountToken": false}),
		with(object("v1", "ResourceQuota", o.Namespace, "bailey-jobs"), Object{"spec": Object{"hard": Object{
			"pods":                     strconv.FormatInt(most, 10),
			"limits.memory":            strconv.FormatInt(most*o.Memory, 10),
			"limits.cpu":               strconv.FormatInt(most*o.CPU, 10) + "m",
			"limits.ephemeral-storage": strconv.FormatInt(most*(o.Disk+diskOfLogs), 10),
			"services":                 "0", "secrets": "8", "persistentvolumeclaims": "0",
			"count/sandboxclaims." + Group: strconv.FormatInt(2*most, 10)}}}),
		with(object("v1", "ConfigMap", o.Namespace, "bailey-policy"), Object{"data": Object{"policy.json": o.Policy}, "immutable": false}),
		o.template(),
		with(object(Group+"/"+Version, "SandboxWarmPool", o.Namespace, o.Name), Object{"spec": Object{
			"replicas": int64(o.Warm), "sandboxTemplateRef": Object{"name": o.Name}, "updateStrategy": Object{"type": "Recreate"}}}),
		with(object("v1", "ServiceAccount", o.FrontNamespace, front), Object{"automountServiceAccountToken": true}),
		with(object("rbac.authorization.k8s.io/v1", "Role", o.Namespace, front), Object{"rules": list{
			rights(Group, list{"sandboxclaims"}, nil, "create", "get", "list", "watch", "patch", "delete"),
			rights(Group, list{"sandboxtemplates", "sandboxwarmpools"}, list{o.Name}, "get"),
			rights("networking.k8s.io", list{"networkpolicies"}, list{denyAll}, "get"),
			rights("", list{"pods"}, nil, "get"), // for the reason of one that does not start
		}}),
		with(object("rbac.authorization.k8s.io/v1", "RoleBinding", o.Namespace, front), Object{
			"roleRef":  Object{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": front},
			"subjects": list{Object{"kind": "ServiceAccount", "name": front, "namespace": o.FrontNamespace}}}),
	}
	return append(out, o.proxy()...), nil
}

// diskOfLogs is the room of a container's log and of its own files beside the folder.
const diskOfLogs = 64 << 20

// template is that of the pods of jobs.
func (o *Options) template() Object {
	box := list{"bailey-box", "-policy", policyFolder + "/policy.json", "-cache", "none"}
	for _, f := range [][2]string{{"-tools", o.Tools}, {"-engine", o.Engine}, {"-model", o.Model}} {
		if f[1] != "" {
			box = append(box, f[0], f[1])
		}
	}
	if !o.Landlock {
		box = append(box, "-outside")
	}
	proxy := "http://" + netip.AddrPortFrom(netip.MustParseAddr(o.ProxyIP), egressPort).String()
	env := list{Object{"name": "HTTPS_PROXY", "value": proxy}, Object{"name": "HTTP_PROXY", "value": proxy}}
	if o.KeySecret != "" {
		env = append(env, Object{"name": "BAILEY_KEY", "valueFrom": Object{"secretKeyRef": Object{"name": o.KeySecret, "key": "BAILEY_KEY"}}})
	}
	spec := Object{
		"runtimeClassName":              o.RuntimeClass,
		"serviceAccountName":            job,
		"automountServiceAccountToken":  false,
		"enableServiceLinks":            false,
		"dnsPolicy":                     "None",
		"dnsConfig":                     Object{"nameservers": list{"127.0.0.1"}}, // one is required, and nothing listens there
		"terminationGracePeriodSeconds": int64(5),
		"securityContext":               podSecurity(),
		"containers": list{Object{
			"name": job, "image": o.Image, "imagePullPolicy": "IfNotPresent",
			"command":         append(list{"bailey-job", "-listen", ":" + strconv.Itoa(jobPort), "-front", o.Front, "-dir", "/work", "--"}, box...),
			"env":             env,
			"ports":           list{Object{"name": "job", "containerPort": int64(jobPort), "protocol": "TCP"}},
			"readinessProbe":  Object{"tcpSocket": Object{"port": int64(jobPort)}, "periodSeconds": int64(1)},
			"resources":       limits(o.Memory, o.CPU, o.Disk+diskOfLogs),
			"securityContext": containerSecurity(),
			"volumeMounts":    list{Object{"name": "work", "mountPath": "/work"}, Object{"name": "policy", "mountPath": policyFolder, "readOnly": true}},
		}},
		"volumes": list{
			Object{"name": "work", "emptyDir": Object{"sizeLimit": strconv.FormatInt(o.Disk, 10)}},
			Object{"name": "policy", "configMap": Object{"name": "bailey-policy"}},
		},
	}
	return with(object(Group+"/"+Version, "SandboxTemplate", o.Namespace, o.Name), Object{"spec": Object{
		"envVarsInjectionPolicy":     "Disallowed",
		"volumeClaimTemplatesPolicy": "Disallowed",
		"service":                    false,
		"networkPolicyManagement":    "Managed",
		"networkPolicy": Object{
			"ingress": list{Object{"from": list{peer(o.FrontNamespace, front)}, "ports": tcp(jobPort)}},
			"egress":  list{Object{"to": list{peer(o.FrontNamespace, egress)}, "ports": tcp(egressPort)}},
		},
		"podTemplate": Object{"metadata": Object{"labels": Object{nameLabel: job, managedBy: front}}, "spec": spec},
	}})
}

// proxy are the objects of the only way out. It runs outside of gVisor, has no token, and reaches the internet and the
// cluster's resolver alone.
func (o *Options) proxy() []Object {
	args := list{"bailey-job", "egress", "-listen", ":" + strconv.Itoa(egressPort), "-policy", policyFolder + "/policy.json"}
	if o.Model != "" {
		host, _ := o.modelHost() // check has read it
		args = append(args, "-allow", host)
	}
	labels := func() Object { return Object{nameLabel: egress, managedBy: front} }
	public := list{
		Object{"ipBlock": Object{"cidr": "0.0.0.0/0", "except": list{"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16", "224.0.0.0/4", "240.0.0.0/4"}}},
		Object{"ipBlock": Object{"cidr": "::/0", "except": list{"fc00::/7", "fe80::/10", "ff00::/8"}}},
	}
	return []Object{
		with(object("v1", "ConfigMap", o.FrontNamespace, "bailey-policy"), Object{"data": Object{"policy.json": o.Policy}, "immutable": false}),
		with(object("apps/v1", "Deployment", o.FrontNamespace, egress), Object{"spec": Object{
			"replicas": int64(2), "selector": Object{"matchLabels": Object{nameLabel: egress}},
			"template": Object{"metadata": Object{"labels": labels()}, "spec": Object{
				"automountServiceAccountToken": false, "enableServiceLinks": false, "securityContext": podSecurity(),
				"containers": list{Object{"name": egress, "image": o.Image, "command": args,
					"ports":           list{Object{"name": "proxy", "containerPort": int64(egressPort), "protocol": "TCP"}},
					"readinessProbe":  Object{"tcpSocket": Object{"port": int64(egressPort)}},
					"resources":       limits(256<<20, 500, diskOfLogs),
					"securityContext": containerSecurity(),
					"volumeMounts":    list{Object{"name": "policy", "mountPath": policyFolder, "readOnly": true}}}},
				"volumes": list{Object{"name": "policy", "configMap": Object{"name": "bailey-policy"}}},
			}}}}),
		with(object("v1", "Service", o.FrontNamespace, egress), Object{"spec": Object{
			"clusterIP": o.ProxyIP, "selector": Object{nameLabel: egress}, "ports": list{Object{"name": "proxy", "port": int64(egressPort), "protocol": "TCP"}}}}),
		with(object("networking.k8s.io/v1", "NetworkPolicy", o.FrontNamespace, egress), Object{"spec": Object{
			"podSelector": Object{"matchLabels": Object{nameLabel: egress}}, "policyTypes": list{"Ingress", "Egress"},
			"ingress": list{Object{"from": list{peer(o.Namespace, job)}, "ports": tcp(egressPort)}},
			"egress": list{
				Object{"to": public},
				Object{"to": list{Object{"namespaceSelector": Object{"matchLabels": Object{"kubernetes.io/metadata.name": "kube-system"}}}},
					"ports": list{Object{"protocol": "UDP", "port": int64(53)}, Object{"protocol": "TCP", "port": int64(53)}}},
			}}}),
	}
}

// JSON returns the objects as a list that kubectl applies.
func JSON(objects []Object) ([]byte, error) {
	return json.MarshalIndent(Object{"apiVersion": "v1", "kind": "List", "items": objects}, "", "  ")
}
