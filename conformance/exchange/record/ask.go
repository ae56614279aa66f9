package record

import (
	"net/http"
	"time"

	"github.com/rin-network/rin/conformance/exchange"
)

// Ask is one request to send.
type Ask struct {
	// Label is the name in the evidence. An ask without a label is sent under the same rules and recorded nowhere, such as the
	// renewal of a token.
	Label exchange.Label
	// Given are the inputs chosen for this request, for the evidence.
	Given  map[string]string
	Method string
	URL    string // absolute, http or https; sent as it is spelled
	// Header keeps the spelling of names. The order is kept in the evidence and, with Raw, on the wire.
	Header []exchange.Field
	Body   []byte
	// Credential names the token or secret that the request carries; empty for none. Such a request goes to allowed origins only.
	// A secret that the redactor knows counts even when this is empty.
	Credential string
	// Recipient, if set, is the one origin that may receive the request, in place of the allowed ones: Credential belongs there and
	// nowhere else. The request then must hold no other secret.
	Recipient string
	// Conceal adds secrets to the redactor before anything is sent, name to value: a tampered token or a secret in changed
	// spelling still tells most of the real one.
	Conceal map[string]string
	// Raw writes HTTP/1.1 to the connection itself, for header values that net/http would mend.
	Raw bool
	// ToEnd goes on reading, with Raw, when the answer is complete, for what the node sent beyond it.
	ToEnd bool
	// FollowSameOrigin follows one redirect to the same scheme, host and port; for methods other than GET and HEAD only 307 and 308.
	FollowSameOrigin bool
	// NoRetry sends once: a wrong secret must not be counted twice. It is repeated only when no connection came about, and once after
	// a 429, which a limit of the rate answers before anybody looks at the secret.
	NoRetry bool
	// Once sends once whatever happens: no answer is the answer that was looked for.
	Once bool
	// Timeout bounds this request with its whole answer; 0 is the recorder's.
	Timeout time.Duration
	// Limit bounds the body of this answer, in bytes; 0 is the recorder's ReadLimit.
	Limit int64
	// Issues says that the answer may hold an access token, and names its marker, such as "access_token". Cases other than
	// "ok" get the case appended.
	Issues string
	// Presents is an odd token that the request carries; the facts about it are recorded, and it is concealed under Credential's name.
	Presents string
	// Verify says what the keys in the answer make of the run's token. It sees the body before redaction.
	Verify func(body []byte) *exchange.Verification
	// Annotate judges the answer by the node's document. It sees the exchange before redaction; its findings are redacted. Findings
	// without a label get that of the ask.
	Annotate func(exchange.Exchange) []exchange.SchemaFindings
}

// Answer is what came back, unredacted and for the prober alone. It must not be written anywhere.
type Answer struct {
	Status int // 0 without an answer
	Header http.Header
	Body   []byte // decoded, up to the read limit
	// Token is the access token of an ask with Issues: the string member access_token of a JSON object.
	Token string
	// Exchange is the redacted exchange as it was recorded.
	Exchange exchange.Exchange
}

// Failure says why there is no answer; nil when there is one.
func (a Answer) Failure() *exchange.Failure { return a.Exchange.Failure }

// OK reports a status of 2xx with a body that was read to its end.
func (a Answer) OK() bool {
	r := a.Exchange.Response
	return r != nil && r.Status/100 == 2 && !r.Truncated && r.BodyError == ""
}
