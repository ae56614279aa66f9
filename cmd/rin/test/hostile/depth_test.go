package hostile_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
)

// levels is how deep JSON is nested here.
const levels = 100_000

func arrays() string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }

func objects() string {
	return strings.Repeat(`{"a":`, levels) + "1" + strings.Repeat("}", levels)
}

// deepNesting returns nodes with answers that are nested deeper than any reader goes, and other texts that are
// costly to read.
func deepNesting() []attack {
	signed := func(header, claims string) http.HandlerFunc {
		part := base64.RawURLEncoding.EncodeToString
		return answerJSON(fmt.Sprintf(`{"access_token":%q,"token_type":"Bearer","expires_in":300}`, part([]byte(header))+"."+part([]byte(claims))+".eA"))
	}
	return []attack{
		{name: "a deep token answer", wrap: largeAnswerAt(tokenPath, func() string { return objects() })},
		{name: "a deep member beside a token", wrap: largeAnswerAt(tokenPath, func() string { return `{"access_token":"abc","token_type":"Bearer","x":` + arrays() + `}` })},
		{name: "a deep token", wrap: answerAt(tokenPath, signed(`{"alg":"ES256"}`, objects()))},
		{name: "a deep header of a token", wrap: answerAt(tokenPath, signed(objects(), `{}`))},
		{name: "a token of nothing but dots", wrap: largeAnswerAt(tokenPath, func() string { return `{"access_token":"` + strings.Repeat(".", 1<<20) + `","token_type":"Bearer"}` })},
		{name: "a lifetime beyond all numbers", wrap: largeAnswerAt(tokenPath, func() string {
			return `{"access_token":"abc","token_type":"Bearer","expires_in":1` + strings.Repeat("0", 1<<20) + `}`
		})},
		{name: "a deep info", typical: true, wrap: largeAnswerAt(infoPath, func() string { return objects() })},
		{name: "an info with a million endpoints", wrap: largeAnswerAt(infoPath, func() string {
			return `{"endpoints":[` + strings.TrimSuffix(strings.Repeat(`{"a":"b"},`, 1_000_000), ",") + `]}`
		})},
		{name: "a deep document", profile: "funding", wrap: largeAnswerAt(specPath, func() string { return `{"openapi":"3.0.1","paths":` + objects() + `}` }), says: []string{"deeper than 200 levels"}},
		{name: "a deep list", profile: "funding", wrap: largeAnswerAt(listPath, func() string { return arrays() })},
		{name: "a deep item", profile: "funding", wrap: largeAnswerAt(listPath, func() string { return `[{"id":"1","x":` + objects() + `}]` })},
		{name: "a deep error", wrap: answerAt(infoPath, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			answerJSON(objects())(w, r)
		})},
		{name: "a number of a million digits", profile: "funding", wrap: largeAnswerAt(listPath, func() string { return `[{"id":"1","x":` + strings.Repeat("9", 1_000_000) + `}]` })},
		{name: "a number with a huge exponent", profile: "funding", wrap: largeAnswerAt(listPath, func() string { return `[{"id":"1","amount":1e999999999,"totalBudget":1e-999999999}]` })},
		{name: "an object with a million names", profile: "funding", wrap: largeAnswerAt(listPath, func() string { return "[{" + manyMembers(1_000_000) + "}]" })},
		{name: "an object that repeats a name a million times", profile: "funding", wrap: largeAnswerAt(listPath, func() string { return "[{" + strings.TrimSuffix(strings.Repeat(`"id":"a",`, 1_000_000), ",") + "}]" })},
		{name: "an item of 15 MB in one string", profile: "funding", wrap: largeAnswerAt(listPath, func() string { return `[{"id":"` + strings.Repeat("ä", 7<<20) + `"}]` })},
		{name: "a list of bytes that are not UTF-8", profile: "funding", wrap: largeAnswerAt(listPath, func() string { return "[{\"id\":\"\xff\xfe\xc0\x80\xed\xa0\x80" + marker + "\"}]" })},
		{name: "a list of NUL", profile: "funding", wrap: largeAnswerAt(listPath, func() string { return "[{\"id\":\"\x00\\u0000" + marker + "\"}]\x00" })},
		{name: "an info of bytes that are not UTF-8", wrap: largeAnswerAt(infoPath, func() string { return "{\"\xff\":\"\xc2\"}" })},
		{name: "an info in UTF-16", wrap: answerAt(infoPath, answerText("application/json; charset=utf-16", "\xff\xfe{\x00}\x00"))},
	}
}

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"m%d":%d`, i, i)
	}
	return b.String()
}
