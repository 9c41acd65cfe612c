// Package fetch sends requests over the network for package sandbox, without net/http. In a page
// they use the browser's fetch ([Browser]). Natively they use a given [Transport], such as that of
// package nethttp. Requests that a model chose go through the broker of package web. The broker
// limits them to their permit: hosts, redirects, bytes and rate. It also inserts credentials that
// the model never sees.
//
// A page can't follow redirects one by one, and can't read a response that the server's CORS
// headers don't allow. A relay of the app is the only way around this. The package trusts the
// transport to send a request only to the host in the URL.
package fetch
