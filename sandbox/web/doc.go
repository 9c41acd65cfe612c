// Package web is the tools web_fetch and web_search, and the broker they go through.
// A page fetched is Markdown when the model gets it. The broker sends nothing without a
// permit for the host, refuses addresses that carry a credential, follows no redirect
// that was not decided anew, counts bytes and requests, and puts credentials in where
// the model wrote a sentinel, for the hosts they are meant for alone.
package web
