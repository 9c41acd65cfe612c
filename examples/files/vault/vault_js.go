package vault

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/files/dialog"
	"github.com/bailey-go/bailey/examples/files/settings"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/secrets"
	"github.com/bailey-go/bailey/sandbox/web"
)

// Options are the parts of the page that the vault talks with. All are required.
type Options struct {
	Lock     sync.Locker // held during one action of the user's
	Settings *settings.Settings
	Busy     func() error // an error while a conversation is at work
	OnChange func() error // makes a new box, with other tools
}

// Vault is the user's secrets. Without a store of the browser's there are none, and Settings says why.
type Vault struct {
	Options
	store  *secrets.Store
	broker *web.Broker
	hosts  map[string][]string // by name
}

// New opens the store.
func New(ctx context.Context, o Options) (*Vault, error) {
	v := &Vault{Options: o}
	var err error
	if v.broker, err = web.NewBroker(web.BrokerOptions{}); err != nil {
		return nil, err
	}
	if v.store, err = secrets.OpenStore(ctx, "bailey-files-secrets"); err == nil {
		v.hosts, err = v.store.List(ctx)
	}
	if err != nil { // the page works without secrets, too
		v.store = nil
		dom.SetText("no-secrets", "None, and none can be kept: "+protocol.Public(err).Message)
		dom.Hide("secrets-form", true)
	}
	if hosts := v.all(); len(hosts) > 0 {
		dom.Element("reach").Call("prepend", dom.Create("li", "For your secrets: "+strings.Join(hosts, ", ")))
	}
	return v, nil
}

// all returns the hosts of all secrets, each once.
func (v *Vault) all() []string {
	hosts := slices.Concat(slices.Collect(maps.Values(v.hosts))...)
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// Tools returns the tools that use secrets, and none without a secret.
func (v *Vault) Tools() []sandbox.Tool {
	if len(v.hosts) == 0 {
		return nil
	}
	return web.Secrets(v.broker, v.store)
}

// Policy returns p with the hosts of the user's secrets. Each request is asked about all the same.
func (v *Vault) Policy(p *policy.Policy) *policy.Policy {
	hosts := v.all()
	if len(hosts) == 0 {
		return p
	}
	with := *p
	with.Grants = append(slices.Clone(p.Grants), protocol.Grant{Capability: protocol.NetFetch, Scope: hosts})
	with.Net.Allowed = slices.Clone(p.Net.Allowed)
	for _, text := range hosts {
		h, err := protocol.ParseHost(text)
		if err != nil {
			return p // Set has parsed it before
		}
		with.Net.Allowed = append(with.Net.Allowed, h)
	}
	return &with
}

// Listen sets up the form and the list of the secrets.
func (v *Vault) Listen(ctx context.Context) {
	if v.store == nil {
		return
	}
	v.show()
	dom.On(dom.Element("secrets-form"), "submit", func(js.Value) {
		v.Lock.Lock()
		defer v.Lock.Unlock()
		dom.Failed(v.add(ctx, dom.Value("secret-name"), dom.Value("secret-value"), strings.FieldsFunc(dom.Value("secret-hosts"), func(r rune) bool { return r == ' ' || r == ',' })))
	})
	dom.On(dom.Element("secrets"), "click", func(e js.Value) {
		b := e.Get("target").Call("closest", "button")
		if b.IsNull() {
			return
		}
		v.Lock.Lock()
		defer v.Lock.Unlock()
		dom.Failed(v.remove(ctx, b.Get("dataset").Get("name").String()))
	})
}

func (v *Vault) add(ctx context.Context, name, value string, hosts []string) error {
	if err := v.Busy(); err != nil {
		return err
	}
	var try secrets.Store // tells all that is wrong before the page's headers are looked at
	if err := try.Set(ctx, name, value, hosts); err != nil {
		return errors.New(protocol.Public(err).Message)
	}
	if hosts := slices.Compact(slices.Sorted(slices.Values(append(v.all(), hosts...)))); len(hosts) > 100 {
		return errors.New("the secrets are for more than 100 hosts; remove one first")
	}
	if !v.Settings.Allows(ctx, hosts) {
		return nil // it has shown the error
	}
	if err := v.store.Set(ctx, name, value, hosts); err != nil {
		return errors.New(protocol.Public(err).Message)
	}
	for _, id := range []string{"secret-name", "secret-value", "secret-hosts"} {
		dom.SetValue(id, "")
	}
	return v.changed(ctx, "The secret "+name+" is kept in this browser, for "+strings.Join(hosts, ", ")+".")
}

func (v *Vault) remove(ctx context.Context, name string) error {
	if err := v.Busy(); err != nil {
		return err
	}
	if err := v.store.Remove(ctx, name); err != nil {
		return err
	}
	err := v.changed(ctx, "The secret "+name+" is gone from this browser.")
	dom.Element("secret-name").Call("focus")
	return err
}

// changed makes the tools follow the secrets, and asks for a reload if the page's policy lacks a host.
func (v *Vault) changed(ctx context.Context, text string) (err error) {
	if v.hosts, err = v.store.List(ctx); err != nil {
		return err
	}
	v.show()
	reload := v.Settings.SetSecretHosts(v.all())
	if err := v.OnChange(); err != nil {
		return err
	}
	dom.Status(text)
	if !reload {
		return nil
	}
	if answer, _ := dialog.Ask(dialog.Question{Title: "Reload to reach the hosts of the secret?", Text: "For your safety this page may only reach the servers it was loaded with. Chats are kept. Running work stops.", Answers: []string{"Later", "Reload"}}); answer == "Reload" {
		js.Global().Get("location").Call("reload")
	}
	return nil
}

// show lists the secrets.
func (v *Vault) show() {
	list := dom.Element("secrets")
	list.Call("replaceChildren")
	for _, name := range slices.Sorted(maps.Keys(v.hosts)) {
		item, bar, remove := dom.Create("li", ""), dom.Create("div", ""), dom.Create("button", "Remove")
		bar.Set("className", "bar")
		remove.Set("type", "button")
		remove.Set("className", "stop small")
		remove.Get("dataset").Set("name", name)
		remove.Call("setAttribute", "aria-label", "Remove the secret "+name)
		bar.Call("append", remove)
		item.Call("append", dom.Create("b", name), " for ", dom.Create("code", strings.Join(v.hosts[name], ", ")), bar)
		list.Call("append", item)
	}
	dom.Hide("no-secrets", len(v.hosts) > 0)
}
