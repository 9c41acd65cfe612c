package place

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"strings"
	"time"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// api is the version of the requests that this package knows.
const api = 1

// Limits of the answers of a box.
const (
	maxEvent  = 8 << 20  // bytes of an event
	maxEvents = 64 << 20 // bytes of all events of a run
	maxAnswer = 4 << 20  // bytes of another answer
)

// Box is a bailey-box: one on this computer, or that of a session of a bailey-front.
type Box struct {
	URL        string // such as http://127.0.0.1:8730
	Credential string
	Origin     string // of this page, for the texts
	Session    string // of bailey-front, empty for a box on this computer
	Transport  fetch.Transport
}

// Parse reads the line that bailey-box prints. The error is a text for the user.
func Parse(line string) (b Box, err error) {
	var in struct {
		Address    string `json:"address"`
		Credential string `json:"credential"`
	}
	if json.Unmarshal([]byte(strings.TrimSpace(line)), &in) != nil || in.Credential == "" || in.Address == "" {
		return b, errors.New("this is not the line of bailey-box: copy all of it, from { to }")
	}
	if strings.HasPrefix(in.Address, "unix:") {
		return b, errors.New("this bailey-box listens on a socket, which no page can reach: start it with -origin")
	}
	u, err := url.Parse(in.Address)
	if err != nil || u.Scheme+"://"+u.Host != in.Address || u.Scheme != "http" || !protocol.Loopback(u.Hostname()) || u.Port() == "" || strings.ContainsAny(in.Credential, " \r\n") {
		return b, errors.New("the line names no address of this computer: nothing was connected")
	}
	return Box{URL: in.Address, Credential: in.Credential}, nil
}

// ParseFront reads the address of a bailey-front and a credential, with a space between them. The error is a text for the
// user.
func ParseFront(line string) (b Box, err error) {
	words := strings.Fields(line)
	if len(words) != 2 {
		return b, errors.New("enter the address and the credential, with a space between them: https://host credential")
	}
	u, err := url.Parse(words[0])
	if err != nil || u.Host == "" || u.Scheme+"://"+u.Host != strings.TrimSuffix(words[0], "/") || u.Scheme != "https" && (u.Scheme != "http" || !protocol.Loopback(u.Hostname())) {
		return b, errors.New("the address must begin with https:// and end with the host, or its port: nothing was connected")
	}
	return Box{URL: u.Scheme + "://" + u.Host, Credential: words[1]}, nil
}

// SessionOf returns the name of a chat's session at a bailey-front. A copy of a chat has another one, and it tells nothing
// about the chat.
func SessionOf(chat string) string {
	return of([]byte("bailey-front " + chat))[:32]
}

// Host returns the address without its scheme.
func (b Box) Host() string {
	_, host, _ := strings.Cut(b.URL, "://")
	return host
}

// at returns the path of a request, which differs at a front end.
func (b Box) at(box, front string) string {
	if b.Session == "" {
		return box
	}
	return "/v1/sessions/" + url.PathEscape(b.Session) + front
}

// Wall is a protection of a box.
type Wall struct{ Name, How string }

// About has the facts that a box tells about itself.
type About struct {
	API    int    `json:"api"`
	Model  string `json:"model"` // its name, empty without one
	Walls  []Wall `json:"walls"`
	Lacks  []string
	Copies bool `json:"copies"` // files can be copied in
	Files  struct {
		ID string `json:"id"` // of the files that were copied in, empty without any
	} `json:"files"`
}

// About asks the box about itself. A box that can't be used is an error, with a text for the user.
func (b Box) About(ctx context.Context) (a About, err error) {
	path := "/about"
	if b.Session != "" {
		path = "/v1/about"
	}
	text, err := b.ask(ctx, "GET", path, "", nil)
	if err == nil && (json.Unmarshal(text, &a) != nil || a.API == 0) {
		err = errors.New("the server at " + b.Host() + " is no " + b.program())
	}
	switch {
	case err != nil:
	case a.API != api:
		err = fmt.Errorf("this %s and this page do not fit together (version %d and %d): install the same version of both", b.program(), a.API, api)
	case b.Session != "":
		a.Files.ID, err = b.copied(ctx)
	case a.Model == "":
		err = errors.New("this bailey-box has no model: start it again with -model")
	case !a.Copies:
		err = errors.New("this bailey-box works in a folder with files of its own: start it again without -dir, so that files can be copied to it")
	}
	if _, name, ok := strings.Cut(a.Model, "/"); ok { // behind the kind of its API
		a.Model = name
	}
	return a, err
}

// program is the name of the program that answers.
func (b Box) program() string {
	if b.Session == "" {
		return "bailey-box"
	}
	return "bailey-front"
}

// copied returns the id of the files that were copied to a session of a front end, "" without any.
func (b Box) copied(ctx context.Context) (string, error) {
	text, err := b.ask(ctx, "GET", b.at("", ""), "", nil)
	if e, ok := errors.AsType[*Error](err); ok && e.Status == 404 {
		return "", nil
	}
	var in struct {
		Files string `json:"files"`
	}
	if err == nil && json.Unmarshal(text, &in) != nil {
		err = b.odd()
	}
	return in.Files, err
}

// End removes the session of a front end, with all of its files. A box on this computer goes on.
func (b Box) End(ctx context.Context) error {
	if b.Session == "" {
		return nil
	}
	_, err := b.ask(ctx, "DELETE", b.at("", ""), "", nil)
	return err
}

// Copied is the answer to an archive.
type Copied struct {
	ID      string `json:"id"`
	LeftOut []Left `json:"left_out"`
}

// Left is a file that was left out.
type Left struct{ Path, Reason string }

// Put copies an archive to the box, in place of its files. With keep, the id of the files before, the box goes on with
// its session.
func (b Box) Put(ctx context.Context, archive []byte, keep string) (c Copied, err error) {
	path := b.at("/files", "/files")
	if keep != "" {
		path += "?keep=" + url.QueryEscape(keep)
	}
	text, err := b.ask(ctx, "PUT", path, "application/zip", archive)
	if e, ok := errors.AsType[*Error](err); ok && e.Status == 409 && keep == "" && b.Session != "" { // a session of before
		if err = b.End(ctx); err == nil {
			text, err = b.ask(ctx, "PUT", path, "application/zip", archive)
		}
	}
	if err == nil && (json.Unmarshal(text, &c) != nil || c.ID == "") {
		err = b.odd()
	}
	return c, err
}

// Changes returns the archive of the changes since files were copied in, at most maxArchive bytes.
func (b Box) Changes(ctx context.Context, since string) ([]byte, error) {
	resp, err := b.do(ctx, "GET", b.at("/changes", "/archive")+"?since="+url.QueryEscape(since), "", nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxArchive+1))
	switch {
	case err != nil:
		return nil, b.gone(ctx, err)
	case len(data) > maxArchive:
		return nil, fmt.Errorf("the changes have more than %d MiB, and were not taken: have those that are not needed removed", maxArchive>>20)
	}
	return data, nil
}

// Answer answers a question.
func (b Box) Answer(ctx context.Context, id string, answers []policy.Answer) error {
	body, err := json.Marshal(map[string]any{"id": id, "answers": answers})
	if err == nil {
		_, err = b.ask(ctx, "POST", b.at("/answer", "/answers"), "application/json", body)
	}
	return err
}

// Stop ends the run. Its stream then ends.
func (b Box) Stop(ctx context.Context) error {
	_, err := b.ask(ctx, "POST", b.at("/stop", "/stop"), "application/json", []byte("{}"))
	return err
}

// Question is a question of the box, the data of a chunk data-question.
type Question struct {
	ID       string `json:"id"`
	Requests []struct {
		ToolCall  string   `json:"toolCallId"`
		Title     string   `json:"title"`
		Effects   []string `json:"effects"`
		Risk      string   `json:"risk"`
		Reason    string   `json:"reason"`
		Diff      string   `json:"diff"`
		Unified   bool     `json:"unified"`
		Destroys  bool     `json:"destroys"`
		Untrusted bool     `json:"untrusted"`
		Agent     string   `json:"agent"`
	} `json:"requests"`
}

// Prompt returns the question for the user, about a session of the page. An answer is for this question alone.
func (q Question) Prompt(session string) (p sandbox.Prompt) {
	for _, r := range q.Requests {
		one := sandbox.Request{Call: q.ID, ToolCall: r.ToolCall, Title: r.Title, Risk: protocol.Risk(r.Risk), Reason: r.Reason, Diff: r.Diff, Unified: r.Unified,
			Destroys: r.Destroys, Untrusted: r.Untrusted, Agent: r.Agent, Session: session, Once: true}
		for _, e := range r.Effects {
			one.Effects = append(one.Effects, sandbox.Effect{Text: e, Risk: one.Risk})
		}
		p.Requests = append(p.Requests, one)
	}
	return p
}

// Chat sends a message, and yields the parts of the answer. A question is a chunk data-question, whose data is a
// [Question].
func (b Box) Chat(ctx context.Context, text string) iter.Seq2[sandbox.Chunk, error] {
	return func(yield func(sandbox.Chunk, error) bool) {
		fail := func(err error) { yield(sandbox.Chunk{}, err) }
		body, err := json.Marshal(map[string]string{"text": text})
		if err != nil {
			fail(err)
			return
		}
		resp, err := b.do(ctx, "POST", b.at("/chat", "/messages"), "application/json", body)
		if err != nil {
			fail(err)
			return
		}
		defer resp.Body.Close()
		lines, all, done := bufio.NewScanner(resp.Body), 0, false
		asked := map[string]string{} // the calls of questions, which an answer in the stream does not name
		lines.Buffer(nil, maxEvent)
		for lines.Scan() {
			data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
			if all += len(data); all > maxEvents {
				fail(fmt.Errorf("the answer has more than %d MiB, and was stopped", maxEvents>>20))
				return
			}
			switch {
			case !ok || done: // an empty line, or a comment
				continue
			case string(data) == "[DONE]": // the box takes the next request when its answer has ended
				done = true
				continue
			}
			c, err := chunk(data)
			if err != nil {
				fail(b.odd())
				return
			}
			switch c.Type {
			case "tool-approval-request":
				asked[c.ApprovalID] = c.ToolCallID
			case "tool-approval-response":
				if c.ToolCallID = asked[c.ApprovalID]; c.ToolCallID == "" {
					continue
				}
			}
			if !yield(c, nil) {
				return
			}
		}
		switch err := lines.Err(); {
		case done:
		case errors.Is(err, bufio.ErrTooLong):
			fail(b.odd())
		case err == nil:
			err = io.ErrUnexpectedEOF
			fallthrough
		default:
			fail(b.gone(ctx, err))
		}
	}
}

// chunk reads an event of the stream.
func chunk(data []byte) (sandbox.Chunk, error) {
	var e struct {
		Type         string          `json:"type"`
		ID           string          `json:"id"`
		Delta        string          `json:"delta"`
		ToolCallID   string          `json:"toolCallId"`
		ToolName     string          `json:"toolName"`
		Dynamic      bool            `json:"dynamic"`
		Input        any             `json:"input"`
		Output       any             `json:"output"`
		Preliminary  bool            `json:"preliminary"`
		ErrorText    string          `json:"errorText"`
		ApprovalID   string          `json:"approvalId"`
		Approved     bool            `json:"approved"`
		FinishReason string          `json:"finishReason"`
		Reason       string          `json:"reason"`
		Data         json.RawMessage `json:"data"`
		URL          string          `json:"url"`
		MediaType    string          `json:"mediaType"`
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return sandbox.Chunk{}, err
	}
	c := sandbox.Chunk{Type: sandbox.ChunkType(e.Type), ID: e.ID, Delta: e.Delta, ToolCallID: e.ToolCallID, ToolName: e.ToolName, Dynamic: e.Dynamic, Input: e.Input, Output: e.Output,
		Preliminary: e.Preliminary, ErrorText: e.ErrorText, ApprovalID: e.ApprovalID, Approved: e.Approved, Reason: e.Reason + e.FinishReason, URL: e.URL, MediaType: e.MediaType}
	switch {
	case e.Type == "":
		return c, errors.New("an event without a type")
	case strings.HasPrefix(e.Type, "tool-") && (c.ToolCallID == "" || len(c.ToolCallID) > 256):
		if c.ToolCallID != "" || !strings.HasPrefix(e.Type, "tool-approval") {
			return c, errors.New("a step without an id")
		}
	case e.Type == "data-question":
		var q Question
		if err := json.Unmarshal(e.Data, &q); err != nil || q.ID == "" || len(q.Requests) == 0 {
			return c, errors.New("a question without requests")
		}
		c.Data = q
	case len(e.Data) > 0:
		return c, json.Unmarshal(e.Data, &c.Data)
	}
	return c, nil
}

// patience is the time for an answer that is no stream and no archive.
const patience = 60 * time.Second

// ask sends a request that has a short answer.
func (b Box) ask(ctx context.Context, method, path, kind string, body []byte) ([]byte, error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	resp, err := b.do(ctx, method, path, kind, body)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, b.gone(ctx, err)
	}
	if len(text) > maxAnswer {
		return nil, b.odd()
	}
	return text, nil
}

// do sends a request, and returns an answer with status 200. Other ones are errors with texts for the user.
func (b Box) do(ctx context.Context, method, path, kind string, body []byte) (*fetch.Response, error) {
	h := map[string]string{"authorization": "Bearer " + b.Credential}
	if kind != "" {
		h["content-type"] = kind
	}
	resp, err := b.Transport.Do(ctx, fetch.Request{Method: method, URL: b.URL + path, Header: h, Body: body})
	if err != nil {
		return nil, b.gone(ctx, err)
	}
	if resp.Status == 200 || resp.Status == 204 && method == "DELETE" {
		return resp, nil
	}
	defer resp.Body.Close()
	var said struct {
		Error string `json:"error"`
	}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	_ = json.Unmarshal(text, &said)
	switch {
	case resp.Status == 401 && b.Session != "":
		return nil, &Error{"The server at " + b.Host() + " does not know this credential: connect the cloud box anew, with one of its operator.", resp.Status}
	case resp.Status == 401:
		return nil, &Error{"The box at " + b.Host() + " does not accept this page any more: it was started again. Connect it with the new line that it has printed.", resp.Status}
	case resp.Status == 404:
		return nil, &Error{"The server at " + b.Host() + " is no " + b.program() + ", or an older one: install the same version as this page.", resp.Status}
	case said.Error != "":
		return nil, &Error{"The box says: " + said.Error + ".", resp.Status}
	}
	return nil, &Error{fmt.Sprintf("The box at %s refused the request (%d).", b.Host(), resp.Status), resp.Status}
}

// Error is a box's refusal, or its silence. Its text is for the user.
type Error struct {
	Text   string
	Status int // 0 without an answer
}

func (e *Error) Error() string { return e.Text }

// gone returns the error of a box that does not answer.
func (b Box) gone(ctx context.Context, err error) error {
	switch {
	case errors.Is(context.Cause(ctx), context.Canceled):
		return context.Cause(ctx)
	case strings.Contains(err.Error(), "does not list the host"):
		return &Error{"This page may not reach " + b.Host() + " yet: reload it. If that does not help, the settings of this site forbid it.", 0}
	}
	if b.Session != "" {
		return &Error{"No answer from the server at " + b.Host() + ", or the connection broke. Does it run, and does its operator let pages of " + b.Origin + " in? Nothing in your folder was changed.", 0}
	}
	return &Error{"No answer from the box at " + b.Host() + ", or the connection broke. Is bailey-box running, and was it started with -origin " + b.Origin + "? Nothing in your folder was changed.", 0}
}

func (b Box) odd() error {
	return &Error{"The server at " + b.Host() + " answers in another form than a " + b.program() + " does. Nothing of the answer was used.", 0}
}
