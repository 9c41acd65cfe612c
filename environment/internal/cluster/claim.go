package cluster

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// Claims is the selector of the claims of all front ends.
const Claims = managedBy + "=" + front

// Owner is the pod of a front end, with which its claims end. Its zero value is none.
type Owner struct{ Name, UID string }

// Claim returns the claim of a job, for a new sandbox of a pool until a time.
func (o Options) Claim(name string, until time.Time, owner Owner) Object {
	sum := sha256.Sum256([]byte(name))
	c := object(Group+"/"+Version, "SandboxClaim", o.Namespace, "bailey-"+strings.ToLower(rand.Text()))
	meta := c["metadata"].(Object)
	meta["labels"].(Object)[labelJob] = hex.EncodeToString(sum[:16]) // a label has at most 63 bytes
	if owner != (Owner{}) {
		meta["ownerReferences"] = list{Object{"apiVersion": "v1", "kind": "Pod", "name": owner.Name, "uid": owner.UID}}
	}
	return with(c, Object{"spec": Object{"warmPoolRef": Object{"name": o.Name}, "lifecycle": lifecycle(until)}})
}

func lifecycle(until time.Time) Object {
	return Object{"shutdownTime": until.UTC().Format(time.RFC3339), "shutdownPolicy": "Delete"}
}

// Renewal is the patch that lets a claim live until a time.
func Renewal(until time.Time) Object { return Object{"spec": Object{"lifecycle": lifecycle(until)}} }

// Expired reports whether the time of a claim is over. A front end that died renews none.
func Expired(claim Object, now time.Time) bool {
	text, _ := at(claim, "spec", "lifecycle", "shutdownTime").(string)
	end, err := time.Parse(time.RFC3339, text)
	return err == nil && end.Before(now)
}

// at returns a field of an object, or nil.
func at(v any, path ...string) any {
	for _, name := range path {
		o, ok := v.(Object)
		if !ok {
			return nil
		}
		v = o[name]
	}
	return v
}

// State is that of a claim.
type State struct {
	Address string // of its job, or "" as long as there is none
	Sandbox string // the name of its sandbox, which is that of its pod, or ""
	Reason  string // why there is no address
	Final   bool   // there will be none
}

// final are the reasons of the controller that waiting does not change.
var final = map[string]bool{"TemplateNotFound": true, "WarmPoolNotFound": true, "InvalidMetadata": true, "EnvVarsInjectionRejected": true, "VolumeClaimTemplatesError": true,
	"ClaimExpired": true, "SandboxExpired": true, "PodSucceeded": true, "PodFailed": true, "SandboxSuspended": true}

// Read reads a claim's state.
func Read(claim Object) (s State) {
	s.Sandbox, _ = at(claim, "status", "sandbox", "name").(string)
	if at(claim, "metadata", "deletionTimestamp") != nil {
		return State{Reason: "the claim was deleted", Final: true}
	}
	s.Reason = "the controller of Agent Sandbox has not seen the claim: does it run, with its extensions?"
	conditions, _ := at(claim, "status", "conditions").(list)
	for _, c := range conditions {
		if at(c, "type") != "Ready" {
			continue
		}
		reason, _ := at(c, "reason").(string)
		message, _ := at(c, "message").(string)
		if at(c, "status") != "True" {
			s.Reason, s.Final = clip(reason+": "+message), final[reason]
			return s
		}
		ips, _ := at(claim, "status", "sandbox", "podIPs").(list)
		s.Reason = "the sandbox is ready and has no address"
		if len(ips) > 0 {
			text, _ := ips[0].(string)
			ip, err := netip.ParseAddr(text)
			if err != nil || ip.Zone() != "" || ip.IsUnspecified() || ip.IsMulticast() || ip.IsLinkLocalUnicast() {
				s.Reason, s.Final = clip(fmt.Sprintf("the address of the sandbox is %q", text)), true
				return s
			}
			s.Address, s.Reason = netip.AddrPortFrom(ip, jobPort).String(), ""
		}
	}
	return s
}

// clip makes a text of the cluster one line of a log.
func clip(text string) string {
	text = strconv.Quote(text)
	text = text[1 : len(text)-1]
	if len(text) > 500 {
		text = text[:500] + "…"
	}
	return text
}

// Waits returns the reason for which a pod does not start, or "".
func Waits(pod Object) string {
	for _, kind := range []string{"initContainerStatuses", "containerStatuses"} {
		statuses, _ := at(pod, "status", kind).(list)
		for _, c := range statuses {
			for _, state := range []string{"waiting", "terminated"} {
				if reason, _ := at(c, "state", state, "reason").(string); reason != "" {
					message, _ := at(c, "state", state, "message").(string)
					return clip(strings.TrimSuffix(reason+": "+message, ": "))
				}
			}
		}
	}
	conditions, _ := at(pod, "status", "conditions").(list)
	for _, c := range conditions {
		if at(c, "type") == "PodScheduled" && at(c, "status") == "False" {
			reason, _ := at(c, "reason").(string)
			message, _ := at(c, "message").(string)
			return clip(reason + ": " + message)
		}
	}
	return ""
}

// Failure is an answer of the API server that is not a success.
type Failure struct {
	Code    int    // of HTTP, or 0 if there was no answer
	Kind    string // of the object that it is about, such as namespaces, or ""
	Name    string // of that object
	Message string
}

// Explain returns an error that says what an operator can do about a failed request. what is such as "create a claim".
func (o Options) Explain(what string, f Failure) error {
	m := clip(f.Message)
	switch {
	case f.Code == 0:
		return fmt.Errorf("%s: the API server did not answer: %s", what, m)
	case f.Code == 401:
		return fmt.Errorf("%s: the API server does not know the front end: its token or kubeconfig is not valid any more (%s)", what, m)
	case f.Code == 403 && strings.Contains(f.Message, "exceeded quota"):
		return fmt.Errorf("%s: the quota of the namespace %s is used up: end sessions, or raise it (%s)", what, o.Namespace, m)
	case f.Code == 403:
		return fmt.Errorf("%s: the front end has no right to: apply the role of the manifests to the service account %s (%s)", what, front, m)
	case f.Code == 404 && f.Kind == "namespaces":
		return fmt.Errorf("%s: the namespace %s does not exist: apply the manifests", what, o.Namespace)
	case f.Code == 404 && f.Name == "":
		return fmt.Errorf("%s: the cluster has no Agent Sandbox API %s/%s: install its CRDs and its controller with extensions, https://github.com/kubernetes-sigs/agent-sandbox", what, Group, Version)
	case f.Code == 404:
		return fmt.Errorf("%s: %s %q is missing in the namespace %s: apply the manifests", what, f.Kind, f.Name, o.Namespace)
	case f.Code == 422 || f.Code == 400:
		return fmt.Errorf("%s: the API server refuses the object, so the Agent Sandbox of the cluster has another version than %s (%s)", what, Version, m)
	case f.Code == 429 || f.Code >= 500:
		return fmt.Errorf("%s: the API server is busy or failing: %s", what, m)
	}
	return fmt.Errorf("%s: the API server answered %d: %s", what, f.Code, m)
}

// Unbound is the error of a claim that got no job in time.
func Unbound(within time.Duration, s State, pod string) error {
	text := fmt.Sprintf("no job within %v: %s", within, s.Reason)
	if s.Final {
		text = "no job: " + s.Reason
	}
	if pod != "" {
		text += "; its pod waits: " + pod
	}
	return errors.New(text)
}
