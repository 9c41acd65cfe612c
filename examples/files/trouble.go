//go:build js && wasm

package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bailey-go/bailey/examples/files/consent"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// trouble shows why a run has no answer, and offers another try.
func (t *talk) trouble(k kept, err error) {
	text := sentence(k, err)
	s := t.section("Assistant")
	s.write("**That did not work.** " + escape(text))
	_ = s.Close()
	t.text = nil
	if t.app.cur == t {
		showTrouble(text, false)
	}
	failed(errors.New(text))
	t.app.notify("The assistant could not answer", text)
}

// showTrouble shows a text above the field, and a button for another try or for a reload.
func showTrouble(text string, reload bool) {
	element("trouble-text").Set("textContent", text)
	hide("again", reload)
	hide("reload", !reload)
	hide("trouble", false)
}

// sentence returns the text for the user about a provider's error, and the remedy.
func sentence(k kept, err error) string {
	var me *sandbox.ModelError
	if !errors.As(err, &me) {
		return protocol.Public(err).Message
	}
	said := ""
	if m := strings.TrimSpace(me.Message); m != "" && !strings.HasPrefix(m, "the server answered") {
		said = " It says: " + m
	}
	switch {
	case k.Provider == inBrowser:
		return "The browser's own model did not answer: " + me.Message
	case me.Status == 401 || me.Status == 403:
		return "The provider does not accept the key. Look at it in Settings." + said
	case me.Status == 404:
		return fmt.Sprintf("The provider knows no model %q at this address. Look at both in Settings.%s", k.Model, said)
	case me.Status == 413 || me.Status == 400 && strings.Contains(me.Message, "token"):
		return "The conversation has become too long for this model. Begin a new one, or fork an earlier part." + said
	case me.Status == 429:
		return "The provider has had too many requests from this key, or its credit is used up. Wait, and try again." + said
	case me.Status >= 500:
		return fmt.Sprintf("The provider has a fault of its own (%d). Try again later.%s", me.Status, said)
	case me.Status != 0:
		return fmt.Sprintf("The provider refused the request (%d).%s", me.Status, said)
	case strings.Contains(me.Message, "cut off") && !strings.Contains(me.Message, "failed"):
		return "The answer was cut off in the middle. What came is above; try again for a whole one."
	}
	return fmt.Sprintf("No answer came from %s, or it broke off: it is not there, has no network, or does not let this page ask (CORS).", k.Origin)
}

// retry shows that the provider is asked again automatically, and removes the text of the failed
// try.
func (t *talk) retry(data any) {
	d, _ := data.(map[string]any)
	if drop, _ := d["drop"].([]any); len(drop) > 0 && t.n > 0 {
		if list := t.view.Sections(); len(list) > 0 && t.text == nil {
			_ = list[len(list)-1].Remove()
		}
	}
	after, _ := d["after_ms"].(float64)
	reason, _ := d["reason"].(string)
	status(fmt.Sprintf("The provider could not answer (%s). Try %v in %.1f s; Stop ends this.", cut(reason, 120), consent.Values(d["attempt"], ""), after/1000))
}
