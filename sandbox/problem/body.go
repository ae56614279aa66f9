package problem

import (
	"fmt"
	"net/http"
)

// Unprocessable is the 422 of a body that is well-formed and does not fit its schema (RFC 9110 §15.5.21).
func Unprocessable(faults []Fault) Problem {
	p := plain(http.StatusUnprocessableEntity, "the body of the request does not fit the document", "the document describes the body")
	if len(faults) > 0 {
		p.Detail += ": at " + faults[0].Pointer + " " + faults[0].Detail
	}
	p.Errors = faults
	return p
}

// UnsupportedMediaType is the 415 of a body of another type than those wanted (RFC 9110 §15.5.16).
func UnsupportedMediaType(given, wanted string) Problem {
	return plain(http.StatusUnsupportedMediaType, fmt.Sprintf("the body of the request has the type %.80q", given), "send one of "+wanted)
}

// TooLarge is the 413 of a body beyond limit bytes (RFC 9110 §15.5.14).
func TooLarge(limit int) Problem {
	return plain(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body of the request is larger than %d bytes", limit), "send less at once")
}

// NotImplemented is the 501 of something that is described and cannot be served (RFC 9110 §15.6.2).
func NotImplemented(reason string) Problem {
	return plain(http.StatusNotImplemented, "the sandbox cannot serve this operation: "+reason, "mend the document; a changed file is read again")
}
