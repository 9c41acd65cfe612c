package protocol

import "unicode/utf8"

// PublicError is the part of an error that crosses a boundary. It contains no data of the host.
type PublicError struct {
	Code    Code   `json:"code"`
	Reason  Reason `json:"reason,omitempty"`
	Message string `json:"message"`
}

// Public returns the part of err that may cross a boundary. The message of an *[Error] is written
// for the other side, so it is kept, cut to 4 KiB. The text of an error about decoded JSON is kept
// too. Any other error may contain paths, URLs or keys of the host, so only its code is kept. For
// nil, Public returns the zero value.
func Public(err error) PublicError {
	code := CodeOf(err)
	p := PublicError{Code: code, Message: code.Error()}
	var e *Error
	switch {
	case err == nil:
		return PublicError{}
	case asError(err, &e):
		p.Reason = e.Reason
		if e.Message != "" {
			p.Message = e.Message
		} else if e.Reason != "" {
			p.Message = e.Reason.Error()
		}
		if e.Subject != "" && e.Op != "" {
			p.Message = e.Op + " " + e.Subject + ": " + p.Message
		}
	case asJSON(err):
		p.Message = err.Error()
	}
	const most = 4 * kib
	if len(p.Message) > most {
		end := most
		for !utf8.RuneStart(p.Message[end]) {
			end--
		}
		p.Message = p.Message[:end] + "…"
	}
	return p
}
