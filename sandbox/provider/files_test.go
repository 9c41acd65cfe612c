//go:build !js

package provider_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/provider"
)

func file(name, media, data string) sandbox.File {
	return sandbox.File{Name: name, MediaType: media, Data: []byte(data)}
}

func filePart(f sandbox.File) sandbox.ModelPart {
	return sandbox.ModelPart{Type: sandbox.PartFile, Files: []sandbox.File{f}}
}

// withFiles is a conversation with each kind of file, in a message and in a result.
func withFiles() sandbox.ModelRequest {
	png, pdf, gif, wav := file("a.png", "image/png", "PNG"), file("b", "application/pdf", "PDF"), file("c.gif", "image/gif", "GIF"), file("d.wav", "audio/x-wav", "WAV")
	text := func(s string) sandbox.ModelPart { return sandbox.ModelPart{Type: sandbox.PartText, Text: s} }
	return sandbox.ModelRequest{Messages: []sandbox.ModelMessage{
		{Role: sandbox.RoleUser, Parts: []sandbox.ModelPart{filePart(png), filePart(pdf), filePart(gif), filePart(wav), text("look")}},
		{Role: sandbox.RoleAssistant, Parts: []sandbox.ModelPart{text("ok"), filePart(file("mine.png", "image/png", "OWN")),
			{Type: sandbox.PartCall, CallID: "1", Tool: "read", Args: json.RawMessage(`{}`)}, {Type: sandbox.PartCall, CallID: "2", Tool: "my:tool", Args: json.RawMessage(`{}`)}}},
		{Role: sandbox.RoleUser, Parts: []sandbox.ModelPart{
			{Type: sandbox.PartResult, CallID: "1", Tool: "read", Text: "{}", Files: []sandbox.File{png}},
			{Type: sandbox.PartResult, CallID: "2", Tool: "my:tool", Files: []sandbox.File{gif, wav}}}},
		{Role: sandbox.RoleUser, Parts: []sandbox.ModelPart{filePart(file("x.zip", "application/zip", "ZIP")), filePart(png)}},
	}}
}

const unseen = ` (you can't see it: files of this type are not sent to you)`

// The requests are compared with the vendors' references, see the comments in files.go.
func TestProvidersSendFiles(t *testing.T) {
	const (
		openAI     = "https://api.openai.com/v1"
		openRouter = "https://openrouter.ai/api/v1"
		call       = `{"id":"1","type":"function","function":{"name":"read","arguments":"{}"}}`
	)
	chatWith := func(pdf string) string {
		return `[{"content":[{"image_url":{"url":"data:image/png;base64,UE5H"},"type":"image_url"},` + strings.Replace(pdf, "GIF", `{"image_url":{"url":"data:image/gif;base64,R0lG"},"type":"image_url"}`, 1) + `],"role":"user"},` +
			`{"content":"ok[image: mine.png, image/png, 3 bytes]` + unseen + `","role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"read"},"id":"1","type":"function"},{"function":{"arguments":"{}","name":"my_tool"},"id":"2","type":"function"}]},` +
			`{"content":"{}","role":"tool","tool_call_id":"1"},{"content":"[audio: d.wav, audio/x-wav, 3 bytes]` + unseen + `","role":"tool","tool_call_id":"2"},` +
			`{"content":[{"text":"The files of the result of read:","type":"text"},{"image_url":{"url":"data:image/png;base64,UE5H"},"type":"image_url"},{"text":"The files of the result of my_tool:","type":"text"},{"image_url":{"url":"data:image/gif;base64,R0lG"},"type":"image_url"}],"role":"user"},` +
			`{"content":[{"image_url":{"url":"data:image/png;base64,UE5H"},"type":"image_url"},{"text":"[file: x.zip, application/zip, 3 bytes]` + unseen + `","type":"text"}],"role":"user"}]`
	}
	chatPDF := chatWith(`{"file":{"file_data":"data:application/pdf;base64,UERG","filename":"b.pdf"},"type":"file"},GIF,{"text":"[audio: d.wav, audio/x-wav, 3 bytes]` + unseen + `\nlook","type":"text"}`)
	geminiWith := func(results string) string {
		return `[{"parts":[{"inlineData":{"data":"UE5H","mimeType":"image/png"}},{"inlineData":{"data":"UERG","mimeType":"application/pdf"}},{"text":"[image: c.gif, image/gif, 3 bytes]` + unseen + `"},{"inlineData":{"data":"V0FW","mimeType":"audio/wav"}},{"text":"look"}],"role":"user"},` +
			`{"parts":[{"text":"ok"},{"text":"[image: mine.png, image/png, 3 bytes]` + unseen + `"},{"functionCall":{"args":{},"name":"read"}},{"functionCall":{"args":{},"name":"my_tool"}}],"role":"model"},` + results +
			`,{"parts":[{"text":"[file: x.zip, application/zip, 3 bytes]` + unseen + `"},{"inlineData":{"data":"UE5H","mimeType":"image/png"}}],"role":"user"}]`
	}
	geminiOld := geminiWith(`{"parts":[{"functionResponse":{"name":"read","response":{"output":"{}"}}},{"functionResponse":{"name":"my_tool","response":{"output":"[image: c.gif, image/gif, 3 bytes]` + unseen + `"}}}],"role":"user"},` +
		`{"parts":[{"text":"The files of the result of read:"},{"inlineData":{"data":"UE5H","mimeType":"image/png"}},{"text":"The files of the result of my_tool:"},{"inlineData":{"data":"V0FW","mimeType":"audio/wav"}}],"role":"user"}`)
	geminiNew := geminiWith(`{"parts":[{"functionResponse":{"name":"read","parts":[{"inlineData":{"data":"UE5H","mimeType":"image/png"}}],"response":{"output":"{}"}}},{"functionResponse":{"name":"my_tool","response":{"output":"[image: c.gif, image/gif, 3 bytes]` + unseen + `"}}}],"role":"user"},` +
		`{"parts":[{"text":"The files of the result of my_tool:"},{"inlineData":{"data":"V0FW","mimeType":"audio/wav"}}],"role":"user"}`)
	for _, c := range []struct {
		name, url, model string
		make             func(provider.Options) sandbox.Model
		member           string
		want             string
	}{
		{"Anthropic", "", "m", provider.Anthropic, "messages",
			`[{"content":[{"source":{"data":"UE5H","media_type":"image/png","type":"base64"},"type":"image"},{"source":{"data":"UERG","media_type":"application/pdf","type":"base64"},"title":"b","type":"document"},{"source":{"data":"R0lG","media_type":"image/gif","type":"base64"},"type":"image"},{"text":"[audio: d.wav, audio/x-wav, 3 bytes]` + unseen + `","type":"text"},{"text":"look","type":"text"}],"role":"user"},` +
				`{"content":[{"text":"ok","type":"text"},{"text":"[image: mine.png, image/png, 3 bytes]` + unseen + `","type":"text"},{"id":"1","input":{},"name":"read","type":"tool_use"},{"id":"2","input":{},"name":"my_tool","type":"tool_use"}],"role":"assistant"},` +
				`{"content":[{"content":[{"text":"{}","type":"text"},{"source":{"data":"UE5H","media_type":"image/png","type":"base64"},"type":"image"}],"is_error":false,"tool_use_id":"1","type":"tool_result"},` +
				`{"content":[{"text":"[audio: d.wav, audio/x-wav, 3 bytes]` + unseen + `","type":"text"},{"source":{"data":"R0lG","media_type":"image/gif","type":"base64"},"type":"image"}],"is_error":false,"tool_use_id":"2","type":"tool_result"},` +
				`{"text":"[file: x.zip, application/zip, 3 bytes]` + unseen + `","type":"text"},{"cache_control":{"type":"ephemeral"},"source":{"data":"UE5H","media_type":"image/png","type":"base64"},"type":"image"}],"role":"user"}]`},
		{"OpenAI", "", "m", provider.OpenAI, "input",
			`[{"content":[{"detail":"auto","image_url":"data:image/png;base64,UE5H","type":"input_image"},{"file_data":"data:application/pdf;base64,UERG","filename":"b.pdf","type":"input_file"},{"detail":"auto","image_url":"data:image/gif;base64,R0lG","type":"input_image"},{"text":"[audio: d.wav, audio/x-wav, 3 bytes]` + unseen + `","type":"input_text"}],"role":"user","type":"message"},` +
				`{"content":[{"text":"look","type":"input_text"}],"role":"user","type":"message"},` +
				`{"content":[{"annotations":[],"text":"ok","type":"output_text"}],"role":"assistant","type":"message"},{"content":[{"annotations":[],"text":"[image: mine.png, image/png, 3 bytes]` + unseen + `","type":"output_text"}],"role":"assistant","type":"message"},` +
				`{"arguments":"{}","call_id":"1","name":"read","type":"function_call"},{"arguments":"{}","call_id":"2","name":"my_tool","type":"function_call"},` +
				`{"call_id":"1","output":[{"text":"{}","type":"input_text"},{"detail":"auto","image_url":"data:image/png;base64,UE5H","type":"input_image"}],"type":"function_call_output"},` +
				`{"call_id":"2","output":[{"text":"[audio: d.wav, audio/x-wav, 3 bytes]` + unseen + `","type":"input_text"},{"detail":"auto","image_url":"data:image/gif;base64,R0lG","type":"input_image"}],"type":"function_call_output"},` +
				`{"content":[{"text":"[file: x.zip, application/zip, 3 bytes]` + unseen + `","type":"input_text"}],"role":"user","type":"message"},` +
				`{"content":[{"detail":"auto","image_url":"data:image/png;base64,UE5H","type":"input_image"}],"role":"user","type":"message"}]`},
		{"chat at OpenAI", openAI, "m", provider.OpenAIChat, "messages", chatPDF},
		{"chat at OpenRouter", openRouter, "m", provider.OpenAIChat, "messages", chatPDF},
		{"chat elsewhere", "", "m", provider.OpenAIChat, "messages", chatWith(`GIF,{"text":"[file: b, application/pdf, 3 bytes]` + unseen + `\n[audio: d.wav, audio/x-wav, 3 bytes]` + unseen + `\nlook","type":"text"}`)},
		{"Gemini 2.5", "", "gemini-2.5-flash", provider.Gemini, "contents", geminiOld},
		{"Gemini of no version", "", "gemini-flash-latest", provider.Gemini, "contents", geminiOld},
		{"Gemini 3", "", "gemini-3-pro-preview", provider.Gemini, "contents", geminiNew},
		{"Gemini 3.1", "", "gemini-3.1-flash", provider.Gemini, "contents", geminiNew},
	} {
		body := sentBody(t, c.make, c.url, provider.Options{Model: c.model}, withFiles())
		got, err := json.Marshal(body[c.member])
		if err != nil {
			t.Fatal(err)
		}
		if want := sameJSON(t, c.want); string(got) != want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, want)
		}
		body = sentBody(t, c.make, c.url, provider.Options{Model: c.model, TextOnly: true}, withFiles())
		got, _ = json.Marshal(body[c.member])
		if all := string(got); strings.Contains(all, "UE5H") || strings.Contains(all, "UERG") || strings.Count(all, "can't see it") != 10 {
			t.Errorf("%s, text only: %s", c.name, all)
		}
	}
}

// A part may have any number of files, and each is sent or has a line in its place.
func TestProvidersSendEachFileOfAPart(t *testing.T) {
	png, zip := file("a.png", "image/png", "PNG"), file("x.zip", "application/zip", "ZIP")
	for name, make := range map[string]func(provider.Options) sandbox.Model{"anthropic": provider.Anthropic, "responses": provider.OpenAI, "chat": provider.OpenAIChat, "gemini": provider.Gemini} {
		for _, c := range []struct {
			files       []sandbox.File
			sent, lines int
		}{{nil, 0, 0}, {[]sandbox.File{png}, 1, 0}, {[]sandbox.File{zip}, 0, 1}, {[]sandbox.File{png, png}, 2, 0}, {[]sandbox.File{png, zip, png}, 2, 1}} {
			r := sandbox.ModelRequest{Messages: []sandbox.ModelMessage{{Role: sandbox.RoleUser, Parts: []sandbox.ModelPart{
				{Type: sandbox.PartFile, Files: c.files}, {Type: sandbox.PartText, Text: "look"}}}}}
			body := sentBody(t, make, "", provider.Options{Model: "m"}, r)
			got, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			all := string(got)
			if sent, lines := strings.Count(all, "UE5H"), strings.Count(all, "can't see it"); sent != c.sent || lines != c.lines || !strings.Contains(all, "look") {
				t.Errorf("%s, %v: %s", name, c.files, all)
			}
		}
	}
}

// An event may have an image of the greatest length. One that is longer would be as long the next time,
// and an image costs money, so the request is not repeated.
func TestLongEvents(t *testing.T) {
	image := func(n int) string { return base64.StdEncoding.EncodeToString(make([]byte, n)) }
	gemini := func(n int) string {
		return sse(`{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"` + image(n) + `"}}]},"finishReason":"STOP"}]}`)
	}
	responses := func(n int) string { // the end repeats the images of the answer
		item := `{"type":"image_generation_call","id":"i","status":"completed","result":"` + image(n/2) + `"}`
		return sse(`{"type":"response.output_item.done","item":`+item+`}`, `{"type":"response.output_item.done","item":`+item+`}`, `{"type":"response.completed","response":{"output":[`+item+`,`+item+`]}}`)
	}
	chat := func(n int) string {
		return sse(`{"choices":[{"delta":{"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,`+image(n)+`"}}]},"finish_reason":"stop"}]}`, "[DONE]")
	}
	text := func(head, tail string) func(int) string {
		return func(n int) string { return sse(head + strings.Repeat("x", n) + tail) }
	}
	for name, c := range map[string]struct {
		make  func(provider.Options) sandbox.Model
		turn  func(n int) string
		fits  int
		above int
	}{
		"anthropic": {provider.Anthropic, text(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`, `"}}`), 7 << 20, 8 << 20},
		"chat":      {provider.OpenAIChat, chat, 12 << 20, 13 << 20},
		"gemini":    {provider.Gemini, gemini, 12 << 20, 13 << 20},
		"responses": {provider.OpenAI, responses, 12 << 20, 13 << 20},
	} {
		for _, n := range []int{c.fits, c.above} {
			got := 0
			var failed *sandbox.ModelError
			for e, err := range c.make(provider.Options{Transport: &recorder{status: 200, text: c.turn(n)}, Model: "m"}).Stream(t.Context(), sandbox.ModelRequest{}) {
				got += len(e.Text) + len(e.File.Data)
				errors.As(err, &failed)
			}
			switch long := failed != nil && strings.Contains(failed.Message, "a piece of the answer has more than"); {
			case long != (n == c.above):
				t.Errorf("%s, %d bytes: %v", name, n, failed)
			case long && failed.Retry:
				t.Errorf("%s, %d bytes: the request would be repeated", name, n)
			case !long && got < n:
				t.Errorf("%s, %d bytes: %d came", name, n, got)
			}
		}
	}
}

// A file of Gemini's has the type of its content, and speech can be played. One of another form costs
// nothing else of the answer.
func TestGeminiFiles(t *testing.T) {
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	inline := func(media, data string) string {
		return `{"inlineData":{"mimeType":"` + media + `","data":"` + data + `"}}`
	}
	turn := func(parts ...string) (out string) { // an event for each
		for _, p := range parts {
			out += sse(`{"candidates":[{"content":{"parts":[` + p + `]}}]}`)
		}
		return out + sse(`{"candidates":[{"finishReason":"STOP"}]}`)
	}
	const l16 = "audio/L16;codec=pcm;rate=24000"
	wav := func(rate, more string, data string) string { // the rate and the bytes of a second
		n := func(n int) string { return string([]byte{byte(n), byte(n >> 8), byte(n >> 16), 0}) }
		return "RIFF" + n(36+len(data)) + "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00" + rate + more + "\x02\x00\x10\x00data" + n(len(data)) + data
	}
	of24 := func(data string) string { return wav("\xc0\x5d\x00\x00", "\x80\xbb\x00\x00", data) }
	gif := "GIF89a\x01\x00\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02L\x01\x00;"
	long := strings.Repeat("ab", 5<<20) // of 10 MiB
	for _, c := range []struct {
		name string
		turn string
		want []string
	}{
		{"an image of another type", turn(inline("image/png", b64(gif))), []string{"image image/gif " + gif}},
		{"a type with parameters", turn(inline("Text/Plain; charset=utf-8", b64("hi"))), []string{"file text/plain hi"}},
		{"audio that is no speech", turn(inline("audio/ogg; codecs=opus", b64("OggS"))), []string{"audio audio/ogg OggS"}},
		{"speech", turn(inline(l16, b64("abcd"))), []string{"speech.wav audio/wav " + of24("abcd")}},
		{"speech in pieces", turn(inline(l16, b64("ab")), `{"text":"","thoughtSignature":"S"}`, inline(l16, b64("c")), inline(l16, b64("d"))), []string{"", "speech.wav audio/wav " + of24("abcd")}},
		{"speech with a text between", turn(inline(l16, b64("ab")), `{"text":"hm"}`, inline(l16, b64("cd"))), []string{"speech.wav audio/wav " + of24("ab"), "hm", "speech.wav audio/wav " + of24("cd")}},
		{"speech and an image", turn(inline(l16, b64("ab")) + "," + inline("image/gif", b64(gif))), []string{"speech.wav audio/wav " + of24("ab"), "image image/gif " + gif}},
		{"speech at two rates", turn(inline(l16, b64("ab")), inline("audio/l16; rate=16000", b64("cd"))), []string{"speech.wav audio/wav " + of24("ab"), "speech.wav audio/wav " + wav("\x80\x3e\x00\x00", "\x00\x7d\x00\x00", "cd")}},
		{"a rate that is none", turn(inline("audio/L16;rate=1e9;channels=-1;rate=999999999", b64("ab"))), []string{"speech.wav audio/wav " + of24("ab")}},
		{"long speech", turn(inline(l16, b64(long))), []string{"speech.wav audio/wav " + of24(long[:8<<20-44]), "speech.wav audio/wav " + of24(long[8<<20-44:])}},
		{"no base64", turn(`{"text":"hi"},` + inline("image/png", "%") + `,{"text":" you"}`), []string{"hi", " you"}},
		{"another form", turn(`{"text":"hi"},{"inlineData":"odd"},{"inlineData":{"mimeType":7,"data":8}},{"inlineData":{}}`, `{"text":" you","inlineData":null}`), []string{"hi", " you"}},
	} {
		o := serve(t, func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, c.turn) })
		var got []string
		for e, err := range provider.Gemini(o).Stream(context.Background(), sandbox.ModelRequest{}) {
			switch {
			case err != nil:
				t.Errorf("%s: %v", c.name, err)
			case e.Type == sandbox.PartFile:
				got = append(got, e.File.Name+" "+e.File.MediaType+" "+string(e.File.Data))
			case e.Type == sandbox.PartText:
				got = append(got, e.Text)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %.500q, want %.500q", c.name, got, c.want)
		}
	}
}

// Gemini's image models change an image that they made, if they get it back with its signature. No other
// file of a model goes back, and no other server takes one.
func TestGeminiGetsItsImagesBack(t *testing.T) {
	o := serve(t, func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(rw, sse(`{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"UE5H"},"thoughtSignature":"S"},{"inlineData":{"mimeType":"image/jpeg","data":"SlBH"}},{"inlineData":{"mimeType":"image/gif","data":"R0lG"},"thoughtSignature":"T"},{"inlineData":{"mimeType":"audio/wav","data":"V0FW"},"thoughtSignature":"U"}]},"finishReason":"STOP"}]}`))
	})
	var parts []sandbox.ModelPart
	var metas []string
	for e, err := range provider.Gemini(o).Stream(t.Context(), sandbox.ModelRequest{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == sandbox.PartFile {
			parts, metas = append(parts, sandbox.ModelPart{Type: sandbox.PartFile, Files: []sandbox.File{e.File}, Meta: e.Meta}), append(metas, string(e.Meta))
		}
	}
	if want := []string{`{"thoughtSignature":"S"}`, `{}`, "", ""}; !slices.Equal(metas, want) {
		t.Errorf("the metas are %q, want %q", metas, want)
	}
	r := sandbox.ModelRequest{Messages: []sandbox.ModelMessage{{Role: sandbox.RoleAssistant, Parts: parts}, {Role: sandbox.RoleUser, Parts: []sandbox.ModelPart{{Type: sandbox.PartText, Text: "now in blue"}}}}}
	for name, c := range map[string]struct {
		make        func(provider.Options) sandbox.Model
		o           provider.Options
		back, lines int
	}{"gemini": {provider.Gemini, provider.Options{}, 2, 2}, "gemini, text only": {provider.Gemini, provider.Options{TextOnly: true}, 0, 4},
		"anthropic": {provider.Anthropic, provider.Options{}, 0, 4}, "responses": {provider.OpenAI, provider.Options{}, 0, 4}, "chat": {provider.OpenAIChat, provider.Options{}, 0, 4}} {
		body := sentBody(t, c.make, "", c.o, r)
		got, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		all := string(got)
		if back, lines := strings.Count(all, "UE5H")+strings.Count(all, "SlBH"), strings.Count(all, "can't see it"); back != c.back || lines != c.lines || strings.Contains(all, "R0lG") || strings.Contains(all, "V0FW") {
			t.Errorf("%s: %s", name, all)
		}
		if want := `{"parts":[{"inlineData":{"data":"UE5H","mimeType":"image/png"},"thoughtSignature":"S"},{"inlineData":{"data":"SlBH","mimeType":"image/jpeg"}},`; c.back > 0 && !strings.Contains(all, want) {
			t.Errorf("%s: %s", name, all)
		}
	}
}

// sameJSON returns a text in the form of json.Marshal.
func sameJSON(t *testing.T, text string) string {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err, text)
	}
	out, _ := json.Marshal(v)
	return string(out)
}

// redirect sends requests to any address to a test's server.
type redirect struct {
	to   fetch.Transport
	url  string
	real string
}

func (r redirect) Do(ctx context.Context, req fetch.Request) (*fetch.Response, error) {
	req.URL = r.url + strings.TrimPrefix(req.URL, r.real)
	return r.to.Do(ctx, req)
}

// sentBody returns the body of the request that a model sends, to a server with the address url.
func sentBody(t *testing.T, make func(provider.Options) sandbox.Model, url string, o provider.Options, r sandbox.ModelRequest) (body map[string]any) {
	t.Helper()
	at := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(b, &body); err != nil {
			t.Error(err)
		}
	})
	o.Transport, o.URL = at.Transport, at.URL
	if url != "" {
		o.Transport, o.URL = redirect{at.Transport, at.URL, url}, url
	}
	_, _, _, _, _, _ = listen(context.Background(), make(o), r)
	return body
}

// Sources and images of an answer, in the form of each server. Another form costs no text.
func TestProvidersTellSources(t *testing.T) {
	for name, c := range map[string]struct {
		make func(provider.Options) sandbox.Model
		turn string
		want string
	}{
		"anthropic": {provider.Anthropic, sse(
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"type":"web_search_result_location","url":"https://a.example/","title":"A","cited_text":"x"}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"type":"page_location","document_title":"report","start_page_number":1}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"type":"char_location","document_title":null}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":[1]}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}`,
			`{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`),
			"{https://a.example/ A  } { report application/pdf } {   } hi"},
		"responses": {provider.OpenAI, sse(
			`{"type":"response.output_text.delta","delta":"hi"}`,
			`{"type":"response.output_text.annotation.added","annotation":{"type":"url_citation","url":"https://a.example/","title":"A","start_index":0,"end_index":2}}`,
			`{"type":"response.output_text.annotation.added","annotation":{"type":"file_citation","file_id":"f","filename":"r.pdf","index":1}}`,
			`{"type":"response.output_text.annotation.added","annotation":{"type":"url_citation"}}`,
			`{"type":"response.output_text.annotation.added","annotation":"odd"}`,
			`{"type":"response.output_item.done","item":{"type":"image_generation_call","id":"i","result":"UE5H"}}`,
			`{"type":"response.output_item.done","item":{"type":"image_generation_call","id":"i","result":"%"}}`,
			`{"type":"response.output_item.done","item":{"type":"image_generation_call","id":"i","result":null}}`,
			`{"type":"response.completed","response":{}}`), "hi {https://a.example/ A  } { r.pdf  r.pdf} image() PNG"},
		"chat": {provider.OpenAIChat, sse(
			`{"choices":[{"delta":{"content":"hi","annotations":[{"type":"url_citation","url_citation":{"url":"https://a.example/","title":"A"}},{"type":"url_citation","url_citation":7},"odd"]}}]}`,
			`{"choices":[{"delta":{"annotations":"odd"}}]}`, `{"choices":[{"delta":{"annotations":null},"finish_reason":"stop"}]}`, `[DONE]`), "hi {https://a.example/ A  }"},
		"gemini": {provider.Gemini, sse(
			`{"candidates":[{"content":{"parts":[{"text":"hi"},{"inlineData":{"mimeType":"image/png","data":"UE5H"}},{"thought":true,"inlineData":{"mimeType":"image/png","data":"T1dO"}}]}}]}`,
			`{"candidates":[{"groundingMetadata":{"groundingChunks":[{"web":{"uri":"https://a.example/","title":"A"}},{"retrievedContext":{}}]}}]}`,
			`{"candidates":[{"groundingMetadata":"odd","finishReason":"STOP"}]}`), "hi image(image/png) PNG {https://a.example/ A  }"},
	} {
		o := serve(t, func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, c.turn) })
		var got []string
		for e, err := range c.make(o).Stream(context.Background(), withFiles()) {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			switch e.Type {
			case sandbox.PartText:
				got = append(got, e.Text)
			case sandbox.PartSource:
				got = append(got, fmt.Sprint(e.Source))
			case sandbox.PartFile:
				got = append(got, fmt.Sprintf("%s(%s) %s", e.File.Name, e.File.MediaType, e.File.Data))
			}
		}
		if all := strings.Join(got, " "); all != c.want {
			t.Errorf("%s: %q, want %q", name, all, c.want)
		}
	}
}
