package cluster

import (
	"errors"
	"fmt"
	"slices"
)

// Verify returns nil if the template, the pool and the policy against all traffic of a cluster have every protection of
// [Manifests], for jobs of these options. Of the options it uses Namespace, FrontNamespace, Name and Front. A front end
// calls it before its first job. What an operator may change are limits, the image, the runtime class, the policy and
// annotations.
func (o Options) Verify(template, pool, deny Object) error {
	var errs []error
	want := func(what string, ok bool) {
		if !ok {
			errs = append(errs, errors.New("the template "+o.Name+" "+what))
		}
	}
	spec := at(template, "spec")
	pod := at(spec, "podTemplate", "spec")
	want("does not forbid variables of claims", at(spec, "envVarsInjectionPolicy") == nil || at(spec, "envVarsInjectionPolicy") == "Disallowed")
	want("does not forbid volumes of claims", at(spec, "volumeClaimTemplatesPolicy") == nil || at(spec, "volumeClaimTemplatesPolicy") == "Disallowed")
	want("has claims of volumes", empty(at(spec, "volumeClaimTemplates")))
	want("has a service", at(spec, "service") == false)
	want("does not have the controller make its network policy", at(spec, "networkPolicyManagement") == "Managed")
	want("lets more traffic in than that of the front ends", same(at(spec, "networkPolicy", "ingress"), list{Object{"from": list{peer(o.FrontNamespace, front)}, "ports": tcp(jobPort)}}))
	want("lets more traffic out than that to the proxy", same(at(spec, "networkPolicy", "egress"), list{Object{"to": list{peer(o.FrontNamespace, egress)}, "ports": tcp(egressPort)}}))
	want("mounts a token of the service account", at(pod, "automountServiceAccountToken") == false)
	want("runs as another service account", at(pod, "serviceAccountName") == job)
	runtime, _ := at(pod, "runtimeClassName").(string)
	want("has no runtime class, such as gvisor", runtime != "")
	want("resolves names", at(pod, "dnsPolicy") == "None" && same(at(pod, "dnsConfig"), Object{"nameservers": list{"127.0.0.1"}}))
	for _, host := range []string{"hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace"} {
		want("has "+host, at(pod, host) == nil || at(pod, host) == false)
	}
	want("has further kinds of containers", empty(at(pod, "initContainers")) && empty(at(pod, "ephemeralContainers")))
	want("has other rights of the pod", same(at(pod, "securityContext"), podSecurity()))
	containers, _ := at(pod, "containers").(list)
	want("has not one container", len(containers) == 1)
	for _, c := range containers {
		want("has other rights of the container", same(at(c, "securityContext"), containerSecurity()))
		for _, r := range []string{"memory", "cpu", "ephemeral-storage"} {
			want("has no limit of "+r, at(c, "resources", "limits", r) != nil)
		}
		want("has variables of other objects", empty(at(c, "envFrom")))
		command, _ := at(c, "command").(list)
		i := slices.Index(command, any("-front"))
		want("has the key of other front ends", len(command) > 0 && command[0] == "bailey-job" && i > 0 && i+1 < len(command) && command[i+1] == o.Front)
		want("has arguments beside its command", empty(at(c, "args")))
		ports, _ := at(c, "ports").(list)
		for _, p := range ports {
			want("has a port of the machine", at(p, "hostPort") == nil)
		}
		want("runs a program at the start or the end", at(c, "lifecycle") == nil)
	}
	volumes, _ := at(pod, "volumes").(list)
	for _, v := range volumes {
		kinds, _ := v.(Object)
		for kind := range kinds {
			want("has a volume of the kind "+kind, kind == "name" || kind == "configMap" || kind == "emptyDir" && at(v, "emptyDir", "sizeLimit") != nil)
		}
	}
	if name := at(pool, "spec", "sandboxTemplateRef", "name"); name != o.Name {
		errs = append(errs, fmt.Errorf("the pool %s has the template %v", o.Name, name))
	}
	if !same(at(deny, "spec"), Object{"podSelector": Object{}, "policyTypes": list{"Ingress", "Egress"}}) {
		errs = append(errs, fmt.Errorf("the network policy %s of the namespace %s lets traffic through", denyAll, o.Namespace))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("the cluster lacks protections, apply the manifests again: %w", err)
	}
	return nil
}

// DenyAll is the name of the network policy that [Options.Verify] reads.
const DenyAll = denyAll

func empty(v any) bool {
	l, ok := v.(list)
	return v == nil || ok && len(l) == 0
}

// same compares values of JSON. A number may be an int64 or a float64.
func same(a, b any) bool {
	switch x := a.(type) {
	case Object:
		y, ok := b.(Object)
		if !ok || len(x) != len(y) {
			return false
		}
		for k := range x {
			if _, there := y[k]; !there || !same(x[k], y[k]) {
				return false
			}
		}
		return true
	case list:
		y, ok := b.(list)
		return ok && slices.EqualFunc(x, y, same)
	case float64:
		if y, ok := b.(int64); ok {
			return x == float64(y)
		}
	case int64:
		if y, ok := b.(float64); ok {
			return y == float64(x)
		}
	}
	return a == b
}
