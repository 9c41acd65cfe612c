// Package fetch is requests over the network for package sandbox, without net/http: in
// a page they go through the browser's fetch ([Browser]), natively through whatever
// [Transport] is given, such as package nethttp's. It reads event streams. Requests that a
// model chose go through the broker of package web, which holds them to their permit: hosts,
// redirects, bytes, rate, and credentials that the model never sees.
//
// A page can't follow redirects hop by hop, and can't read what a server's CORS headers
// do not let it; a relay of the app's own is the only way past that. It trusts the
// transport to send to the host of the URL and to nobody else.
package fetch
