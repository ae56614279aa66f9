package deviation

import (
	"net/http"

	"github.com/rin-network/rin/sandbox/answer"
)

// Answer is a captured answer of the node, and what deviations do with it.
type Answer struct{ answer.Answer }

// capture lets next answer r into memory.
func capture(next http.Handler, r *http.Request) *Answer { return &Answer{*answer.Capture(next, r)} }

func (a *Answer) send(w http.ResponseWriter, r *http.Request) { a.Send(w, r) }

func (a *Answer) ok() bool { return a.OK() }

func (a *Answer) clone() *Answer { return &Answer{*a.Clone()} }

func (a *Answer) become(status int, mediaType, body string) { a.Become(status, mediaType, body) }

func (a *Answer) set(name, value string) { a.Set(name, value) }

func (a *Answer) edit(change func(value any) any) { a.Edit(change) }

func (a *Answer) editObject(change func(object map[string]any)) { a.EditObject(change) }

func (a *Answer) editItems(change func(n int, item map[string]any)) { a.EditItems(change) }

func (a *Answer) items() []map[string]any { return a.Items() }

// refuse makes the answer an error of the token endpoint (RFC 6749 §5.2).
func (a *Answer) refuse(status int, code string) {
	a.become(status, "application/json", `{"error":"`+code+`"}`)
}

// challenge sets the challenge; empty for none.
func (a *Answer) challenge(value string) { a.set("WWW-Authenticate", value) }

// page is what a person sees where a program expected JSON.
const page = "<!doctype html><html><head><title>Sign in</title></head><body><form><input name=\"user\"></form></body></html>"
