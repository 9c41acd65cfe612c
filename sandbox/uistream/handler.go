//go:build !js

package uistream

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/bailey-go/bailey/internal/chat"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Handler serves the conversations of one user's box to the chats of AI SDK, natively: useChat with its
// DefaultChatTransport and the Handler's address as api. Its Ask belongs into the options of the box:
//
//	h := &uistream.Handler{Model: model, Session: open}
//	h.Box, err = sandbox.New(sandbox.Options{FS: dir, Policy: p, Ask: h})
//	http.Handle("/api/chat", signedIn(h))
//
// A chat sends all of its messages, and the Handler takes only the last one: the session has the conversation, so a client
// can't forge a part of it. An edited message and a regenerated answer rewind the session. Files are data: URLs, and no
// other address is loaded. The end of a request, as by stop(), ends its run.
//
// A question about a call is a part data-question of the stream. Its data has an id, and for each request the title, the
// effects, the diff and the risk. The page must show all of them, and answers with a request to the same address:
//
//	{"id": "the question's id", "answers": ["once"]}
//
// There is an answer for each request: once, session, project, reject or never. addToolApprovalResponse answers nothing,
// because the part of a call has only its tool and its input. While several chats of the user are answered, each of
// their streams has the question, since a subagent's session is none of theirs. The first answer counts.
//
// The Handler refuses requests of pages of other origins (see [http.CrossOriginProtection]). It authenticates nobody: wrap it. Whoever reaches it
// can send messages and answer questions as the user.
type Handler struct {
	Box   *sandbox.Box
	Model sandbox.Model
	// Session opens the session of a chat's id, which the client has chosen. The Handler asks for it once for each
	// request, so return the same one until it is closed. An error refuses the request.
	Session func(ctx context.Context, chat string) (*sandbox.Session, error)
	Version int                // of AI SDK, 6 or 7. The default is 7.
	Run     sandbox.RunOptions // of each message
	// MaxBytes is the limit of a request's body. The default is 32 MiB, which a chat of many long messages needs.
	MaxBytes int64

	asker chat.Asker
	mu    sync.Mutex
	chats map[*sandbox.Session]*conversation

	patience time.Duration // of tests
	off      off
}

// off are defences that a test switches off.
type off struct{ origin, kind, last bool }

// conversation is a session that has had a message.
type conversation struct {
	done chan struct{} // closed at the end of the active run, nil without one
	ids  map[string]string
}

// maxIDs is the number of messages of a chat, and maxChats the number of chats without a run, whose ids of the client are
// kept. A message can be edited under the session's id without them.
const maxIDs, maxChats = 1000, 1000

// Ask implements [sandbox.Asker]. It waits for the answer of a client.
func (h *Handler) Ask(ctx context.Context, p sandbox.Prompt) ([]sandbox.Reply, error) {
	return h.asker.Ask(ctx, p)
}

// body is a request of AI SDK's DefaultChatTransport, or the answer to a question.
type body struct {
	ID        string            `json:"id"`
	Trigger   string            `json:"trigger"`
	MessageID string            `json:"messageId"`
	Messages  []json.RawMessage `json:"messages"`
	Answers   []policy.Answer   `json:"answers"`
}

// message is the part of a UIMessage that a session takes.
type message struct {
	ID    string `json:"id"`
	Role  string `json:"role"`
	Parts []struct {
		Type      string `json:"type"`
		Text      string `json:"text"`
		MediaType string `json:"mediaType"`
		Filename  string `json:"filename"`
		URL       string `json:"url"`
	} `json:"parts"`
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if code, err := h.serve(w, r); err != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": protocol.Public(err).Message})
	}
}

func refused(format string, args ...any) error {
	return protocol.Errorf(protocol.ErrInvalidParams, "", "", format, args...)
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request) (int, error) {
	if h.Box == nil || h.Model == nil || h.Session == nil {
		return http.StatusInternalServerError, refused("Box, Model and Session of the Handler are needed")
	}
	if r.Method == http.MethodGet { // resume of a stream: a run ends with its request
		w.WriteHeader(http.StatusNoContent)
		return 0, nil
	}
	if r.Method != http.MethodPost {
		return http.StatusMethodNotAllowed, refused("send a POST request")
	}
	if err := http.NewCrossOriginProtection().Check(r); err != nil && !h.off.origin {
		return http.StatusForbidden, refused("pages of another origin may not use this address")
	}
	// Another type needs no leave of the browser.
	if t, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); t != "application/json" && !h.off.kind {
		return http.StatusUnsupportedMediaType, refused("the content type must be application/json")
	}
	var b body
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, cmp.Or(h.MaxBytes, 32<<20))).Decode(&b); err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			return http.StatusRequestEntityTooLarge, refused("the request is too large")
		}
		return http.StatusBadRequest, refused("the body is no request of AI SDK and no answer")
	}
	if b.Answers != nil {
		if err := h.asker.Reply(b.ID, b.Answers); err != nil {
			return http.StatusConflict, err
		}
		w.WriteHeader(http.StatusNoContent)
		return 0, nil
	}
	return h.message(w, r, b)
}

// message stores the message of a request and streams the answer.
func (h *Handler) message(w http.ResponseWriter, r *http.Request, b body) (int, error) {
	m, text, files, err := h.read(b)
	if err != nil {
		return http.StatusBadRequest, err
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	s, err := h.Session(ctx, b.ID)
	if err != nil {
		return http.StatusServiceUnavailable, err
	}
	c, end, err := h.begin(ctx, s)
	if err != nil {
		return http.StatusConflict, err
	}
	defer end()
	if b.Trigger == "regenerate-message" || b.MessageID != "" {
		id := c.ids[m.ID]
		if id == "" { // of a stored conversation, or one that the session has refused
			list, err := s.History(ctx)
			if err != nil {
				return http.StatusServiceUnavailable, err
			}
			for _, old := range list {
				if old.ID == m.ID {
					id = m.ID
				}
			}
		}
		if id != "" {
			if err := s.Rewind(ctx, id, false); err != nil {
				return http.StatusConflict, err
			}
		}
	}
	id, err := s.Say(ctx, text, files...)
	if err != nil {
		return http.StatusUnprocessableEntity, err
	}
	if len(c.ids) >= maxIDs {
		clear(c.ids)
	}
	c.ids[m.ID] = id
	format := func(w io.Writer) (chat.Writer, error) { return NewWriter(w, cmp.Or(h.Version, 7)) }
	return http.StatusInternalServerError, h.asker.Stream(ctx, w, format, h.Box, s, h.Model, h.Run)
}

// patience is how long a message waits for the end of the run before it. A client that stops a run and goes on may be faster
// than the end of its connection.
const patience = 2 * time.Second

// begin reserves a session.
func (h *Handler) begin(ctx context.Context, s *sandbox.Session) (c *conversation, end func(), err error) {
	late := time.NewTimer(cmp.Or(h.patience, patience))
	defer late.Stop()
	for {
		h.mu.Lock()
		if c = h.chats[s]; c == nil {
			c = &conversation{ids: map[string]string{}}
			if h.chats == nil {
				h.chats = map[*sandbox.Session]*conversation{}
			}
			if len(h.chats) >= maxChats {
				maps.DeleteFunc(h.chats, func(_ *sandbox.Session, c *conversation) bool { return c.done == nil })
			}
			h.chats[s] = c
		}
		if c.done == nil {
			done := make(chan struct{})
			c.done = done
			h.mu.Unlock()
			return c, func() {
				h.mu.Lock()
				defer h.mu.Unlock()
				c.done = nil
				close(done)
			}, nil
		}
		done := c.done
		h.mu.Unlock()
		select {
		case <-done:
		case <-late.C:
			return nil, nil, protocol.Errorf(protocol.ErrSession, "", "", "an answer is under way in this chat: stop it, or wait until it has ended")
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
}

// read returns the last message, its text and its files.
func (h *Handler) read(b body) (m message, text string, files []sandbox.File, err error) {
	if len(b.Messages) == 0 {
		return m, "", nil, refused("the request has no message")
	}
	if err := json.Unmarshal(b.Messages[len(b.Messages)-1], &m); err != nil {
		return m, "", nil, refused("the last message is no message of AI SDK")
	}
	if m.Role != "user" && !h.off.last {
		return m, "", nil, refused("the last message is not of the user. Questions are answered by their id, so leave out sendAutomaticallyWhen")
	}
	var texts []string
	for _, p := range m.Parts {
		switch p.Type {
		case "text":
			texts = append(texts, p.Text)
		case "file":
			f, err := file(p.URL, p.MediaType, p.Filename)
			if err != nil {
				return m, "", nil, err
			}
			files = append(files, f)
		}
	}
	text = strings.Join(texts, "\n")
	if strings.TrimSpace(text) == "" && len(files) == 0 {
		return m, "", nil, refused("the message is empty")
	}
	return m, text, files, nil
}

// file returns the file of a data: URL.
func file(address, kind, name string) (sandbox.File, error) {
	head, data, ok := strings.Cut(strings.TrimPrefix(address, "data:"), ",")
	if !ok || !strings.HasPrefix(address, "data:") {
		return sandbox.File{}, refused("a file must have a data: URL. The server loads no other address")
	}
	head, isBase64 := strings.CutSuffix(head, ";base64")
	f := sandbox.File{Name: name, MediaType: cmp.Or(kind, head)}
	if t, _, err := mime.ParseMediaType(f.MediaType); err == nil {
		f.MediaType = t
	}
	plain, err := url.PathUnescape(data)
	if f.Data = []byte(plain); err == nil && isBase64 {
		f.Data, err = base64.StdEncoding.DecodeString(plain)
	}
	if err != nil {
		return sandbox.File{}, refused("the data: URL of a file can't be read")
	}
	return f, nil
}
