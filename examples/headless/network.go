//go:build !js

package main

import (
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/fetch/nethttp"
)

func network() fetch.Transport { return nethttp.New(nil) }
