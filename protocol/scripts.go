package protocol

import _ "embed" // for the scripts

var (
	//go:embed builtins.js
	builtinsJS string
	//go:embed batch.js
	batchJS string
	//go:embed encode.js
	encodeJS string
	//go:embed tags.js
	tagsJS string
	//go:embed json.js
	jsonJS string
	//go:embed messages.js
	messagesJS string
)

// Script is one of the JavaScript twins of this package.
type Script struct{ Name, Text string }

// Scripts returns the twins in the order in which they must run. They declare
// baileyBuiltins, baileyBatch, baileyEncode, baileyTags, baileyDecode and baileyMessages as
// constants, so whoever uses them puts them, with its own text behind, inside a function: then
// code that runs later in the realm can't name them.
func Scripts() []Script {
	return append(EncoderScripts(), Script{"json.js", jsonJS}, Script{"messages.js", messagesJS})
}

// EncoderScripts returns those of [Scripts] that a side needs which writes what others
// check, and reads only what was checked.
func EncoderScripts() []Script {
	return []Script{{"builtins.js", builtinsJS}, {"batch.js", batchJS}, {"encode.js", encodeJS}, {"tags.js", tagsJS}}
}

// ScriptText is the text of scripts in one piece.
func ScriptText(scripts []Script) string {
	text := ""
	for _, s := range scripts {
		text += s.Text
	}
	return text
}
