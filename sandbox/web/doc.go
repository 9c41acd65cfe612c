// Package web has the tools web_fetch and web_search, and the broker that sends their requests. The
// model receives a fetched page as Markdown. The broker sends a request only with a permit for its
// host. It refuses addresses that contain a credential, and needs a new permit for each redirect.
// It counts bytes and requests. It replaces sentinels in headers, such as {{secret:brave}}, by
// credentials, for their own hosts only.
package web
