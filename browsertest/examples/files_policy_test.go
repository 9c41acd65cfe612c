package examples

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

// A lasting answer holds after a reload, is listed, and can be taken back: then the question comes again. A
// refusal stays visible, and each card shows the origin of its decision.
func TestFilesForGood(t *testing.T) {
	long(t)
	t.Parallel()
	eachFiles(t, func(t *testing.T, p *opened) {
		ctx := testContext(t)
		add := func(text string, asks bool) {
			t.Helper()
			n := eval[int](t, p, `document.querySelectorAll("#cards li").length`)
			say(t, p, `add "`+text+`" to notes/plan.md`)
			if asks {
				asked(t, p)
				answerKey(t, p, "3")
			}
			must(t, p.WaitFor(ctx, fmt.Sprintf(`document.querySelectorAll("#cards li").length === %d && document.querySelector("#cards li:last-child").className === "done" || !document.getElementById("ask").hidden`, n+2)))
			if eval[bool](t, p, `!document.getElementById("ask").hidden`) {
				t.Errorf("before %q it asks again", text)
			}
			rested(t, p)
		}
		const who = `[...document.querySelectorAll("#cards li:last-child pre")].find((e) => e.ariaLabel === "Who decided").textContent`
		add("first", true)
		if got := eval[string](t, p, who); !strings.Contains(got, "fs.write on notes/plan.md: ask (no rule") || !strings.Contains(got, "allow (the user agreed), by the rule allow write") {
			t.Errorf("the card says that %q decided", got)
		}
		say(t, p, `delete trip/packing.txt`)
		asked(t, p)
		answerKey(t, p, "4")
		rested(t, p)
		if reloaded(t, p) {
			if got := eval[string](t, p, `document.querySelector("#cards li:last-child").className`); got != "denied" {
				t.Errorf("after a reload what was denied is %q", got)
			}
			if got := eval[string](t, p, `document.getElementById("cards").textContent`); !strings.Contains(got, "first") {
				t.Error("after a reload the output of tools is gone")
			}
			add("second", false)
		} else {
			add("second", true)
		}
		if got := eval[string](t, p, who); !strings.Contains(got, "fs.write on notes/plan.md:") {
			t.Errorf("the card says that %q decided", got)
		}
		must(t, p.Click(ctx, "#tab-settings"))
		if got := eval[string](t, p, `document.getElementById("grants").innerText`); !strings.Contains(got, "Allowed: write") || !strings.Contains(got, "notes/plan.md") || strings.Contains(got, "packing") {
			t.Errorf("what was allowed is listed as %q", got)
		}
		noViolations(t, p)
		must(t, p.Click(ctx, "#grants button"))
		must(t, p.WaitFor(ctx, `!document.getElementById("no-grants").hidden`))
		must(t, p.Click(ctx, "#tab-steps"))
		say(t, p, `add "third" to notes/plan.md`)
		asked(t, p)
		answerKey(t, p, "4")
		rested(t, p)
		noErrors(t, p)
	})
}

// A card contains the whole outcome of a call, and all that the model received, if the user asks for it.
func TestFilesCardsWhole(t *testing.T) {
	long(t)
	t.Parallel()
	eachFiles(t, func(t *testing.T, p *opened) {
		ctx := testContext(t)
		say(t, p, `run "seq 1 9000"`)
		rested(t, p)
		const texts = `[...document.querySelectorAll("#cards li:last-child pre")].filter((e) => e.textContent.includes("2000")).map((e) => e.ariaLabel + " " + e.textContent.includes("8999")).join()`
		if got := eval[string](t, p, texts); got != "Result false,What the model saw false" {
			t.Errorf("at first: %s", got)
		}
		must(t, p.Click(ctx, "#tab-steps"))
		must(t, p.Eval(ctx, `document.querySelector("#cards details").open = true`, nil))
		for range 2 {
			must(t, p.Click(ctx, `#cards button[name=all]`))
		}
		must(t, p.WaitFor(ctx, `!document.querySelector("#cards button[name=all]")`))
		if got := eval[string](t, p, texts); got != "Result true,What the model saw true" {
			t.Errorf("asked for all: %s", got)
		}
		if !eval[bool](t, p, `document.activeElement.tagName === "PRE"`) {
			t.Error("the focus is gone with the button")
		}
		noErrors(t, p)
	})
}

// Stop drops a plan during its question, and a message sent meanwhile makes no second plan.
func TestFilesStopAtAPlan(t *testing.T) {
	long(t)
	t.Parallel()
	eachFiles(t, func(t *testing.T, p *opened) {
		ctx := testContext(t)
		tick(t, p, "#plan")
		say(t, p, `organise the files by type`)
		asked(t, p)
		must(t, p.Eval(ctx, `void (document.getElementById("text").value = "list the files", document.getElementById("composer").requestSubmit())`, nil))
		must(t, p.WaitFor(ctx, `document.getElementById("text").value === ""`))
		n := eval[int](t, p, `document.getElementById("cards").children.length`)
		must(t, p.Click(ctx, stopButton(t, p)))
		must(t, p.WaitFor(ctx, `document.getElementById("ask").hidden && document.getElementById("stop").hidden`))
		saysStatus(t, p, "Stopped")
		if !eval[bool](t, p, `!!document.querySelector("#tree [data-path='hours.csv']")`) {
			t.Error("the plan was carried out")
		}
		if got := eval[int](t, p, `document.getElementById("cards").children.length`); got != n {
			t.Errorf("there are %d calls more", got-n)
		}
		noErrors(t, p)
	})
}

// A link of an answer leads out after a question, and leaves the answer where it is. Where the page's
// headers don't name its server, the address can be copied.
func TestFilesLinks(t *testing.T) {
	t.Parallel()
	for _, engine := range engines() {
		for _, named := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/named %v", engine, named), func(t *testing.T) {
				ctx := testContext(t)
				came := make(chan string, 10)
				landing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { came <- r.URL.Path }))
				t.Cleanup(landing.Close)
				address := landing.URL + "/landing"
				p := answering(t, engine, "[the page]("+address+")", func(use map[string]any) {
					if named {
						use["navigate"] = []string{strings.TrimPrefix(landing.URL, "http://")}
					}
				})
				must(t, p.Eval(ctx, `void (navigator.clipboard.writeText = async (text) => { globalThis.copied = text; })`, nil))
				say(t, p, "hello")
				must(t, p.WaitFor(ctx, `document.getElementById("stop").hidden && document.getElementById("heard").textContent.includes("the page")`))
				follow := func() string {
					t.Helper()
					pressInFrame(t, p, "[data-href]")
					return dialogue(t, p)
				}
				if got := follow(); !strings.Contains(got, address) || strings.Contains(got, "may block it here: copy the address instead") == named {
					t.Errorf("it asks %q", got)
				}
				noViolations(t, p)
				if named && engine == browser.WebKit { // WebKitGTK's driver receives nothing more once a page has opened a tab
					choose(t, p, "Stay")
				} else {
					must(t, p.Click(ctx, `#dialog button.primary`))
				}
				switch {
				case named && engine == browser.WebKit:
				case named:
					select {
					case path := <-came:
						if path != "/landing" {
							t.Errorf("it leads to %q", path)
						}
					case <-ctx.Done():
						t.Error("the link does not open")
					}
				default:
					must(t, p.WaitFor(ctx, `globalThis.copied === `+js(address)))
				}
				if got := inFrame(t, p, `document.body.innerText.includes("the page")`); got != "true" {
					t.Error("the answer is gone")
				}
			})
		}
	}
}

// The page's policy names only the chosen provider, whatever else its headers name, and none without a
// choice.
func TestFilesReachesTheProviderAlone(t *testing.T) {
	t.Parallel()
	for _, engine := range engines() {
		t.Run(string(engine), func(t *testing.T) {
			other := newMoody(t)
			other.be(func(w http.ResponseWriter, _ int) { speak(w, "here", true) })
			mine := ""
			p := answering(t, engine, "hello", func(use map[string]any) {
				mine = "http://" + use["connect"].([]string)[0]
				use["connect"] = append(use["connect"].([]string), strings.TrimPrefix(other.URL, "http://"))
			})
			reaches := func(url string) bool {
				return eval[bool](t, p, `fetch(`+js(url+"/v1/chat/completions")+`, {method: "POST", body: "{}"}).then(() => true, () => false)`)
			}
			if !reaches(mine) || reaches(other.URL) {
				t.Errorf("it reaches the one that was chosen: %v, the other: %v", reaches(mine), reaches(other.URL))
			}
			must(t, p.Click(testContext(t), "#tab-shield"))
			must(t, p.WaitFor(testContext(t), `[...document.querySelectorAll("#stopped li")].some((e) => e.textContent.includes("connect-src") && e.textContent.includes(`+js(other.URL)+`))`))
			must(t, p.Eval(testContext(t), `localStorage.removeItem("bailey-files")`, nil))
			must(t, p.Reload(testContext(t)))
			filesReady(t, p)
			if reaches(mine) {
				t.Error("nothing was chosen, and it reaches a provider")
			}
		})
	}
}

// Code of an answer is copied by its button, under the page's own headers.
func TestFilesCopiesCode(t *testing.T) {
	t.Parallel()
	for _, engine := range engines() {
		t.Run(string(engine), func(t *testing.T) {
			ctx := testContext(t)
			p := answering(t, engine, "~~~go\nfunc f() bool { return true }\n~~~\n\nthe end", nil)
			allowed := eval[string](t, p, `String(document.permissionsPolicy?.allowsFeature("clipboard-write") ?? document.featurePolicy?.allowsFeature("clipboard-write"))`)
			if allowed == "false" {
				t.Error("the page's headers keep it from its clipboard")
			}
			must(t, p.Eval(ctx, `void (navigator.clipboard.writeText = async (text) => { globalThis.copied = text; })`, nil))
			say(t, p, "hello")
			must(t, p.WaitFor(ctx, `document.getElementById("stop").hidden && document.getElementById("heard").textContent.includes("the end")`))
			poll.Until(t, "the button is there", func() bool { // with a later frame
				return inFrame(t, p, `document.querySelectorAll("button[data-ui=copy]").length`) == "1"
			})
			pressInFrame(t, p, "button[data-ui=copy]")
			must(t, p.WaitFor(ctx, `globalThis.copied?.includes("func f() bool")`))
		})
	}
}

// pressInFrame follows a link or presses a button of a document by key. WebKitGTK's driver sends keys only
// to the page around the frames, so there a script clicks.
func pressInFrame(t *testing.T, p *opened, selector string) {
	t.Helper()
	if p.engine == browser.WebKit {
		inFrame(t, p, `document.querySelector("`+selector+`").click()`)
		return
	}
	inFrame(t, p, `document.querySelector("`+selector+`").focus()`)
	must(t, p.Press(testContext(t), "Enter"))
}

// answering opens the page with a model that always sends the same text, and with the page's own headers,
// changed by more.
func answering(t *testing.T, engine browser.Engine, text string, more func(use map[string]any)) *opened {
	t.Helper()
	m := newMoody(t)
	m.be(func(w http.ResponseWriter, _ int) { speak(w, text, true) })
	s := newOwnServer(t)
	file := filepath.Join(s.dir, "files", "headers.json")
	data, err := os.ReadFile(file)
	must(t, err)
	var use map[string]any
	must(t, json.Unmarshal(data, &use))
	use["connect"] = []string{strings.TrimPrefix(m.URL, "http://")}
	if more != nil {
		more(use)
	}
	data, err = json.Marshal(use)
	must(t, err)
	must(t, os.WriteFile(file, data, 0o644))
	p := s.open(engine)
	kept, err := json.Marshal(map[string]string{"provider": "local", "model": "moody", "url": m.URL + "/v1", "origin": m.URL})
	must(t, err)
	must(t, p.Eval(testContext(t), `localStorage.setItem("bailey-files", `+js(string(kept))+`)`, nil))
	must(t, p.Reload(testContext(t)))
	filesReady(t, p)
	return p
}
