package vendors

// A difference is a field of a stream that package provider reads in another way than the vendor's
// package.
type difference struct{ stream, field, ours, theirs, why string }

const (
	cutShort  = "the package returns half an answer as a whole one; here it is an error, and the request is repeated"
	ownDelay  = "the package waits for a time of its own and leaves out what the server asks for"
	backwards = "the package does not know such a server; the answer is complete, and compatible servers send it"
)

var differences = []difference{
	{"anthropic: events without names", "text", "x", "", backwards},
	{"anthropic: events without names", "error", "", "cut", backwards},
	{"anthropic: a call that the limit cuts", "calls", `toolu_1 read {"path":"a`, "toolu_1 read {}", "the package completes the JSON; here the call fails, because its arguments are not those of the model"},
	{"anthropic: a signature in two pieces", "thoughts", `[["hm","SIG1"]]`, `[["hm","G1"]]`, "the API sends a signature in one piece, and the package keeps the last one; here pieces are joined, as those of all other members"},
	{"anthropic: usage at the start alone", "usage", "[100 5 0 0]", "[100 0 0 0]", "the package takes the output from the end alone, where this server has no number; here the last number counts, so that a budget is not passed"},

	{"chat: calls without an index", "calls", `call_1 read {"n":1}; call_2 read {"n":2}`, "", backwards},
	{"chat: another id at the same index", "calls", `call_1 read {"n":1}; call_2 read {"n":2}`, `call_2 read {"n":1}{"n":2}`, backwards},
	{"chat: arguments that are an object", "calls", `call_1 read {"n":1}`, "call_1 read [object Object]", backwards},

	{"responses: an item of an unknown type", "text", "Hello", "", "the package refuses an event that it does not know; here a new item of the API does not end an answer"},
	{"responses: an item of an unknown type", "error", "", "stream", "the same"},
	{"responses: cut after text", "error", "cut", "", cutShort},
	{"responses: cut before the last event", "error", "cut", "", cutShort},
	{"responses: cut within an event", "error", "cut", "", cutShort},

	{"gemini: cut after text", "error", "cut", "", cutShort},
	{"gemini: status 529", "error", "status 529, again", "status 529, not again", "Google's servers do not send this status; a relay in front of several vendors does, and it means that the server is busy"},
	{"gemini: retry after 7 s", "error", "status 429, again after 7000 ms", "status 429, again", ownDelay},
	{"gemini: retry after 1.5 s", "error", "status 503, again after 1500 ms", "status 503, again", ownDelay},
	{"gemini: retry after 250 ms", "error", "status 429, again after 250 ms", "status 429, again", ownDelay},
	{"gemini: a delay in the body", "error", "status 429, again after 34000 ms", "status 429, again", ownDelay},

	{"openrouter: cut after text", "error", "cut", "", cutShort},
	{"openrouter: cut within an event", "error", "cut", "", cutShort},
	{"openrouter: a body that is HTML", "message", "<html><body>Bad gateway</body></html>", "", "the package has no message for a body that is no JSON; here the user sees it"},

	{"mistral: the end content_filter", "stop", "content-filter", "other", "it is no reason of Mistral's own; a relay sends it, and then it means this"},
	{"mistral: cut after text", "error", "cut", "", cutShort},
	{"mistral: cut within an event", "error", "cut", "", cutShort},
	{"mistral: the end error", "error", "stream", "", cutShort},
	{"mistral: status 401, flat", "message", "Unauthorized", "", "the package reads another form of the body; here the user sees the message"},

	{"deepseek: cut after text", "error", "cut", "", cutShort},
	{"deepseek: cut within an event", "error", "cut", "", cutShort},
	{"deepseek: the end insufficient_system_resource", "error", "stream", "", cutShort},
}
