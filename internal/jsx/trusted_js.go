package jsx

import (
	"fmt"
	"sync"
	"syscall/js"

	"github.com/bailey-go/bailey/internal/jsx/trust"
)

// A TrustedPolicy sets trusted text at the page's injection sinks, with a Trusted Types policy if
// the browser has them. It accepts only the sealed types of package trust, whose importers are
// listed there, so a package with a TrustedPolicy still cannot set other text. The policy object
// stays in Go, where no script of the page can reach it.
type TrustedPolicy struct {
	policy                js.Value // undefined without Trusted Types
	createHTML, createURL js.Value
}

// DefaultPolicyName is the name of the Trusted Types policy if the app sets none.
const DefaultPolicyName = "bailey"

// A PolicyError is the error if the page's Content-Security-Policy does not allow the policy.
type PolicyError struct {
	Name string
	Err  error
}

// Error returns the text with the directive to add.
func (e *PolicyError) Error() string {
	return fmt.Sprintf("the page's Content-Security-Policy does not let the Trusted Types policy %q be made: "+
		"add its name, as in \"trusted-types %[1]s\" (with 'allow-duplicates' if several Go programs share the page), "+
		"or choose a name that the page lists: %v", e.Name, e.Err)
}

// Unwrap returns the browser's error.
func (e *PolicyError) Unwrap() error { return e.Err }

// policies are created once for each name. A page that lists the name without 'allow-duplicates'
// would refuse a second one and report it.
var policies struct {
	mu   sync.Mutex
	made map[string]func() (*TrustedPolicy, error)
}

// Trusted returns the program's policy of that name, and creates it on first use. An empty name is
// [DefaultPolicyName]. If the page does not allow it, the error is a *[PolicyError].
func Trusted(name string) (*TrustedPolicy, error) {
	if name == "" {
		name = DefaultPolicyName
	}
	if !policyName(name) {
		return nil, fmt.Errorf("jsx: %q cannot be a Trusted Types policy name: use letters, digits and -#=_/@.%%", name)
	}
	policies.mu.Lock()
	make, ok := policies.made[name]
	if !ok {
		if policies.made == nil {
			policies.made = map[string]func() (*TrustedPolicy, error){}
		}
		make = sync.OnceValues(func() (*TrustedPolicy, error) { return newPolicy(name) })
		policies.made[name] = make
	}
	policies.mu.Unlock()
	return make()
}

func newPolicy(name string) (*TrustedPolicy, error) {
	factory, err := Get(Global(), "trustedTypes")
	if err != nil {
		return nil, err
	}
	t := &TrustedPolicy{}
	if Nullish(factory) {
		return t, nil
	}
	// String returns its argument, and is a built-in: no script is compiled from text.
	same := value(prim().str)
	rules, err := ToJS(map[string]any{"createHTML": same, "createScriptURL": same})
	if err != nil {
		return nil, err
	}
	policy, err := Call(factory, "createPolicy", name, rules)
	if err != nil {
		return nil, &PolicyError{name, err}
	}
	html, err := Get(policy, "createHTML")
	if err != nil {
		return nil, err
	}
	url, err := Get(policy, "createScriptURL")
	if err != nil {
		return nil, err
	}
	t.policy = raw(policy)
	if t.createHTML, err = invoke(prim().uncurry, raw(html)); err != nil {
		return nil, err
	}
	t.createURL, err = invoke(prim().uncurry, raw(url))
	return t, err
}

func (t *TrustedPolicy) html(h trust.HTML) (any, error) {
	if t.policy.IsUndefined() {
		return h.String(), nil
	}
	return invoke(t.createHTML, t.policy, h.String())
}

// SetInnerHTML sets the content of an element or a shadow root.
func (t *TrustedPolicy) SetInnerHTML(el Value, h trust.HTML) error {
	x, err := t.html(h)
	if err != nil {
		return withOp(err, "set innerHTML")
	}
	return Set(el, "innerHTML", x)
}

// SetSrcdoc sets the document of a frame. Add listeners before.
func (t *TrustedPolicy) SetSrcdoc(frame Value, h trust.HTML) error {
	x, err := t.html(h)
	if err != nil {
		return withOp(err, "set srcdoc")
	}
	return Set(frame, "srcdoc", x)
}

// SetScriptSrc sets the src of a script element.
func (t *TrustedPolicy) SetScriptSrc(script Value, u trust.ScriptURL) error {
	x, err := t.url(u)
	if err != nil {
		return withOp(err, "set src")
	}
	return Set(script, "src", x)
}

// NewWorker starts a dedicated worker of the page, or of a frame that shares its origin.
func (t *TrustedPolicy) NewWorker(realm Value, u trust.ScriptURL, options map[string]any) (Value, error) {
	x, err := t.url(u)
	if err != nil {
		return Value{}, withOp(err, "new Worker")
	}
	class, err := Get(realm, "Worker")
	if err != nil {
		return Value{}, err
	}
	return New(class, x, options)
}

func (t *TrustedPolicy) url(u trust.ScriptURL) (any, error) {
	if t.policy.IsUndefined() {
		return u.String(), nil
	}
	return invoke(t.createURL, t.policy, u.String())
}

func policyName(name string) bool {
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		case r == '-', r == '#', r == '=', r == '_', r == '/', r == '@', r == '.', r == '%':
		default:
			return false
		}
	}
	return len(name) <= 128
}
