//go:build !js

package uistream_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
	"github.com/bailey-go/bailey/sandbox/uistream"
)

// A native program serves its box to a page with useChat.
func ExampleHandler() {
	h := &uistream.Handler{Model: &sandboxtest.Model{Turns: []sandboxtest.Turn{sandboxtest.Say("Hello")}}} // in a program one of package provider
	p, err := policy.Parse(`{"capabilities": {"stream.send": true}}`, policy.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if h.Box, err = sandbox.New(sandbox.Options{Policy: p, Ask: h}); err != nil {
		fmt.Println(err)
		return
	}
	var mu sync.Mutex
	chats := map[string]*sandbox.Session{}
	h.Session = func(ctx context.Context, id string) (*sandbox.Session, error) {
		mu.Lock()
		defer mu.Unlock()
		if chats[id] == nil {
			s, err := h.Box.NewSession(context.WithoutCancel(ctx), sandbox.SessionOptions{})
			if err != nil {
				return nil, err
			}
			chats[id] = s
		}
		return chats[id], nil
	}

	// The request of a chat. In a program: http.Handle("/api/chat", signedIn(h))
	r := httptest.NewRequest("POST", "/api/chat", strings.NewReader(`{"id": "1", "messages": [{"id": "m", "role": "user", "parts": [{"type": "text", "text": "Hi"}]}]}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	fmt.Println(w.Code == http.StatusOK, w.Header().Get("Content-Type"), strings.Contains(w.Body.String(), `"delta":"Hello"`))
	// Output: true text/event-stream true
}
