package account

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Request is what a party wrote into the contact form to get access.
type Request struct {
	// ID is "R-" and a number that counts the requests of the node.
	ID string `json:"id"`
	// Party asks, Contact is where it is reached, and Purpose is what it wants the access for.
	Party   string `json:"party"`
	Contact string `json:"contact"`
	Purpose string `json:"purpose"`
	// Asked is when.
	Asked time.Time `json:"asked"`
	// Client is the id of the client that answered the request; empty while it waits.
	Client string `json:"client,omitempty"`
}

// maxText is the number of characters of a text that somebody else wrote.
const maxText = 500

// check wants one line each, short enough to be shown.
func (r Request) check() error {
	for _, field := range []struct{ name, text string }{{"party", r.Party}, {"contact", r.Contact}, {"purpose", r.Purpose}} {
		switch {
		case strings.TrimSpace(field.text) == "":
			return invalid("the request says no "+field.name, "say who asks, where to reach them, and what they want the access for")
		case !line(field.text):
			return invalid(fmt.Sprintf("the %s of the request: expected one line of up to %d characters", field.name, maxText), "write it shorter, without line ends")
		}
	}
	return nil
}

// line tells whether text is one line of UTF-8 of bounded length.
func line(text string) bool {
	control := func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= maxText && strings.IndexFunc(text, control) < 0
}
