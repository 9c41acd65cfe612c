package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"reflect"

	"github.com/bailey-go/bailey/headers"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// servers are the names that Headers.Render accepts.
const servers = "nginx, caddy, apache, netlify, go, json"

func headersCommand(_ context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("headers", flag.ContinueOnError)
	server := f.String("for", "", "the `server`: "+servers)
	file := f.String("f", "", "a headers.json that says what the page uses")
	rules := f.String("policy", "", "a policy.json, from which the same follows")
	var connect []string
	f.Func("connect", "a `host` the page talks to (repeat for more)", func(s string) error {
		connect = append(connect, s)
		return headers.CheckHost(s)
	})
	if _, err := parse(f, args, stderr, 0, "-for SERVER"); err != nil {
		return err
	}
	if *server == "" {
		fmt.Fprintln(stderr, "wasm_exec headers: name the server with -for:", servers)
		return errUsage
	}
	if *file != "" && *rules != "" {
		fmt.Fprintln(stderr, "wasm_exec headers: -f and -policy are two lists of the same; put what the page uses into the section page of the policy")
		return errUsage
	}
	var use siteUse
	if *rules != "" {
		data, err := os.ReadFile(*rules)
		if err != nil {
			return fmt.Errorf("headers: %w", err)
		}
		if use, err = policyUse(data); err != nil {
			return fmt.Errorf("headers: %s: %w", *rules, err)
		}
	}
	if *file != "" {
		data, err := os.ReadFile(*file)
		if err != nil {
			return fmt.Errorf("headers: %w", err)
		}
		if use, err = decodeUse(data); err != nil {
			return fmt.Errorf("headers: %s: %w", *file, err)
		}
	}
	use.Connect = append(use.Connect, connect...)
	h, err := pageHeaders(use)
	if err != nil {
		return fmt.Errorf("headers: %w", err)
	}
	text, err := h.Render(*server)
	if err != nil {
		return fmt.Errorf("headers: %w", err)
	}
	_, err = io.WriteString(stdout, text)
	return err
}

// siteUse is the content of a headers.json: the resources that a page uses, or the enclave or
// the sandbox proxy whose page it is.
type siteUse struct {
	headers.Use
	Enclave *enclaveUse `json:"enclave,omitempty"`
	Apps    *appsUse    `json:"apps,omitempty"`
}

// decodeUse parses a headers.json. An unknown key is an error.
func decodeUse(data []byte) (siteUse, error) {
	var u siteUse
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&u); err != nil {
		if _, no := policyUse(data); no == nil {
			return u, errors.New("this is a policy: name it policy.json in a package, and use -policy for it")
		}
		return u, err
	}
	if dec.More() {
		return u, fmt.Errorf("holds more than one value")
	}
	_, err := pageHeaders(u)
	return u, err
}

// policyUse returns what a page with a policy uses. The policy must be valid without variables,
// because a page's headers are made before it runs.
func policyUse(data []byte) (siteUse, error) {
	p, err := policy.Parse(string(data), policy.Options{})
	if err != nil {
		return siteUse{}, err
	}
	use, err := policy.PageUse(p)
	if err != nil {
		return siteUse{}, err
	}
	u := siteUse{Use: use}
	_, err = pageHeaders(u)
	return u, err
}

// pageHeaders returns the headers for u. To script-src it adds the hashes of the frame scripts,
// which every page of this library needs.
func pageHeaders(u siteUse) (headers.Headers, error) {
	if u.Enclave != nil || u.Apps != nil {
		if !reflect.DeepEqual(u.Use, headers.Use{}) || u.Enclave != nil && u.Apps != nil {
			return headers.Headers{}, errors.New("enclave, apps: the page of an enclave or of a proxy uses nothing else; leave the other keys out")
		}
		if u.Apps != nil {
			return u.Apps.headers()
		}
		return u.Enclave.headers()
	}
	u.ScriptHashes = append(append([]string{}, frameScriptHashes()...), u.ScriptHashes...)
	return headers.For(u.Use)
}
