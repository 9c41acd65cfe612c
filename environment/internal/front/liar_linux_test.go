package front

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// lie is what a lying job says, in each of its answers.
const lie = "lie-of-the-job"

// liar is a bailey-box that was taken over, in one of several ways.
func liar(way string) {
	dir, err := os.MkdirTemp("", "liar-")
	if err != nil {
		panic(err)
	}
	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		panic(err)
	}
	b, _ := json.Marshal(map[string]string{"address": "unix:" + socket, "credential": strings.Repeat("0", 64)})
	fmt.Println(string(b))
	_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/chat" {
			w.Header().Set("Set-Cookie", lie+"=1")
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, "<script>%s</script>", lie)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		event := func(text string) {
			fmt.Fprint(w, text)
			_ = http.NewResponseController(w).Flush()
		}
		switch way {
		case "a page":
			w.Header().Set("Content-Type", "text/html")
			event("<script>" + lie + "</script>")
		case "a status":
			w.WriteHeader(http.StatusUnauthorized)
			event("data: {\"type\":\"" + lie + "\"}\n\n")
		case "a redirect":
			http.Redirect(w, r, "http://127.0.0.1:1/"+lie, http.StatusTemporaryRedirect)
		case "no JSON":
			event("data: " + lie + "\n\ndata: [DONE]\n\n")
		case "no type":
			event("data: {\"x\":\"" + lie + "\"}\n\ndata: [DONE]\n\n")
		case "another field":
			event("event: " + lie + "\n\ndata: [DONE]\n\n")
		case "a carriage return":
			event("data: {\"type\":\"x\"}\rdata: " + lie + "\n\ndata: [DONE]\n\n")
		case "a long event":
			event("data: {\"type\":\"" + lie + "\",\"x\":\"" + strings.Repeat("x", maxEvent) + "\"}\n\ndata: [DONE]\n\n")
		case "no end":
			event("data: {\"type\":\"start\"}\n\n")
		case "many events":
			text := "data: {\"type\":\"text-delta\",\"delta\":\"" + strings.Repeat("x", 4<<20) + "\"}\n\n"
			for range 12 {
				event(text)
			}
			event("data: {\"type\":\"text-delta\",\"delta\":\"" + lie + "\"}\n\ndata: [DONE]\n\n")
		case "waits":
			event("data: {\"type\":\"start\"}\n\n")
			<-r.Context().Done()
		}
	}))
}
