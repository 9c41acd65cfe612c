package protocol

import _ "embed" // for the scripts

var (
	//go:embed builtins.js
	builtinsJS string
	//go:embed encode.js
	encodeJS string
	//go:embed json.js
	jsonJS string
	//go:embed messages.js
	messagesJS string
)

// Script is one of the JavaScript twins of this package.
type Script struct{ Name, Text string }

// Scripts returns the twins in the order in which they must run. They declare
// baileyBuiltins, baileyEncode, baileyDecode and baileyMessages as constants, so
// whoever uses them puts them, with its own text behind, inside a function: then
// code that runs later in the realm can't name them.
func Scripts() []Script {
	return []Script{{"builtins.js", builtinsJS}, {"encode.js", encodeJS}, {"json.js", jsonJS}, {"messages.js", messagesJS}}
}

// ScriptText is the text of [Scripts] in one piece.
func ScriptText() string {
	text := ""
	for _, s := range Scripts() {
		text += s.Text
	}
	return text
}
