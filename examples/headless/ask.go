package main

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"io"
	"math/big"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// asker asks the user at a terminal. Each question has a random number of its own, and only an answer that
// repeats it allows something. A text of the model's that looks like a question cannot contain the number
// of the next real one, and neither can a line typed before it.
type asker struct {
	out *terminal
	in  *typed

	plain bool // a word without the number allows, also a line typed before the question: only for attack tests
}

// numbers is the size of the range of numbers: 100 to 999.
const numbers = 900

func number() (string, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(numbers))
	if err != nil {
		return "", err
	}
	return fmt.Sprint(100 + n.Int64()), nil
}

// ask shows a prompt and returns a reply for each request. An answer that does not allow is a refusal, and
// its text is the reason for the model. If the input ends, the remaining requests have no reply, and the
// box rejects them.
func (a *asker) ask(p sandbox.Prompt) (replies []sandbox.Reply, _ error) {
	for _, r := range p.Requests {
		n, err := number()
		if err != nil {
			return replies, err
		}
		if !a.plain && a.in.drop() > 0 {
			if err := a.out.own("(What was typed before this question is left out.)\n"); err != nil {
				return replies, err
			}
		}
		if err := a.out.own(question(r, n)); err != nil {
			return replies, err
		}
		text, err := a.in.line()
		if err != nil {
			return replies, nil // no user: the rest is rejected
		}
		replies = append(replies, a.reply(text, n))
	}
	return replies, nil
}

// reply returns the reply for the text of an answer to the question with the number n.
func (a *asker) reply(text, n string) sandbox.Reply {
	text = strings.TrimSpace(text)
	words := map[string]policy.Answer{"y": policy.AnswerOnce, "yes": policy.AnswerOnce, "s": policy.AnswerSession, "session": policy.AnswerSession}
	word, repeated, _ := strings.Cut(text, " ")
	if strings.TrimSpace(repeated) != n && !a.plain {
		word = ""
	}
	return sandbox.Reply{Answer: words[word], Reason: text}
}

// question returns the text of a request's question. The content comes first, with a mark before each line,
// so that no content imitates the question. Then follow the title and all effects, next to the place of the
// answer.
func question(r sandbox.Request, n string) string {
	var b strings.Builder
	b.WriteByte('\n')
	if r.Diff != "" {
		b.WriteString(marked(r.Diff))
	}
	b.WriteString(inLine(fmt.Sprintf("%s (%s risk)", r.Title, r.Risk)) + "\n")
	for _, e := range r.Effects {
		if !e.InTitle {
			b.WriteString(inLine("  - "+e.Text) + "\n")
		}
	}
	if r.Destroys {
		b.WriteString("  Content is lost.\n")
	}
	if r.Untrusted {
		b.WriteString(inLine(fmt.Sprintf("  The tool %s comes from a server or from this folder; its words are its own.", r.Tool)) + "\n")
	}
	if r.Agent != "" {
		b.WriteString(inLine(fmt.Sprintf("  The subagent %s asks.", r.Agent)) + "\n")
	}
	fmt.Fprintf(&b, "“yes %[1]s”, “session %[1]s”, or why not? ", n)
	return b.String()
}

// typed is the lines that the user types. It reads all the time, so a question can drop the lines typed
// before it. A line that was begun before a question and ended after it counts as typed after it.
type typed struct {
	mu    sync.Mutex
	lines []string
	err   error
	more  chan struct{} // receives when a line or an error has come
}

func newTyped(r io.Reader) *typed {
	t := &typed{more: make(chan struct{}, 1)}
	go func() {
		in := bufio.NewReader(r)
		for {
			text, err := in.ReadString('\n')
			t.mu.Lock()
			if text != "" && err == nil {
				t.lines = append(t.lines, text)
			}
			t.err = err
			t.mu.Unlock()
			select {
			case t.more <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	return t
}

// line returns the next line, or the error that ended the input. Only one goroutine at a time may call it.
func (t *typed) line() (string, error) {
	for {
		t.mu.Lock()
		if len(t.lines) > 0 {
			text := t.lines[0]
			t.lines = t.lines[1:]
			t.mu.Unlock()
			return text, nil
		}
		err := t.err
		t.mu.Unlock()
		if err != nil {
			return "", err
		}
		<-t.more
	}
}

// drop drops the lines that line has not returned yet, and returns their number.
func (t *typed) drop() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.lines)
	t.lines = nil
	return n
}
