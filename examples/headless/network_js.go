package main

import "github.com/bailey-go/bailey/sandbox/fetch"

func network() fetch.Transport { return fetch.Browser() }
