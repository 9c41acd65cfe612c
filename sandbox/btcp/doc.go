// Package btcp connects a page with agents elsewhere over a relay of the Browser Tool Calling
// Protocol (BTCP). [Serve] offers the tools of a box to agents. [Join] uses the tools of another
// page. [Execute] runs the code of a tool that another system sends.
//
//	err := btcp.Serve(ctx, box, btcp.Options{URL: "https://relay.example", Session: id, Token: token, Tools: []string{"read", "grep"}})
//
// A relay has two addresses. A client opens /events, an event stream, and posts its messages to
// /message. Both carry the session in their query, so whoever knows the session and the relay's
// token can call its tools. The command bailey-relay is a relay with tokens and limits. The relay of
// BTCP's authors has neither, so use it on this machine alone.
//
// The page's Content-Security-Policy must list the relay, and the relay must send CORS headers for
// the page's origin. The package needs only package fetch, and no net/http.
package btcp
