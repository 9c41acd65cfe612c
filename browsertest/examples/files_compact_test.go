package examples

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

// The command /compact puts a summary in place of older messages for the model. The user sees it as a
// fold, also after a reload. A provider that refuses a request as too long gets a shorter one.
func TestFilesCompact(t *testing.T) {
	t.Parallel()
	f, p := filesIn(t, withDisk(t))
	f.drop(p, newDisk(t, "compacted", map[string]string{"a.txt": "a\n"}))
	f.say("/compact")
	f.wait("there is nothing yet", `document.getElementById("status").textContent.startsWith("There is nothing to summarise")`)
	for i := range 3 {
		f.then(turn{text: fmt.Sprintf("answer %d", i)})
		f.say(fmt.Sprintf("question %d", i))
		shows(t, p, fmt.Sprintf("answer %d", i))
		f.rested()
	}
	f.then(turn{text: "IN **SHORT**"})
	f.say("/compact")
	shows(t, p, "summarised for the model")
	// The summary is below a fold that the user opens.
	if got := conversation(t, p); strings.Contains(got, "IN SHORT") {
		t.Errorf("the summary is not folded: %q", got)
	}
	pressInFrame(t, f.in, "section[aria-label^=Summary] summary")
	shows(t, p, "IN SHORT")
	if got := inFrame(t, p, `document.querySelector("section[aria-label^=Summary] details strong").textContent`); got != "SHORT" {
		t.Errorf("the summary's Markdown shows %q", got)
	}
	f.then(turn{text: "answer 3"})
	f.say("question 3")
	shows(t, p, "answer 3")
	f.rested()
	last := func() string {
		list := f.requests()
		return fmt.Sprint(list[len(list)-1].Messages)
	}
	if all := last(); !strings.Contains(all, "IN **SHORT**") || strings.Contains(all, "question 0") || !strings.Contains(all, "question 2") {
		t.Errorf("the model received %s", all)
	}
	f.then(turn{status: 400, text: "This model's maximum context length is 9 tokens"}, turn{text: "EVEN SHORTER"}, turn{text: "answer 4"})
	f.say("question 4")
	shows(t, p, "answer 4")
	f.rested()
	if all := last(); !strings.Contains(all, "EVEN SHORTER") || !strings.Contains(all, "question 4") {
		t.Errorf("the model received %s", all)
	}
	f.reload()
	f.again("compacted")
	for _, words := range []string{"question 0", "answer 4", "summarised for the model"} {
		shows(t, p, words)
	}
	// The second summary has taken the place of the first one for the model. Both are there for the user.
	if got := inFrame(t, p, `(document.querySelectorAll("section[aria-label^=Summary] details").forEach((d) => d.open = true), document.body.innerText)`); !strings.Contains(got, "IN SHORT") || !strings.Contains(got, "EVEN SHORTER") {
		t.Errorf("the open folds show %q", got)
	}
	// Back before the summaries, the model receives the messages themselves again.
	press(t, p, "#rewind")
	if got := dialogue(t, p); !strings.Contains(got, "question 2") || strings.Contains(got, "SHORT") {
		t.Errorf("the messages to go back to: %q", got)
	}
	must(t, p.Eval(testContext(t), `void [...document.querySelectorAll("#dialog .options label")].find((l) => l.textContent.includes("question 2")).click()`, nil))
	choose(t, p, "Rewind")
	saysStatus(t, p, "Rewound.")
	if got := conversation(t, p); strings.Contains(got, "summarised for the model") || strings.Contains(got, "answer 2") || !strings.Contains(got, "answer 1") {
		t.Errorf("after the rewind it shows %q", got)
	}
	f.then(turn{text: "another answer"})
	f.say("another question")
	shows(t, p, "another answer")
	f.rested()
	all := last()
	holds(t, "the request", all, "question 0", "answer 0", "question 1", "answer 1", "another question")
	for _, words := range []string{"SHORT", "question 2", "question 4"} {
		if strings.Contains(all, words) {
			t.Errorf("after the rewind the model receives %q: %s", words, all)
		}
	}
}

// A message that the user sends while older ones are summarised is answered then, also if there is no
// summary in the end. After a stop it waits for the user, as in a run.
func TestFilesCompactMeanwhile(t *testing.T) {
	long(t)
	t.Parallel()
	f, p := filesIn(t, launch(t, e2e.Options{}))
	n := 0
	asked := func() {
		t.Helper()
		n++
		poll.Until(t, fmt.Sprint(n, " requests"), func() bool { return len(f.requests()) == n }, func() string {
			return fmt.Sprint(len(f.requests()), " requests; it shows ", conversation(t, p))
		})
	}
	exchange := func(name string) {
		t.Helper()
		f.then(turn{text: "answer " + name})
		f.say("question " + name)
		asked()
		shows(t, p, "answer "+name)
		f.rested()
	}
	for _, name := range []string{"1", "2", "3"} {
		exchange(name)
	}
	for _, c := range []struct {
		name   string
		status int
	}{{"success", 0}, {"failure", 401}, {"stop", 0}} {
		hold := make(chan struct{})
		f.then(turn{text: "IN SHORT", status: c.status, hold: hold})
		f.say("/compact")
		asked()
		f.say("during a " + c.name)
		shows(t, p, "during a "+c.name)
		if c.name == "stop" {
			press(t, p, "#stop")
			f.rested()
			close(hold)
			continue
		}
		f.then(turn{text: "answer after a " + c.name})
		close(hold)
		asked()
		shows(t, p, "answer after a "+c.name)
		f.rested()
	}
	if got := strings.Count(conversation(t, p), "summarised for the model"); got != 1 {
		t.Errorf("it shows %d summaries", got)
	}
	exchange("4")
}
