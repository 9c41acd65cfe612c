package iframe

import (
	"strings"
	"testing"
	"time"
)

func TestOptions(t *testing.T) {
	o, err := DocumentOptions{}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	if o.Heartbeat != defaultHeartbeat || o.MaxHeight != defaultMaxHeight || o.ReadyTimeout != defaultReadyTimeout ||
		o.MaxImage != defaultMaxImage || o.TrustedTypesPolicy != "bailey" || o.Label == "" {
		t.Errorf("defaults %+v", o)
	}
	for name, c := range map[string]struct {
		o  DocumentOptions
		ok bool
	}{
		"MaxImage below":                  {DocumentOptions{MaxImage: -1}, false},
		"MaxImage":                        {DocumentOptions{MaxImage: 1}, true},
		"MaxHeight below":                 {DocumentOptions{MaxHeight: -1}, false},
		"MaxHeight at":                    {DocumentOptions{MaxHeight: 1 << 24}, true},
		"MaxHeight above":                 {DocumentOptions{MaxHeight: 1<<24 + 1}, false},
		"ReadyTimeout below":              {DocumentOptions{ReadyTimeout: -1}, false},
		"Heartbeat below":                 {DocumentOptions{Heartbeat: 100*time.Millisecond - 1}, false},
		"Heartbeat at":                    {DocumentOptions{Heartbeat: 100 * time.Millisecond}, true},
		"TrustedTypesPolicy":              {DocumentOptions{TrustedTypesPolicy: "my-policy#1"}, true},
		"TrustedTypesPolicy with a space": {DocumentOptions{TrustedTypesPolicy: "a b"}, false},
		"Lang":                            {DocumentOptions{Lang: "pt-BR"}, true},
		"Lang with a quote":               {DocumentOptions{Lang: `en"`}, false},
		"Scheme":                          {DocumentOptions{Theme: Theme{Scheme: "dark"}}, true},
		"Scheme unknown":                  {DocumentOptions{Theme: Theme{Scheme: "blue"}}, false},
		"Variables":                       {DocumentOptions{Theme: Theme{Variables: map[string]string{"--a": strings.Repeat("x", maxThemeValue)}}}, true},
		"Variables too long":              {DocumentOptions{Theme: Theme{Variables: map[string]string{"--a": strings.Repeat("x", maxThemeValue+1)}}}, false},
		"Variables no name":               {DocumentOptions{Theme: Theme{Variables: map[string]string{"--": "x"}}}, false},
		"Variables a property":            {DocumentOptions{Theme: Theme{Variables: map[string]string{"color": "red"}}}, false},
		"Variables with a colon":          {DocumentOptions{Theme: Theme{Variables: map[string]string{"--a:b": "red"}}}, false},
	} {
		_, err := c.o.withDefaults()
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "iframe: ") {
			t.Errorf("%s: the error does not say whose it is: %v", name, err)
		}
	}
	_, err = DocumentOptions{MaxImage: -1, Lang: "é"}.withDefaults()
	if err == nil || !strings.Contains(err.Error(), "MaxImage") || !strings.Contains(err.Error(), "Lang") {
		t.Errorf("two mistakes, one error: %v", err)
	}
}
