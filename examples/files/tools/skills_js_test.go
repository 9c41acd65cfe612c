package tools

import (
	"fmt"
	"strings"
	"syscall/js"
	"testing"

	"github.com/bailey-go/bailey/sandbox"
)

// A user who has accepted a skill opens a hostile folder: its 200 skills are hashed, and the page goes on.
func TestHashingLetsThePageLive(t *testing.T) {
	var list []sandbox.Skill
	for i := range 200 {
		list = append(list, sandbox.Skill{Name: fmt.Sprint("s", i), Content: strings.Repeat("x", 64<<10)})
	}
	channel, turns := js.Global().Get("MessageChannel").New(), 0
	turn := js.FuncOf(func(js.Value, []js.Value) any {
		turns++
		channel.Get("port2").Call("postMessage", 0)
		return nil
	})
	defer turn.Release()
	channel.Get("port1").Set("onmessage", turn)
	channel.Get("port2").Call("postMessage", 0)
	defer channel.Get("port1").Call("close")
	if err := trusted(t.Context(), list, []string{sum(list[7])}); err != nil {
		t.Fatal(err)
	}
	if turns < 5 {
		t.Errorf("the page had %d turns", turns)
	}
	for i, s := range list {
		if s.Trusted != (i == 7) {
			t.Errorf("skill %d is trusted: %v", i, s.Trusted)
		}
	}
}
