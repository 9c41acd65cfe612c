// Package clustertest has attacks on the objects of package cluster, for its tests and those of module environment/kubernetes.
// It is for tests only.
package clustertest

// Object is an object of the API.
type Object = map[string]any

type list = []any

func at(v any, path ...string) any {
	for _, name := range path {
		v = v.(Object)[name]
	}
	return v
}

// Weak is a change of the objects of a cluster that takes one protection of its jobs away.
type Weak struct {
	Name   string
	Change func(template, pool, deny Object)
}

// Weakened returns a change for each protection that [github.com/bailey-go/bailey/environment/internal/cluster.Options.Verify] looks at.
func Weakened() []Weak {
	spec := func(t Object) Object { return at(t, "spec").(Object) }
	pod := func(t Object) Object { return at(t, "spec", "podTemplate", "spec").(Object) }
	container := func(t Object) Object { return pod(t)["containers"].(list)[0].(Object) }
	security := func(t Object) Object { return container(t)["securityContext"].(Object) }
	on := func(f func(t Object)) func(t, p, d Object) { return func(t, _, _ Object) { f(t) } }
	return []Weak{
		{"a token of the service account", on(func(t Object) { delete(pod(t), "automountServiceAccountToken") })},
		{"a token, by its value", on(func(t Object) { pod(t)["automountServiceAccountToken"] = true })},
		{"a token, as a volume", on(func(t Object) {
			pod(t)["volumes"] = append(pod(t)["volumes"].(list), Object{"name": "t", "projected": Object{"sources": list{Object{"serviceAccountToken": Object{"path": "t"}}}}})
		})},
		{"the service account of another", on(func(t Object) { pod(t)["serviceAccountName"] = "admin" })},
		{"no runtime class", on(func(t Object) { delete(pod(t), "runtimeClassName") })},
		{"the network of the machine", on(func(t Object) { pod(t)["hostNetwork"] = true })},
		{"the processes of the machine", on(func(t Object) { pod(t)["hostPID"] = true })},
		{"the memory of the machine", on(func(t Object) { pod(t)["hostIPC"] = true })},
		{"a port of the machine", on(func(t Object) { container(t)["ports"].(list)[0].(Object)["hostPort"] = int64(8443) })},
		{"a folder of the machine", on(func(t Object) {
			pod(t)["volumes"] = append(pod(t)["volumes"].(list), Object{"name": "h", "hostPath": Object{"path": "/"}})
		})},
		{"a folder without a limit", on(func(t Object) { pod(t)["volumes"].(list)[0].(Object)["emptyDir"] = Object{} })},
		{"a secret, as a volume", on(func(t Object) {
			pod(t)["volumes"] = append(pod(t)["volumes"].(list), Object{"name": "s", "secret": Object{"secretName": "x"}})
		})},
		{"root", on(func(t Object) { pod(t)["securityContext"].(Object)["runAsUser"] = int64(0) })},
		{"root, if the image says so", on(func(t Object) { delete(security(t), "runAsNonRoot") })},
		{"no seccomp", on(func(t Object) { security(t)["seccompProfile"] = Object{"type": "Unconfined"} })},
		{"no seccomp for the pod", on(func(t Object) { delete(pod(t)["securityContext"].(Object), "seccompProfile") })},
		{"a root that can be written", on(func(t Object) { security(t)["readOnlyRootFilesystem"] = false })},
		{"an escalation", on(func(t Object) { delete(security(t), "allowPrivilegeEscalation") })},
		{"all privileges", on(func(t Object) { security(t)["privileged"] = true })},
		{"capabilities", on(func(t Object) { delete(security(t), "capabilities") })},
		{"a capability", on(func(t Object) {
			security(t)["capabilities"] = Object{"drop": list{"ALL"}, "add": list{"NET_ADMIN"}}
		})},
		{"the real /proc", on(func(t Object) { security(t)["procMount"] = "Unmasked" })},
		{"sysctls", on(func(t Object) {
			pod(t)["securityContext"].(Object)["sysctls"] = list{Object{"name": "kernel.shm_rmid_forced", "value": "1"}}
		})},
		{"memory without a limit", on(func(t Object) { delete(container(t)["resources"].(Object)["limits"].(Object), "memory") })},
		{"a processor without a limit", on(func(t Object) { delete(container(t)["resources"].(Object)["limits"].(Object), "cpu") })},
		{"a disk without a limit", on(func(t Object) {
			delete(container(t)["resources"].(Object)["limits"].(Object), "ephemeral-storage")
		})},
		{"a second container", on(func(t Object) {
			pod(t)["containers"] = append(pod(t)["containers"].(list), Object{"name": "x", "image": "x"})
		})},
		{"a container before it", on(func(t Object) { pod(t)["initContainers"] = list{Object{"name": "x", "image": "x"}} })},
		{"variables of a secret", on(func(t Object) { container(t)["envFrom"] = list{Object{"secretRef": Object{"name": "x"}}} })},
		{"another program", on(func(t Object) { container(t)["command"] = list{"sh", "-c", "bailey-job"} })},
		{"further arguments", on(func(t Object) { container(t)["args"] = list{"-listen", ":80"} })},
		{"the key of other front ends", on(func(t Object) {
			c := container(t)["command"].(list)
			c[4] = "3333333333333333333333333333333333333333333333333333333333333333"
		})},
		{"a program at the start", on(func(t Object) {
			container(t)["lifecycle"] = Object{"postStart": Object{"exec": Object{"command": list{"true"}}}}
		})},
		{"names", on(func(t Object) { delete(pod(t), "dnsPolicy") })},
		{"names of another server", on(func(t Object) { pod(t)["dnsConfig"] = Object{"nameservers": list{"8.8.8.8"}} })},
		{"traffic from everywhere", on(func(t Object) { spec(t)["networkPolicy"].(Object)["ingress"] = list{Object{}} })},
		{"traffic from a namespace", on(func(t Object) {
			delete(spec(t)["networkPolicy"].(Object)["ingress"].(list)[0].(Object)["from"].(list)[0].(Object), "podSelector")
		})},
		{"traffic to everywhere", on(func(t Object) { spec(t)["networkPolicy"].(Object)["egress"] = list{Object{}} })},
		{"traffic to one more", on(func(t Object) {
			p := spec(t)["networkPolicy"].(Object)
			p["egress"] = append(p["egress"].(list), Object{"to": list{Object{"ipBlock": Object{"cidr": "169.254.169.254/32"}}}})
		})},
		{"the controller's own network policy", on(func(t Object) { delete(spec(t), "networkPolicy") })},
		{"no network policy", on(func(t Object) { spec(t)["networkPolicyManagement"] = "Unmanaged" })},
		{"variables of claims", on(func(t Object) { spec(t)["envVarsInjectionPolicy"] = "Overrides" })},
		{"volumes of claims", on(func(t Object) { spec(t)["volumeClaimTemplatesPolicy"] = "Allowed" })},
		{"a service", on(func(t Object) { spec(t)["service"] = true })},
		{"the pool of another template", func(_, p, _ Object) { p["spec"].(Object)["sandboxTemplateRef"] = Object{"name": "other"} }},
		{"a policy for some pods", func(_, _, d Object) {
			d["spec"].(Object)["podSelector"] = Object{"matchLabels": Object{"a": "b"}}
		}},
		{"a policy for one direction", func(_, _, d Object) { d["spec"].(Object)["policyTypes"] = list{"Ingress"} }},
		{"a policy with a way out", func(_, _, d Object) { d["spec"].(Object)["egress"] = list{Object{}} }},
	}
}
