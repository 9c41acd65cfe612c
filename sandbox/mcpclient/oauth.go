package mcpclient

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/internal/nets"
	"github.com/bailey-go/bailey/internal/strictjson"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/fetch"
)

// authorizer gets tokens from the authorization server of an MCP server: OAuth 2.1 with PKCE, protected
// resource metadata (RFC 9728), server metadata (RFC 8414), dynamic registration (RFC 7591) and resource
// indicators (RFC 8707), as the protocol's section on authorization asks. A nil authorizer has no tokens.
type authorizer struct {
	o     *Options
	turn  sync.Mutex // held during one authorization
	mu    sync.Mutex
	state tokens
}

// tokens is the state that the app stores.
type tokens struct {
	Issuer  string `json:"issuer,omitempty"` // which gave them
	ID      string `json:"client_id,omitempty"`
	Secret  string `json:"client_secret,omitempty"`
	Method  string `json:"auth_method,omitempty"` // of the token endpoint
	Access  string `json:"access_token,omitempty"`
	Refresh string `json:"refresh_token,omitempty"`
	Scope   string `json:"scope,omitempty"`
	Token   string `json:"token_endpoint,omitempty"`
}

func newAuthorizer(o *Options) (*authorizer, error) {
	a := &authorizer{o: o}
	bad := func(why string) (*authorizer, error) {
		return nil, protocol.Errorf(protocol.ErrInvalidParams, "connect", o.Name, "%s", why)
	}
	if o.Tokens != "" {
		if err := json.Unmarshal([]byte(o.Tokens), &a.state); err != nil {
			return bad("Tokens is none that this client stored")
		}
	}
	if o.Authorize != nil && !secure(o.Redirect) {
		return bad("Authorize needs Redirect, an https address or one on this machine")
	}
	return a, nil
}

// secure reports whether an address is https, or http on this machine.
func secure(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && u.User == nil && (u.Scheme == "https" || u.Scheme == "http" && protocol.Loopback(u.Hostname()))
}

// reachable reports whether the server may name an address for the authorization. A server on the internet
// may name none on this machine or in its network: the page would ask what only the user can reach.
func (a *authorizer) reachable(address string) bool {
	return secure(address) && (inside(a.o.URL) || !inside(address))
}

// inside reports whether an address is on this machine or in its network.
func inside(address string) bool {
	u, err := url.Parse(address)
	return err == nil && nets.Private(strings.ToLower(u.Hostname()))
}

func (a *authorizer) token() string {
	if a == nil {
		return ""
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.state.Access
}

// secrets returns all values that must not be seen.
func (a *authorizer) secrets() []string {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return []string{a.state.Access, a.state.Refresh, a.state.Secret}
}

// challenge is what a server's refusal says about the credentials that it wants.
type challenge struct {
	metadata, scope, err string
}

var parameter = regexp.MustCompile(`([A-Za-z_]+)\s*=\s*(?:"([^"]*)"|([^\s",]+))`)

func challengeOf(res *fetch.Response) (c challenge) {
	for _, m := range parameter.FindAllStringSubmatch(clip(res.Header["www-authenticate"], 8<<10), 20) {
		v := m[2] + m[3]
		switch m[1] {
		case "resource_metadata":
			c.metadata = v
		case "scope":
			c.scope = v
		case "error":
			c.err = v
		}
	}
	return c
}

// can reports whether the client can get the credentials that a server wants.
func (a *authorizer) can(status int, c challenge) bool {
	if a == nil || status != 401 && (status != 403 || c.err != "insufficient_scope") {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.o.Authorize != nil || status == 401 && a.state.Refresh != ""
}

func (a *authorizer) errorf(format string, args ...any) error {
	return errCredentials{protocol.Errorf(protocol.ErrExecution, "authorize", a.o.Name, format, args...)}
}

// authorize gets other credentials than those that were sent.
func (a *authorizer) authorize(ctx context.Context, sent string, c challenge) error {
	a.turn.Lock()
	defer a.turn.Unlock()
	if token := a.token(); token != "" && sent != "Bearer "+token {
		return nil // another request got them meanwhile
	}
	a.mu.Lock()
	s := a.state
	a.mu.Unlock()
	if s.Refresh != "" && c.err != "insufficient_scope" {
		form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {s.Refresh}, "resource": {a.o.URL}}
		if err := a.get(ctx, &s, form); err == nil {
			return nil
		} else if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		s.Refresh = ""
	}
	if a.o.Authorize == nil {
		return a.errorf("the authorization has ended: the user has to sign in again")
	}
	return a.begin(ctx, s, c)
}

// begin sends the user to the authorization server.
func (a *authorizer) begin(ctx context.Context, s tokens, c challenge) error {
	m, scopes, err := a.discover(ctx, c.metadata)
	if err != nil {
		return err
	}
	if err := a.register(ctx, &s, m); err != nil {
		return err
	}
	scope := c.scope
	if scope == "" && c.err == "" || scope == "" && s.Scope == "" {
		scope = strings.Join(scopes, " ")
	}
	if c.err == "insufficient_scope" {
		scope = union(s.Scope, scope)
	}
	if slices.Contains(m.Scopes, "offline_access") {
		scope = union(scope, "offline_access")
	}
	verifier, state := random(), random()
	sum := sha256.Sum256([]byte(verifier))
	u, err := url.Parse(m.Authorization)
	if err != nil {
		return a.errorf("the authorization server has no valid address for the user")
	}
	q := u.Query()
	for k, v := range map[string]string{"response_type": "code", "client_id": s.ID, "redirect_uri": a.o.Redirect, "state": state, "scope": scope, "resource": a.o.URL,
		"code_challenge": base64.RawURLEncoding.EncodeToString(sum[:]), "code_challenge_method": "S256"} {
		if v != "" {
			q.Set(k, v)
		}
	}
	u.RawQuery = q.Encode()
	redirected, err := a.o.Authorize(ctx, u.String())
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return a.errorf("the user did not sign in: %s", protocol.Public(err).Message)
	}
	back, err := url.Parse(redirected)
	if err != nil {
		return a.errorf("the answer of the authorization server can't be read")
	}
	got := back.Query()
	if subtle.ConstantTimeCompare([]byte(got.Get("state")), []byte(state)) != 1 && !a.o.trusts {
		return a.errorf("the answer of the authorization server is not for this request")
	}
	if iss := got.Get("iss"); (iss != "" && iss != m.Issuer || iss == "" && m.SendsIssuer) && !a.o.trusts {
		return a.errorf("the answer is of another authorization server")
	}
	if got.Get("error") != "" || got.Get("code") == "" {
		return a.errorf("the authorization server says: %s", clip(got.Get("error")+" "+got.Get("error_description"), 300))
	}
	s.Issuer, s.Token, s.Scope = m.Issuer, m.Token, scope
	return a.get(ctx, &s, url.Values{"grant_type": {"authorization_code"}, "code": {got.Get("code")}, "redirect_uri": {a.o.Redirect}, "code_verifier": {verifier}, "resource": {a.o.URL}})
}

// random returns 32 random bytes as a text for addresses.
func random() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // which never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// union returns the scopes of both lists.
func union(a, b string) string {
	list := strings.Fields(a)
	for _, s := range strings.Fields(b) {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return strings.Join(list, " ")
}

// metadata describes an authorization server.
type metadata struct {
	Issuer        string   `json:"issuer"`
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	Registration  string   `json:"registration_endpoint"`
	Methods       []string `json:"token_endpoint_auth_methods_supported"`
	Challenges    []string `json:"code_challenge_methods_supported"`
	Scopes        []string `json:"scopes_supported"`
	Documents     bool     `json:"client_id_metadata_document_supported"`
	SendsIssuer   bool     `json:"authorization_response_iss_parameter_supported"`
}

// discover returns the authorization server of the MCP server, and the scopes that this server names.
func (a *authorizer) discover(ctx context.Context, hint string) (m metadata, scopes []string, err error) {
	u, err := url.Parse(a.o.URL)
	if err != nil {
		return m, nil, err
	}
	base := u.Scheme + "://" + u.Host
	const known = "/.well-known/oauth-protected-resource"
	list := []string{base + known + strings.TrimSuffix(u.Path, "/"), base + known}
	if hint != "" {
		list = []string{hint}
	}
	var resource struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
		Scopes   []string `json:"scopes_supported"`
	}
	found := false
	for _, at := range list {
		if found, err = a.read(ctx, at, &resource); err != nil || found {
			break
		}
	}
	switch {
	case err != nil:
		return m, nil, err
	case !found: // as in the version 2025-03-26
		if found, err = a.metadata(ctx, base, &m, true); err == nil && !found {
			m = metadata{Issuer: base, Authorization: base + "/authorize", Token: base + "/token", Registration: base + "/register"}
		}
		return m, nil, err
	case !a.o.trusts && !within(a.o.URL, resource.Resource):
		return m, nil, a.errorf("the server describes another resource: %s", clip(resource.Resource, 200))
	case len(resource.Servers) == 0:
		return m, nil, a.errorf("the server names no authorization server")
	}
	if found, err = a.metadata(ctx, resource.Servers[0], &m, false); err == nil && !found {
		err = a.errorf("the authorization server %s does not describe itself", clip(resource.Servers[0], 200))
	}
	return m, resource.Scopes, err
}

// within reports whether an address is that of the resource, or below it.
func within(address, resource string) bool {
	u, err1 := url.Parse(address)
	r, err2 := url.Parse(resource)
	if err1 != nil || err2 != nil || u.Scheme != r.Scheme || !strings.EqualFold(u.Host, r.Host) {
		return false
	}
	top := strings.TrimSuffix(r.Path, "/")
	return u.Path == top || strings.HasPrefix(u.Path, top+"/")
}

// metadata reads what an authorization server says of itself, and checks it. If legacy is set, its name may
// have another path: the server's own origin is asked, and no other server named it.
func (a *authorizer) metadata(ctx context.Context, issuer string, m *metadata, legacy bool) (bool, error) {
	u, err := url.Parse(issuer)
	if err != nil {
		return false, a.errorf("the authorization server has no valid address")
	}
	base, path := u.Scheme+"://"+u.Host, strings.TrimSuffix(u.Path, "/")
	list := []string{base + "/.well-known/oauth-authorization-server" + path, base + "/.well-known/openid-configuration" + path}
	if path != "" {
		list = append(list, base+path+"/.well-known/openid-configuration")
	}
	for _, at := range list {
		if found, err := a.read(ctx, at, m); err != nil {
			return false, err
		} else if !found {
			continue
		}
		if a.o.trusts {
			return true, nil
		}
		if strings.TrimSuffix(m.Issuer, "/") != strings.TrimSuffix(issuer, "/") && !(legacy && strings.HasPrefix(m.Issuer, base+"/")) {
			return false, a.errorf("the authorization server says that it is another one: %s", clip(m.Issuer, 200))
		}
		if !a.reachable(m.Authorization) || !a.reachable(m.Token) || m.Registration != "" && !a.reachable(m.Registration) {
			return false, a.errorf("the addresses of the authorization server must be https, and not in a private network")
		}
		if !slices.Contains(m.Challenges, "S256") {
			return false, a.errorf("the authorization server does not support PKCE with S256")
		}
		return true, nil
	}
	return false, nil
}

// maxMetadata is the maximum size of an answer of an authorization server.
const maxMetadata = 256 << 10

// read reads a JSON document. It returns false if there is none.
func (a *authorizer) read(ctx context.Context, address string, into any) (bool, error) {
	status, err := a.do(ctx, fetch.Request{Method: "GET", URL: address, Header: map[string]string{"accept": "application/json"}}, into)
	if err != nil {
		return false, err
	}
	return status >= 200 && status < 300, nil
}

// do sends a request, and decodes a JSON answer.
func (a *authorizer) do(ctx context.Context, r fetch.Request, into any) (int, error) {
	if !a.o.trusts && !a.reachable(r.URL) {
		return 0, a.errorf("the address %s must be https, and not in a private network", clip(r.URL, 200))
	}
	res, err := a.o.Transport.Do(ctx, r)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return 0, cause
		}
		u, _ := url.Parse(r.URL)
		var e *protocol.Error
		if errors.As(err, &e) {
			return 0, errCredentials{e}
		}
		return 0, a.errorf("%s did not answer", u.Host)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxMetadata+1))
	switch {
	case err != nil:
		return 0, a.errorf("the answer of the authorization server was cut off")
	case len(data) > maxMetadata || strictjson.TooDeep(data):
		return 0, protocol.Errorf(protocol.ErrResourceLimit, "authorize", a.o.Name, "the answer of the authorization server has more than %d bytes, or is nested too deep", maxMetadata)
	}
	if err := json.Unmarshal(data, into); err != nil && res.Status >= 200 && res.Status < 300 {
		return 404, nil // such as an app's page for every address
	}
	return res.Status, nil
}

// register sets the app's registration with an authorization server.
func (a *authorizer) register(ctx context.Context, s *tokens, m metadata) error {
	document := strings.HasPrefix(a.o.ClientID, "https://")
	switch {
	case a.o.ClientID != "" && (!document || m.Documents):
		s.ID, s.Secret, s.Method = a.o.ClientID, a.o.ClientSecret, method(m, a.o.ClientSecret != "")
		return nil
	case s.Issuer == m.Issuer && s.ID != "":
		return nil // registered before
	case m.Registration == "":
		return a.errorf("the authorization server does not let apps register themselves: it needs a client id")
	}
	want := method(m, false)
	if len(m.Methods) > 0 && !slices.Contains(m.Methods, "none") {
		want = m.Methods[0]
	}
	body, err := json.Marshal(map[string]any{"client_name": "Bailey", "redirect_uris": []string{a.o.Redirect}, "grant_types": []string{"authorization_code", "refresh_token"},
		"response_types": []string{"code"}, "token_endpoint_auth_method": want})
	if err != nil {
		return err
	}
	var got struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
		Method string `json:"token_endpoint_auth_method"`
	}
	status, err := a.do(ctx, fetch.Request{Method: "POST", URL: m.Registration, Body: body, Header: map[string]string{"content-type": "application/json", "accept": "application/json"}}, &got)
	switch {
	case err != nil:
		return err
	case status < 200 || status > 299 || got.ID == "":
		return a.errorf("the authorization server did not register this app (%d)", status)
	}
	if got.Method == "" {
		got.Method = method(m, got.Secret != "")
	}
	*s = tokens{ID: got.ID, Secret: got.Secret, Method: got.Method}
	return nil
}

// method returns how the app identifies itself at the token endpoint.
func method(m metadata, secret bool) string {
	switch {
	case !secret:
		return "none"
	case slices.Contains(m.Methods, "client_secret_post") && !slices.Contains(m.Methods, "client_secret_basic"):
		return "client_secret_post"
	}
	return "client_secret_basic"
}

// get gets tokens from the token endpoint, and stores them.
func (a *authorizer) get(ctx context.Context, s *tokens, form url.Values) error {
	h := map[string]string{"content-type": "application/x-www-form-urlencoded", "accept": "application/json"}
	switch s.Method {
	case "client_secret_basic":
		h["authorization"] = "Basic " + base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(s.ID)+":"+url.QueryEscape(s.Secret)))
	case "client_secret_post":
		form.Set("client_secret", s.Secret)
		fallthrough
	default:
		form.Set("client_id", s.ID)
	}
	var got struct {
		Access  string `json:"access_token"`
		Type    string `json:"token_type"`
		Refresh string `json:"refresh_token"`
		Scope   string `json:"scope"`
		Error   string `json:"error"`
	}
	status, err := a.do(ctx, fetch.Request{Method: "POST", URL: s.Token, Body: []byte(form.Encode()), Header: h}, &got)
	switch {
	case err != nil:
		return err
	case status < 200 || status > 299:
		return a.errorf("the authorization server gave no token (%d %s)", status, clip(got.Error, 100))
	case got.Access == "" || !strings.EqualFold(got.Type, "bearer") || strings.ContainsFunc(got.Access, func(r rune) bool { return r < 0x21 || r > 0x7e }):
		return a.errorf("the authorization server gave no token that can be used")
	}
	s.Access = got.Access
	if got.Refresh != "" {
		s.Refresh = got.Refresh
	}
	if got.Scope != "" {
		s.Scope = got.Scope
	}
	a.mu.Lock()
	a.state = *s
	a.mu.Unlock()
	if a.o.OnTokens != nil {
		text, err := json.Marshal(s)
		if err != nil {
			return err
		}
		a.o.OnTokens(string(text))
	}
	return nil
}
